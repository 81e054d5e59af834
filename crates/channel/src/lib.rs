//! Channels between tasks, fibers and threads.
//!
//! * [`oneshot()`]: one message, once; the smallest there can be.
//! * [`pipe`]: two ends that speak by turns, as a protocol says.
//! * [`bounded`], [`unbounded`], [`rendezvous`]: many senders, many receivers, first in, first out.
//!
//! All but the one-shot come in two flavours from one implementation, which is generic over its lock policy ([`raw`]):
//! for any thread, here, and for one thread, without atomics, in [`local`].

mod error;
mod mpmc;
pub mod oneshot;
pub mod pipe;

pub use self::error::{Closed, SendError, TryRecvError, TrySendError};
pub use self::oneshot::oneshot;

mpmc::constructors!(
    gossamer_core::policy::Shared,
    gossamer_core::policy::SharedWord
);

/// Channels, generic over the lock policy, and their operations.
pub mod raw {
    pub use crate::mpmc::{IntoIter, Iter, Receiver, Receiving, ReceivingMany, Sender, Sending};
}

/// The flavour for one thread: no atomics, `!Send`.
pub mod local {
    crate::mpmc::constructors!(
        gossamer_core::policy::Local,
        gossamer_core::policy::LocalWord
    );
}
