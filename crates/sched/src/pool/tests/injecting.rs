//! The injector: spawns from outside against workers that take, fall asleep, and seal.

use std::future::pending;
use std::panic::Location;
use std::sync::Arc;

use gossamer_core::platform::atomic::Ordering;
use gossamer_core::platform::thread;
use gossamer_core::wait::Wait;
use gossamer_task::{JoinHandle, spawn};

use super::{Acting, Log, Shared, ends_clean, explore, pool, settle};
use crate::fifo::Fifo;
use crate::single::{acquire_again, shut_down};

fn inject(shared: &Shared, log: &Log) -> JoinHandle<()> {
    spawn(shared.injector, log.once(), Location::caller())
}

/// Two workers take their shares while a third thread spawns: each task is polled once (`ShardGuard::take_from`).
#[test]
fn push_against_two_who_take() {
    explore("push_against_two_who_take", || {
        let (shared, log) = (pool(2), Log::default());
        drop(inject(&shared, &log));
        let (its, other) = (shared.clone(), log.clone());
        let spawns = thread::spawn(move || drop(inject(&its, &other)));
        let its = shared.clone();
        let takes = thread::spawn(move || {
            let mut worker = Acting::begin(&its, 1);
            worker.take_share();
            worker.run();
        });
        let mut worker = Acting::begin(&shared, 0);
        worker.take_share();
        worker.run();
        spawns.join().expect("the other thread does not panic");
        takes.join().expect("the other worker does not panic");
        drop(worker);
        settle(&shared);
        assert_eq!((log.polls(), log.dropped()), (2, 2));
        ends_clean(shared);
    });
}

/// A spawn from outside against a worker that falls asleep: it sees the task, or is called (`idle::Idle` against the
/// injector's fallback waker). A lost call is a deadlock here.
#[test]
fn push_against_sleep() {
    explore("push_against_sleep", || {
        let (shared, log) = (pool(1), Log::default());
        let (its, other) = (shared.clone(), log.clone());
        let spawns = thread::spawn(move || drop(inject(&its, &other)));
        let mut worker = Acting::begin(&shared, 0);
        worker.work_until(|| log.polls() == 1);
        spawns.join().expect("the other thread does not panic");
        drop(worker);
        assert_eq!((log.polls(), log.dropped()), (1, 1));
        ends_clean(shared);
    });
}

/// Two threads spawn while the worker falls asleep, and perhaps again after the first.
#[test]
fn two_pushes_against_sleep() {
    explore("two_pushes_against_sleep", || {
        let (shared, log) = (pool(1), Log::default());
        let threads = [(); 2].map(|()| {
            let (its, other) = (shared.clone(), log.clone());
            thread::spawn(move || drop(inject(&its, &other)))
        });
        let mut worker = Acting::begin(&shared, 0);
        worker.work_until(|| log.polls() == 2);
        for thread in threads {
            thread.join().expect("the other thread does not panic");
        }
        drop(worker);
        assert_eq!((log.polls(), log.dropped()), (2, 2));
        ends_clean(shared);
    });
}

/// Seals the injector as `Pool::close_injector` does.
fn seal(shared: &Arc<Shared>) {
    shared.closing.store(true, Ordering::Release); // pairs with the acquire in `is_closing`
    let guard = acquire_again(shared.injector);
    guard.seal();
    shut_down(&guard, &mut Fifo::new());
}

/// A spawn from outside against the end: the task is taken, or dropped with the injector, or turned away, and its
/// handle says what became of it.
#[test]
fn push_against_seal() {
    explore("push_against_seal", || {
        let (shared, log) = (pool(1), Log::default());
        let (its, other) = (shared.clone(), log.clone());
        let spawns = thread::spawn(move || inject(&its, &other).wait());
        seal(&shared);
        let ended = spawns.join().expect("the other thread does not panic");
        assert!(ended.expect_err("nobody polls it").is_cancelled());
        assert_eq!((log.polls(), log.dropped()), (0, 1));
        ends_clean(shared);
    });
}

/// A worker takes its share while the injector is sealed, and another thread spawns: every task is dropped once.
#[test]
fn take_against_seal() {
    explore("take_against_seal", || {
        let (shared, log) = (pool(1), Log::default());
        let handle = inject(&shared, &log);
        let its = shared.clone();
        let takes = thread::spawn(move || {
            let mut worker = Acting::begin(&its, 0);
            worker.take_share();
            worker.run();
        });
        let (its, other) = (shared.clone(), log.clone());
        let spawns = thread::spawn(move || drop(inject(&its, &other)));
        seal(&shared);
        takes.join().expect("the worker does not panic");
        spawns.join().expect("the other thread does not panic");
        assert!(handle.is_finished());
        drop(handle);
        assert_eq!(log.dropped(), 2);
        ends_clean(shared);
    });
}

/// An abort of a task that waits in the injector, against the worker that takes it.
#[test]
fn abort_against_take() {
    explore("abort_against_take", || {
        let (shared, log) = (pool(1), Log::default());
        let handle = inject(&shared, &log);
        let aborts = thread::spawn(move || {
            handle.abort();
            handle
        });
        let mut worker = Acting::begin(&shared, 0);
        worker.take_share();
        worker.run();
        let handle = aborts.join().expect("the other thread does not panic");
        drop(worker);
        settle(&shared);
        assert!(handle.is_finished(), "the task is nowhere");
        drop(handle);
        assert_eq!(log.dropped(), 1);
        ends_clean(shared);
    });
}

/// An abort that found its task in the injector, but comes there when a worker has taken it, against the end: what is
/// found at the sealed injector is sent on (`ShardGuard::receive`), and the task ends with its worker.
#[test]
fn late_abort_against_seal() {
    explore("late_abort_against_seal", || {
        let (shared, log) = (pool(1), Log::default());
        let guard = log.guard();
        let waits = async move {
            let _dropped_with_it = guard;
            pending::<()>().await;
        };
        let handle = spawn(shared.injector, waits, Location::caller());
        let its = shared.clone();
        let takes = thread::spawn(move || {
            let mut worker = Acting::begin(&its, 0);
            worker.take_share();
            worker.run();
        });
        handle.abort();
        seal(&shared);
        takes.join().expect("the worker does not panic");
        Acting::begin(&shared, 0).end();
        assert!(handle.is_finished(), "a task has outlived its worker");
        drop(handle);
        assert_eq!(log.dropped(), 1);
        ends_clean(shared);
    });
}
