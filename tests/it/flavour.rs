//! The two flavours of a primitive, so that one test body serves both.

use std::rc::Rc;

use gossamer::raw::{self, LockPolicy, MVar};

/// A flavour of the primitives.
pub(crate) trait Flavour: 'static {
    type P: LockPolicy + gossamer::raw::channel::spsc::RingPolicy;

    /// Whether it is explored with scheduling points inside of operations, or by the short ways that production takes: but
    /// for the lock's word both flavours are the same code, and with the points are most of the schedules.
    const SCHEDULING_POINTS: bool;

    fn empty<T>() -> MVar<T, Self::P>;
    fn full<T>(value: T) -> MVar<T, Self::P>;

    /// An empty `MVar` that tasks share.
    fn mvar<T>() -> SharedMVar<Self, T> {
        Rc::new(Self::empty())
    }

    /// A full `MVar` that tasks share.
    fn mvar_with<T>(value: T) -> SharedMVar<Self, T> {
        Rc::new(Self::full(value))
    }
}

/// An `MVar` that tasks share.
pub(crate) type SharedMVar<F, T> = Rc<MVar<T, <F as Flavour>::P>>;

pub(crate) struct Shared;
pub(crate) struct Local;

impl Flavour for Shared {
    type P = raw::Shared;
    const SCHEDULING_POINTS: bool = false;

    fn empty<T>() -> MVar<T, Self::P> {
        MVar::<T, raw::Shared>::empty()
    }

    fn full<T>(value: T) -> MVar<T, Self::P> {
        MVar::<T, raw::Shared>::new(value)
    }
}

impl Flavour for Local {
    type P = raw::Local;
    const SCHEDULING_POINTS: bool = true;

    fn empty<T>() -> MVar<T, Self::P> {
        MVar::<T, raw::Local>::empty()
    }

    fn full<T>(value: T) -> MVar<T, Self::P> {
        MVar::<T, raw::Local>::new(value)
    }
}

/// Makes two tests of each generic function: `shared::name` and `local::name`.
macro_rules! both {
    ($($name:ident),* $(,)?) => {
        mod shared {
            $(#[test]
            fn $name() {
                super::$name::<crate::flavour::Shared>();
            })*
        }
        mod local {
            $(#[test]
            fn $name() {
                super::$name::<crate::flavour::Local>();
            })*
        }
    };
}
pub(crate) use both;
