//! Choosing among equals.

use super::{Context, simulated, with};

/// A walk round some places, in equal steps: the first place, the step, and how many places there are.
pub type Walk = (usize, usize, usize);

impl Context {
    /// As [`random`], of which the higher bits count.
    #[inline(always)]
    fn random(&self) -> u32 {
        // A congruential generator of full period (Knuth, The Art of Computer Programming, 3.2.1).
        let next = self.rng.get().wrapping_mul(1_664_525);
        let next = next.wrapping_add(1_013_904_223);
        self.rng.set(next);
        next
    }
}

/// A number by which to choose among equals, of 16 bits: another one each time, and the same ones in each run of a
/// simulation.
pub fn random() -> u32 {
    with(Context::random) >> u16::BITS
}

/// A random walk round so many places, two at least, of which the first ones are branches: each start is as probable as the
/// others, and so is each step. A simulation may choose it.
#[inline(always)]
pub fn walk(branches: usize, places: usize) -> Walk {
    with(|context| {
        if context.scheduling_points.get() {
            return simulated_walk(branches, places);
        }
        // The place in the whole part, and the step in what is left.
        let number = u64::from(context.random()) * places as u64;
        let step = u64::from(number as u32) * (places as u64 - 1);
        let of = |number: u64| (number >> u32::BITS) as usize;
        (of(number), 1 + of(step), places)
    })
}

#[cold]
#[inline(never)]
fn simulated_walk(branches: usize, places: usize) -> Walk {
    let below = |end: usize| ((u64::from(random()) * end as u64) >> u16::BITS) as usize;
    match simulated::walk(branches) {
        Some((first, step)) => (first, step, branches),
        None => (below(places), 1 + below(places - 1), places),
    }
}

/// Begins the numbers of [`random`] on this thread anew.
pub fn seed_rng(rng: u32) {
    with(|context| context.rng.set(rng));
}
