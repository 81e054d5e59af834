//! Bare arithmetic: the generator whose state the lab can work out without taking the steps.

/// The state of xorshift (Marsaglia 2003) after so many steps. A linear congruence would not do: the compiler
/// makes one step of many.
#[inline(never)]
pub fn steps(mut state: u64, steps: u64) -> u64 {
    for _ in 0..steps {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
    }
    state
}
