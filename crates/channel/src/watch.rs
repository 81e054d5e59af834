//! A channel that holds one value, the latest: each receiver is told that there is another one.
//!
//! Sending never waits, and replaces the value; a receiver that is slow sees the latest, and not those before. There
//! may be no receiver: one that [subscribes](crate::raw::watch::Sender::subscribe) later sees the value too.
//!
//! The value is never locked. What is read is a [`Snapshot`](crate::raw::watch::Snapshot): the value of a moment, which
//! stays as it is for as long as it is kept. So nothing can deadlock: it may be kept across an `.await`, and a closure
//! that is given the value may use the channel, and sees the value as it was before. Several threads may read one value
//! at the same time, so it has to be `Sync` to go to them.
//!
//! # Examples
//! ```
//! use gossamer::Wait;
//! use gossamer::channel::watch;
//!
//! let (tx, mut rx) = watch::watch(1);
//! let follows = std::thread::spawn(move || {
//!     let large = rx.wait_for(|value| *value > 10).wait();
//!     large.map(|value| *value)
//! });
//! tx.send(2);
//! tx.send_modify(|value| *value *= 10);
//! assert_eq!(follows.join().unwrap(), Ok(20));
//! assert_eq!(tx.get(), 20);
//! ```

mod changes;
mod ends;

pub use crate::error::Closed;

/// The ends, generic over their lock policy.
pub(crate) mod raw {
    pub use super::changes::{Changes, Iter, OwnedChanges};
    pub use super::ends::{Changed, Receiver, Sender, Snapshot, WaitFor, WaitForClose};
}

/// The names of one flavour.
macro_rules! flavour {
    ($policy:ty, $word:ty) => {
        /// A channel that holds this value, which its receiver has seen.
        ///
        /// # Examples
        /// ```
        /// use gossamer::Wait;
        /// use gossamer::channel::watch;
        ///
        /// let (tx, mut rx) = watch("starting");
        /// tx.send("running");
        /// rx.changed().wait()?;
        /// assert_eq!(rx.get(), "running");
        /// # Ok::<(), gossamer::channel::Closed>(())
        /// ```
        pub fn watch<T>(initial: T) -> (Sender<T>, Receiver<T>) {
            crate::watch::pair(<$word>::new(0), initial)
        }

        /// The side that sends.
        pub type Sender<T> = crate::raw::watch::Sender<T, $policy>;
        /// The side that receives.
        pub type Receiver<T> = crate::raw::watch::Receiver<T, $policy>;
        /// The value of a moment.
        pub type Snapshot<T> = crate::raw::watch::Snapshot<T, $policy>;
    };
}
pub(crate) use ends::pair;
pub(crate) use flavour;

flavour!(
    gossamer_core::policy::Shared,
    gossamer_core::policy::SharedWord
);
