//! The public methods of the two sides' handles.

use std::fmt;
use std::panic::Location;

use super::chan::{RECEIVER_GONE, SENDER_GONE};
use super::flavour::RingPolicy;
use super::op::{Receiving, ReceivingMany, Sending};
use super::receiver::Receiver;
use super::sender::Sender;
use super::side::sides;
use crate::error::{TryRecvError, TrySendError};

/// Both sides of a new channel.
#[track_caller]
pub(crate) fn pair<T, P: RingPolicy>(capacity: usize) -> (Sender<T, P>, Receiver<T, P>) {
    let (sender, receiver) = sides(capacity);
    (Sender(sender), Receiver(receiver))
}

impl<T, P: RingPolicy> Sender<T, P> {
    /// Sends a message: waits until there is room for it.
    ///
    /// # Blocking
    /// `.await` it in a task, `.wait()` for it in a fiber or a thread. (A thread that would have to wait, or a task
    /// that has one, looks a few times more before it goes to sleep.)
    ///
    /// # Cancellation
    /// Dropped unfinished, it has sent nothing, and the message is dropped with it.
    ///
    /// # Errors
    /// The receiver is gone: gives the message back.
    #[track_caller]
    #[inline(always)]
    pub fn send(&mut self, message: T) -> Sending<'_, T, P> {
        Sending::new(self.0.turn(), message, Location::caller())
    }

    /// Sends a message, if there is room for it.
    ///
    /// # Errors
    /// Gives the message back, and says why.
    #[inline(always)]
    pub fn try_send(&mut self, message: T) -> Result<(), TrySendError<T>> {
        let mut turn = self.0.turn();
        if turn.is_simple() {
            return turn.put_quickly(message).map_err(TrySendError::Closed);
        }
        turn.put(message)
    }

    /// Whether the receiver is gone.
    pub fn is_closed(&self) -> bool {
        self.0.chan().look() & RECEIVER_GONE != 0
    }
}

impl<T, P: RingPolicy> Receiver<T, P> {
    /// Receives the next message, and waits until there is one.
    ///
    /// # Blocking
    /// `.await` it in a task, `.wait()` for it in a fiber or a thread. (A thread that would have to wait, or a task
    /// that has one, looks a few times more before it goes to sleep.)
    ///
    /// # Cancellation
    /// Dropped unfinished, it has received nothing.
    ///
    /// # Errors
    /// [`Closed`](crate::Closed): the sender is gone, and no message is left.
    #[track_caller]
    #[inline(always)]
    pub fn recv(&mut self) -> Receiving<'_, T, P> {
        Receiving::new(self.0.turn(), Location::caller())
    }

    /// The next message, if there is one.
    ///
    /// # Errors
    /// [`TryRecvError::Empty`]: not at this moment. [`TryRecvError::Closed`]: never again.
    #[inline(always)]
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        let mut turn = self.0.turn();
        match turn.take_quickly() {
            Some(message) => Ok(message),
            None => turn.take(),
        }
    }

    /// Receives all messages there are, but at most `most`, and waits until there is one: puts them at the end of
    /// `into`, and gives their number. Zero only if `most` is. The sender is told once for all of them.
    ///
    /// # Blocking
    /// As [`recv`](Receiver::recv).
    ///
    /// # Cancellation
    /// Dropped unfinished, it has received nothing.
    ///
    /// # Errors
    /// [`Closed`](crate::Closed): the sender is gone, and no message is left.
    #[track_caller]
    pub fn recv_many<'a>(
        &'a mut self,
        into: &'a mut Vec<T>,
        most: usize,
    ) -> ReceivingMany<'a, T, P> {
        ReceivingMany::new(self.0.turn(), into, most, Location::caller())
    }

    /// Whether the sender is gone. There may be messages all the same.
    pub fn is_closed(&self) -> bool {
        self.0.chan().look() & SENDER_GONE != 0
    }
}

macro_rules! both {
    ($($name:ident)*) => {$(
        impl<T, P: RingPolicy> $name<T, P> {
            /// How many messages wait to be received.
            pub fn len(&self) -> usize {
                let (tail, head) = self.counts();
                tail.wrapping_sub(head)
            }

            /// Whether there are none.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// Whether there are as many as there may be.
            pub fn is_full(&self) -> bool {
                self.len() >= self.capacity()
            }

            /// How many there may be.
            pub fn capacity(&self) -> usize {
                self.0.chan().capacity()
            }
        }

        impl<T, P: RingPolicy> fmt::Debug for $name<T, P> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name))
                    .field("len", &self.len())
                    .field("capacity", &self.capacity())
                    .finish_non_exhaustive()
            }
        }
    )*};
}

both! { Sender Receiver }
