//! Channels between tasks, fibers and threads.
//!
//! * [`oneshot()`]: one message, once; the smallest there can be.
//! * [`bounded`], [`unbounded`], [`rendezvous`]: many senders, many receivers, first in, first out.
//!
//! * [`PortSet`]: a set of receiving ends that are waited for as one.
//! * [`join`]: a message of each of several channels, or none.
//! * [`select`]: waiting for whichever of several operations comes first.
//!
//! All but the one-shot come in two flavours from one implementation, which is generic over its lock policy ([`raw`]):
//! for any thread, here, and for one thread, without atomics, in [`local`].

mod error;
mod mpmc;
pub mod oneshot;
pub mod port_set;
pub mod select;

pub use self::error::{Closed, SendError, TryRecvError, TrySendError};
pub use self::mpmc::join;
pub use self::oneshot::oneshot;
pub use self::port_set::AddError;

mpmc::constructors!(
    gossamer_core::policy::Shared,
    gossamer_core::policy::SharedWord
);

/// A set of receiving ends, for any thread.
pub type PortSet<T> = port_set::PortSet<T, gossamer_core::policy::Shared>;

/// Channels, generic over the lock policy, and their operations.
pub mod raw {
    pub use crate::mpmc::{
        Group, IntoIter, Iter, Join, Messages, Receiver, Receiving, ReceivingMany, Sender, Sending,
        SendingFrom,
    };
    pub use crate::port_set::{Port, PortReceiving, PortSet, PortsReceiving};
}

/// The flavour for one thread: no atomics, `!Send`.
pub mod local {
    crate::mpmc::constructors!(
        gossamer_core::policy::Local,
        gossamer_core::policy::LocalWord
    );

    /// A set of receiving ends, for one thread.
    pub type PortSet<T> = crate::port_set::PortSet<T, gossamer_core::policy::Local>;
}
