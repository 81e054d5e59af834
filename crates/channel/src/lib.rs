//! Channels between tasks, fibers and threads: what users read about them is in the facade.
//!
//! An internal part of `gossamer-rt`: nothing is promised of this crate alone.

pub mod broadcast;
mod drop_all;
mod error;
mod iterators;
mod join_pattern;
mod mpmc;
pub mod oneshot;
mod operations;
pub mod pipe;
pub mod port_set;
pub mod select;
mod shared;
mod shared_state;
pub mod spsc;
pub mod watch;

pub use self::broadcast::broadcast;
pub use self::error::{Closed, SendError, TryRecvError, TrySendError};
pub use self::join_pattern::join_pattern;
pub use self::oneshot::oneshot;
pub use self::port_set::AddError;
pub use self::shared::UniqueSender;
pub use self::spsc::spsc;
pub use self::watch::watch;

mpmc::constructors!(
    gossamer_core::policy::Shared,
    gossamer_core::policy::SharedWord
);

/// A set of receiving ends, for any thread.
pub type PortSet<T, Tag = ()> = port_set::PortSet<T, gossamer_core::policy::Shared, Tag>;

/// A [sending end that several share](raw::SharedSender).
pub type SharedSender<T, E = Sender<T>> = raw::SharedSender<T, gossamer_core::policy::Shared, E>;

/// Channels, generic over the lock policy, and their operations.
pub mod raw {
    pub use crate::join_pattern::{Group, JoinPattern};
    pub use crate::mpmc::{
        IntoIter, Iter, Messages, OwnedMessages, OwnedSendPermit, Receiver, Receiving,
        ReceivingMany, Reserving, ReservingOwned, SendPermit, Sender, Sending, SendingFrom,
        WaitForClose, WeakSender,
    };
    pub use crate::port_set::{PipeEnd, Port, PortReceiving, PortSet, PortsReceiving};
    pub use crate::shared::{SendingShared, SharedSender};
    pub use crate::spsc::raw as spsc;

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

    /// A set of receiving ends, for one thread.
    pub type PortSet<T, Tag = ()> = crate::port_set::PortSet<T, gossamer_core::policy::Local, Tag>;
    pub use self::broadcast::broadcast;
    pub use self::watch::watch;

    /// A [sending end that several share](crate::raw::SharedSender).
    pub type SharedSender<T, E = Sender<T>> =
        crate::raw::SharedSender<T, gossamer_core::policy::Local, E>;

    /// [Broadcast channels](mod@crate::broadcast) for one thread.
    pub mod broadcast {
        pub use crate::broadcast::{Lagged, RecvError, SendError, TryRecvError};
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

    pub use self::spsc::spsc;

    /// A channel for one sender and one receiver, both on one thread: see [`crate::spsc`](mod@crate::spsc).
    pub mod spsc {
        crate::spsc::constructors!(gossamer_core::policy::Local);
    }
}
