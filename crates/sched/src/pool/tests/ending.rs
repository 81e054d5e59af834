//! The end of a worker, between the others: every future is dropped once, and no memory twice.

use gossamer_core::platform::atomic::Ordering;
use gossamer_core::platform::thread;

use super::{Acting, Log, Started, ends_clean, explore, flags, parked, pool, set};
use crate::single::shut_down;

impl Acting {
    /// As a worker whose pool is shutting down.
    pub(super) fn end(mut self) {
        self.queue.close();
        let guard = self.guard.take().expect("it does not sleep");
        guard.seal();
        shut_down(&guard, &mut self.queue);
    }
}

/// A worker ends while another one steals from it, and ends later: `Queue::close` leaves the thief nothing, or less.
#[test]
fn end_against_theft() {
    explore("end_against_theft", || {
        let (shared, log) = (pool(2), Log::default());
        let mut ends = Acting::begin(&shared, 0);
        for _ in 0..3 {
            drop(ends.spawn(log.once()));
        }
        ends.hand_over();
        let its = shared.clone();
        let thief = thread::spawn(move || {
            let mut thief = Acting::begin(&its, 1);
            thief.steal();
            thief.run();
            thief.end();
        });
        ends.end();
        thief.join().expect("the thief does not panic");
        assert_eq!(log.dropped(), 3);
        ends_clean(shared);
    });
}

/// A worker ends while another one wakes its task: it takes the task along, or the task ends.
#[test]
fn end_against_pull() {
    explore("end_against_pull", || {
        let (shared, flags, log) = (pool(2), flags(), Log::default());
        let (handle, waker) = parked(&mut Acting::begin(&shared, 1), &flags, &log);
        let its = shared.clone();
        let ends = thread::spawn(move || Acting::begin(&its, 1).end());
        let mut puller = Acting::begin(&shared, 0);
        set(&flags, 0, &waker);
        drop(waker);
        puller.run();
        puller.end();
        ends.join().expect("the worker does not panic");
        assert!(handle.is_finished(), "a task has outlived its worker");
        drop(handle);
        assert_eq!((log.completed(), log.dropped()), (0, 1));
        ends_clean(shared);
    });
}

/// A task is stolen, its thief ends, and a wake from outside is under way to where it was: nobody is left to be told,
/// and the wake releases the task.
#[test]
fn wake_of_a_stolen_task_against_the_end() {
    explore("wake_of_a_stolen_task_against_the_end", || {
        let (shared, flags, log) = (pool(2), flags(), Log::default());
        let mut owner = Acting::begin(&shared, 0);
        let (handle, waker) = parked(&mut owner, &flags, &log);
        drop(handle);
        set(&flags, 0, &waker);
        drop(owner.spawn(async {}));
        owner.hand_over();
        let its = shared.clone();
        let thief = thread::spawn(move || {
            let mut thief = Acting::begin(&its, 1);
            thief.steal();
            thief.end();
        });
        let wakes = thread::spawn(move || set(&flags, 1, &waker));
        owner.run();
        owner.end();
        thief.join().expect("the thief does not panic");
        wakes.join().expect("the waker does not panic");
        assert_eq!(log.dropped(), 1);
        ends_clean(shared);
    });
}

/// One thread shuts the pool down and ends the tasks of a retired worker, while another thread wakes one of them.
#[test]
fn end_of_unowned_against_wake() {
    explore("end_of_unowned_against_wake", || {
        let (shared, flags, log) = (pool(2), flags(), Log::default());
        let mut left = Acting::begin(&shared, 1);
        let (handle, waker) = parked(&mut left, &flags, &log);
        drop(left.spawn(log.once()));
        drop(left.spawn(log.once()));
        // Into the steal queue, as a worker leaves its tasks.
        drop(left);
        shared.workers.end(1);
        let wakes = thread::spawn(move || set(&flags, 0, &waker));
        shared.end_unowned(true);
        wakes.join().expect("the waker does not panic");
        assert!(handle.is_finished());
        drop(handle);
        assert_eq!((log.completed(), log.dropped()), (0, 3));
        ends_clean(shared);
    });
}

/// A worker that is still there steals from the shard of one that has retired while that shard is ended.
#[test]
fn end_of_unowned_against_theft() {
    explore("end_of_unowned_against_theft", || {
        let (shared, log) = (pool(2), Log::default());
        let mut left = Acting::begin(&shared, 1);
        for _ in 0..2 {
            drop(left.spawn(log.once()));
        }
        left.hand_over();
        drop(left);
        shared.workers.end(1);
        let its = shared.clone();
        let thief = thread::spawn(move || {
            let mut thief = Acting::begin(&its, 0);
            thief.steal();
            thief.run();
            thief.end();
        });
        shared.end_unowned(false);
        thief.join().expect("the thief does not panic");
        shared.end_unowned(true);
        assert_eq!(log.dropped(), 2);
        ends_clean(shared);
    });
}

/// No thread is granted for a worker, as the pool is shut down by a thread that does not wait for it: the one or the
/// other ends the tasks that were left at that shard.
#[test]
fn refused_thread_against_the_end() {
    explore("refused_thread_against_the_end", || {
        let (shared, flags, log) = (pool(2), flags(), Log::default());
        let mut left = Acting::begin(&shared, 1);
        let (handle, waker) = parked(&mut left, &flags, &log);
        drop(left);
        shared.workers.end(1);
        let its = shared.clone();
        let ends = thread::spawn(move || {
            // Relaxed would do: the workers's lock comes after it.
            its.closing.store(true, Ordering::Release);
            its.workers.close();
            its.end_unowned(false);
        });
        if let Some(started) = shared.workers.start() {
            let Started::New(number) = started else {
                panic!("its thread is gone");
            };
            shared.refused(number);
        }
        ends.join().expect("the other thread does not panic");
        assert!(handle.is_finished(), "nobody has ended a task");
        drop((handle, waker));
        assert_eq!((log.completed(), log.dropped()), (0, 1));
        ends_clean(shared);
    });
}

/// A surplus worker leaves while the pool is shut down by a thread that does not wait for it: the one or the other ends
/// its tasks, though somebody keeps the pool's memory.
#[test]
fn retire_against_the_end() {
    explore("retire_against_the_end", || {
        let (shared, flags, log) = (pool(2), flags(), Log::default());
        let mut retires = Acting::begin(&shared, 1);
        let (handle, waker) = parked(&mut retires, &flags, &log);
        drop(retires.spawn(log.once()));
        shared.workers.ask_for(1);
        let its = shared.clone();
        let ends = thread::spawn(move || {
            its.workers.close();
            its.end_unowned(false);
        });
        if !retires.tries_to_retire() {
            retires.end();
        } else {
            drop(retires);
        }
        ends.join().expect("the other thread does not panic");
        assert!(handle.is_finished(), "nobody has ended a task");
        drop((handle, waker));
        assert_eq!((log.completed(), log.dropped()), (0, 2));
        ends_clean(shared);
    });
}
