//! Dating what was only stamped: from the processor's count to moments.
//!
//! How long a count takes is found from looks at the counter and the clock, and checked at each look after them: if the
//! counter has not kept pace with the clock since the look before, it was set back (by a suspend, or a restored
//! snapshot), was set forward, or stood still. Then the age of a stamp is unknown, and the rate is found anew.
//!
//! A stamp is dated at the first look after it, by the wheel that made it. So its age is at most the time between two
//! looks. What the counter may have done unnoticed in between is less than half the margin, and what comes of a rate
//! that is not exact is less than the other half. So a date is never too early; and it is too late by little more than
//! the margin, or, while the rate is unknown, it is the moment of the look. (One case cannot be told from a counter
//! that ran on evenly: between two looks it was set back, and also ran faster by just as much.)
//!
//! The margin grows with the time between two looks, and while there are no timers nobody looks. So whoever makes the
//! first stamp after an old look looks as well.

use std::mem;

use gossamer_core::moment::Moment;
use gossamer_core::mutant;
use gossamer_core::platform::counter;

use super::node::LAST;

/// An estimate of age is trusted but for so much: so many nanoseconds, and one part in this many of the time between
/// two looks.
const MARGIN_NANOS: u64 = 1_000;
const MARGIN_PART: u64 = 1_024;

/// Half of that is for what the counter does, half for a rate that is not exact: two that differ by less are the same.
const HALF_PART: f64 = 2.0 * MARGIN_PART as f64;

/// A look is old when the counter has gone on by so much: less than a millisecond as most processors count, ten as the
/// slowest do that are believed.
const OLD: u64 = 1 << 20;

/// The least time to find a rate from, in nanoseconds.
const BASELINE: u64 = 1_000_000;

/// The most nanoseconds of one count: each processor that counts evenly does so at more than 100 MHz.
const RATE_MAX: f64 = 10.0;

/// The count and the clock, read together.
#[derive(Debug, Clone, Copy)]
struct Pair {
    /// Read first, so that it is no later than the clock.
    count: u64,
    nanos: u64,
}

impl Pair {
    /// Where there is no counter, nothing has a stamp either.
    fn read() -> Self {
        let count = counter().unwrap_or(u64::MAX);
        let nanos = Moment::real_now().nanos();
        Self { count, nanos }
    }
}

/// A wheel's knowledge of the counter.
#[derive(Debug)]
pub(super) struct Clock {
    /// Where a baseline has begun, and the rate that the one before it gave.
    first: Pair,
    found: f64,
    /// The last look.
    last: Pair,
    /// Nanoseconds of one count; zero while that is not known.
    rate: f64,
}

/// Now, and how to tell the age of a stamp that was made since the look before.
#[derive(Debug, Clone, Copy)]
pub(super) struct Look {
    here: Pair,
    /// The count at the look before.
    since: u64,
    /// Nanoseconds of one count; zero: a stamp may be of now.
    rate: f64,
    margin: u64,
}

impl Clock {
    /// A stamp that means: now. Cheap; `None` where there is no counter.
    #[inline(always)]
    pub(super) fn stamp() -> Option<u64> {
        counter()
    }

    /// Before there is any stamp.
    pub(super) fn new() -> Self {
        Self::begun(Pair::read())
    }

    fn begun(here: Pair) -> Self {
        Self {
            first: here,
            found: 0.0,
            last: here,
            rate: 0.0,
        }
    }

    /// Looks at the counter and the clock, and dates nothing: stamps that were made before this have no look after
    /// it.
    pub(super) fn peek(&self) -> Look {
        self.peek_at(Pair::read())
    }

    /// Looks at the counter and the clock: all stamps that were made so far are to be dated by this.
    pub(super) fn look(&mut self) -> Look {
        self.look_at(Pair::read())
    }

    /// Whether the last look is old, or the counter was set back since, by a stamp that was just made.
    #[inline(always)]
    pub(super) fn is_old(&self, stamp: u64) -> bool {
        stamp.wrapping_sub(self.last.count) > OLD
    }

    /// Looks just after the first stamp was made, while there is no older one that is to be dated.
    #[cold]
    #[inline(never)]
    pub(super) fn freshen(&mut self) {
        self.look();
    }

    fn peek_at(&self, here: Pair) -> Look {
        let nanos = here.nanos.saturating_sub(self.last.nanos);
        let margin = MARGIN_NANOS + nanos / MARGIN_PART;
        let kept_pace = here
            .count
            .checked_sub(self.last.count)
            .is_some_and(|counts| {
                let off = counts as f64 * self.rate - nanos as f64;
                off.abs() <= margin as f64 / 2.0
            });
        let trusted = kept_pace || mutant!("clock_trusts_counter");
        Look {
            here,
            since: self.last.count,
            rate: if trusted { self.rate } else { 0.0 },
            margin,
        }
    }

    fn look_at(&mut self, here: Pair) -> Look {
        let look = self.peek_at(here);
        self.last = here;
        if look.rate == 0.0 {
            self.rate = 0.0;
            self.find_rate();
        }
        look
    }

    /// Ends a baseline, if it is long enough. The rate is known when that of two in a row is the same.
    fn find_rate(&mut self) {
        let nanos = self.last.nanos.saturating_sub(self.first.nanos);
        if nanos < BASELINE {
            return;
        }
        let counts = self.last.count.saturating_sub(self.first.count);
        let rate = nanos as f64 / counts as f64;
        let before = mem::replace(&mut self.found, rate);
        let is_same = (rate - before).abs() <= rate / HALF_PART || mutant!("clock_looks_once");
        let is_sound = rate <= RATE_MAX || mutant!("clock_believes_any_rate");
        if is_same && is_sound {
            self.rate = rate;
        }
        self.first = self.last;
    }
}

impl Look {
    /// A stamp that means: then.
    pub(super) fn stamp(&self) -> u64 {
        self.here.count
    }

    /// The moment so many nanoseconds after a stamp: rather a little too late than too early.
    pub(super) fn date(&self, stamp: u64, nanos: u64) -> u64 {
        // No stamp: registered some time before.
        let stamp = if stamp == 0 { self.here.count } else { stamp };
        let counts = self.here.count.saturating_sub(stamp.max(self.since));
        let age = (counts as f64 * self.rate) as u64;
        let sure = age.saturating_sub(self.margin);
        (self.here.nanos.saturating_sub(sure))
            .saturating_add(nanos)
            .min(LAST)
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
