//! Points in time, as one word; and who looks after them in a wait.

use core::fmt;
use core::task::Waker;
use core::time::Duration;
use std::time::Instant;

use crate::platform::process_global;

process_global! {
    /// The origin that all moments count from: `PAST` before the first moment that this process asked for. (Where
    /// instants do not go back so far, that first moment.)
    fn base() -> Instant = {
        let now = Instant::now();
        now.checked_sub(PAST).unwrap_or(now)
    }
}

/// The longest time that a moment may lie before the first one asked for.
const PAST: Duration = Duration::from_secs(365 * 86_400);

/// A point in time, in nanoseconds: from a year before the first one that this process asked for, for 584 years.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(u64);

impl Moment {
    /// After every other.
    pub const NEVER: Self = Self(u64::MAX);

    /// Returns the moment that is `nanos` nanoseconds after the first moment there is.
    #[inline(always)]
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// How many nanoseconds after the first moment there is.
    #[inline(always)]
    pub const fn nanos(self) -> u64 {
        self.0
    }

    /// Now, by the clock of the machine.
    #[inline]
    pub fn real_now() -> Self {
        Self::of(Instant::now())
    }

    /// The moment of an instant. What lies more than a year before the first one asked for counts as that.
    #[inline]
    pub fn of(instant: Instant) -> Self {
        Self(nanos_of(instant.saturating_duration_since(*base())))
    }

    /// So much later; what no instant can hold is [`Moment::NEVER`].
    #[inline]
    #[must_use]
    pub fn after(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(nanos_of(duration)))
    }

    /// How long after `earlier` this is; nothing, if it is not.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }

    /// How long it is until then, by the clock of the machine; `None` for ever.
    pub fn left(self) -> Option<Duration> {
        (self != Self::NEVER).then(|| self.since(Self::real_now()))
    }

    /// The instant; `None` if it is [`Moment::NEVER`].
    pub fn instant(self) -> Option<Instant> {
        if self == Self::NEVER {
            return None;
        }
        base().checked_add(Duration::from_nanos(self.0))
    }
}

/// The nanoseconds of a duration; as many as there can be, if there are more.
#[inline]
pub fn nanos_of(duration: Duration) -> u64 {
    let seconds = duration.as_secs().saturating_mul(1_000_000_000);
    seconds.saturating_add(u64::from(duration.subsec_nanos()))
}

/// The timers of a thread that waits and runs nothing: its waits serve them. They are made when the thread registers
/// the first, by the crate that has timers, which [says so](crate::wait::set_own_timers).
pub trait OwnTimers: fmt::Debug + Sync {
    /// Fires what is due; `true` if something was.
    fn serve(&self) -> bool;

    /// When to look again.
    fn next_deadline(&self) -> Moment;

    /// The wait is over. Timers whose waker is no task's, and does not wake this thread, go where somebody serves them.
    fn rest(&'static self, wakes_thread: &dyn Fn(&Waker) -> bool);
}
