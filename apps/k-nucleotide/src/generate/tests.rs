//! The generator against what the Benchmarks Game publishes.

use super::*;

fn generated(n: u64) -> String {
    let mut out = Vec::new();
    fasta(n, &mut out).expect("memory can be written");
    String::from_utf8(out).expect("letters")
}

/// FNV-1a of 64 bits, by Fowler, Noll and Vo.
fn checksum(text: &str) -> u64 {
    let step = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
    text.bytes().fold(0xCBF2_9CE4_8422_2325, step)
}

/// The game's output file of `fasta` for N = 1000 has 10,245 bytes; the checksum is that of these, and these lines of
/// it are copied from the published file (benchmarksgame-team.pages.debian.net, "fasta description").
#[test]
fn a_thousand_is_the_published_file() {
    let text = generated(1_000);
    assert_eq!(
        (text.len(), checksum(&text)),
        (10_245, 0x6B65_9544_B02D_5C8A)
    );
    let lines: Vec<&str> = text.lines().collect();
    for (line, published) in [
        (1, ">ONE Homo sapiens alu"),
        (
            6,
            "CCACTGCACTCCAGCCTGGGCGACAGAGCGAGACTCCGTCTCAAAAAGGCCGGGCGCGGT",
        ),
        (35, "GGCGACAGAGCGAGACTCCG"),
        (36, ">TWO IUB ambiguity codes"),
        (
            37,
            "cttBtatcatatgctaKggNcataaaSatgtaaaDcDRtBggDtctttataattcBgtcg",
        ),
        (
            86,
            "tHNaaatctBBtcttaYaBWHgtVtgacagcaRcataWctcaBcYacYgatDgtDHccta",
        ),
        (87, ">THREE Homo sapiens frequency"),
        (
            88,
            "aacacttcaccaggtatcgtgaaggctcaagattacccagagaacctttgcaatataaga",
        ),
        (171, "ggaagtgaaaagataaatat"),
    ] {
        assert_eq!(lines[line - 1], published, "line {line}");
    }
    assert_eq!(lines.len(), 171);
}

#[test]
fn the_smallest_has_three_sequences() {
    let expected =
        ">ONE Homo sapiens alu\nGG\n>TWO IUB ambiguity codes\nctt\n>THREE Homo sapiens frequency\n";
    let text = generated(1);
    assert!(text.starts_with(expected), "{text}");
    assert_eq!(text.len(), expected.len() + 6);
}

#[test]
fn a_full_last_line_has_no_empty_one_behind_it() {
    let text = generated(60);
    assert!(!text.contains("\n\n") && text.ends_with('\n'));
    assert_eq!(text.lines().last().map(str::len), Some(60));
}
