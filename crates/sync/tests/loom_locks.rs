//! Models of the locks and cells between threads: the line, the grants, and the exchanges that pass by it.
//!
//! Run by `cargo xtask loom`; what loom cannot see is told in `crates/core/tests/loom.rs`. What the operations *mean*
//! is walked through in `tests/it/locks`, on the deterministic scheduler.
#![cfg(loom)]

use std::pin::pin;
use std::sync::Arc;

use gossamer_core::door::atomic::{AtomicU32, Ordering};
use gossamer_core::door::model::{beside, explore, explore_within, joined, poll_once};
use gossamer_core::wait::Wait;
use gossamer_sync::sync::{
    Barrier, Condvar, Event, FairMutex, IVar, Mutex, OnceCell, RwLock, Semaphore,
};

/// Two threads count under a lock, each so often: nobody waits for ever, and each sees what the other did (loom's
/// cell looks after the value).
#[test]
fn mutex_excludes() {
    explore("mutex_excludes", || {
        let place = Arc::new(Mutex::new(0));
        let add = |place: &Mutex<u32>| *place.lock().wait() += 1;
        let other = beside(&place, move |place| {
            add(place);
            add(place);
        });
        add(&place);
        joined(other);
        assert_eq!(*place.try_lock().expect("it is free"), 3);
    });
}

/// The same with a third who waits: the first in line is woken, passed, and handed the lock in the end.
#[test]
fn mutex_is_handed_over() {
    explore("mutex_is_handed_over", || {
        let place = Arc::new(Mutex::new(0));
        let held = place.try_lock().expect("it is free");
        let other = beside(&place, |place| *place.lock().wait() += 1);
        drop(held);
        for _ in 0..3 {
            *place.lock().wait() += 1;
        }
        joined(other);
        assert_eq!(*place.try_lock().expect("it is free"), 4);
    });
}

/// A lock that was asked for is dropped while it is handed over: the lock is free, or the next in line has it.
#[test]
fn mutex_cancelled() {
    explore_within(1, "mutex_cancelled", || {
        let place = Arc::new(FairMutex::new(0));
        let held = place.try_lock().expect("it is free");
        let gives_up = beside(&place, |place| {
            let mut lock = pin!(place.lock());
            if poll_once(lock.as_mut()).is_pending() {
                drop(poll_once(lock));
            }
        });
        let waits = beside(&place, |place| *place.lock().wait() += 1);
        drop(held);
        joined(gives_up);
        joined(waits);
        assert_eq!(*place.try_lock().expect("it is free"), 1);
    });
}

/// A writer and a reader against one that has it.
#[test]
fn rwlock_writer_and_reader() {
    explore_within(1, "rwlock_writer_and_reader", || {
        let place = Arc::new(RwLock::new(0));
        let reads = place.try_read().expect("it is free");
        let writer = beside(&place, |place| *place.write().wait() += 1);
        let reader = beside(&place, |place| *place.read().wait());
        assert_eq!(*reads, 0);
        drop(reads);
        joined(writer);
        assert!(joined(reader) <= 1);
        assert_eq!(*place.try_write().expect("it is free"), 1);
    });
}

/// Permits come back one by one while one waits for two, and another for one.
#[test]
fn semaphore_hand_over() {
    explore_within(1, "semaphore_hand_over", || {
        let place = Arc::new(Semaphore::new(1));
        let held = place.try_acquire().expect("it is free");
        let many = beside(&place, |place| place.acquire_many(2).wait().count());
        let few = beside(&place, |place| place.acquire().wait().count());
        place.add_permits(1);
        drop(held);
        assert_eq!((joined(many), joined(few)), (2, 1));
        assert_eq!(place.available(), 2);
    });
}

/// One that was granted its permit is dropped: the permit is free, or the next in line has it.
#[test]
fn semaphore_cancelled() {
    explore_within(1, "semaphore_cancelled", || {
        let place = Arc::new(Semaphore::new(0));
        let gives_up = beside(&place, |place| poll_once(pin!(place.acquire())).is_ready());
        let waits = beside(&place, |place| place.acquire().wait().forget());
        place.add_permits(1);
        // It gave the permit back, if it had it.
        let _had = joined(gives_up);
        joined(waits);
        assert_eq!(place.available(), 0);
    });
}

/// A notification against one that is just about to wait for it: it is in line before it unlocks.
#[test]
fn condvar_loses_nothing() {
    explore("condvar_loses_nothing", || {
        let place = Arc::new((Mutex::new(false), Condvar::new()));
        let waits = beside(&place, |(value, changed)| {
            let mut seen = value.lock().wait();
            while !*seen {
                seen = changed.wait_for(seen).wait();
            }
        });
        *place.0.lock().wait() = true;
        place.1.notify_one();
        joined(waits);
    });
}

/// Two meet, on two threads.
#[test]
fn barrier_meets() {
    explore("barrier_meets", || {
        let place = Arc::new((Barrier::new(2), AtomicU32::new(0)));
        let other = beside(&place, |(barrier, come)| {
            come.fetch_add(1, Ordering::Relaxed);
            let led = barrier.arrive().wait().is_leader();
            assert_eq!(come.load(Ordering::Relaxed), 2);
            led
        });
        place.1.fetch_add(1, Ordering::Relaxed);
        let led = place.0.arrive().wait().is_leader();
        assert_eq!(place.1.load(Ordering::Relaxed), 2);
        assert!(led != joined(other));
    });
}

/// Set and reset against one that comes to wait, and one that looks.
#[test]
fn event_publishes() {
    explore("event_publishes", || {
        let place = Arc::new((Event::new(), AtomicU32::new(0)));
        let waits = beside(&place, |(event, seen)| {
            event.ready().wait();
            assert_eq!(seen.load(Ordering::Relaxed), 1);
        });
        place.1.store(1, Ordering::Relaxed);
        place.0.set();
        joined(waits);
    });
}

/// A variable is read while it is assigned, by two.
#[test]
fn ivar_is_read() {
    explore_within(1, "ivar_is_read", || {
        let place = Arc::new(IVar::new());
        let waits = beside(&place, |place: &IVar<u32>| *place.read().wait());
        let puts = beside(&place, |place| place.put(1).is_ok());
        let put = place.put(2).is_ok();
        assert!(put != joined(puts));
        let value = joined(waits);
        assert_eq!(value, if put { 2 } else { 1 });
        assert_eq!(place.try_read(), Some(&value));
    });
}

/// Two make a value: one does, and if it gives up, the other.
#[test]
fn once_cell_is_made() {
    explore("once_cell_is_made", || {
        let place = Arc::new(OnceCell::new());
        let gives_up = beside(&place, |place: &OnceCell<u32>| {
            let never = std::future::pending();
            assert!(
                poll_once(pin!(place.get_or_init(|| never))).is_pending() || place.get().is_some()
            );
        });
        let makes = beside(&place, |place| *place.get_or_init(async || 2).wait());
        joined(gives_up);
        assert_eq!(joined(makes), 2);
    });
}
