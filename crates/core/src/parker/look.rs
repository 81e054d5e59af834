//! Looking for a wake before going to sleep.
//!
//! To fall asleep and to be woken takes a thread, and who wakes it, some microseconds; a thread that answers another
//! one may take a few hundred nanoseconds. So a thread that is about to sleep looks for as long as sleeping would
//! take, if that has paid off lately: after each look in vain it sleeps twice as many times without one. A look changes
//! nothing, so no wake is lost by it.

#[cfg(not(any(loom, shuttle)))]
use core::time::Duration;
#[cfg(not(any(loom, shuttle)))]
use std::time::Instant;

use crate::platform::UnmodelledU32;
#[cfg(not(any(loom, shuttle)))]
use crate::platform::atomic::Ordering;
#[cfg(not(any(loom, shuttle)))]
use crate::platform::spin_loop;

/// How long a look is: about as long as the sleep that it may save. It has to outlast the wake of a partner that sleeps
/// (20 µs on some machines), or no look pays off.
#[cfg(not(any(loom, shuttle)))]
const LOOK_FOR: Duration = Duration::from_micros(30);
/// Pauses for each look at the clock, which costs more.
#[cfg(not(any(loom, shuttle)))]
const PAUSES_PER_CLOCK: u32 = 8;
/// A thread begins as if it had looked in vain so many times: if it seldom sleeps, it never looks.
const MISSES_AT_FIRST: u32 = 6;
/// From that many looks in vain on, there are no fewer looks: one for `1 << MISSES_MAX` sleeps.
#[cfg(not(any(loom, shuttle)))]
const MISSES_MAX: u32 = 10;

/// Whether one parker's looks have paid off lately. (Words, not cells, only because a parker can be shared; its thread
/// alone asks.)
#[derive(Debug)]
pub(super) struct Looks {
    /// Looks in vain since one that was not.
    misses: UnmodelledU32,
    /// Sleeps before the next look.
    skips: UnmodelledU32,
}

impl Looks {
    pub(super) fn new() -> Self {
        Self {
            misses: UnmodelledU32::new(MISSES_AT_FIRST),
            skips: UnmodelledU32::new(1 << MISSES_AT_FIRST),
        }
    }

    /// Looks whether `is_woken`, if it is time for that.
    #[cfg(not(any(loom, shuttle)))]
    #[inline]
    pub(super) fn look(&self, is_woken: impl Fn() -> bool) {
        if is_woken() {
            // That would have been no sleep: it says nothing of what a look saves.
            return;
        }
        // Relaxed: only this thread writes it, here and below.
        let skips = self.skips.load(Ordering::Relaxed);
        if skips > 0 {
            self.skips.store(skips - 1, Ordering::Relaxed); // Relaxed: as above
        } else {
            self.look_now(&is_woken);
        }
    }

    /// In models no time passes.
    #[cfg(any(loom, shuttle))]
    pub(super) fn look(&self, _is_woken: impl Fn() -> bool) {
        let _unused = (&self.misses, &self.skips);
    }

    #[cfg(not(any(loom, shuttle)))]
    #[inline(never)]
    fn look_now(&self, is_woken: &dyn Fn() -> bool) {
        let misses = if looks_until(is_woken) {
            0
        } else {
            // Relaxed: as above.
            let before = self.misses.load(Ordering::Relaxed);
            let more = u32::from(!crate::mutant!("vain_looks_go_on"));
            MISSES_MAX.min(before + more)
        };
        let skips = if misses == 0 { 0 } else { 1 << misses };
        self.misses.store(misses, Ordering::Relaxed); // Relaxed: as above
        self.skips.store(skips, Ordering::Relaxed); // Relaxed: as above
    }
}

/// Whether it was so before [`LOOK_FOR`] had passed.
#[cfg(not(any(loom, shuttle)))]
fn looks_until(is_so: &dyn Fn() -> bool) -> bool {
    let began = Instant::now();
    loop {
        for _ in 0..PAUSES_PER_CLOCK {
            if is_so() {
                // A thread that was off the processor meanwhile has saved nothing.
                return began.elapsed() < LOOK_FOR;
            }
            spin_loop();
        }
        if began.elapsed() >= LOOK_FOR {
            return false;
        }
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
