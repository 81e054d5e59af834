//! Choosing among equals.

use super::with;

/// A number by which to choose among equals: another one each time, and the same ones in each run of a simulation.
pub fn random() -> u32 {
    with(|context| {
        // A congruential generator of full period (Knuth, The Art of Computer Programming, 3.2.1), and its higher bits.
        let next = context.rng.get().wrapping_mul(1_664_525);
        let next = next.wrapping_add(1_013_904_223);
        context.rng.set(next);
        next >> 16
    })
}

/// Begins the numbers of [`random`] on this thread anew.
pub fn seed_rng(rng: u32) {
    with(|context| context.rng.set(rng));
}
