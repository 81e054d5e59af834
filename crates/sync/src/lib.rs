//! Synchronisation that tasks, fibers and threads share.
//!
//! Each primitive is one implementation, generic over its lock policy, in [`raw`], and comes in
//! two flavours: [`sync`] (for any thread) and [`local`] (for one thread, without atomics).
#![no_std]

mod mvar;

/// The primitives, generic over the lock policy.
pub mod raw {
    pub use crate::mvar::{MVar, Put, Read, Replace, Swap, Take};
}

/// The flavour for any thread: `Send` and `Sync`.
#[cfg(feature = "std")]
pub mod sync {
    use gossamer_core::policy::Shared;

    /// An [`MVar`](crate::raw::MVar) for any thread.
    pub type MVar<T> = crate::raw::MVar<T, Shared>;
}

/// The flavour for one thread: no atomics, `!Send`.
pub mod local {
    use gossamer_core::policy::Local;

    /// An [`MVar`](crate::raw::MVar) for one thread.
    pub type MVar<T> = crate::raw::MVar<T, Local>;
}
