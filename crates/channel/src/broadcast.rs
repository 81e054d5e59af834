//! A channel in which every receiver gets every message that is sent after it has subscribed.
//!
//! The channel holds the last messages, as many as its capacity says. Senders never wait: a receiver that is slower
//! than that misses the oldest ones. It is told [how many](RecvError::Lagged), and goes on with the oldest message that
//! is still there. Each receiver gets the messages in the order in which they were sent, which is the same for all.
//!
//! Each message is one allocation. It is cloned for each receiver but the last one, which gets the message itself; so
//! with one receiver nothing is cloned. A message that no receiver needs any more is dropped, and a channel whose
//! messages have been received by all keeps no memory of them. Receivers on several threads may clone a message at the
//! same time, so it has to be `Sync` to go to them:
//! ```compile_fail,E0277
//! let (tx, rx) = gossamer::channel::broadcast(1);
//! std::thread::spawn(move || tx.send(std::cell::Cell::new(1)));
//! ```
//!
//! # Examples
//! ```
//! use gossamer::Wait;
//! use gossamer::channel::broadcast::{self, RecvError};
//!
//! let (tx, mut one) = broadcast::broadcast(2);
//! let mut two = tx.subscribe();
//! let other = std::thread::spawn(move || two.recv().wait());
//! tx.send("first").unwrap();
//! assert_eq!(other.join().unwrap(), Ok("first"));
//! tx.send("second").unwrap();
//! tx.send("third").unwrap();
//! assert_eq!(one.recv().wait(), Err(RecvError::Lagged(1)));
//! assert_eq!(one.recv().wait(), Ok("second"));
//! ```

mod ends;
mod error;
mod messages;
mod owned;
mod ring;

pub use self::error::{Lagged, RecvError, TryRecvError};
pub use crate::error::SendError;

/// The ends, generic over their lock policy.
pub(crate) mod raw {
    pub use super::ends::{Receiver, Receiving, Sender, WaitForClose, WeakSender};
    pub use super::messages::{IntoIter, Iter, Messages, ReceivingMany};
    pub use super::owned::OwnedMessages;
}

/// The names of one flavour.
macro_rules! flavour {
    ($policy:ty, $word:ty) => {
        /// A channel that holds the last `capacity` messages for each of its receivers.
        ///
        /// # Examples
        /// ```
        /// use gossamer::channel::broadcast;
        ///
        /// let (tx, mut rx) = broadcast(8);
        /// let mut other = tx.subscribe();
        /// tx.send("hello").unwrap();
        /// assert_eq!(rx.try_recv(), Ok("hello"));
        /// assert_eq!(other.try_recv(), Ok("hello"));
        /// ```
        ///
        /// # Panics
        /// The capacity is zero.
        #[track_caller]
        pub fn broadcast<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
            crate::broadcast::pair(<$word>::new(0), capacity)
        }

        /// The side that sends.
        pub type Sender<T> = crate::raw::broadcast::Sender<T, $policy>;
        /// A [sender that does not keep its channel open](Sender::downgrade).
        pub type WeakSender<T> = crate::raw::broadcast::WeakSender<T, $policy>;
        /// The side that receives.
        pub type Receiver<T> = crate::raw::broadcast::Receiver<T, $policy>;
    };
}
pub(crate) use ends::pair;
pub(crate) use flavour;

flavour!(
    gossamer_core::policy::Shared,
    gossamer_core::policy::SharedWord
);
