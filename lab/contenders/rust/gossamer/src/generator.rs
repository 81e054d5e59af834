//! Bare arithmetic: the generator whose state the lab can work out without taking the steps.

/// The state after so many steps of x → x · MULTIPLIER + INCREMENT (Knuth's MMIX).
#[inline(never)]
pub(crate) fn steps(mut state: u64, steps: u64) -> u64 {
    for _ in 0..steps {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
    }
    state
}

/// What one of `parts` gets of `total`.
pub(crate) fn part(total: u64, parts: u64, index: u64) -> u64 {
    total / parts + u64::from(index < total % parts)
}
