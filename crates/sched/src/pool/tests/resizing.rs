//! Resizing: what a worker that retires leaves behind, the others run. What is lost is a deadlock here.

use std::sync::Arc;
use std::task::{Wake, Waker};

use gossamer_core::platform::atomic::{AtomicBool, Ordering};
use gossamer_core::platform::thread;
use gossamer_core::shard::Shard;

use super::super::worker::{self, Ended};
use super::super::workers::{Started, Workers};
use super::{Acting, Log, Shared, ends_clean, explore, flags, parked, pool, set, settle};

impl Acting {
    /// As a worker that is surplus: it leaves its tasks to the others.
    pub(super) fn retire(mut self) {
        assert!(self.tries_to_retire(), "it was surplus");
    }

    /// Like `retire`, but returns `false` if the worker is wanted again by then, or the pool is shutting down.
    pub(super) fn tries_to_retire(&mut self) -> bool {
        let shared = self.shared.clone();
        let mut ended = Ended {
            shared: &shared,
            number: self.number,
        };
        let guard = self.guard.take().expect("it does not sleep");
        self.guard = worker::retire(&mut ended, guard, &mut self.queue);
        let left = self.guard.is_none();
        if !left {
            // It goes on.
            std::mem::forget(ended);
        }
        left
    }
}

/// The second worker is surplus from here on.
pub(super) fn shrink(shared: &Shared) {
    shared.workers.ask_for(1);
    shared.idle.call_all();
}

/// The second worker is wanted again: its shard, without a fallback waker.
fn grow(shared: &Arc<Shared>) -> &'static Shard {
    shared.workers.ask_for(2);
    assert_eq!(shared.workers.start(), Some(Started::New(1)));
    let shard = shared.shard_for(1).expect("it has one");
    shard.set_fallback_waker(None);
    shard
}

/// A worker retires with two runnable tasks, one of them in its slot, while the other worker falls asleep.
#[test]
fn retire_leaves_runnable_tasks() {
    explore("retire_leaves_runnable_tasks", || {
        let (shared, log) = (pool(2), Log::default());
        let mut retires = Acting::begin(&shared, 1);
        for _ in 0..2 {
            drop(retires.spawn(log.once()));
        }
        retires.hand_over();
        let (its, seen) = (shared.clone(), log.clone());
        let stays = thread::spawn(move || {
            Acting::begin(&its, 0).work_until(|| seen.polls() == 2);
        });
        shrink(&shared);
        retires.retire();
        stays.join().expect("the other worker does not panic");
        assert_eq!((log.polls(), log.dropped()), (2, 2));
        ends_clean(shared);
    });
}

/// A wake from outside of a parked task whose worker retires: the worker sees it, or the fallback waker calls somebody
/// who looks after the shard (`Shard::set_fallback_waker` against `Shard::push`, `WorkerShard::drain_unowned`).
#[test]
fn wake_against_retire() {
    explore("wake_against_retire", || {
        let (shared, flags, log) = (pool(2), flags(), Log::default());
        let mut retires = Acting::begin(&shared, 1);
        let (handle, waker) = parked(&mut retires, &flags, &log);
        drop(handle);
        set(&flags, 0, &waker);
        retires.run();
        let wakes = thread::spawn(move || set(&flags, 1, &waker));
        let (its, seen) = (shared.clone(), log.clone());
        let stays = thread::spawn(move || {
            Acting::begin(&its, 0).work_until(|| seen.completed() == 1);
        });
        shrink(&shared);
        retires.retire();
        wakes.join().expect("the waker does not panic");
        stays.join().expect("the other worker does not panic");
        assert_eq!((log.completed(), log.dropped()), (1, 1));
        ends_clean(shared);
    });
}

/// A pool of two of which the second has retired, leaving a parked task.
fn retired(flags: &super::Flags, log: &Log) -> (Arc<Shared>, Waker) {
    let shared = pool(2);
    let mut retires = Acting::begin(&shared, 1);
    let (handle, waker) = parked(&mut retires, flags, log);
    drop(handle);
    shrink(&shared);
    retires.retire();
    (shared, waker)
}

/// Two wakes from outside of a task that a retired worker has left: the one calls the worker that is there, and the
/// other may come while that one drains the inbox, takes the task over, or polls it.
#[test]
fn two_wakes_of_an_unowned_shard() {
    explore("two_wakes_of_an_unowned_shard", || {
        let (flags, log) = (flags(), Log::default());
        let (shared, waker) = retired(&flags, &log);
        let threads = [0, 1].map(|place| {
            let (flags, waker) = (flags.clone(), waker.clone());
            thread::spawn(move || set(&flags, place, &waker))
        });
        drop(waker);
        let mut stays = Acting::begin(&shared, 0);
        stays.work_until(|| log.completed() == 1);
        for thread in threads {
            thread.join().expect("the waker does not panic");
        }
        drop(stays);
        assert_eq!((log.completed(), log.dropped()), (1, 1));
        ends_clean(shared);
    });
}

/// The worker that is there wakes an unowned_shard, and so takes it along, while a thread wakes it from outside.
#[test]
fn pull_of_an_unowned_shard_against_a_wake() {
    explore("pull_of_an_unowned_shard_against_a_wake", || {
        let (flags, log) = (flags(), Log::default());
        let (shared, waker) = retired(&flags, &log);
        let (other, its) = (waker.clone(), flags.clone());
        let wakes = thread::spawn(move || set(&its, 0, &other));
        let mut stays = Acting::begin(&shared, 0);
        set(&flags, 1, &waker);
        drop(waker);
        stays.work_until(|| log.completed() == 1);
        wakes.join().expect("the waker does not panic");
        drop(stays);
        assert_eq!((log.completed(), log.dropped()), (1, 1));
        ends_clean(shared);
    });
}

/// A worker for the same number is started again while the one that is there looks after the shard, and a thread wakes
/// the task from outside: the fallback waker is gone, so the new one must find it.
#[test]
fn started_again_against_drain_unowned() {
    explore("started_again_against_drain_unowned", || {
        let (flags, log) = (flags(), Log::default());
        let (shared, waker) = retired(&flags, &log);
        set(&flags, 0, &waker);
        let wakes = thread::spawn(move || set(&flags, 1, &waker));
        let its = shared.clone();
        let stays = thread::spawn(move || {
            let mut stays = Acting::begin(&its, 0);
            stays.steal_from_unowned();
            stays.run();
        });
        grow(&shared);
        let mut anew = Acting::begin(&shared, 1);
        anew.run();
        wakes.join().expect("the waker does not panic");
        stays.join().expect("the other worker does not panic");
        drop(anew);
        settle(&shared);
        assert_eq!((log.completed(), log.dropped()), (1, 1), "a wake was lost");
        ends_clean(shared);
    });
}

/// Like `started_again_against_drain_unowned`, but the new worker falls asleep: only the wake may call it.
#[test]
fn started_again_against_a_wake() {
    explore("started_again_against_a_wake", || {
        let (flags, log) = (flags(), Log::default());
        let (shared, waker) = retired(&flags, &log);
        flags[0].store(true, gossamer_core::platform::atomic::Ordering::Relaxed);
        let wakes = thread::spawn(move || set(&flags, 1, &waker));
        grow(&shared);
        let mut anew = Acting::begin(&shared, 1);
        anew.work_until(|| log.completed() == 1);
        wakes.join().expect("the waker does not panic");
        drop(anew);
        assert_eq!((log.completed(), log.dropped()), (1, 1));
        ends_clean(shared);
    });
}

/// A worker that retires is wanted again at that moment, and a thread wakes its task from outside: the worker stays and
/// finds it, or has left and somebody looks after it.
#[test]
fn change_of_mind_against_a_wake() {
    explore("change_of_mind_against_a_wake", || {
        let (shared, flags, log) = (pool(2), flags(), Log::default());
        let mut retires = Acting::begin(&shared, 1);
        let (handle, waker) = parked(&mut retires, &flags, &log);
        drop(handle);
        set(&flags, 0, &waker);
        retires.run();
        shrink(&shared);
        let wakes = thread::spawn(move || set(&flags, 1, &waker));
        let its = shared.clone();
        let changes = thread::spawn(move || its.workers.ask_for(2));
        if retires.tries_to_retire() {
            drop(retires);
            Acting::begin(&shared, 0).work_until(|| log.completed() == 1);
        } else {
            retires.work_until(|| log.completed() == 1);
            drop(retires);
        }
        wakes.join().expect("the waker does not panic");
        changes.join().expect("the other thread does not panic");
        assert_eq!((log.completed(), log.dropped()), (1, 1));
        ends_clean(shared);
    });
}

/// Sets a flag when it is woken.
struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        // Relaxed: the join orders it.
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A resize is polled again, by another waker, while the surplus worker leaves: the last waker is called, if it has to
/// wait; and another resize, which is dropped meanwhile, takes nobody's wake-up along.
#[test]
fn a_resize_polled_again_against_the_last_to_leave() {
    explore("a_resize_polled_again_against_the_last_to_leave", || {
        let workers = Arc::new(Workers::new(2));
        assert_eq!(
            (workers.start(), workers.start()),
            (Some(Started::New(0)), Some(Started::New(1)))
        );
        workers.ask_for(1);
        let (mut own, mut other) = (None, None);
        let flags = [(); 2].map(|()| Arc::new(Flag(AtomicBool::new(false))));
        let wakers = flags.clone().map(Waker::from);
        let waits = !workers.is_or_wake(1, &mut own, &wakers[0])
            && !workers.is_or_wake(1, &mut other, Waker::noop());
        assert!(waits, "the second is still there");
        let leaves = workers.clone();
        let leaver = thread::spawn(move || assert!(leaves.retire(1), "it is surplus"));
        workers.forget(other.expect("it has left a waker"));
        let waits = !workers.is_or_wake(1, &mut own, &wakers[1]);
        leaver.join().expect("no panic");
        // Relaxed: the join orders it.
        let woken = flags.map(|flag| flag.0.load(Ordering::Relaxed));
        assert_eq!(waits, woken[1], "woken: {woken:?}");
    });
}
