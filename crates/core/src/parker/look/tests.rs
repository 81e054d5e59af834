//! When a thread looks, and when it does not.

use core::cell::Cell;

use super::{Looks, MISSES_AT_FIRST, MISSES_MAX};

/// How many sleeps come before the next look, which finds that.
fn sleeps_before_look(looks: &Looks, finds: bool) -> u32 {
    let looked = Cell::new(false);
    for sleeps in 0..=1 << MISSES_MAX {
        looks.look(|| {
            looked.set(true);
            finds
        });
        if looked.get() {
            return sleeps;
        }
    }
    panic!("there was no look before the last sleep");
}

#[test]
fn looks_in_vain_become_rare() {
    let looks = Looks::new();
    for misses in MISSES_AT_FIRST..=MISSES_MAX {
        assert_eq!(sleeps_before_look(&looks, false), 1 << misses);
    }
    assert_eq!(sleeps_before_look(&looks, false), 1 << MISSES_MAX);
}

#[test]
fn a_look_that_pays_off_is_followed_by_the_next() {
    let looks = Looks::new();
    assert_eq!(sleeps_before_look(&looks, true), 1 << MISSES_AT_FIRST);
    assert_eq!(sleeps_before_look(&looks, true), 0);
    assert_eq!(sleeps_before_look(&looks, false), 0);
    assert_eq!(sleeps_before_look(&looks, false), 2);
}
