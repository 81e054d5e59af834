//! The inputs of the Benchmarks Game: what its program `fasta` writes, byte for byte.
//!
//! Constants and rules are the game's (the page "fasta description" of The Computer Language Benchmarks Game): a linear
//! congruential generator that all sequences share, a repeated piece of human DNA, and two alphabets with frequencies.

use std::io::{self, Write};

/// The generator's modulus, factor and increment, and where it begins.
const IM: u32 = 139_968;
const IA: u32 = 3_877;
const IC: u32 = 29_573;
const SEED: u32 = 42;
/// Letters in a line.
const LINE: usize = 60;

/// Homo sapiens alu.
const ALU: &[u8] = b"GGCCGGGCGCGGTGGCTCACGCCTGTAATCCCAGCACTTTGGGAGGCCGAGGCGGGCGGATCACCTGAGGTCAGGAGTTCGAGA\
CCAGCCTGGCCAACATGGTGAAACCCCGTCTCTACTAAAAATACAAAAATTAGCCGGGCGTGGTGGCGCGCGCCTGTAATCCCAGCTACTCGGGAGGCTGAGG\
CAGGAGAATCGCTTGAACCCGGGAGGCGGAGGTTGCAGTGAGCCGAGATCGCGCCACTGCACTCCAGCCTGGGCGACAGAGCGAGACTCCGTCTCAAAAA";

/// Letters and how probable each is.
type Alphabet = [(u8, f64)];

const IUB: [(u8, f64); 15] = [
    (b'a', 0.27),
    (b'c', 0.12),
    (b'g', 0.12),
    (b't', 0.27),
    (b'B', 0.02),
    (b'D', 0.02),
    (b'H', 0.02),
    (b'K', 0.02),
    (b'M', 0.02),
    (b'N', 0.02),
    (b'R', 0.02),
    (b'S', 0.02),
    (b'V', 0.02),
    (b'W', 0.02),
    (b'Y', 0.02),
];

const HOMO_SAPIENS: [(u8, f64); 4] = [
    (b'a', 0.302_954_942_668_0),
    (b'c', 0.197_988_300_492_1),
    (b'g', 0.197_547_306_639_1),
    (b't', 0.301_509_450_200_8),
];

/// The letter that each state of the generator chooses: there are few states, and so no letter is searched twice.
fn choices(alphabet: &Alphabet) -> Vec<u8> {
    let choose = |state: u32| {
        let drawn = f64::from(state) / f64::from(IM);
        let mut reached = 0.0;
        let mut letters = alphabet.iter();
        let chosen = letters.find(|(_, probability)| {
            reached += probability;
            drawn < reached
        });
        // The sum of all may be a little less than one.
        chosen
            .or(alphabet.last())
            .map_or(b'?', |(letter, _)| *letter)
    };
    (0..IM).map(choose).collect()
}

/// Writes a header, and so many letters below it.
fn sequence(
    out: &mut impl Write,
    header: &str,
    count: u64,
    mut next: impl FnMut() -> u8,
) -> io::Result<()> {
    writeln!(out, ">{header}")?;
    let mut left = count;
    let mut line = Vec::with_capacity(LINE + 1);
    while left > 0 {
        let length = left.min(LINE as u64);
        line.clear();
        line.extend((0..length).map(|_| next()));
        line.push(b'\n');
        out.write_all(&line)?;
        left -= length;
    }
    Ok(())
}

/// Writes the game's input for this N: 2 N, 3 N and 5 N letters in three sequences.
///
/// # Errors
/// It cannot be written.
pub fn fasta(n: u64, out: &mut impl Write) -> io::Result<()> {
    let mut alu = ALU.iter().cycle();
    let repeated = || alu.next().copied().unwrap_or(b'?');
    sequence(out, "ONE Homo sapiens alu", 2 * n, repeated)?;
    let mut state = SEED;
    let mut random = |alphabet: &Alphabet, header: &str, count: u64, out: &mut _| {
        let choices = choices(alphabet);
        let next = || {
            state = (state * IA + IC) % IM;
            choices[state as usize]
        };
        sequence(out, header, count, next)
    };
    random(&IUB, "TWO IUB ambiguity codes", 3 * n, out)?;
    random(&HOMO_SAPIENS, "THREE Homo sapiens frequency", 5 * n, out)?;
    out.flush()
}

#[cfg(test)]
mod tests;
