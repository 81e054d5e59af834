//! Receiving for a limited time.

use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use gossamer_time::{Elapsed, Timeout, TimeoutExt};
use pin_project_lite::pin_project;

use super::receiving::{Hears, Receiving};
use crate::error::Closed;

impl<E: Hears> Receiving<E> {
    /// As [`timeout`](gossamer_time::timeout()), but the error has the endpoint: the session goes on.
    ///
    /// # Cancellation
    /// As the operation's own: dropped, it closes the pipe.
    ///
    /// # Errors
    /// [`TimedOut`]: the time is over. A message that comes later is received by the endpoint's next operation.
    pub fn timeout(self, duration: Duration) -> ReceivingInTime<E> {
        ReceivingInTime {
            receiving: TimeoutExt::timeout(self, duration),
        }
    }

    /// As [`timeout`](Receiving::timeout), until then.
    ///
    /// # Errors
    /// As there.
    pub fn timeout_at(self, at: Instant) -> ReceivingInTime<E> {
        ReceivingInTime {
            receiving: TimeoutExt::timeout_at(self, at),
        }
    }
}

/// The time is over, and nothing was received; this has the endpoint.
#[must_use = "dropping the endpoint closes the pipe"]
pub struct TimedOut<E>(E);

impl<E> TimedOut<E> {
    /// The endpoint, to receive with again.
    pub fn into_endpoint(self) -> E {
        self.0
    }
}

impl<E> fmt::Display for TimedOut<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the time is over, and the pipe's other end has sent nothing")
    }
}

gossamer_core::impl_debug_as_display!([E] TimedOut[E]);

impl<E> Error for TimedOut<E> {}

pin_project! {
    /// [`Receiving::timeout`], [`Receiving::timeout_at`].
    #[must_use = "dropping the operation closes the pipe"]
    #[derive(Debug)]
    pub struct ReceivingInTime<E: Hears> {
        #[pin]
        receiving: Timeout<Receiving<E>>,
    }
}

impl<E: Hears> Future for ReceivingInTime<E> {
    type Output = Result<Result<E::Heard, Closed>, TimedOut<E>>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut receiving = self.project().receiving;
        let received = ready!(receiving.as_mut().poll_and_keep(cx));
        let give_up = || receiving.operation()?.get_mut().give_up();
        Poll::Ready(received.map_err(|Elapsed| {
            TimedOut(give_up().expect("an operation that has given its output was in time"))
        }))
    }
}

impl<E: Hears> ReceivingInTime<E> {
    /// [`Receiving::into_endpoint`], of an operation that was awaited by reference.
    pub fn into_endpoint(self: Pin<&mut Self>) -> Option<E> {
        self.project().receiving.operation()?.get_mut().give_up()
    }
}
