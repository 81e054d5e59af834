//! When a thread looks, and when it does not.

use core::cell::Cell;
use std::time::Instant;

use super::{LOOK_FOR, Looks, MISSES_AT_FIRST, MISSES_MAX};

/// How many sleeps come before the next look, which finds that.
fn sleeps_before_look(looks: &Looks, finds: bool) -> u32 {
    for sleeps in 0..=1 << MISSES_MAX {
        let asked = Cell::new(0);
        // The first question is whether there is anything to look for.
        looks.look(|| asked.replace(asked.get() + 1) > 0 && finds);
        if asked.get() > 1 {
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

#[test]
fn what_was_there_before_is_no_success() {
    let looks = Looks::new();
    for _ in 0..=1 << MISSES_AT_FIRST {
        looks.look(|| true);
    }
    assert_eq!(sleeps_before_look(&looks, false), 1 << MISSES_AT_FIRST);
}

#[test]
fn a_look_of_a_thread_that_was_kept_from_it_is_no_success() {
    let looks = Looks::new();
    let is_late = || {
        let began = Instant::now();
        while began.elapsed() < 2 * LOOK_FOR {}
        true
    };
    for _ in 0..=1 << MISSES_AT_FIRST {
        let asked = Cell::new(0);
        looks.look(|| asked.replace(asked.get() + 1) > 0 && is_late());
    }
    assert_eq!(sleeps_before_look(&looks, false), 2 << MISSES_AT_FIRST);
}
