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
    /// The first pair of this process.
    fn first() -> Option<Pair> = Pair::read()
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
        let (Some(first), Some(here)) = (first, Pair::read()) else {
            return Self {
                now: Moment::real_now().nanos(),
                count: 0,
                rate: 0.0,
            };
        };
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

    /// The moment so many nanoseconds after a stamp: rather a little too late than too early.
    pub(super) fn date(&self, stamp: u64, nanos: u64) -> u64 {
        let counts = self.count.saturating_sub(stamp);
        let age = (counts as f64 * self.rate) as u64;
        let sure = (age - age / MARGIN_PART).saturating_sub(MARGIN_NANOS);
        self.now
            .saturating_sub(sure)
            .saturating_add(nanos)
            .min(LAST)
    }
}
