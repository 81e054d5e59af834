//! The seat at the poller: as long as a task waits for an event, a worker sits there, or one is awake that will. An event
//! that nobody polls is a deadlock here.

use std::sync::Arc;

use gossamer_core::platform::atomic::Ordering;
use gossamer_core::platform::thread;
use gossamer_core::poller::model::OneEvent;

use super::resizing::shrink;
use super::{Acting, Flags, Log, Shared, ends_clean, explore, flags, parked, pool};

fn poller_of(shared: &Shared) -> Arc<OneEvent> {
    let poller = Arc::new(OneEvent::new());
    let cell = shared.environment.poller();
    let made = cell.get_or_try_init(|| Ok::<_, ()>(poller.clone()));
    assert!(made.is_ok());
    poller
}

/// What the task waits for is there, and an event tells so.
fn happens(flags: &Flags, poller: &OneEvent) {
    for flag in flags.iter() {
        flag.store(true, Ordering::Relaxed); // Relaxed: only the event makes it visible
    }
    poller.happens();
}

/// A thread outside makes the first use of the poller while the only worker falls asleep.
#[test]
fn first_use_against_sleep() {
    explore("first_use_against_sleep", || {
        let (shared, flags, log) = (pool(1), flags(), Log::default());
        let poller = poller_of(&shared);
        let mut worker = Acting::begin(&shared, 0);
        let (handle, waker) = parked(&mut worker, &flags, &log);
        drop(handle);
        let (seen, its) = (log.clone(), shared.clone());
        let outside = thread::spawn(move || {
            poller.wait(waker);
            its.environment.poller().call();
            happens(&flags, &poller);
        });
        worker.work_until(|| seen.completed() == 1);
        outside.join().expect("it does not panic");
        drop(worker);
        ends_clean(shared);
    });
}

/// The worker at the seat retires, while the other one falls asleep.
#[test]
fn seat_against_retire() {
    explore("seat_against_retire", || {
        let (shared, flags, log) = (pool(2), flags(), Log::default());
        let poller = poller_of(&shared);
        let mut stays = Acting::begin(&shared, 0);
        let (handle, waker) = parked(&mut stays, &flags, &log);
        drop(handle);
        poller.wait(waker);
        drop(stays);
        let (seen, its) = (log.clone(), shared.clone());
        let other = thread::spawn(move || {
            let mut stays = Acting::begin(&its, 0);
            stays.work_until(|| seen.completed() == 1);
        });
        let mut retires = Acting::begin(&shared, 1);
        shrink(&shared);
        retires.fall_asleep();
        retires.retire();
        happens(&flags, &poller);
        other.join().expect("it does not panic");
        ends_clean(shared);
    });
}
