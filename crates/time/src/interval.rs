//! Something that is due again and again.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use gossamer_core::moment::Moment;
use pin_project_lite::pin_project;

use crate::sleep::Sleep;
use crate::timers::here::now;

/// Ticks every `period`, the first time one period from now.
///
/// # Panics
/// The period is zero.
///
/// # Examples
/// ```
/// use std::time::Duration;
/// use gossamer::Wait;
///
/// let mut every = gossamer::time::interval(Duration::from_millis(1));
/// let first = every.tick().wait();
/// assert!(every.tick().wait() > first);
/// ```
#[track_caller]
pub fn interval(period: Duration) -> Interval {
    check(period);
    Interval::new(now().after(period), period)
}

/// Ticks every `period`, the first time at `first`, which may be past.
///
/// # Panics
/// The period is zero.
///
/// # Examples
/// ```
/// use std::time::{Duration, Instant};
/// use gossamer::Wait;
///
/// let start = Instant::now();
/// let mut every = gossamer::time::interval_at(start, Duration::from_millis(1));
/// assert_eq!(every.tick().wait(), start); // at once
/// ```
#[track_caller]
pub fn interval_at(first: Instant, period: Duration) -> Interval {
    check(period);
    Interval::new(Moment::of(first), period)
}

#[track_caller]
fn check(period: Duration) {
    assert!(
        !period.is_zero(),
        "an interval of zero would tick without end: give a period above zero"
    );
}

/// How an interval treats the ticks that were due while nobody waited for one.
///
/// # Examples
/// ```
/// use std::time::Duration;
/// use gossamer::{Wait, time};
///
/// let mut every = time::interval(Duration::from_millis(1)).missed(time::MissedTickBehavior::Burst);
/// time::sleep(Duration::from_millis(3)).wait();
/// let (first, second) = (every.tick().wait(), every.tick().wait()); // both are late, and come at once
/// assert_eq!(second - first, every.period());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MissedTickBehavior {
    /// They are left out: the next tick is the next multiple of the period that is ahead. Ticks stay in step with the
    /// first, and never come in a crowd; so this is the default.
    #[default]
    Skip,
    /// Each comes, at once, one after the other, until all have come.
    Burst,
    /// They are left out, and periods are counted anew from the tick that came late.
    Delay,
}

/// [`interval`], [`interval_at`].
#[derive(Debug)]
pub struct Interval {
    /// When the next tick is due.
    due: Moment,
    period: Duration,
    missed: MissedTickBehavior,
}

impl Interval {
    fn new(due: Moment, period: Duration) -> Self {
        Self {
            due,
            period,
            missed: MissedTickBehavior::default(),
        }
    }

    /// Says what becomes of missed ticks.
    #[must_use]
    pub fn missed(mut self, missed: MissedTickBehavior) -> Self {
        self.missed = missed;
        self
    }

    /// The time between two ticks.
    pub fn period(&self) -> Duration {
        self.period
    }

    /// Begins anew: the next tick is one period from now.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    /// use gossamer::{Wait, time};
    ///
    /// let mut every = time::interval_at(time::now(), Duration::from_millis(1));
    /// let began = time::now();
    /// every.reset();
    /// assert!(every.tick().wait() >= began + every.period());
    /// ```
    pub fn reset(&mut self) {
        self.due = now().after(self.period);
    }

    /// Waits for the next tick; its output is when that was due.
    ///
    /// With a period of 584 years or more it never comes.
    ///
    /// # Blocking
    /// In a task, a fiber, or a thread.
    ///
    /// # Cancellation
    /// Dropped unfinished, it has taken no tick.
    ///
    /// # Panics
    /// As [`sleep`](crate::sleep()).
    pub fn tick(&mut self) -> Tick<'_> {
        Tick {
            wait: Sleep::until(self.due),
            interval: self,
        }
    }

    /// The tick that is due has come: when that was.
    fn come(&mut self) -> Moment {
        let due = self.due;
        let now = now();
        let late = now.since(due);
        self.due = match self.missed {
            MissedTickBehavior::Delay if late >= self.period => now.after(self.period),
            MissedTickBehavior::Skip if late >= self.period => {
                let into = late.as_nanos() % self.period.as_nanos();
                // Less than a period, which is less than `late`, so it fits.
                let into = Duration::from_nanos(u64::try_from(into).unwrap_or(0));
                now.after(self.period - into)
            }
            _ => due.after(self.period),
        };
        due
    }
}

pin_project! {
    /// [`Interval::tick`].
    #[must_use = "operations do nothing until they are awaited or waited for"]
    pub struct Tick<'a> {
        #[pin]
        wait: Sleep,
        interval: &'a mut Interval,
    }
}

impl Future for Tick<'_> {
    type Output = Instant;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Instant> {
        let this = self.project();
        this.wait.poll(cx).map(|()| {
            let due = this.interval.come();
            due.instant().unwrap_or_else(Instant::now)
        })
    }
}

gossamer_core::impl_debug!([] Tick['_], this => interval: this.interval);
