//! The handles of the two sides.

use std::fmt;
use std::panic::Location;

use gossamer_core::policy::LockPolicy;
use gossamer_core::wait::Wait;

use super::action::{self, Effect, Many, One, Op, Receive, Receives};
use super::buffer::Buffer;
use super::chan::{Chan, Locked, NO_RECEIVERS, NO_SENDERS};
use super::handle::Handle;
use super::offer::Offer;
use super::operations::{Messages, Receiving, ReceivingMany, Sending, SendingFrom};
use crate::error::{Closed, SendError, TryRecvError, TrySendError};
use crate::iterators::iterators;

/// Both sides of a new channel.
pub(crate) fn pair<T, P: LockPolicy>(
    word: P::Word,
    capacity: usize,
) -> (Sender<T, P>, Receiver<T, P>) {
    let (one, other) = Handle::pair(Chan::new(word, capacity));
    (Sender(one), Receiver(other))
}

/// Does what can be done at once.
pub(super) fn try_now<T, P: LockPolicy, R>(
    chan: &Chan<T, P>,
    effect: Effect,
    mut attempt: impl FnMut(&mut Locked<'_, T, P>) -> Option<R>,
) -> Option<R> {
    let mut again = true;
    loop {
        let locked = match action::attempt(chan.locked(), effect, &mut attempt) {
            Ok(output) => return Some(output),
            Err(locked) => locked,
        };
        let may_go = effect != Effect::Takes && locked.has_room();
        locked.settle();
        // There was room for senders in the queue, and another thread was about to wake them.
        if !std::mem::take(&mut again) || !may_go {
            return None;
        }
    }
}

/// The side that sends. Clones send into the same channel; when the last one goes, the receivers are told.
pub struct Sender<T, P: LockPolicy>(pub(super) Handle<T, P>);

impl<T, P: LockPolicy> Sender<T, P> {
    /// Sends a message: waits until there is room for it, in a rendezvous channel until a receiver has taken it.
    ///
    /// # Blocking
    /// `.await` it in a task, `.wait()` for it in a fiber or a thread: other libraries have a `blocking_send` for that. In
    /// an unbounded channel it never waits.
    ///
    /// # Cancellation
    /// Dropped unfinished, it has sent nothing, and the message is dropped with it. In a rendezvous channel a receiver may
    /// have taken the message already; then it has been sent, also if the task is aborted before it could see that. (In a
    /// `select!` or a `timeout` it has been sent only if that says so.)
    ///
    /// When a receiver makes room, a place is reserved for the first sender that waits. One that is then neither polled
    /// nor dropped keeps the place from all others: a [futurelock](crate#room-that-is-reserved), if its own task waits for
    /// one of them.
    ///
    /// # Errors
    /// No receiver is left, or the channel was [closed](Sender::close): gives the message back.
    #[doc(alias = "blocking_send")]
    #[doc(alias = "send_blocking")]
    #[doc(alias = "send_async")]
    #[doc(alias = "send_timeout")]
    #[doc(alias = "send_deadline")]
    #[track_caller]
    #[inline(always)]
    pub fn send(&self, message: T) -> Sending<'_, T, P> {
        let op = Op::new(&self.0, Offer::new(message), Location::caller());
        Sending { op }
    }

    /// As [`send`](Sender::send), with a message that stays the caller's until it is sent: it is taken out of `from`,
    /// and is there again if the operation is dropped unfinished, or fails.
    ///
    /// So a timeout, or a branch that is not taken, keeps the message:
    /// ```
    /// use gossamer::channel::rendezvous;
    ///
    /// let (tx, _rx) = rendezvous();
    /// let mut message = Some(String::from("dear"));
    /// drop(tx.send_from(&mut message));
    /// assert_eq!(message.as_deref(), Some("dear"));
    /// ```
    ///
    /// # Blocking
    /// As [`send`](Sender::send).
    ///
    /// # Cancellation
    /// Dropped unfinished, it has sent nothing, and the message is in its place again. If the receiver of a rendezvous has
    /// taken it already, as with [`send`](Sender::send), there is none.
    ///
    /// # Errors
    /// No receiver is left, or the channel was closed.
    ///
    /// # Panics
    /// There is no message.
    #[track_caller]
    pub fn send_from<'a>(&'a self, from: &'a mut Option<T>) -> SendingFrom<'a, T, P> {
        let message = from.take();
        let message = message.expect("Sender::send_from needs a message; there is none");
        let op = Op::new(&self.0, Offer::new(message), Location::caller());
        SendingFrom { op, from }
    }

    /// Sends a message, if there is room for it that is not reserved for a sender that waits; in a rendezvous channel
    /// if a receiver waits, which has been there, but may be dropped before it has taken it, or take another branch of its
    /// select: then the next one gets it. (A [join](crate::join_pattern()) that waits is one, though it leaves the message
    /// if another one is missing.)
    ///
    /// # Errors
    /// Gives the message back. [`TrySendError::Full`]: messages and places that are reserved for senders together are as
    /// many as the capacity; or no receiver waits at a rendezvous. [`TrySendError::Closed`]: no receiver is left, or the channel
    /// was closed.
    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        let mut message = Some(message);
        let mut take = || message.take().expect("a message is sent once");
        match try_now(&self.0, Effect::Puts, |locked| {
            action::try_push(locked, &mut take)
        }) {
            Some(Ok(())) => Ok(()),
            Some(Err(SendError(message))) => Err(TrySendError::Closed(message)),
            None => Err(TrySendError::Full(take())),
        }
    }

    /// Whether no receiver is left, or the channel was [closed](Sender::close): sending fails.
    #[doc(alias = "is_disconnected")]
    pub fn is_closed(&self) -> bool {
        self.0.look() & NO_RECEIVERS != 0
    }
}

impl<T, P: LockPolicy> Clone for Sender<T, P> {
    fn clone(&self) -> Self {
        let mut locked = self.0.locked();
        let handle = self.0.counted(&mut locked);
        locked.senders += 1;
        locked.unlock();
        Self(handle)
    }
}

impl<T, P: LockPolicy> Drop for Sender<T, P> {
    fn drop(&mut self) {
        let mut locked = self.0.locked();
        locked.senders -= 1;
        if locked.senders == 0 && !gossamer_core::mutant!("channel_closes_silently") {
            locked.mark(NO_SENDERS, true);
            locked.settle();
        } else {
            locked.unlock();
        }
    }
}

/// The side that receives. Each message goes to one of the clones; when the last one goes, the senders are told, and
/// messages that wait are dropped.
pub struct Receiver<T, P: LockPolicy>(pub(crate) Handle<T, P>);

impl<T, P: LockPolicy> Receiver<T, P> {
    /// Receives the next message, and waits until there is one.
    ///
    /// # Blocking
    /// `.await` it in a task, `.wait()` for it in a fiber or a thread: other libraries have a `blocking_recv` for that.
    ///
    /// # Cancellation
    /// Dropped unfinished, it has received nothing. One that has been woken and is neither polled nor dropped keeps the
    /// message from those who wait behind it, though not from those who come.
    ///
    /// # Errors
    /// [`Closed`]: no sender is left, or the channel was [closed](Receiver::close); and there is no message.
    #[doc(alias = "blocking_recv")]
    #[doc(alias = "recv_blocking")]
    #[doc(alias = "recv_async")]
    #[doc(alias = "recv_timeout")]
    #[doc(alias = "recv_deadline")]
    #[track_caller]
    #[inline(always)]
    pub fn recv(&self) -> Receiving<'_, T, P> {
        let op = Op::new(&self.0, Receives::new(One), Location::caller());
        Receiving { op }
    }

    /// The next message, if there is one.
    ///
    /// # Errors
    /// [`TryRecvError::Empty`]: not at this moment. [`TryRecvError::Closed`]: never again.
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        match try_now(&self.0, Effect::Takes, |locked| One.attempt(locked)) {
            Some(Ok(message)) => Ok(message),
            Some(Err(Closed)) => Err(TryRecvError::Closed),
            None => Err(TryRecvError::Empty),
        }
    }

    /// Receives all messages that the channel holds, but at most `most`, and waits until there is one: puts them at the
    /// end of `into`, and gives their number. Zero only if `most` is. (Of senders that wait, it is one at most. What
    /// comes at the same moment may be left for the next call, if `into` has no room for it.)
    ///
    /// # Blocking
    /// As [`recv`](Receiver::recv).
    ///
    /// # Cancellation
    /// Dropped unfinished, it has received nothing.
    ///
    /// # Errors
    /// [`Closed`]: no sender is left, or the channel was [closed](Receiver::close); and there is no message.
    #[doc(alias = "blocking_recv_many")]
    #[track_caller]
    pub fn recv_many<'a>(&'a self, into: &'a mut Vec<T>, most: usize) -> ReceivingMany<'a, T, P> {
        let receives = Receives::new(Many::new(into, most));
        let op = Op::new(&self.0, receives, Location::caller());
        ReceivingMany { op }
    }

    /// The messages there are, without waiting for more.
    #[doc(alias = "drain")]
    pub fn try_iter(&self) -> impl Iterator<Item = T> {
        std::iter::from_fn(|| self.try_recv().ok())
    }

    /// The messages as a stream, which ends when no sender is left.
    ///
    /// # Cancellation
    /// Dropped, it has received what it has given, and nothing more.
    #[track_caller]
    pub fn stream(&self) -> Messages<'_, T, P> {
        Messages::new(&self.0, Location::caller())
    }

    /// Whether no sender is left, or the channel was [closed](Receiver::close). There may be messages all the same.
    #[doc(alias = "is_disconnected")]
    pub fn is_closed(&self) -> bool {
        self.0.look() & NO_SENDERS != 0
    }
}

impl<T, P: LockPolicy> Clone for Receiver<T, P> {
    fn clone(&self) -> Self {
        let mut locked = self.0.locked();
        let handle = self.0.counted(&mut locked);
        locked.receivers += 1;
        locked.unlock();
        Self(handle)
    }
}

impl<T, P: LockPolicy> Drop for Receiver<T, P> {
    fn drop(&mut self) {
        let mut locked = self.0.locked();
        locked.receivers -= 1;
        if locked.receivers > 0 {
            return locked.unlock();
        }
        let messages = std::mem::replace(&mut locked.buffer, Buffer::new());
        if gossamer_core::mutant!("channel_leaves_silently") {
            locked.unlock();
        } else {
            locked.close(NO_RECEIVERS);
        }
        // User code.
        drop(messages);
    }
}

#[track_caller]
fn next<T, P: LockPolicy>(receiver: &Receiver<T, P>) -> Option<T> {
    receiver.recv().wait().ok()
}

iterators! { LockPolicy, next, T; }

macro_rules! both {
    ($($name:ident)*) => {$(
        impl<T, P: LockPolicy> $name<T, P> {
            /// How many messages wait to be received: those of senders that wait not included.
            pub fn len(&self) -> usize {
                self.0.read(|state| state.buffer.len())
            }

            /// Whether there are none.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// Whether there are as many as there may be; a rendezvous channel always is. (One that is not may have no
            /// room all the same: places may be reserved for senders that wait.)
            pub fn is_full(&self) -> bool {
                let room = usize::from(gossamer_core::mutant!("channel_never_full"));
                self.len() >= self.0.capacity().saturating_add(room)
            }

            /// How many messages could be sent at this moment: what is left of the capacity beside messages and reserved
            /// places. `None`: as many as fit into memory.
            pub fn room(&self) -> Option<usize> {
                let used = self.0.read(|state| state.buffer.len() + state.reserved);
                // A rendezvous channel may hold a message that was sent to a receiver in its queue.
                self.capacity().map(|capacity| capacity.saturating_sub(used))
            }

            /// How many there may be; `None`: as many as fit into memory. Zero: a rendezvous channel.
            #[doc(alias = "max_capacity")]
            pub fn capacity(&self) -> Option<usize> {
                Some(self.0.capacity()).filter(|capacity| *capacity != usize::MAX)
            }

            /// How many senders there are at this moment; weak ones, where there are such, are not counted.
            #[doc(alias = "strong_count")]
            #[doc(alias = "sender_strong_count")]
            pub fn sender_count(&self) -> usize {
                self.0.read(|state| state.senders)
            }

            /// How many receivers there are at this moment.
            pub fn receiver_count(&self) -> usize {
                self.0.read(|state| state.receivers)
            }

            /// Whether both are of the same channel.
            pub fn same_channel(&self, other: &Self) -> bool {
                self.0.is_same(&other.0)
            }
        }

        impl<T, P: LockPolicy> fmt::Debug for $name<T, P> {
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
