//! A waiting operation: it goes at once, or parks until the other side has done something; or is dropped on the way.
//!
//! Nothing is ever given to an operation that waits: it is woken, and then tries once more.

use std::fmt;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use gossamer_core::context;
use gossamer_core::platform::{spin_loop, thread};
use gossamer_core::wait::may_spin;
use gossamer_core::waiter::{PollWaker, RawWakerParts};
use pin_project_lite::pin_project;

use super::flavour::RingPolicy;
use super::receiver::Receiver;
use super::sender::{Put, Sender};
use super::waiter::{End, Named, Waiter};
use crate::error::{Closed, SendError, TryRecvError};

/// How often a thread looks before it parks: it waits longer each time, up to a limit, and in the end lets others run.
const LOOKS: u32 = if cfg!(any(loom, shuttle)) { 0 } else { 11 };
/// The first of those that lets others run.
const YIELDS: u32 = 7;
/// The processor's pauses before the second look, and the most before one. A side that looks sooner takes the other
/// side's cache lines away for one message. With 1 a stream takes a quarter longer; with 16 a side that has to wait for
/// each message gets it twice as late.
const FIRST_PAUSE: u32 = 8;
const LAST_PAUSE: u32 = 64;

/// Where the operation stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Not polled yet.
    Fresh,
    /// Past its scheduling point.
    Begun,
    /// Complete.
    Done,
}

pin_project! {
    /// One operation.
    pub(super) struct Op<'a, T, P: RingPolicy, A: RingAction<T, P>> {
        #[pin]
        waiter: Waiter<T, P, A::End, A>,
        // Dropped after `waiter`, and so after the operation has left the queue.
        act: A,
        end: &'a mut A::End,
        phase: Phase,
    }
}

// SAFETY: `&Op` gives access to nothing: what it does is done by `&mut`.
unsafe impl<T: Send, P: RingPolicy, A: RingAction<T, P>> Sync for Op<'_, T, P, A> where P::Word: Sync
{}

impl<'a, T, P: RingPolicy, A: RingAction<T, P>> Op<'a, T, P, A> {
    #[inline(always)]
    pub(super) fn new(end: &'a mut A::End, act: A, location: &'static Location<'static>) -> Self {
        Self {
            // SAFETY: the end is borrowed for longer.
            waiter: unsafe { Waiter::new(end, location) },
            act,
            end,
            phase: Phase::Fresh,
        }
    }

    #[inline(always)]
    pub(super) fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<A::Output> {
        let this = self.as_mut().project();
        if *this.phase == Phase::Fresh {
            if context::must_yield() {
                *this.phase = Phase::Begun;
                context::yield_to_others(RawWakerParts::new(cx.waker()));
                return Poll::Pending;
            }
            if let Some(output) = this.act.quickly(this.end) {
                *this.phase = Phase::Done;
                return Poll::Ready(output);
            }
        }
        self.poll_slowly(cx.waker())
    }

    #[inline(never)]
    fn poll_slowly(self: Pin<&mut Self>, waker: &Waker) -> Poll<A::Output> {
        let mut this = self.project();
        assert!(
            *this.phase != Phase::Done,
            "{} was polled after it was complete",
            A::NAME
        );
        *this.phase = Phase::Begun;
        let mut waker = PollWaker::new(waker);
        let mut looks = 0;
        loop {
            if this.waiter.is_queued() && this.waiter.as_mut().stays_queued(&mut waker) {
                return Poll::Pending;
            }
            if let Some(output) = this.act.attempt(this.end) {
                *this.phase = Phase::Done;
                return Poll::Ready(output);
            }
            if looks < LOOKS && !P::THREAD_BOUND && may_spin() {
                pause(looks);
                looks += 1;
                continue;
            }
            if this.waiter.as_mut().parks(&mut waker) {
                return Poll::Pending;
            }
        }
    }
}

/// Waits a while before the next look.
fn pause(looks: u32) {
    if looks < YIELDS {
        for _ in 0..(FIRST_PAUSE << looks).min(LAST_PAUSE) {
            spin_loop();
        }
    } else {
        thread::yield_now();
    }
}

impl<T, P: RingPolicy, A: RingAction<T, P>> fmt::Debug for Op<'_, T, P, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} at {} ({:?})",
            A::NAME,
            self.waiter.location(),
            self.phase
        )
    }
}

/// One of the operations.
pub(super) trait RingAction<T, P: RingPolicy>: Named {
    /// The side that the operation belongs to.
    type End: End<T, P>;
    /// The operation's output.
    type Output;

    /// Completes the operation, if that is simple; `None` says nothing.
    #[inline(always)]
    fn quickly(&mut self, _end: &mut Self::End) -> Option<Self::Output> {
        None
    }

    /// Completes the operation, if that can be at once.
    fn attempt(&mut self, end: &mut Self::End) -> Option<Self::Output>;
}

/// Sending one message, as long as it has not been sent.
pub(super) struct Sends<T>(pub(super) Option<T>);

impl<T> Sends<T> {
    #[inline(always)]
    fn ended(&mut self, put: Put) -> Option<Result<(), SendError<T>>> {
        match put {
            Put::Sent => Some(Ok(())),
            Put::Full => None,
            Put::Closed => Some(
                self.0
                    .take()
                    .map_or(Ok(()), |message| Err(SendError(message))),
            ),
        }
    }
}

impl<T> Named for Sends<T> {
    const NAME: &'static str = "spsc::Sender::send";
}

impl<T, P: RingPolicy> RingAction<T, P> for Sends<T> {
    type End = Sender<T, P>;
    type Output = Result<(), SendError<T>>;

    #[inline(always)]
    fn quickly(&mut self, end: &mut Sender<T, P>) -> Option<Self::Output> {
        let put = end.put_quickly(&mut self.0);
        self.ended(put)
    }

    fn attempt(&mut self, end: &mut Sender<T, P>) -> Option<Self::Output> {
        let put = end.put(&mut self.0);
        self.ended(put)
    }
}

/// Receiving one message.
pub(super) struct Receives;

impl Named for Receives {
    const NAME: &'static str = "spsc::Receiver::recv";
}

impl<T, P: RingPolicy> RingAction<T, P> for Receives {
    type End = Receiver<T, P>;
    type Output = Result<T, Closed>;

    #[inline(always)]
    fn quickly(&mut self, end: &mut Receiver<T, P>) -> Option<Self::Output> {
        end.take_quickly().map(Ok)
    }

    fn attempt(&mut self, end: &mut Receiver<T, P>) -> Option<Self::Output> {
        unless_empty(end.take())
    }
}

/// Receiving several messages.
pub(super) struct ReceivesMany<'a, T> {
    into: &'a mut Vec<T>,
    most: usize,
}

impl<'a, T> ReceivesMany<'a, T> {
    pub(super) fn new(into: &'a mut Vec<T>, most: usize) -> Self {
        Self { into, most }
    }
}

impl<T> Named for ReceivesMany<'_, T> {
    const NAME: &'static str = "spsc::Receiver::recv_many";
}

impl<T, P: RingPolicy> RingAction<T, P> for ReceivesMany<'_, T> {
    type End = Receiver<T, P>;
    type Output = Result<usize, Closed>;

    fn attempt(&mut self, end: &mut Receiver<T, P>) -> Option<Self::Output> {
        if self.most == 0 {
            return Some(Ok(0));
        }
        unless_empty(end.take_many(self.into, self.most))
    }
}

/// Converts the result of taking to an operation's output; `None` if the operation has to wait.
fn unless_empty<R>(taken: Result<R, TryRecvError>) -> Option<Result<R, Closed>> {
    match taken {
        Ok(taken) => Some(Ok(taken)),
        Err(TryRecvError::Closed) => Some(Err(Closed)),
        Err(TryRecvError::Empty) => None,
    }
}

pin_project! {
    /// [`Sender::send`].
    #[must_use = "operations do nothing until they are awaited or waited for"]
    #[derive(Debug)]
    pub struct Sending<'a, T: 'a, P: RingPolicy> {
        #[pin]
        pub(super) op: Op<'a, T, P, Sends<T>>,
    }
}

impl<T, P: RingPolicy> Future for Sending<'_, T, P> {
    type Output = Result<(), SendError<T>>;

    #[inline(always)]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.project().op.poll(cx)
    }
}

pin_project! {
    /// [`Receiver::recv`].
    #[must_use = "operations do nothing until they are awaited or waited for"]
    #[derive(Debug)]
    pub struct Receiving<'a, T: 'a, P: RingPolicy> {
        #[pin]
        pub(super) op: Op<'a, T, P, Receives>,
    }
}

impl<T, P: RingPolicy> Future for Receiving<'_, T, P> {
    type Output = Result<T, Closed>;

    #[inline(always)]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.project().op.poll(cx)
    }
}

pin_project! {
    /// [`Receiver::recv_many`].
    #[must_use = "operations do nothing until they are awaited or waited for"]
    #[derive(Debug)]
    pub struct ReceivingMany<'a, T: 'a, P: RingPolicy> {
        #[pin]
        pub(super) op: Op<'a, T, P, ReceivesMany<'a, T>>,
    }
}

impl<T, P: RingPolicy> Future for ReceivingMany<'_, T, P> {
    type Output = Result<usize, Closed>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.project().op.poll(cx)
    }
}
