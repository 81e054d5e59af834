//! Waiting until a moment.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use gossamer_core::context;
use gossamer_core::moment::Moment;
use gossamer_core::waiter::RawWakerParts;
use pin_project_lite::pin_project;

use crate::timers::Timer;

/// Waits for so long, counted from the first poll.
///
/// A sleep of zero is ready at its first poll (it yields now and then, as every operation does). One of 584 years or
/// more, such as [`Duration::MAX`], never ends.
///
/// It ends no sooner by [`Instant`]. It ends later if its thread is busy then, or was between the first poll and the
/// next look at its timers: mostly by two microseconds and a thousandth of the time that the thread was busy without
/// such a look; at most by all the time from the first poll to the look, as where one poll of a task sets several
/// timers, or just after the processor's counter was disturbed (by a suspend, or a restored snapshot).
///
/// # Blocking
/// In a task, a fiber, or a thread. Not by a foreign executor that blocks inside a task: under `Model::Single` and
/// `Model::Threads` the thread that it blocks is the one that would wake it.
///
/// # Cancellation
/// Dropped, it leaves nothing behind, wherever it is dropped.
///
/// # Panics
/// When it is polled by a foreign executor, and the system grants no thread to wake it.
///
/// # Examples
/// ```
/// use std::time::{Duration, Instant};
/// use gossamer::Wait;
///
/// let began = Instant::now();
/// gossamer::time::sleep(Duration::from_millis(1)).wait();
/// assert!(began.elapsed() >= Duration::from_millis(1));
/// ```
#[inline]
pub fn sleep(duration: Duration) -> Sleep {
    Sleep {
        timer: Timer::after(duration),
        state: if duration.is_zero() {
            State::Past
        } else {
            State::Ahead
        },
        yielded: false,
    }
}

/// Waits until then. If that is past, it is ready at its first poll.
///
/// Blocking, cancellation and panics are those of [`sleep`].
///
/// # Examples
/// ```
/// use std::time::Duration;
/// use gossamer::Wait;
///
/// let soon = gossamer::time::now() + Duration::from_millis(1);
/// gossamer::time::sleep_until(soon).wait();
/// assert!(gossamer::time::now() >= soon);
/// ```
pub fn sleep_until(deadline: Instant) -> Sleep {
    Sleep::until(Moment::of(deadline))
}

pin_project! {
    /// [`sleep`], [`sleep_until`].
    #[must_use = "operations do nothing until they are awaited or waited for"]
    pub struct Sleep {
        #[pin]
        timer: Timer,
        state: State,
        yielded: bool,
    }
}

/// Where a sleep stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Not begun: its end is ahead.
    Ahead,
    /// Not begun: its end may be past.
    Until,
    /// Not begun: there is nothing to wait for.
    Past,
    /// Registered.
    Begun,
    /// Complete.
    Done,
}

impl Sleep {
    pub(crate) fn until(deadline: Moment) -> Self {
        Self {
            timer: Timer::at(deadline),
            state: State::Until,
            yielded: false,
        }
    }

    /// Begins anew, to end at `deadline`, whether it is complete or not. Who waits for it has to poll it again.
    ///
    /// # Examples
    /// ```
    /// use std::{pin::pin, time::Duration};
    /// use gossamer::{channel::Receiver, select, time};
    ///
    /// /// Receives until nothing has come for a second.
    /// async fn all_of(rx: Receiver<u32>) -> u32 {
    ///     let (silence, mut sum) = (Duration::from_secs(1), 0);
    ///     let mut ends = pin!(time::sleep(silence));
    ///     loop {
    ///         select! {
    ///             Ok(number) = rx.recv() => sum += number,
    ///             () = &mut ends => return sum,
    ///         }
    ///         ends.as_mut().reset(time::now() + silence);
    ///     }
    /// }
    /// ```
    pub fn reset(mut self: Pin<&mut Self>, deadline: Instant) {
        self.set(sleep_until(deadline));
    }

    /// Without a scheduling point: it is a part of another operation, which has its own.
    pub(crate) fn without_scheduling_point(mut self) -> Self {
        self.yielded = true;
        self
    }
}

impl Future for Sleep {
    type Output = ();

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut this = self.project();
        let begins = *this.state != State::Begun;
        if begins {
            assert!(
                *this.state != State::Done,
                "a sleep was polled after it was complete"
            );
            if !*this.yielded && context::must_yield() {
                *this.yielded = true;
                context::yield_to_others(RawWakerParts::new(cx.waker()));
                return Poll::Pending;
            }
            let is_over = match *this.state {
                State::Until => this.timer.as_mut().is_past(),
                state => state == State::Past,
            };
            if is_over {
                *this.state = State::Done;
                return Poll::Ready(());
            }
        }
        if this.timer.as_mut().poll(cx.waker()).is_pending() {
            context::waits_still(&raw const *this.timer, "sleep::ends", !begins);
            if begins {
                *this.state = State::Begun;
            }
            return Poll::Pending;
        }
        *this.state = State::Done;
        Poll::Ready(())
    }
}

gossamer_core::impl_debug!([] Sleep[], this => state: this.state);
