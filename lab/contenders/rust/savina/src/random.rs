//! The generators: Savina's own, which its programs share over languages, and one of 32 bits.

/// Savina's `PseudoRandom`: a linear congruence of 16 bits.
#[derive(Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = (self.0 * 1_309 + 13_849) & 65_535;
        self.0
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.next() as usize % end
    }

    /// One over a whole number.
    pub(crate) fn fraction(&mut self) -> f64 {
        1.0 / (self.next() + 1) as f64
    }
}

/// One step of xorshift with 32 bits (Marsaglia 2003), which is a small number in every language.
pub(crate) fn step(mut state: u32) -> u32 {
    state ^= state << 13;
    state ^= state >> 17;
    state ^ (state << 5)
}
