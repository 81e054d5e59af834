//! An operation that is given up when its time is over.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use gossamer_core::context::{self, SchedulingPoint, Selecting, poll_branch, range_of};
use gossamer_core::mutant;
use gossamer_core::wait_queue::Leave;
use pin_project_lite::pin_project;

use crate::sleep::{Sleep, sleep, sleep_until};

/// Gives an operation so much time, counted from the operation's first poll; or the second, if it yielded in the first.
///
/// # Blocking
/// As the operation.
///
/// # Cancellation
/// Dropping it drops the operation.
///
/// # Errors
/// [`Elapsed`]: the time is over, and the operation is not complete; it has been dropped, and has taken no effect. (Given
/// by reference, it goes on; of a future that is no operation of ours, the part that is done is done; and the arrival at a
/// barrier may have counted, but for its own `timeout`, which says so.) An operation that is ready when it is polled first
/// wins over a deadline that has passed, also if it yielded before.
///
/// # Panics
/// As [`sleep`].
///
/// # Examples
/// ```
/// use std::future::{pending, ready};
/// use std::time::Duration;
/// use gossamer::Wait;
/// use gossamer::time::{Elapsed, timeout};
///
/// assert_eq!(timeout(Duration::ZERO, ready(7)).wait(), Ok(7));
/// assert_eq!(timeout(Duration::from_millis(1), pending::<()>()).wait(), Err(Elapsed));
/// ```
pub fn timeout<F: IntoFuture>(duration: Duration, operation: F) -> Timeout<F::IntoFuture> {
    Timeout::new(operation.into_future(), sleep(duration))
}

/// Gives an operation time until then; otherwise as [`timeout`].
///
/// # Errors
/// As [`timeout`].
///
/// # Examples
/// ```
/// use std::time::Duration;
/// use gossamer::Wait;
///
/// let soon = gossamer::time::now() + Duration::from_millis(1);
/// let never = gossamer::time::timeout_at(soon, std::future::pending::<()>());
/// assert!(never.wait().is_err());
/// ```
pub fn timeout_at<F: IntoFuture>(deadline: Instant, operation: F) -> Timeout<F::IntoFuture> {
    Timeout::new(operation.into_future(), sleep_until(deadline))
}

/// Time limits for every operation.
///
/// # Examples
/// ```
/// use std::time::Duration;
/// use gossamer::Wait;
/// use gossamer::TimeoutExt;
///
/// let never = std::future::pending::<()>().timeout(Duration::from_millis(1));
/// assert_eq!(never.wait().unwrap_err().to_string(), "the time is over");
/// ```
#[diagnostic::on_unimplemented(
    message = "there is no time limit for `{Self}`, which is not a future",
    label = "not a future",
    note = "only what can be awaited can be given up: an operation, a join handle, an `async` block; an `async fn` is called first"
)]
pub trait TimeoutExt: IntoFuture + Sized {
    /// [`timeout`].
    ///
    /// # Errors
    /// As there.
    fn timeout(self, duration: Duration) -> Timeout<Self::IntoFuture> {
        timeout(duration, self)
    }

    /// [`timeout_at`].
    ///
    /// # Errors
    /// As there.
    fn timeout_at(self, at: Instant) -> Timeout<Self::IntoFuture> {
        timeout_at(at, self)
    }
}

impl<F: IntoFuture> TimeoutExt for F {}

/// The time is over.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Elapsed;

gossamer_core::impl_debug_as_display!([] Elapsed[]);

impl fmt::Display for Elapsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the time is over")
    }
}

impl std::error::Error for Elapsed {}

impl From<Elapsed> for std::io::Error {
    fn from(elapsed: Elapsed) -> Self {
        Self::new(std::io::ErrorKind::TimedOut, elapsed)
    }
}

impl<F> Timeout<F> {
    /// The operation; `None`: the time is over, and it has been dropped.
    pub fn operation(self: Pin<&mut Self>) -> Option<Pin<&mut F>> {
        self.project().operation.as_pin_mut()
    }
}

pin_project! {
    /// [`timeout`], [`timeout_at`].
    #[must_use = "operations do nothing until they are awaited or waited for"]
    pub struct Timeout<F> {
        // None: the time is over.
        #[pin]
        operation: Option<F>,
        #[pin]
        limit: Sleep,
        point: SchedulingPoint,
        polled: bool,
        selecting: Selecting,
    }
}

impl<F> Timeout<F> {
    fn new(operation: F, limit: Sleep) -> Self {
        Self {
            operation: Some(operation),
            limit: limit.without_scheduling_point(),
            point: SchedulingPoint::new(),
            polled: false,
            selecting: Selecting::default(),
        }
    }
}

impl<F: Future> Future for Timeout<F> {
    type Output = Result<F::Output, Elapsed>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let polled = self.as_mut().poll_and_keep(cx);
        if let Poll::Ready(Err(Elapsed)) = polled
            && !mutant!("timeout_keeps_its_operation")
        {
            self.project().operation.set(None);
        }
        polled
    }
}

impl<F: Future> Timeout<F> {
    /// As [`poll`](Future::poll), but when the time is over the operation is still there.
    ///
    /// # Panics
    /// The time was over before.
    #[inline]
    pub fn poll_and_keep(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<F::Output, Elapsed>> {
        let range = range_of(&*self);
        let this = self.project();
        let (operation, mut limit, polled) = (this.operation, this.limit, this.polled);
        let operation = operation.as_pin_mut();
        let mut operation = operation.expect("a timeout was polled after it was complete");
        let operation_at = usize::from(mutant!("timeout_looks_first"));
        this.point.pass_with(cx.waker(), || {
            let mut yields = false;
            // A select of two, of which the operation is asked first.
            this.selecting.poll(
                range,
                || 0..2,
                |branch| {
                    if branch != operation_at {
                        return match yields {
                            true => Poll::Pending,
                            false => limit.as_mut().poll(cx).map(|()| Err(Elapsed)),
                        };
                    }
                    let yielded = context::yields_so_far();
                    let ready = match mutant!("timeout_withdraws_nothing") {
                        true => operation.as_mut().poll(cx),
                        false => poll_branch(operation.as_mut(), cx),
                    };
                    if let Poll::Ready(output) = ready {
                        return Poll::Ready(Ok(output));
                    }
                    // It has not begun so far, and is polled again at once: if what yielded has a waker of its own, by ours.
                    yields = !mem::replace(polled, true) && context::yields_so_far() != yielded;
                    if yields && !mutant!("timeout_trusts_yielding") {
                        context::outside_selects(|| cx.waker().wake_by_ref());
                    }
                    Poll::Pending
                },
            )
        })
    }
}

impl<F: Leave> Leave for Timeout<F> {
    const BY_REFERENCE: bool = F::BY_REFERENCE;

    fn leave(self: Pin<&mut Self>) {
        if let Some(operation) = self.operation() {
            operation.leave();
        }
    }
}

gossamer_core::impl_debug!([F] Timeout[F], this => limit: this.limit);
