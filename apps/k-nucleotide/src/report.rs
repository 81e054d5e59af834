//! The output of the Benchmarks Game.
//!
//! 1- and 2-nucleotides with their share in percent, the most frequent first, those that are as frequent by name; then
//! how often five longer ones occur.

use std::fmt::Write;

use crate::counter::{Counter, key, letters};

/// The lengths whose shares are written.
pub const SHARES: [usize; 2] = [1, 2];
/// The k-nucleotides whose counts are written.
pub const ASKED: [&str; 5] = [
    "GGT",
    "GGTA",
    "GGTATT",
    "GGTATTTTAATT",
    "GGTATTTTAATTTATAGT",
];

/// A k-nucleotide, and how often it occurs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Its letters.
    pub letters: String,
    /// How often.
    pub count: u64,
}

/// How often a key of this length occurs in all of the counters together.
fn count(counters: &[Counter], length: usize, key: u64) -> u64 {
    let counters = counters.iter();
    let own = counters.filter(|counter| counter.length() == length);
    own.map(|counter| counter.of(key)).sum()
}

/// All k-nucleotides of this length that occur, in the order of the output.
pub fn sorted(counters: &[Counter], length: usize) -> Vec<Found> {
    let found = |key| Found {
        letters: letters(key, length),
        count: count(counters, length, key),
    };
    let mut all: Vec<Found> = (0..1 << (2 * length)).map(found).collect();
    all.retain(|found| found.count > 0);
    // In the order of keys before, which is that of names.
    all.sort_by_key(|found| std::cmp::Reverse(found.count));
    all
}

/// The five counts.
pub fn asked(counters: &[Counter]) -> [Found; 5] {
    ASKED.map(|text| Found {
        letters: text.into(),
        count: count(counters, text.len(), key(text.as_bytes())),
    })
}

/// A share in percent.
pub fn percent(count: u64, of: &[Found]) -> f64 {
    let all: u64 = of.iter().map(|found| found.count).sum();
    100.0 * count as f64 / all as f64
}

/// The output; several counters of a length have each counted a part.
pub fn text(counters: &[Counter]) -> String {
    let mut text = String::new();
    for length in SHARES {
        let all = sorted(counters, length);
        for Found { letters, count } in &all {
            let _ = writeln!(text, "{letters} {:.3}", percent(*count, &all));
        }
        text.push('\n');
    }
    for Found { letters, count } in asked(counters) {
        let _ = writeln!(text, "{count}\t{letters}");
    }
    text
}
