//! Channels for many senders and many receivers: bounded, unbounded, rendezvous.
//!
//! # Protocol
//!
//! One word with a lock (see [`gossamer_core::policy`]), a buffer, and two queues: of the operations that wait to send,
//! and of those that wait to receive. (A third one is for the end: `join_pattern/awaiting.rs`.) A port set looks on by a
//! hook: `mpmc/observer.rs`.
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
//! moved there, and only the allocator is called; wakers of other runtimes are called outside.
//!
//! A permit is a reserved place, and counted twice: as that, and as a permit. Closing sets the bits of both ends, as if
//! the last sender and the last receiver had gone, and leaves of the reserved places those of the permits: for these a
//! receiver waits before it says that all is over. Who waits for the end (`closing.rs`) waits in a queue of its own, of
//! which no bit tells: sending does not look at it.
//!
//! The last handle to go frees; they are counted under the lock.
//!
//! In a channel of one thread a receiver that waits alone may do so inline, and of that the rules know nothing:
//! `chan/inline.rs`.

mod action;
mod buffer;
mod chan;
mod claiming;
mod closing;
mod ends;
mod handle;
mod observer;
mod offer;
mod operations;
mod owned;
mod permits;
mod unsettled;
mod waking;
mod weak;

pub(crate) use self::action::{Effect, One, Op, Quickly, Receive, Receives};
pub(crate) use self::chan::{Chan, Locked, NO_SENDERS};
pub use self::closing::WaitForClose;
pub(crate) use self::closing::WatchesEnd;
pub(crate) use self::ends::pair;
pub use self::ends::{IntoIter, Iter, Receiver, Sender};
pub(crate) use self::observer::{Observation, Observer};
pub(crate) use self::offer::Claimed;
pub use self::operations::{Messages, Receiving, ReceivingMany, Sending, SendingFrom};
pub use self::owned::OwnedMessages;
pub use self::permits::{OwnedSendPermit, Reserving, ReservingOwned, SendPermit};
pub(crate) use self::unsettled::Unsettled;
pub use self::weak::WeakSender;

/// The constructors of one flavour.
macro_rules! constructors {
    ($policy:ty, $word:ty) => {
        /// A channel for at most `capacity` messages that have not been received. Zero makes it a
        /// [rendezvous](fn@rendezvous) channel.
        ///
        /// # Examples
        /// ```
        /// use gossamer::channel::{TrySendError, bounded};
        ///
        /// let (tx, rx) = bounded(1);
        /// tx.try_send(1).unwrap();
        /// assert_eq!(tx.try_send(2), Err(TrySendError::Full(2)));
        /// assert_eq!(rx.try_recv(), Ok(1));
        /// ```
        #[doc(alias = "channel")]
        #[doc(alias = "sync_channel")]
        #[doc(alias = "mpsc")]
        pub fn bounded<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
            crate::mpmc::pair(<$word>::new(0), capacity)
        }

        /// A channel for as many messages as fit into memory: sending never waits.
        ///
        /// # Examples
        /// ```
        /// use gossamer::channel::unbounded;
        ///
        /// let (tx, rx) = unbounded();
        /// for number in 0..100 {
        ///     tx.try_send(number).unwrap();
        /// }
        /// drop(tx);
        /// assert_eq!(rx.into_iter().sum::<i32>(), 4_950);
        /// ```
        #[doc(alias = "channel")]
        #[doc(alias = "unbounded_channel")]
        pub fn unbounded<T>() -> (Sender<T>, Receiver<T>) {
            crate::mpmc::pair(<$word>::new(0), usize::MAX)
        }

        /// A channel that holds no message: who sends waits until a receiver has taken it.
        ///
        /// # Examples
        /// ```
        /// use gossamer::channel::{TrySendError, rendezvous};
        /// use gossamer::{Runtime, Wait};
        ///
        /// let rt = Runtime::builder().build()?;
        /// let (tx, rx) = rendezvous();
        /// assert_eq!(tx.try_send(1), Err(TrySendError::Full(1))); // nobody receives
        /// let task = rt.spawn(async move { tx.send(2).await });
        /// assert_eq!(rx.recv().wait(), Ok(2));
        /// assert_eq!(task.wait()?, Ok(())); // it was received
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        pub fn rendezvous<T>() -> (Sender<T>, Receiver<T>) {
            crate::mpmc::pair(<$word>::new(0), 0)
        }

        /// The side that sends.
        pub type Sender<T> = crate::mpmc::Sender<T, $policy>;
        /// A [sender that does not keep its channel open](Sender::downgrade).
        pub type WeakSender<T> = crate::mpmc::WeakSender<T, $policy>;
        /// A [place for one message](Sender::reserve).
        pub type SendPermit<'a, T> = crate::mpmc::SendPermit<'a, T, $policy>;
        /// A [place for one message](Sender::reserve_owned), with its sender.
        pub type OwnedSendPermit<T> = crate::mpmc::OwnedSendPermit<T, $policy>;
        /// The side that receives.
        pub type Receiver<T> = crate::mpmc::Receiver<T, $policy>;
    };
}
pub(crate) use constructors;
