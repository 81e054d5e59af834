//! Choosing among equals.

use super::with;

/// A number by which to choose among equals: another one each time, and the same ones in each run of a simulation.
pub fn chance() -> u32 {
    with(|context| {
        // A congruential generator of full period (Knuth, The Art of Computer Programming, 3.2.1), and its higher bits.
        let next = context.chance.get().wrapping_mul(1_664_525);
        let next = next.wrapping_add(1_013_904_223);
        context.chance.set(next);
        next >> 16
    })
}

/// Begins the numbers of [`chance`] on this thread anew.
pub fn set_chance(chance: u32) {
    with(|context| context.chance.set(chance));
}
