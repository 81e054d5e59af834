//! Arriving for a limited time.

use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use gossamer_core::policy::LockPolicy;
use gossamer_time::{Elapsed, Timeout, TimeoutExt};
use pin_project_lite::pin_project;

use super::{Arrive, BarrierResult};

impl<'a, P: LockPolicy> Arrive<'a, P> {
    /// As [`timeout`](gossamer_time::timeout()), but the result says whether the arrival has counted.
    ///
    /// # Errors
    /// [`NotArrived`]: the time is over, and the arrival is taken back.
    ///
    /// # Examples
    /// ```
    /// # use std::time::Duration;
    /// use gossamer::Wait;
    /// use gossamer::sync::{Barrier, NotArrived};
    ///
    /// let barrier = Barrier::new(2);
    /// let alone = barrier.arrive().timeout(Duration::from_millis(1));
    /// assert_eq!(alone.wait(), Err(NotArrived));
    /// ```
    pub fn timeout(self, duration: Duration) -> ArriveInTime<'a, P> {
        ArriveInTime {
            arriving: TimeoutExt::timeout(self, duration),
        }
    }

    /// As [`timeout`](Arrive::timeout), until then.
    ///
    /// # Errors
    /// As there.
    pub fn timeout_at(self, at: Instant) -> ArriveInTime<'a, P> {
        ArriveInTime {
            arriving: TimeoutExt::timeout_at(self, at),
        }
    }
}

/// The time is over, and not all have come: the arrival is taken back, and has not counted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct NotArrived;

impl fmt::Display for NotArrived {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the time is over, and the arrival at the barrier has not counted")
    }
}

gossamer_core::impl_debug_as_display!([] NotArrived[]);

impl Error for NotArrived {}

impl From<NotArrived> for Elapsed {
    fn from(NotArrived: NotArrived) -> Self {
        Self
    }
}

pin_project! {
    /// [`Arrive::timeout`], [`Arrive::timeout_at`]. Dropped before all have come, it is taken back.
    #[must_use = "operations do nothing until they are awaited or waited for"]
    #[derive(Debug)]
    pub struct ArriveInTime<'a, P: LockPolicy> {
        #[pin]
        arriving: Timeout<Arrive<'a, P>>,
    }
}

impl<P: LockPolicy> Future for ArriveInTime<'_, P> {
    type Output = Result<BarrierResult, NotArrived>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut arriving = self.project().arriving;
        let arrived = ready!(arriving.as_mut().poll_and_keep(cx));
        let has_counted = || arriving.operation()?.take_back();
        Poll::Ready(arrived.or_else(|Elapsed| has_counted().ok_or(NotArrived)))
    }
}

impl<P: LockPolicy> ArriveInTime<'_, P> {
    /// [`Arrive::take_back`], of an arrival that was awaited by reference.
    ///
    /// # Panics
    /// As there.
    pub fn take_back(self: Pin<&mut Self>) -> Option<BarrierResult> {
        self.project().arriving.operation()?.take_back()
    }
}
