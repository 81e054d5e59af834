//! Channels for many senders and many receivers: bounded, unbounded, rendezvous.
//!
//! # Protocol
//!
//! One word with a lock (see [`gossamer_core::policy`]), a buffer, and two queues: of the operations that wait to send,
//! and of those that wait to receive. (A third one is for [joins](fn@join) alone: `mpmc/awaiting.rs`.)
//!
//! * A sender puts its message into the buffer. If that is full, it waits in its queue and keeps the message. A
//!   receiver that makes room *reserves* a place for the first sender in the queue and wakes it; the sender puts its
//!   message there in its own poll. Places are counted, not numbered: woken senders enter in the order of their polls.
//!   Nobody else can use a reserved place; a sender that is dropped passes it on.
//! * In a rendezvous channel the buffer has no place. A sender waits with its message, and a receiver takes it from
//!   there; then the sender is done, and is woken.
//! * A receiver takes the first message. If there is none, it waits in its queue; a sender that brings a message
//!   *calls* the first receiver. The message stays where it is: the receiver takes the first one there is, in its own
//!   poll. Another receiver may be quicker, or a rendezvous sender may have gone: then the receiver is the first in its
//!   queue again. As many receivers are called as there are messages, if as many wait; one that is dropped has the next
//!   one called.
//!
//! So every operation takes effect at one moment, under the lock; and a receiver that runs need not wait for another to
//! be woken (as a mutex may be passed).
//!
//! A message is never put into an operation, so none is lost when one is dropped; and an operation that is dropped has
//! not sent, but for a rendezvous whose message a receiver has taken. No user code runs under the lock: messages are
//! moved there, memory is asked for and given back outside, wakers of other runtimes are called outside.
//!
//! The last handle to go frees; they are counted under the lock.

mod action;
mod awaiting;
mod buffer;
mod chan;
mod ends;
mod join_pattern;
mod messages;
mod ready;
mod registration;

use std::pin::Pin;
use std::task::{Context, Poll};

use gossamer_core::policy::LockPolicy;

use self::action::{Many, One, Op, Receives, Sends};
use crate::error::{Closed, SendError};

pub use self::ends::{IntoIter, Iter, Receiver, Sender};
pub use self::join_pattern::{Group, JoinPattern, join_pattern};
pub use self::messages::Messages;
pub(crate) use self::ready::{PopReady, Ready};
pub(crate) use self::registration::{Found, Unsettled, fetch};

/// [`Sender::send`].
#[must_use = "operations do nothing until they are awaited or waited for"]
#[derive(Debug)]
pub struct Sending<'a, T, P: LockPolicy>(Op<'a, T, P, Sends<T>>);

impl<T, P: LockPolicy> Future for Sending<'_, T, P> {
    type Output = Result<(), SendError<T>>;

    #[inline(always)]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: the field is pinned as its owner is.
        unsafe { self.map_unchecked_mut(|this| &mut this.0) }.poll(cx)
    }
}

/// [`Sender::send_from`].
#[must_use = "operations do nothing until they are awaited or waited for"]
#[derive(Debug)]
pub struct SendingFrom<'a, T, P: LockPolicy> {
    op: Op<'a, T, P, Sends<T>>,
    /// Empty as long as the operation has the message.
    from: &'a mut Option<T>,
}

impl<T, P: LockPolicy> Future for SendingFrom<'_, T, P> {
    type Output = Result<(), SendError<()>>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: the operation is pinned as its owner is, and not moved.
        let this = unsafe { self.get_unchecked_mut() };
        // SAFETY: as above.
        let op = unsafe { Pin::new_unchecked(&mut this.op) };
        op.poll(cx).map_err(|SendError(message)| {
            *this.from = Some(message);
            SendError(())
        })
    }
}

impl<T, P: LockPolicy> Drop for SendingFrom<'_, T, P> {
    fn drop(&mut self) {
        if gossamer_core::mutant!("channel_forgets_message") {
            return;
        }
        // SAFETY: it is being dropped in its place, and not moved.
        let op = unsafe { Pin::new_unchecked(&mut self.op) };
        // SAFETY: it has been given up, so it is in no line.
        op.withdraw(|sends, state| *self.from = unsafe { sends.take_unsent(state) });
    }
}

/// [`Receiver::recv`].
#[must_use = "operations do nothing until they are awaited or waited for"]
#[derive(Debug)]
pub struct Receiving<'a, T, P: LockPolicy>(Op<'a, T, P, Receives<One>>);

impl<T, P: LockPolicy> Future for Receiving<'_, T, P> {
    type Output = Result<T, Closed>;

    #[inline(always)]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: the field is pinned as its owner is.
        unsafe { self.map_unchecked_mut(|this| &mut this.0) }.poll(cx)
    }
}

/// [`Receiver::recv_many`].
#[must_use = "operations do nothing until they are awaited or waited for"]
#[derive(Debug)]
pub struct ReceivingMany<'a, T, P: LockPolicy>(Op<'a, T, P, Receives<Many<'a, T>>>);

impl<T, P: LockPolicy> Future for ReceivingMany<'_, T, P> {
    type Output = Result<usize, Closed>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: the field is pinned as its owner is.
        unsafe { self.map_unchecked_mut(|this| &mut this.0) }.poll(cx)
    }
}

/// The constructors of one flavour.
macro_rules! constructors {
    ($policy:ty, $word:ty) => {
        /// A channel for at most `capacity` messages that have not been received. Zero makes it a
        /// [rendezvous](fn@rendezvous) channel.
        pub fn bounded<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
            crate::mpmc::pair(<$word>::new(0), capacity)
        }

        /// A channel for as many messages as fit into memory: sending never waits.
        pub fn unbounded<T>() -> (Sender<T>, Receiver<T>) {
            crate::mpmc::pair(<$word>::new(0), usize::MAX)
        }

        /// A channel that holds no message: who sends waits until a receiver has taken it.
        pub fn rendezvous<T>() -> (Sender<T>, Receiver<T>) {
            crate::mpmc::pair(<$word>::new(0), 0)
        }

        /// The side that sends.
        pub type Sender<T> = crate::mpmc::Sender<T, $policy>;
        /// The side that receives.
        pub type Receiver<T> = crate::mpmc::Receiver<T, $policy>;
    };
}
pub(crate) use constructors;
pub(crate) use ends::pair;
