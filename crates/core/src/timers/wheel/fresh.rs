//! Timers that are not dated so far.
//!
//! Registering one that is to fire some time after now reads no clock, but only takes a stamp, from the processor's
//! counter. The next look at the wheel reads the clock once and dates all that are fresh. Most are cancelled before.
//! Of those that one poll sets only every sixteenth takes a stamp, for itself and those before it: so they may count
//! from a little later than they were set, and never from earlier.

use core::ptr::NonNull;

use super::super::clock::Clock;
use super::super::timer::Timer;
use super::{FRESH, LEVELS, Wheel};
use crate::context;

/// So many are registered in one poll until the counter is read for them.
const STAMPED_AT_ONCE: u16 = 16;

impl Wheel {
    /// Whether there are timers that are not dated.
    pub(super) fn has_fresh(&self) -> bool {
        self.occupied[LEVELS] != 0
    }

    /// One more has come that may have no stamp.
    #[inline(always)]
    pub(super) fn count_unstamped(&mut self) {
        self.unstamped += 1;
        let turn = context::stamp();
        if core::mem::replace(&mut self.turn, turn) != turn || self.unstamped >= STAMPED_AT_ONCE {
            self.stamp();
        }
    }

    /// Stamps the last timers that are not dated.
    #[inline(never)]
    pub(super) fn stamp(&mut self) {
        self.unstamped = 0;
        let stamp = Clock::stamp().unwrap_or(0);
        let mut last = self.slots[FRESH].last;
        while let Some(timer) = NonNull::new(last.cast_mut()) {
            // SAFETY: under the lock; timers in a list are alive.
            let has_stamp = unsafe {
                Timer::links(timer.as_ptr(), |links| {
                    last = links.prev;
                    let has_stamp = links.stamp != 0;
                    if !has_stamp {
                        links.stamp = stamp;
                    }
                    has_stamp
                })
            };
            if has_stamp {
                return;
            }
        }
    }

    /// Dates timers that were stamped until then; `false` if there were more than so many. Others may go on registering,
    /// faster than one who dates them can.
    pub(super) fn date(&mut self, until: u64, moves: &mut usize) -> bool {
        let clock = Clock::read();
        while let Some(timer) = NonNull::new(self.slots[FRESH].first.cast_mut()) {
            // SAFETY: under the lock; timers in a list are alive.
            let stamp = unsafe { Timer::links(timer.as_ptr(), |links| links.stamp) };
            // One that the counter has not reached is of before it was set back: by a suspend, or another machine.
            if stamp > until && clock.has_reached(stamp) {
                return true;
            }
            if *moves == 0 {
                return false;
            }
            *moves -= 1;
            // SAFETY: it is in this wheel, and alive.
            unsafe {
                self.remove(timer);
                Timer::links(timer.as_ptr(), |links| {
                    links.deadline = clock.date(links.stamp, links.deadline);
                    links.is_dated = true;
                });
                self.insert(timer);
            }
        }
        true
    }
}
