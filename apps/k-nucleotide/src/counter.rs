//! Counts the k-nucleotides of one length in codes that come piece after piece.
//!
//! A k-nucleotide is a key: two bits for each nucleotide, the first one in the highest. The key of the next one is
//! this key shifted, so each nucleotide costs one step whatever the length. Short keys index an array, long ones a hash
//! table.

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;

use crate::fasta::LETTERS;

/// The lengths that the Benchmarks Game counts.
pub const LENGTHS: [usize; 7] = [1, 2, 3, 4, 6, 12, 18];
/// Up to this length the counts are an array: 4,096 of them.
const DIRECT_MAX: usize = 6;
/// Up to this length four arrays take turns: in so small an array the next key is often the same one again, and would
/// wait for the store before it.
const TURNS_MAX: usize = 4;
/// How many arrays these are.
const TURNS: usize = 4;

/// The key of these letters, which are nucleotides.
pub fn key(letters: &[u8]) -> u64 {
    let code = |letter: &u8| LETTERS.iter().position(|own| own == letter).unwrap_or(0) as u64;
    letters
        .iter()
        .fold(0, |key, letter| key << 2 | code(letter))
}

/// The letters of a key.
pub fn letters(key: u64, length: usize) -> String {
    let places = (0..length).rev();
    let letter = |place: usize| char::from(LETTERS[(key >> (2 * place) & 3) as usize]);
    places.map(letter).collect()
}

#[derive(Debug)]
enum Table {
    /// A power of two of arrays, one behind the other.
    Direct {
        counts: Vec<u64>,
        turns: usize,
    },
    Hashed(HashMap<u64, u64, FxBuildHasher>),
}

/// The counts of one length.
#[derive(Debug)]
pub struct Counter {
    length: usize,
    /// The last nucleotides, as many as there were, at most `length`.
    last: u64,
    /// How many nucleotides have to come before the one that completes the first key.
    missing: usize,
    table: Table,
}

impl Counter {
    /// Counts this length, from 1 to 31.
    pub fn new(length: usize) -> Counter {
        let table = if length <= DIRECT_MAX {
            let turns = if length <= TURNS_MAX { TURNS } else { 1 };
            let counts = vec![0; turns << (2 * length)];
            Table::Direct { counts, turns }
        } else {
            Table::Hashed(HashMap::default())
        };
        Counter {
            length,
            last: 0,
            missing: length - 1,
            table,
        }
    }

    /// The length that it counts.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Counts what these nucleotides complete.
    pub fn feed(&mut self, codes: &[u8]) {
        let early = self.missing.min(codes.len());
        self.push(&codes[..early]);
        self.missing -= early;
        let mask = self.mask();
        let mut last = self.last;
        let codes = &codes[early..];
        match &mut self.table {
            Table::Direct { counts, turns } => {
                let turn = *turns - 1;
                for (index, code) in codes.iter().enumerate() {
                    last = (last << 2 | u64::from(*code)) & mask;
                    counts[(index & turn) << (2 * self.length) | last as usize] += 1;
                }
            }
            Table::Hashed(counts) => {
                for code in codes {
                    last = (last << 2 | u64::from(*code)) & mask;
                    *counts.entry(last).or_insert(0) += 1;
                }
            }
        }
        self.last = last;
    }

    /// Continues behind these nucleotides, and has counted none of what they complete.
    pub fn resume_after(&mut self, codes: &[u8]) {
        let kept = codes.len().min(self.length - 1);
        self.push(&codes[codes.len() - kept..]);
        self.missing = self.length - 1 - kept;
    }

    /// How often this key has come.
    pub fn of(&self, key: u64) -> u64 {
        match &self.table {
            Table::Direct { counts, turns } => {
                let turns = (0..*turns).map(|turn| turn << (2 * self.length) | key as usize);
                turns.map(|index| counts[index]).sum()
            }
            Table::Hashed(counts) => counts.get(&key).copied().unwrap_or(0),
        }
    }

    fn push(&mut self, codes: &[u8]) {
        let mask = self.mask();
        for code in codes {
            self.last = (self.last << 2 | u64::from(*code)) & mask;
        }
    }

    fn mask(&self) -> u64 {
        (1 << (2 * self.length)) - 1
    }
}

#[cfg(test)]
mod tests;
