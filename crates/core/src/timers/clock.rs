//! Dating what was only stamped: from the processor's count to moments.

use super::Moment;
use super::timer::LAST;
use crate::door::{counter, process_global};

/// An estimate of age is trusted but for so much: so many nanoseconds, and one part in this many.
const MARGIN_NANOS: u64 = 1_000;
const MARGIN_PART: u64 = 1_024;

/// The rate is known once there is so much time to find it from, in nanoseconds.
const BASELINE: u64 = 1_000_000;

/// The count and the clock, read together.
#[derive(Debug, Clone, Copy)]
struct Pair {
    /// Read first, so that it is no later than the clock.
    count: u64,
    nanos: u64,
}

impl Pair {
    fn read() -> Option<Self> {
        let count = counter()?;
        let nanos = Moment::real_now().nanos();
        Some(Self { count, nanos })
    }
}

process_global! {
    /// The first pair of this process. No stamp is older: what is older than it cannot be dated, and might come out too
    /// early if this thread was put aside just now.
    fn first() -> Option<Pair> = Pair::read()
}

/// Reads the first pair, before there is any stamp.
pub(super) fn begin() {
    let _first = first();
}

/// Now, and how to tell the age of a stamp.
#[derive(Debug)]
pub(super) struct Clock {
    now: u64,
    count: u64,
    /// Nanoseconds of one count; zero while that is not known.
    rate: f64,
}

impl Clock {
    /// A stamp that means: now. Cheap; `None` where there is no counter.
    #[inline(always)]
    pub(super) fn stamp() -> Option<u64> {
        counter()
    }

    pub(super) fn read() -> Self {
        let first = *first();
        if let (Some(first), Some(here)) = (first, Pair::read()) {
            return Self::between(first, here);
        }
        Self {
            now: Moment::real_now().nanos(),
            count: 0,
            rate: 0.0,
        }
    }

    fn between(first: Pair, here: Pair) -> Self {
        let nanos = here.nanos.saturating_sub(first.nanos);
        let counts = here.count.saturating_sub(first.count);
        let rate = if nanos < BASELINE || counts == 0 {
            0.0
        } else {
            nanos as f64 / counts as f64
        };
        Self {
            now: here.nanos,
            count: here.count,
            rate,
        }
    }

    /// Whether the counter has come to this stamp.
    pub(super) fn has_reached(&self, stamp: u64) -> bool {
        stamp <= self.count
    }

    /// The moment so many nanoseconds after a stamp: rather a little too late than too early.
    pub(super) fn date(&self, stamp: u64, nanos: u64) -> u64 {
        // No stamp: registered some time before.
        let stamp = if stamp == 0 { self.count } else { stamp };
        let counts = self.count.saturating_sub(stamp);
        let age = (counts as f64 * self.rate) as u64;
        let sure = (age - age / MARGIN_PART).saturating_sub(MARGIN_NANOS);
        self.now
            .saturating_sub(sure)
            .saturating_add(nanos)
            .min(LAST)
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    //! Pairs between whose halves the thread was put aside.
    use super::*;

    #[test]
    fn nothing_is_dated_too_early() {
        // One count is two nanoseconds.
        let begins = 10_000_000;
        let aside = [0, 50, 400_000, 7_000_000];
        for (first_aside, here_aside) in aside.iter().flat_map(|one| aside.map(|two| (one, two))) {
            let first = Pair {
                count: begins / 2,
                nanos: begins + first_aside,
            };
            for age_of_first in [2_000_000, 30_000_000, 86_400_000_000_000] {
                let read = begins + age_of_first;
                let here = Pair {
                    count: read / 2,
                    nanos: read + here_aside,
                };
                let clock = Clock::between(first, here);
                for age in [0, 2_000, 1_000_000, age_of_first] {
                    let made = read - age;
                    assert!(
                        clock.date(made / 2, 0) >= made,
                        "{first_aside} {here_aside} {age_of_first} {age}"
                    );
                }
            }
        }
    }
}
