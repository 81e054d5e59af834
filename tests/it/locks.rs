//! Locks and cells: what their documentation states.
//!
//! * [`arriving`]: an arrival at a barrier that is given up says whether it counted.
//! * [`conform`]: each primitive, by every pair of task, fiber and thread, under every model and on sim.
//! * [`closing`]: a semaphore that is closed.
//! * [`cancelling`]: operations dropped at every poll, in all schedules of small programs.
//! * [`rules`]: who goes when, polled by hand; and what is refused.
//! * [`making`]: cells whose value may fail to be made.
//! * [`owned`]: guards and permits that own what they are of; values of any size.
//! * [`panics`]: closures that panic.
//! * [`values`]: made from values, and shown.

mod arriving;
mod cancelling;
mod closing;
mod conform;
mod making;
mod owned;
mod panics;
mod rules;
mod values;

use gossamer::raw::{
    Barging, Barrier, Condvar, Event, Fair, IVar, Mutex, OnceCell, RwLock, Semaphore,
};

use crate::flavour::{Flavour, Local, Shared};

/// Makes the primitives of a flavour.
pub(crate) trait Locks: Flavour {
    fn mutex<T>(value: T) -> Mutex<T, Self::P, Barging>;
    fn fair_mutex<T>(value: T) -> Mutex<T, Self::P, Fair>;
    fn rwlock<T>(value: T) -> RwLock<T, Self::P>;
    fn condvar() -> Condvar<Self::P>;
    fn semaphore(permits: usize) -> Semaphore<Self::P>;
    fn barrier(members: usize) -> Barrier<Self::P>;
    fn event() -> Event<Self::P>;
    fn once_cell<T>() -> OnceCell<T, Self::P>;
    fn ivar<T>() -> IVar<T, Self::P>;
}

macro_rules! locks {
    ($($flavour:ty),*) => {$(
        impl Locks for $flavour {
            fn mutex<T>(value: T) -> Mutex<T, Self::P, Barging> {
                Mutex::<T, <$flavour as Flavour>::P, Barging>::new(value)
            }
            fn fair_mutex<T>(value: T) -> Mutex<T, Self::P, Fair> {
                Mutex::<T, <$flavour as Flavour>::P, Fair>::new(value)
            }
            fn rwlock<T>(value: T) -> RwLock<T, Self::P> {
                RwLock::<T, <$flavour as Flavour>::P>::new(value)
            }
            fn condvar() -> Condvar<Self::P> {
                Condvar::<<$flavour as Flavour>::P>::new()
            }
            #[track_caller]
            fn semaphore(permits: usize) -> Semaphore<Self::P> {
                Semaphore::<<$flavour as Flavour>::P>::new(permits)
            }
            #[track_caller]
            fn barrier(members: usize) -> Barrier<Self::P> {
                Barrier::<<$flavour as Flavour>::P>::new(members)
            }
            fn event() -> Event<Self::P> {
                Event::<<$flavour as Flavour>::P>::new()
            }
            fn once_cell<T>() -> OnceCell<T, Self::P> {
                OnceCell::<T, <$flavour as Flavour>::P>::new()
            }
            fn ivar<T>() -> IVar<T, Self::P> {
                IVar::<T, <$flavour as Flavour>::P>::new()
            }
        }
    )*};
}
locks!(Shared, Local);

/// What every primitive of the shared flavour is.
#[test]
fn what_is_for_any_thread() {
    fn any_thread<T: Send + Sync>() {}
    fn sent<T: Send>(_: &T) {}
    use gossamer::sync;
    any_thread::<sync::Mutex<u32>>();
    any_thread::<sync::FairMutex<u32>>();
    any_thread::<sync::RwLock<u32>>();
    any_thread::<sync::Condvar>();
    any_thread::<sync::Semaphore>();
    any_thread::<sync::Barrier>();
    any_thread::<sync::Event>();
    any_thread::<sync::OnceCell<u32>>();
    any_thread::<sync::IVar<u32>>();
    any_thread::<sync::MutexGuard<'_, u32>>();
    // What one at a time has may be anything that can be sent.
    any_thread::<sync::Mutex<std::cell::Cell<u32>>>();
    // A guard held across an await.
    let mutex = sync::Mutex::new(0);
    sent(&async {
        let mut guard = mutex.lock().await;
        gossamer::yield_now().await;
        *guard += 1;
    });
    assert!(size_of::<gossamer::raw::Mutex<u64, <Local as Flavour>::P>>() <= 24);
}
