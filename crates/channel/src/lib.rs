//! Channels between tasks, fibers and threads.
//!
//! * [`oneshot()`]: one message, once; the smallest there can be.
//! * [`bounded`], [`unbounded`], [`rendezvous`]: many senders, many receivers, first in, first out.
//! * [`broadcast()`]: every receiver gets every message.
//! * [`watch()`]: the latest value.
//! * [`SharedSender`]: one sending end for many senders.
//!
//! All but the one-shot come in two flavours from one implementation, which is generic over its lock policy ([`raw`]):
//! for any thread, here, and for one thread, without atomics, in [`local`].

pub mod broadcast;
mod error;
mod hub;
mod mpmc;
pub mod oneshot;
mod shared;
pub mod watch;

pub use self::broadcast::broadcast;
pub use self::error::{Closed, SendError, TryRecvError, TrySendError};
pub use self::oneshot::oneshot;
pub use self::shared::UniqueSender;
pub use self::watch::watch;

mpmc::constructors!(
    gossamer_core::policy::Shared,
    gossamer_core::policy::SharedWord
);

/// A [sending end that several share](raw::SharedSender).
pub type SharedSender<T, E = Sender<T>> = raw::SharedSender<T, gossamer_core::policy::Shared, E>;

/// Channels, generic over the lock policy, and their operations.
pub mod raw {
    pub use crate::mpmc::{IntoIter, Iter, Receiver, Receiving, ReceivingMany, Sender, Sending};
    pub use crate::shared::{SendingShared, SharedSender};

    /// The ends of [broadcast channels](mod@crate::broadcast), and their operations.
    pub mod broadcast {
        pub use crate::broadcast::raw::*;
    }

    /// The ends of [watch channels](mod@crate::watch), and their operations.
    pub mod watch {
        pub use crate::watch::raw::*;
    }
}

/// The flavour for one thread: no atomics, `!Send`.
pub mod local {
    crate::mpmc::constructors!(
        gossamer_core::policy::Local,
        gossamer_core::policy::LocalWord
    );

    pub use self::broadcast::broadcast;
    pub use self::watch::watch;

    /// A [sending end that several share](crate::raw::SharedSender).
    pub type SharedSender<T, E = Sender<T>> =
        crate::raw::SharedSender<T, gossamer_core::policy::Local, E>;

    /// [Broadcast channels](mod@crate::broadcast) for one thread.
    pub mod broadcast {
        pub use crate::broadcast::{RecvError, SendError, TryRecvError};
        crate::broadcast::flavour!(
            gossamer_core::policy::Local,
            gossamer_core::policy::LocalWord
        );
    }

    /// [Watch channels](mod@crate::watch) for one thread.
    pub mod watch {
        pub use crate::watch::Closed;
        crate::watch::flavour!(
            gossamer_core::policy::Local,
            gossamer_core::policy::LocalWord
        );
    }
}
