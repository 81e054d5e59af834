//! Models of the locks and cells between threads: the line, the grants, and the exchanges that pass by it.
//!
//! Run by `cargo xtask loom`; what loom cannot see is told in `crates/core/tests/loom.rs`. What the operations *mean*
//! is walked through in `tests/it/locks`, on the deterministic scheduler.
#![cfg(loom)]

use std::pin::pin;
use std::sync::Arc;

use gossamer_core::platform::atomic::{AtomicU32, Ordering};
use gossamer_core::platform::model::{beside, explore, explore_within, joined, poll_once};
use gossamer_core::wait::Wait;
use gossamer_sync::sync::{
    Barrier, Condvar, Event, FairMutex, IVar, Mutex, OnceCell, RwLock, Semaphore,
};

/// Two threads count under a lock, each so often: nobody waits for ever, and each sees what the other did (loom's
/// cell looks after the value).
#[test]
fn mutex_excludes() {
    explore("mutex_excludes", || {
        let primitive = Arc::new(Mutex::new(0));
        let add = |primitive: &Mutex<u32>| *primitive.lock().wait() += 1;
        let other = beside(&primitive, move |primitive| {
            add(primitive);
            add(primitive);
        });
        add(&primitive);
        joined(other);
        assert_eq!(*primitive.try_lock().expect("it is free"), 3);
    });
}

/// The same with a third who waits: the first in line is woken, passed, and handed the lock in the end.
#[test]
fn mutex_is_handed_over() {
    explore("mutex_is_handed_over", || {
        let primitive = Arc::new(Mutex::new(0));
        let held = primitive.try_lock().expect("it is free");
        let other = beside(&primitive, |primitive| *primitive.lock().wait() += 1);
        drop(held);
        for _ in 0..3 {
            *primitive.lock().wait() += 1;
        }
        joined(other);
        assert_eq!(*primitive.try_lock().expect("it is free"), 4);
    });
}

/// A lock that was asked for is dropped while it is handed over: the lock is free, or the next in line has it.
#[test]
fn mutex_cancelled() {
    explore_within(1, "mutex_cancelled", || {
        let primitive = Arc::new(FairMutex::new(0));
        let held = primitive.try_lock().expect("it is free");
        let gives_up = beside(&primitive, |primitive| {
            let mut lock = pin!(primitive.lock());
            if poll_once(lock.as_mut()).is_pending() {
                drop(poll_once(lock));
            }
        });
        let waits = beside(&primitive, |primitive| *primitive.lock().wait() += 1);
        drop(held);
        joined(gives_up);
        joined(waits);
        assert_eq!(*primitive.try_lock().expect("it is free"), 1);
    });
}

/// A writer and a reader against one that has it.
#[test]
fn rwlock_writer_and_reader() {
    explore_within(1, "rwlock_writer_and_reader", || {
        let primitive = Arc::new(RwLock::new(0));
        let reads = primitive.try_read().expect("it is free");
        let writer = beside(&primitive, |primitive| *primitive.write().wait() += 1);
        let reader = beside(&primitive, |primitive| *primitive.read().wait());
        assert_eq!(*reads, 0);
        drop(reads);
        joined(writer);
        assert!(joined(reader) <= 1);
        assert_eq!(*primitive.try_write().expect("it is free"), 1);
    });
}

/// Permits come back one by one while one waits for two, and another for one.
#[test]
fn semaphore_hand_over() {
    explore_within(1, "semaphore_hand_over", || {
        let primitive = Arc::new(Semaphore::new(1));
        let held = primitive.try_acquire().expect("it is free");
        let many = beside(&primitive, |primitive| {
            let permits = primitive.acquire_many(2).wait();
            permits.expect("it is open").num_permits()
        });
        let few = beside(&primitive, |primitive| {
            primitive
                .acquire()
                .wait()
                .expect("it is open")
                .num_permits()
        });
        primitive.add_permits(1);
        drop(held);
        assert_eq!((joined(many), joined(few)), (2, 1));
        assert_eq!(primitive.available_permits(), 2);
    });
}

/// One that was granted its permit is dropped: the permit is free, or the next in line has it.
#[test]
fn semaphore_cancelled() {
    explore_within(1, "semaphore_cancelled", || {
        let primitive = Arc::new(Semaphore::new(0));
        let gives_up = beside(&primitive, |primitive| {
            poll_once(pin!(primitive.acquire())).is_ready()
        });
        let waits = beside(&primitive, |primitive| {
            primitive.acquire().wait().expect("it is open").forget();
        });
        primitive.add_permits(1);
        // It gave the permit back, if it had it.
        let _had = joined(gives_up);
        joined(waits);
        assert_eq!(primitive.available_permits(), 0);
    });
}

/// A notification against one that is just about to wait for it: it is in line before it unlocks.
#[test]
fn condvar_loses_nothing() {
    explore("condvar_loses_nothing", || {
        let primitive = Arc::new((Mutex::new(false), Condvar::new()));
        let waits = beside(&primitive, |(value, changed)| {
            let mut seen = value.lock().wait();
            while !*seen {
                seen = changed.notified(seen).wait();
            }
        });
        *primitive.0.lock().wait() = true;
        primitive.1.notify_one();
        joined(waits);
    });
}

/// Two meet, on two threads.
#[test]
fn barrier_meets() {
    explore("barrier_meets", || {
        let primitive = Arc::new((Barrier::new(2), AtomicU32::new(0)));
        let other = beside(&primitive, |(barrier, come)| {
            come.fetch_add(1, Ordering::Relaxed);
            let led = barrier.arrive().wait().is_leader();
            assert_eq!(come.load(Ordering::Relaxed), 2);
            led
        });
        primitive.1.fetch_add(1, Ordering::Relaxed);
        let led = primitive.0.arrive().wait().is_leader();
        assert_eq!(primitive.1.load(Ordering::Relaxed), 2);
        assert!(led != joined(other));
    });
}

/// Set and reset against one that comes to wait, and one that looks.
#[test]
fn event_publishes() {
    explore("event_publishes", || {
        let primitive = Arc::new((Event::new(), AtomicU32::new(0)));
        let waits = beside(&primitive, |(event, seen)| {
            event.ready().wait();
            assert_eq!(seen.load(Ordering::Relaxed), 1);
        });
        primitive.1.store(1, Ordering::Relaxed);
        primitive.0.set();
        joined(waits);
    });
}

/// A variable is read while it is assigned, by two.
#[test]
fn ivar_is_read() {
    explore_within(1, "ivar_is_read", || {
        let primitive = Arc::new(IVar::new());
        let waits = beside(&primitive, |primitive: &IVar<u32>| *primitive.read().wait());
        let puts = beside(&primitive, |primitive| primitive.put(1).is_ok());
        let put = primitive.put(2).is_ok();
        assert!(put != joined(puts));
        let value = joined(waits);
        assert_eq!(value, if put { 2 } else { 1 });
        assert_eq!(primitive.try_read(), Some(&value));
    });
}

/// Two make a value: one does, and if it gives up, the other.
#[test]
fn once_cell_is_made() {
    explore("once_cell_is_made", || {
        let primitive = Arc::new(OnceCell::new());
        let gives_up = beside(&primitive, |primitive: &OnceCell<u32>| {
            let never = std::future::pending();
            assert!(
                poll_once(pin!(primitive.get_or_init(|| never))).is_pending()
                    || primitive.get().is_some()
            );
        });
        let makes = beside(&primitive, |primitive| {
            *primitive.get_or_init(async || 2).wait()
        });
        joined(gives_up);
        assert_eq!(joined(makes), 2);
    });
}
