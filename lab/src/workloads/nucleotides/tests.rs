//! Input and answer against what the Benchmarks Game publishes.

use serde_json::json;

use super::*;

fn file(nucleotides: u64) -> String {
    let mut values = Values::default();
    values.push(NUCLEOTIDES, json!(nucleotides));
    let mut out = Vec::new();
    write(&values, &mut out).expect("memory can be written");
    String::from_utf8(out).expect("letters")
}

/// The published file of N = 1000: its size, and these lines of it.
#[test]
fn the_file_is_the_published_one() {
    let text = file(5_000);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!((text.len(), lines.len()), (10_245, 171));
    assert_eq!(lines[34], "GGCGACAGAGCGAGACTCCG");
    let second = "cttBtatcatatgctaKggNcataaaSatgtaaaDcDRtBggDtctttataattcBgtcg";
    assert_eq!(lines[35..37], [">TWO IUB ambiguity codes", second]);
    assert_eq!(lines[86], ">THREE Homo sapiens frequency");
    assert_eq!(lines[170], "ggaagtgaaaagataaatat");
}

/// As published for N = 1000 and N = 25,000,000.
#[test]
fn the_answers_are_the_published_ones() {
    let thousand = "T 31.520\nA 29.600\nC 19.480\nG 19.400\n\nAT 9.922\nTT 9.602\nTA 9.402\nAA 8.402\nGA 6.321\nTC 6.301\n\
                    TG 6.201\nGT 6.041\nCT 5.961\nAG 5.841\nCA 5.461\nAC 5.441\nCC 4.041\nCG 4.021\nGC 3.701\nGG 3.341\n\n\
                    54\tGGT\n24\tGGTA\n4\tGGTATT\n0\tGGTATTTTAATT\n0\tGGTATTTTAATTTATAGT";
    assert_eq!(answer(5_000), thousand);
    let large = "A 30.295\nT 30.151\nC 19.800\nG 19.754\n\nAA 9.177\nTA 9.132\nAT 9.131\nTT 9.091\nCA 6.002\nAC 6.001\n\
                 AG 5.987\nGA 5.984\nCT 5.971\nTC 5.971\nGT 5.957\nTG 5.956\nCC 3.917\nGC 3.911\nCG 3.909\nGG 3.902\n\n\
                 1471758\tGGT\n446535\tGGTA\n47336\tGGTATT\n893\tGGTATTTTAATT\n893\tGGTATTTTAATTTATAGT";
    assert_eq!(answer(125_000_000), large);
}

/// Counted letter by letter, over the end of a period.
#[test]
fn periods_are_counted_as_their_letters_are() {
    let nucleotides = u64::from(2 * STATES + 77);
    let text = file(nucleotides);
    let (_, third) = text
        .split_once(">THREE Homo sapiens frequency\n")
        .expect("three sequences");
    let third = third.replace('\n', "").to_uppercase();
    assert_eq!(third.len() as u64, nucleotides);
    let answer = answer(nucleotides);
    for name in ASKED {
        let windows = third.as_bytes().windows(name.len());
        let count = windows.filter(|window| *window == name.as_bytes()).count();
        assert!(
            answer.contains(&format!("\n{count}\t{name}")),
            "{count} {name}: {answer}"
        );
    }
}

#[test]
fn a_single_nucleotide_has_an_answer() {
    let lines = answer(1);
    assert!(lines.ends_with("0\tGGT\n0\tGGTA\n0\tGGTATT\n0\tGGTATTTTAATT\n0\tGGTATTTTAATTTATAGT"));
    assert_eq!(lines.lines().filter(|line| line.contains(' ')).count(), 1);
}
