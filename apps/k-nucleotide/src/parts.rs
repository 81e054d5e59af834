//! How counting is cut into parts that run at once.
//!
//! The lengths cost very differently, so each is cut into ranges of the block besides: every range of a length has a
//! table of its own, which only the part that counts there touches. The output adds them up.

use crate::counter::{Counter, LENGTHS};

/// A block has at least so many nucleotides: they fit into a second-level cache, and a part of them takes milliseconds
/// at most, so a worker is never held up for long. (Small in tests, which so have many.)
pub const BLOCK: usize = if cfg!(test) { 1_000 } else { 256 * 1024 };

/// What some parts count at once: the codes of a block, behind those of the block before that keys may begin in.
#[derive(Debug, Default)]
pub struct Block {
    codes: Vec<u8>,
    /// How many of the codes are of the block before.
    before: usize,
}

impl Block {
    /// Begins a new block behind another one; its codes are to be appended.
    pub fn follow(&mut self, other: &Block) -> &mut Vec<u8> {
        let longest = LENGTHS.iter().max().map_or(0, |length| length - 1);
        self.before = other.codes.len().min(longest);
        self.codes.clear();
        let kept = &other.codes[other.codes.len() - self.before..];
        self.codes.extend_from_slice(kept);
        &mut self.codes
    }

    /// Whether it has no codes of its own.
    pub fn is_empty(&self) -> bool {
        self.codes.len() == self.before
    }
}

/// A length, in one of some equal ranges of each block.
#[derive(Debug)]
pub struct Part {
    range: usize,
    ranges: usize,
    counter: Counter,
}

impl Part {
    /// All lengths, each cut into so many ranges: range after range, so that a half of the parts is a half of the work,
    /// and in each what costs most first, so that what is left for the end is small.
    pub fn all(ranges: usize) -> Vec<Part> {
        let part = |length: &usize, range| Part {
            range,
            ranges,
            counter: Counter::new(*length),
        };
        let of = |range| LENGTHS.iter().rev().map(move |length| part(length, range));
        (0..ranges).flat_map(of).collect()
    }

    /// Counts what ends in its range of the block.
    pub fn count(&mut self, block: &Block) {
        let own = block.codes.len() - block.before;
        let bound = |range: usize| block.before + own * range / self.ranges;
        let (from, to) = (bound(self.range), bound(self.range + 1));
        self.counter.resume_after(&block.codes[..from]);
        self.counter.feed(&block.codes[from..to]);
    }

    /// Its counts.
    pub fn into_counter(self) -> Counter {
        self.counter
    }
}
