//! k-nucleotide of the Benchmarks Game: its input, which contenders read from a file, and the answer, both by the game's
//! published constants ("fasta description", "k-nucleotide description") and without a line of what is measured.
//!
//! The generator has so few states that the sequence repeats itself: what occurs in it is counted in one period.

use std::fmt::Write as _;
use std::io::{self, Write};

use crate::workload::{Usual, Values, Workload};
use crate::workloads::number;

/// The option that says how many nucleotides the counted sequence has.
const NUCLEOTIDES: &str = "nucleotides";
/// The game's own size is half of this.
const NUCLEOTIDES_MAX: u64 = 250_000_000;

pub(super) const K_NUCLEOTIDE: Workload = Workload {
    name: "k-nucleotide",
    about: "k-nucleotides of seven lengths in a FASTA file are counted; a nucleotide, with all lengths, is one",
    op: ["nucleotide", "nucleotides"],
    options: &[number(
        NUCLEOTIDES,
        "How many nucleotides are counted, of twice as many in the file; five times the game's N",
        Usual::Always(25_000_000),
        NUCLEOTIDES_MAX,
        "a sequence has at least one nucleotide",
    )],
    size: NUCLEOTIDES,
    figures: &[],
    title: |_| "k-nucleotide: lengths 1, 2, 3, 4, 6, 12 and 18 in a FASTA file".into(),
    expected: |values| answer(values.number(NUCLEOTIDES)),
};

/// The generator's states, factor, increment, and where it begins.
const STATES: u32 = 139_968;
const FACTOR: u32 = 3_877;
const INCREMENT: u32 = 29_573;
const SEED: u32 = 42;
const LINE: usize = 60;

const ALU: &[u8] = b"GGCCGGGCGCGGTGGCTCACGCCTGTAATCCCAGCACTTTGGGAGGCCGAGGCGGGCGGATCACCTGAGGTC\
AGGAGTTCGAGACCAGCCTGGCCAACATGGTGAAACCCCGTCTCTACTAAAAATACAAAAATTAGCCGGGCGTGGTGGCGCGCGCCTGTAATCCCAGC\
TACTCGGGAGGCTGAGGCAGGAGAATCGCTTGAACCCGGGAGGCGGAGGTTGCAGTGAGCCGAGATCGCGCCACTGCACTCCAGCCTGGGCGACAGAG\
CGAGACTCCGTCTCAAAAA";
/// The letters of the second and the third sequence, and how probable each is: that of the second's rest.
const IUB: (&[u8; 15], [f64; 4], f64) = (b"acgtBDHKMNRSVWY", [0.27, 0.12, 0.12, 0.27], 0.02);
const HUMAN: [(u8, f64); 4] = [
    (b'a', 0.302_954_942_668_0),
    (b'c', 0.197_988_300_492_1),
    (b'g', 0.197_547_306_639_1),
    (b't', 0.301_509_450_200_8),
];

/// What is counted by name, as the game asks for it.
const ASKED: [&str; 5] = [
    "GGT",
    "GGTA",
    "GGTATT",
    "GGTATTTTAATT",
    "GGTATTTTAATTTATAGT",
];

/// The letters from this state on, until they repeat; and the state after so many.
struct Random<'a> {
    alphabet: &'a [(u8, f64)],
    state: u32,
}

impl Iterator for Random<'_> {
    type Item = u8;

    fn next(&mut self) -> Option<u8> {
        self.state = (self.state * FACTOR + INCREMENT) % STATES;
        let drawn = f64::from(self.state) / f64::from(STATES);
        let mut sum = 0.0;
        for (letter, probability) in self.alphabet {
            sum += probability;
            if drawn < sum {
                return Some(*letter);
            }
        }
        self.alphabet.last().map(|(letter, _)| *letter)
    }
}

/// One period of what these letters are from this state on.
fn period(alphabet: &[(u8, f64)], state: u32) -> Vec<u8> {
    let letters = Random { alphabet, state };
    letters.take(STATES as usize).collect()
}

/// The state after so many letters of the second sequence.
fn state_after(letters: u64) -> u32 {
    let steps = letters % u64::from(STATES);
    (0..steps).fold(SEED, |state, _| (state * FACTOR + INCREMENT) % STATES)
}

/// The lengths of the first two sequences if the third has so many letters.
fn before(nucleotides: u64) -> [u64; 2] {
    [nucleotides * 2 / 5, nucleotides * 3 / 5]
}

/// Writes the file: for a multiple of five, what the game's program `fasta` writes for a fifth of it.
pub(crate) fn write(values: &Values, out: &mut dyn Write) -> io::Result<()> {
    let nucleotides = values.number(NUCLEOTIDES);
    let [alu, iub] = before(nucleotides);
    let probable = IUB.1.into_iter().chain(std::iter::repeat(IUB.2));
    let alphabet: Vec<(u8, f64)> = IUB.0.iter().copied().zip(probable).collect();
    let second = period(&alphabet, SEED);
    let third = period(&HUMAN, state_after(iub));
    sequence(out, "ONE Homo sapiens alu", ALU, alu)?;
    sequence(out, "TWO IUB ambiguity codes", &second, iub)?;
    sequence(out, "THREE Homo sapiens frequency", &third, nucleotides)
}

/// A header, and so many letters below it, which repeat themselves.
fn sequence(out: &mut dyn Write, header: &str, letters: &[u8], count: u64) -> io::Result<()> {
    writeln!(out, ">{header}")?;
    let mut letters = letters.iter().cycle();
    let mut left = count;
    while left > 0 {
        let length = left.min(LINE as u64);
        let mut line: Vec<u8> = letters.by_ref().take(length as usize).copied().collect();
        line.push(b'\n');
        out.write_all(&line)?;
        left -= length;
    }
    Ok(())
}

/// How often each of these occurs in so many letters, all of which have the same length.
fn counts(period: &[u8], letters: u64, asked: &[&[u8]]) -> Vec<u64> {
    let length = asked.first().map_or(1, |text| text.len() as u64);
    let windows = (letters + 1).saturating_sub(length);
    let mut counts = vec![0; asked.len()];
    let states = period.len() as u64;
    for begin in 0..states.min(windows) {
        let window = (begin..begin + length).map(|at| period[(at % states) as usize]);
        let is = |text: &&[u8]| window.clone().eq(text.iter().copied());
        if let Some(which) = asked.iter().position(is) {
            // It begins there in each period.
            counts[which] += (windows - begin).div_ceil(states);
        }
    }
    counts
}

/// What a contender must print.
fn answer(nucleotides: u64) -> String {
    let period = period(&HUMAN, state_after(before(nucleotides)[1]));
    let period = period.to_ascii_uppercase();
    let mut text = String::new();
    let letters = *b"ACGT";
    let ones: Vec<Vec<u8>> = letters.map(|letter| vec![letter]).into();
    let twos = letters.map(|first| letters.map(|second| vec![first, second]));
    for all in [ones, twos.concat()] {
        let names: Vec<&[u8]> = all.iter().map(Vec::as_slice).collect();
        let counts = counts(&period, nucleotides, &names);
        let sum: u64 = counts.iter().sum();
        let mut found: Vec<(&[u8], u64)> = names.into_iter().zip(counts).collect();
        found.retain(|(_, count)| *count > 0);
        found.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        for (name, count) in found {
            let (name, percent) = (
                String::from_utf8_lossy(name),
                100.0 * count as f64 / sum as f64,
            );
            let _ = writeln!(text, "{name} {percent:.3}");
        }
        text.push('\n');
    }
    for name in ASKED {
        let count = counts(&period, nucleotides, &[name.as_bytes()])[0];
        let _ = writeln!(text, "{count}\t{name}");
    }
    text.trim_end().to_owned()
}

#[cfg(test)]
mod tests;
