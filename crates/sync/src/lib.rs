//! Synchronisation that tasks, fibers and threads share.
//!
//! Each primitive is one implementation, generic over its lock policy, in [`raw`], and comes in
//! two flavours: [`sync`] (for any thread) and [`local`] (for one thread, without atomics).
//!
//! [`MVar`](raw::MVar) is on its own; all others are a line of those who wait, and rules by which they go (`line.rs`).
#![no_std]

#[cfg(feature = "std")]
extern crate std;

extern crate alloc;

mod barrier;
mod clock;
mod condvar;
mod constructors;
mod event;
mod guard;
mod line;
mod mutex;
mod mvar;
mod once;
#[cfg(feature = "std")]
mod readiness;
mod rwlock;
mod semaphore;

/// The primitives, generic over the lock policy, and their operations.
pub mod raw {
    pub use crate::barrier::{Arrive, Barrier, BarrierResult};
    #[cfg(feature = "std")]
    pub use crate::barrier::{ArriveInTime, NotArrived};
    pub use crate::condvar::{Condvar, Notified};
    pub use crate::event::{Event, Ready};
    pub use crate::guard::TryLockError;
    pub use crate::mutex::{
        Barging, Fair, Lock, LockOwned, Mutex, MutexGuard, Order, OwnedMutexGuard,
    };
    pub use crate::mvar::{MVar, Put, Read, Replace, Swap, Take};
    pub use crate::once::AlreadyAssigned;
    pub use crate::once::cell::{GetOrInit, GetOrTryInit, OnceCell};
    pub use crate::once::ivar::{IVar, ReadIVar};
    pub use crate::once::lazy::Lazy;
    #[cfg(feature = "std")]
    #[doc(hidden)]
    pub use crate::readiness::{EventNumber, Generation, Readiness, Try};
    pub use crate::rwlock::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard};
    pub use crate::rwlock::{ReadLock, ReadLockOwned, WriteLock, WriteLockOwned};
    pub use crate::rwlock::{RwLock, RwLockReadGuard, RwLockWriteGuard};
    pub use crate::semaphore::{Acquire, AcquireError, AcquireOwned, Semaphore, TryAcquireError};
    pub use crate::semaphore::{OwnedSemaphorePermit, SemaphorePermit};
}

/// The names of one flavour.
macro_rules! flavour {
    ($policy:ty, $whom:literal) => {
        #[cfg(feature = "std")]
        pub use crate::raw::NotArrived;
        pub use crate::raw::{AcquireError, AlreadyAssigned, BarrierResult, TryAcquireError, TryLockError};

        #[doc = concat!("An [`MVar`](crate::raw::MVar) for ", $whom, ".")]
        pub type MVar<T> = crate::raw::MVar<T, $policy>;
        #[doc = concat!("A [`Mutex`](crate::raw::Mutex) for ", $whom, ".")]
        pub type Mutex<T> = crate::raw::Mutex<T, $policy, crate::raw::Barging>;
        #[doc = concat!("A [`Mutex`](crate::raw::Mutex) for ", $whom, " that is first come, first served.")]
        pub type FairMutex<T> = crate::raw::Mutex<T, $policy, crate::raw::Fair>;
        /// Has locked a [`Mutex`].
        pub type MutexGuard<'a, T> = crate::raw::MutexGuard<'a, T, $policy, crate::raw::Barging>;
        /// Has locked a [`FairMutex`].
        pub type FairMutexGuard<'a, T> = crate::raw::MutexGuard<'a, T, $policy, crate::raw::Fair>;
        /// Has locked a [`Mutex`], and keeps it alive.
        pub type OwnedMutexGuard<T> = crate::raw::OwnedMutexGuard<T, $policy, crate::raw::Barging>;
        /// Has locked a [`FairMutex`], and keeps it alive.
        pub type OwnedFairMutexGuard<T> = crate::raw::OwnedMutexGuard<T, $policy, crate::raw::Fair>;
        #[doc = concat!("An [`RwLock`](crate::raw::RwLock) for ", $whom, ".")]
        pub type RwLock<T> = crate::raw::RwLock<T, $policy>;
        /// Has locked an [`RwLock`] to read.
        pub type RwLockReadGuard<'a, T> = crate::raw::RwLockReadGuard<'a, T, $policy>;
        /// Has locked an [`RwLock`] to write.
        pub type RwLockWriteGuard<'a, T> = crate::raw::RwLockWriteGuard<'a, T, $policy>;
        /// Has locked an [`RwLock`] to read, and keeps it alive.
        pub type OwnedRwLockReadGuard<T> = crate::raw::OwnedRwLockReadGuard<T, $policy>;
        /// Has locked an [`RwLock`] to write, and keeps it alive.
        pub type OwnedRwLockWriteGuard<T> = crate::raw::OwnedRwLockWriteGuard<T, $policy>;
        #[doc = concat!("A [`Condvar`](crate::raw::Condvar) for ", $whom, ".")]
        pub type Condvar = crate::raw::Condvar<$policy>;
        #[doc = concat!("A [`Semaphore`](crate::raw::Semaphore) for ", $whom, ".")]
        pub type Semaphore = crate::raw::Semaphore<$policy>;
        /// Acquired from a [`Semaphore`].
        pub type SemaphorePermit<'a> = crate::raw::SemaphorePermit<'a, $policy>;
        /// Acquired from a [`Semaphore`], which it keeps alive.
        pub type OwnedSemaphorePermit = crate::raw::OwnedSemaphorePermit<$policy>;
        #[doc = concat!("A [`Barrier`](crate::raw::Barrier) for ", $whom, ".")]
        pub type Barrier = crate::raw::Barrier<$policy>;
        #[doc = concat!("An [`Event`](crate::raw::Event) for ", $whom, ".")]
        pub type Event = crate::raw::Event<$policy>;
        #[doc = concat!("A [`OnceCell`](crate::raw::OnceCell) for ", $whom, ".")]
        pub type OnceCell<T> = crate::raw::OnceCell<T, $policy>;
        #[doc = concat!("A [`Lazy`](crate::raw::Lazy) for ", $whom, ".")]
        pub type Lazy<T, F> = crate::raw::Lazy<T, F, $policy>;
        #[doc = concat!("An [`IVar`](crate::raw::IVar) for ", $whom, ".")]
        pub type IVar<T> = crate::raw::IVar<T, $policy>;
    };
}

/// The flavour for any thread: `Send` and `Sync`.
#[cfg(feature = "std")]
pub mod sync {
    flavour!(gossamer_core::policy::Shared, "any thread");
}

/// The flavour for one thread: no atomics, `!Send`.
pub mod local {
    flavour!(gossamer_core::policy::Local, "one thread");
}
