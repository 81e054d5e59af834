//! Aborts of tasks that change workers at the same moment: the future is dropped, once.

use gossamer_core::platform::thread;
use gossamer_core::wait::Wait;

use super::{Acting, Log, ends_clean, explore, flags, parked, pool, set, settle};

/// An abort from outside against a theft: the task's next turn, wherever that is, drops its future (`CANCEL` in its
/// `refs`, which stays when the owner's inbox gives it to a shard where it no longer lives).
#[test]
fn abort_against_theft() {
    explore("abort_against_theft", || {
        let (shared, flags, log) = (pool(2), flags(), Log::default());
        let mut owner = Acting::begin(&shared, 0);
        let (handle, waker) = parked(&mut owner, &flags, &log);
        waker.wake();
        drop(owner.spawn(async {}));
        owner.hand_over();
        let its = shared.clone();
        let thief = thread::spawn(move || {
            let mut thief = Acting::begin(&its, 1);
            thief.steal();
            thief.run();
        });
        let aborts = thread::spawn(move || {
            handle.abort();
            handle
        });
        owner.run();
        thief.join().expect("the thief does not panic");
        let handle = aborts.join().expect("the other thread does not panic");
        drop(owner);
        settle(&shared);
        assert!(handle.is_finished(), "an abort was lost");
        assert!(
            handle
                .wait()
                .expect_err("it never completes")
                .is_cancelled()
        );
        assert_eq!((log.completed(), log.dropped()), (0, 1));
        ends_clean(shared);
    });
}

/// The owner aborts a task that is in its steal queue, and being stolen.
#[test]
fn abort_by_the_owner_against_theft() {
    explore("abort_by_the_owner_against_theft", || {
        let (shared, flags, log) = (pool(2), flags(), Log::default());
        let mut owner = Acting::begin(&shared, 0);
        let (handle, waker) = parked(&mut owner, &flags, &log);
        waker.wake();
        drop(owner.spawn(async {}));
        owner.hand_over();
        let its = shared.clone();
        let thief = thread::spawn(move || {
            let mut thief = Acting::begin(&its, 1);
            thief.steal();
            thief.run();
        });
        handle.abort();
        owner.run();
        thief.join().expect("the thief does not panic");
        drop(owner);
        settle(&shared);
        assert!(handle.is_finished(), "an abort was lost");
        drop(handle);
        assert_eq!((log.completed(), log.dropped()), (0, 1));
        ends_clean(shared);
    });
}

/// An abort from outside against a worker that takes the task along.
#[test]
fn abort_against_pull() {
    explore("abort_against_pull", || {
        let (shared, flags, log) = (pool(2), flags(), Log::default());
        let (handle, waker) = parked(&mut Acting::begin(&shared, 1), &flags, &log);
        let mut puller = Acting::begin(&shared, 0);
        let aborts = thread::spawn(move || {
            handle.abort();
            drop(handle);
        });
        set(&flags, 0, &waker);
        drop(waker);
        puller.run();
        aborts.join().expect("the other thread does not panic");
        drop(puller);
        settle(&shared);
        assert_eq!(
            (log.completed(), log.dropped()),
            (0, 1),
            "an abort was lost"
        );
        ends_clean(shared);
    });
}
