//! Channels between tasks, fibers and threads.
//!
//! * [`oneshot()`]: one message, once; the smallest there can be.
//! * [`bounded`], [`unbounded`], [`rendezvous`]: many senders, many receivers, first in, first out.
//! * [`spsc()`]: one sender, one receiver, a ring without a lock.
//!
//! All but the one-shot come in two flavours from one implementation, which is generic over its lock policy ([`raw`]):
//! for any thread, here, and for one thread, without atomics, in [`local`].

mod error;
mod mpmc;
pub mod oneshot;
pub mod spsc;

pub use self::error::{Closed, SendError, TryRecvError, TrySendError};
pub use self::oneshot::oneshot;
pub use self::spsc::spsc;

mpmc::constructors!(
    gossamer_core::policy::Shared,
    gossamer_core::policy::SharedWord
);

/// Channels, generic over the lock policy, and their operations.
pub mod raw {
    pub use crate::mpmc::{IntoIter, Iter, Receiver, Receiving, ReceivingMany, Sender, Sending};

    pub use crate::spsc::raw as spsc;
}

/// The flavour for one thread: no atomics, `!Send`.
pub mod local {
    crate::mpmc::constructors!(
        gossamer_core::policy::Local,
        gossamer_core::policy::LocalWord
    );

    pub use self::spsc::spsc;

    /// A channel for one sender and one receiver, both on one thread: see [`crate::spsc`](mod@crate::spsc).
    pub mod spsc {
        crate::spsc::constructors!(gossamer_core::policy::Local);
    }
}
