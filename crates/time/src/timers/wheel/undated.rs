//! Timers that are not dated so far.
//!
//! Registering one that is to fire some time after now mostly reads no clock, but only takes a stamp, from the
//! processor's counter. The next look at the wheel reads the clock once and dates all that are undated. Most are
//! cancelled before. Of those that one poll sets only every sixteenth takes a stamp, for itself and those before it: so
//! they may count from a little later than they were set, and never from earlier.
//!
//! A stamp means something to the wheel that made it, and until its next look (`clock.rs`). So a timer that goes on
//! elsewhere is dated before.

use gossamer_core::{context, mutant};

use super::super::clock::{Clock, Look};
use super::super::node::Entry;
use super::{FRESH, LEVELS, Wheel};

/// Number of timers registered in one poll at which the wheel reads the counter for them.
const STAMPED_AT_ONCE: u16 = 16;

impl Wheel {
    /// Whether there are timers that are not dated.
    pub(super) fn has_undated(&self) -> bool {
        self.occupied[LEVELS] != 0
    }

    /// One more has come that may have no stamp.
    #[inline(always)]
    pub(super) fn count_unstamped(&mut self) {
        self.unstamped += 1;
        let turn = context::stamp();
        if std::mem::replace(&mut self.turn, turn) != turn || self.unstamped >= STAMPED_AT_ONCE {
            self.stamp();
        }
    }

    /// Stamps the last timers that are not dated.
    #[inline(never)]
    pub(super) fn stamp(&mut self) {
        self.unstamped = 0;
        let stamp = Clock::stamp().unwrap_or(0);
        let mut last = self.slots[FRESH].last;
        while let Some(timer) = last {
            let has_stamp = timer.links(|links| {
                last = links.prev;
                let has_stamp = links.stamp != 0;
                if !has_stamp {
                    links.stamp = stamp;
                }
                has_stamp
            });
            if has_stamp {
                return;
            }
        }
        // None has an older stamp.
        if self.clock.is_old(stamp) && !mutant!("clock_stays_old") {
            self.clock.freshen();
        }
    }

    /// Dates a timer that was taken out of here, and is to go on elsewhere.
    pub(in super::super) fn date_taken(&self, timer: Entry) {
        timer.links(|links| {
            if !links.is_dated {
                links.date(self.clock.peek().date(links.stamp, links.deadline));
            }
        });
    }

    /// Dates timers that were stamped until that look; `false` if there were more than so many. Others may go on
    /// registering, faster than one who dates them can.
    pub(super) fn date(&mut self, look: &Look, moves: &mut usize) -> bool {
        while let Some(timer) = self.slots[FRESH].first {
            let stamp = timer.links(|links| links.stamp);
            // One that the counter has not reached is of before it was set back.
            if stamp > look.stamp() && Clock::stamp().is_some_and(|count| stamp <= count) {
                return true;
            }
            if *moves == 0 {
                return false;
            }
            *moves -= 1;
            self.unlink(timer);
            timer.links(|links| links.date(look.date(links.stamp, links.deadline)));
            self.insert_dated(timer);
        }
        true
    }
}
