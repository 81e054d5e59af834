//! The flavours whose guards and permits own what they are of.

use std::rc::Rc;
use std::sync::Arc;

use gossamer::{local, sync};

use super::flavours::{held, kind};
use super::{Held, Kind, Lock, Operation};
use crate::flavour::{Local, Shared};
use crate::locks::Locks;

/// Makes owned locks.
pub(super) trait OwnedLocks: Locks {
    fn owned_mutex() -> Rc<dyn Lock>;
    fn owned_fair_mutex() -> Rc<dyn Lock>;
    fn owned_writers() -> Rc<dyn Lock>;
    fn owned_readers() -> Rc<dyn Lock>;
    fn owned_permits() -> Rc<dyn Lock>;
}

/// A lock whose guards own `$pointer`s of it: how it is held, and waited for.
macro_rules! owned {
    ($name:ident = $pointer:ident<$type:ty>, $make:expr, $hold:expr, $wait:expr) => {{
        struct $name($pointer<$type>);
        impl Lock for $name {
            fn hold(&self) -> Option<Held<'_>> {
                $hold(self.0.clone()).ok().map(Held::new)
            }

            fn wait(&self) -> Operation<'_, Held<'_>> {
                held($wait(self.0.clone()))
            }
        }
        Rc::new($name($pointer::new($make)))
    }};
}

macro_rules! flavour {
    ($flavour:ident, $module:ident, $pointer:ident) => {
        impl OwnedLocks for $flavour {
            fn owned_mutex() -> Rc<dyn Lock> {
                use $module::Mutex;
                owned!(
                    Owned = $pointer<Mutex<()>>,
                    Mutex::new(()),
                    Mutex::try_lock_owned,
                    Mutex::lock_owned
                )
            }

            fn owned_fair_mutex() -> Rc<dyn Lock> {
                use $module::FairMutex;
                owned!(
                    Owned = $pointer<FairMutex<()>>,
                    FairMutex::new(()),
                    FairMutex::try_lock_owned,
                    FairMutex::lock_owned
                )
            }

            fn owned_writers() -> Rc<dyn Lock> {
                use $module::RwLock;
                owned!(
                    Owned = $pointer<RwLock<()>>,
                    RwLock::new(()),
                    RwLock::try_read_owned,
                    RwLock::write_owned
                )
            }

            fn owned_readers() -> Rc<dyn Lock> {
                use $module::RwLock;
                owned!(
                    Owned = $pointer<RwLock<()>>,
                    RwLock::new(()),
                    RwLock::try_write_owned,
                    RwLock::read_owned
                )
            }

            fn owned_permits() -> Rc<dyn Lock> {
                use $module::Semaphore;
                owned!(
                    Owned = $pointer<Semaphore>,
                    Semaphore::new(3),
                    |all: $pointer<Semaphore>| all.try_acquire_many_owned(3),
                    |all: $pointer<Semaphore>| all.acquire_many_owned(3)
                )
            }
        }
    };
}
flavour!(Shared, sync, Arc);
flavour!(Local, local, Rc);

pub(super) fn mutexes<F: OwnedLocks>() -> Kind {
    kind::<F>(true, F::owned_mutex)
}

pub(super) fn fair_mutexes<F: OwnedLocks>() -> Kind {
    kind::<F>(true, F::owned_fair_mutex)
}

pub(super) fn writers<F: OwnedLocks>() -> Kind {
    kind::<F>(true, F::owned_writers)
}

pub(super) fn readers<F: OwnedLocks>() -> Kind {
    Kind {
        free_again: true,
        ..kind::<F>(false, F::owned_readers)
    }
}

pub(super) fn permits<F: OwnedLocks>() -> Kind {
    kind::<F>(true, F::owned_permits)
}
