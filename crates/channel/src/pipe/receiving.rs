//! Receiving, and what the types of a protocol have to say for it.

use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::task::{Context, Poll};

use gossamer_core::context;
use gossamer_core::waiter::RawWakerParts;

use super::ends::{ReceivingEnd, SendingEnd};
use super::word::{PipePolicy, Side};
use crate::error::Closed;

/// An end of a pipe in one state of its protocol. (`protocol!` implements this.)
pub trait Endpoint: Sized {
    /// All messages of the protocol.
    type Message;
    /// For any thread, or for one.
    type Flavour: PipePolicy;
    /// Whose end it is.
    type Side: Side;
}

/// An [`Endpoint`] in a state in which it sends.
#[diagnostic::on_unimplemented(message = "`{Self}` is no endpoint that sends")]
pub trait Speaks: Endpoint {
    /// The endpoint, of its parts.
    #[doc(hidden)]
    fn of_sending_end(end: SendingEnd<Self::Message, Self::Flavour, Self::Side>) -> Self;
}

/// An [`Endpoint`] in a state in which it receives.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no endpoint that receives",
    label = "in this state of the protocol it is this end that sends"
)]
pub trait Hears: Endpoint {
    /// The result of receiving: a message, and the endpoint in the state that follows.
    type Heard;

    /// The operation, as a simulation's report calls it.
    #[doc(hidden)]
    const OPERATION: &'static str = "pipe::recv";

    /// The endpoint, of its parts.
    #[doc(hidden)]
    fn of_receiving_end(end: ReceivingEnd<Self::Message, Self::Flavour, Self::Side>) -> Self;

    /// Its parts.
    #[doc(hidden)]
    fn into_receiving_end(self) -> ReceivingEnd<Self::Message, Self::Flavour, Self::Side>;

    /// Makes the result of receiving from the message and the end, which may send now.
    fn hear(
        message: Option<Self::Message>,
        end: SendingEnd<Self::Message, Self::Flavour, Self::Side>,
    ) -> Self::Heard;
}

/// The operation that receives the next message of a pipe, and gives the endpoint in the state that follows.
///
/// (It has no node, so a simulation's report does not say where it was called. A foreign waker is boxed.)
///
/// # Blocking
/// `.await` it in a task, `.wait()` for it in a fiber or a thread.
///
/// # Cancellation
/// The operation has the endpoint: dropped, it closes the pipe. Given up by [`timeout`](Receiving::timeout), it gives
/// the endpoint back in the error. Elsewhere, as in `select!`, await a `&mut` of it, and have the endpoint back by
/// [`into_endpoint`](Receiving::into_endpoint). A message that came meanwhile is received by the next operation.
///
/// # Errors
/// [`Closed`]: the other end was dropped, and all that it had sent has been received.
///
/// # Panics
/// Polled after it has given its output.
#[must_use = "dropping the operation closes the pipe, also in a `select!` that takes another branch: await a `&mut` of it \
              there, and `into_endpoint()` gives the endpoint back"]
pub struct Receiving<E: Hears> {
    /// Not any more once it is [`Phase::Done`].
    end: ManuallyDrop<ReceivingEnd<E::Message, E::Flavour, E::Side>>,
    phase: Phase,
    _endpoint: PhantomData<fn() -> E>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Fresh,
    /// Past its scheduling point.
    Begun,
    /// It has given its output.
    Done,
}

/// Says in the end that an operation is done: after its output has been made, or was to be made and the maker panicked.
/// (Last, as the compiler then sees that there is nothing left to drop.)
struct Ends<'a>(&'a mut Phase);

impl Drop for Ends<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        *self.0 = Phase::Done;
    }
}

impl<E: Hears> Unpin for Receiving<E> {}

impl<E: Hears> Receiving<E> {
    /// Nothing happens before the first poll.
    #[inline(always)]
    pub fn new(endpoint: E) -> Self {
        Self {
            end: ManuallyDrop::new(endpoint.into_receiving_end()),
            phase: Phase::Fresh,
            _endpoint: PhantomData,
        }
    }

    /// Gives up receiving, and has the endpoint back; `None` if the operation has given its output.
    pub fn into_endpoint(mut self) -> Option<E> {
        self.give_up()
    }

    /// As [`into_endpoint`](Receiving::into_endpoint); then it is done.
    pub(super) fn give_up(&mut self) -> Option<E> {
        if self.phase == Phase::Done {
            return None;
        }
        self.phase = Phase::Done;
        // SAFETY: it was not done until now, and so the end is there, and goes here.
        let mut end = unsafe { ManuallyDrop::take(&mut self.end) };
        end.forget_waker();
        Some(E::of_receiving_end(end))
    }
}

impl<E: Hears> Drop for Receiving<E> {
    #[inline(always)]
    fn drop(&mut self) {
        if self.phase != Phase::Done {
            // SAFETY: not done, so the end is there; it goes here.
            unsafe { ManuallyDrop::drop(&mut self.end) };
        }
    }
}

impl<E: Hears> Future for Receiving<E> {
    type Output = Result<E::Heard, Closed>;

    #[inline(always)]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        match this.phase {
            Phase::Begun => {}
            Phase::Fresh => {
                if context::must_yield() {
                    this.phase = Phase::Begun;
                    context::yield_to_others(RawWakerParts::new(cx.waker()));
                    return Poll::Pending;
                }
            }
            Phase::Done => {
                panic!("the receiving of a pipe was polled after it had given its output")
            }
        }
        let Poll::Ready(ended) = this.end.poll(cx.waker()) else {
            this.phase = Phase::Begun;
            context::simulated::waits_at(&raw const this.end, E::OPERATION);
            return Poll::Pending;
        };
        let ends = Ends(&mut this.phase);
        if ended.is_err() {
            drop(ends);
            // SAFETY: it was not done until now, and so the end is there; it goes here.
            unsafe { ManuallyDrop::drop(&mut this.end) };
            return Poll::Ready(Err(Closed));
        }
        // SAFETY: its turn has come, and it is done from now on.
        let (message, speaking) = unsafe { this.end.take() };
        Poll::Ready(Ok(E::hear(message, speaking)))
    }
}

gossamer_core::impl_debug!([E: Hears] Receiving[E]);

/// An endpoint that sends again, though its last message may still be in the slot: [`ready`](Full::ready) gives it.
#[must_use = "dropping the endpoint closes the pipe"]
pub struct Full<E: Speaks>(ReceivingEnd<E::Message, E::Flavour, E::Side>);

impl<E: Speaks> Full<E> {
    /// Waits until the message that was sent before has been taken.
    ///
    /// # Errors
    /// [`Closed`], from the operation: the other end was dropped.
    #[inline(always)]
    pub fn ready(self) -> Receiving<Self> {
        Receiving::new(self)
    }

    /// The endpoint to send with, if the message that was sent before has been taken. As a rule it has, if something
    /// was received meanwhile.
    ///
    /// # Errors
    /// Not so far, or never, as [`ready`](Full::ready) will say: gives the endpoint back.
    #[inline(always)]
    pub fn try_ready(self) -> Result<E, Self> {
        match self.0.turned() {
            Ok((_none, end)) => Ok(E::of_sending_end(end)),
            Err(end) => Err(Self(end)),
        }
    }
}

impl<E: Speaks> Endpoint for Full<E> {
    type Message = E::Message;
    type Flavour = E::Flavour;
    type Side = E::Side;
}

impl<E: Speaks> Hears for Full<E> {
    type Heard = E;

    const OPERATION: &'static str = "pipe::ready";

    #[inline(always)]
    fn of_receiving_end(end: ReceivingEnd<E::Message, E::Flavour, E::Side>) -> Self {
        Self(end)
    }

    #[inline(always)]
    fn into_receiving_end(self) -> ReceivingEnd<E::Message, E::Flavour, E::Side> {
        self.0
    }

    #[inline(always)]
    fn hear(_none: Option<E::Message>, end: SendingEnd<E::Message, E::Flavour, E::Side>) -> E {
        E::of_sending_end(end)
    }
}

gossamer_core::impl_debug!([E: Speaks] Full[E]);
