//! k-nucleotide of the Benchmarks Game: how often each short sequence of nucleotides occurs in a FASTA sequence.
//!
//! One input, one output, three ways to count: [`serial`], in parallel ([`parallel`]), and by messages from a reading
//! task to counting tasks ([`messages`]), which is the program of rustc's benchmarks of 2012. [`fasta`] reads,
//! [`counter`] counts one length, [`report`] writes, [`generate`] makes the game's inputs.
#![forbid(unsafe_code)]

#[cfg(feature = "runtime")]
pub mod cli;
pub mod counter;
pub mod error;
pub mod fasta;
pub mod generate;
#[cfg(feature = "runtime")]
pub mod json;
#[cfg(feature = "runtime")]
pub mod messages;
#[cfg(feature = "runtime")]
pub mod parallel;
pub mod parts;
pub mod report;
pub mod serial;

#[cfg(test)]
mod tests;
