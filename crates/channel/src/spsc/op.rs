//! The operations: each goes at once, or waits until the other side has done something; or is dropped on the way.
//!
//! Nothing is ever given to an operation that waits: it is woken, and then tries once more.

use std::panic::Location;

use super::chan::{Op, ReceivingEnd, RingAction, SendingEnd, Waits};
use super::flavour::RingPolicy;
use super::side::Turn;
use crate::error::{Closed, SendError, TryRecvError};
use crate::operations::operations;

operations! { RingPolicy;
    /// [`Sender::send`](super::sender::Sender::send).
    Sending<T>: Waits<Sends<'a, T, P>> => Result<(), SendError<T>>;
    /// [`Receiver::recv`](super::receiver::Receiver::recv).
    Receiving<T>: Waits<Receives<'a, T, P>> => Result<T, Closed>;
    /// [`Receiver::recv_many`](super::receiver::Receiver::recv_many).
    ReceivingMany<T>: Waits<ReceivesMany<'a, T, P>> => Result<usize, Closed>;
}

/// Sending one message, as long as it has not been sent.
pub(super) struct Sends<'a, T, P: RingPolicy> {
    turn: Turn<'a, T, P, SendingEnd>,
    message: Option<T>,
}

/// Mutant: it sends though it is dropped.
#[cfg(mutants)]
impl<T, P: RingPolicy> Drop for Sends<'_, T, P> {
    fn drop(&mut self) {
        if gossamer_core::mutant!("dropped_ring_send_has_sent") && self.message.is_some() {
            let _put = self.message.take().map(|message| self.turn.put(message));
        }
    }
}

impl<T, P: RingPolicy> RingAction<T, P> for Sends<'_, T, P> {
    type End = SendingEnd;
    type Output = Result<(), SendError<T>>;
    const NAME: &'static str = "spsc::Sender::send";

    #[inline(always)]
    fn quickly(&mut self) -> Option<Self::Output> {
        if !self.turn.is_simple() {
            return None;
        }
        let message = self.message.take()?;
        Some(self.turn.put_quickly(message).map_err(SendError))
    }

    fn attempt(&mut self) -> Option<Self::Output> {
        let found = self.turn.find();
        if found == Some(false) {
            return None;
        }
        let message = self.message.take()?;
        Some(match found {
            Some(_) => self.turn.put_found(message).map_err(SendError),
            None => Err(SendError(message)),
        })
    }
}

/// Receiving one message.
pub(super) struct Receives<'a, T, P: RingPolicy>(Turn<'a, T, P, ReceivingEnd>);

impl<T, P: RingPolicy> RingAction<T, P> for Receives<'_, T, P> {
    type End = ReceivingEnd;
    type Output = Result<T, Closed>;
    const NAME: &'static str = "spsc::Receiver::recv";

    #[inline(always)]
    fn quickly(&mut self) -> Option<Self::Output> {
        self.0.take_quickly().map(Ok)
    }

    fn attempt(&mut self) -> Option<Self::Output> {
        unless_empty(self.0.take())
    }
}

/// Receiving several messages.
pub(super) struct ReceivesMany<'a, T, P: RingPolicy> {
    turn: Turn<'a, T, P, ReceivingEnd>,
    into: &'a mut Vec<T>,
    most: usize,
}

impl<T, P: RingPolicy> RingAction<T, P> for ReceivesMany<'_, T, P> {
    type End = ReceivingEnd;
    type Output = Result<usize, Closed>;
    const NAME: &'static str = "spsc::Receiver::recv_many";

    fn attempt(&mut self) -> Option<Self::Output> {
        if self.most == 0 {
            return Some(Ok(0));
        }
        unless_empty(self.turn.take_many(self.into, self.most))
    }

    fn is_nothing(&self) -> bool {
        self.most == 0
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

impl<'a, T, P: RingPolicy> Sending<'a, T, P> {
    #[inline(always)]
    pub(super) fn new(
        turn: Turn<'a, T, P, SendingEnd>,
        message: T,
        location: &'static Location<'static>,
    ) -> Self {
        let chan = turn.chan();
        let message = Some(message);
        let op = Op::new(chan, Waits(Sends { turn, message }), location);
        Self { op }
    }
}

impl<'a, T, P: RingPolicy> Receiving<'a, T, P> {
    #[inline(always)]
    pub(super) fn new(
        turn: Turn<'a, T, P, ReceivingEnd>,
        location: &'static Location<'static>,
    ) -> Self {
        let op = Op::new(turn.chan(), Waits(Receives(turn)), location);
        Self { op }
    }
}

impl<'a, T, P: RingPolicy> ReceivingMany<'a, T, P> {
    pub(super) fn new(
        turn: Turn<'a, T, P, ReceivingEnd>,
        into: &'a mut Vec<T>,
        most: usize,
        location: &'static Location<'static>,
    ) -> Self {
        let chan = turn.chan();
        let receives = ReceivesMany { turn, into, most };
        let op = Op::new(chan, Waits(receives), location);
        Self { op }
    }
}
