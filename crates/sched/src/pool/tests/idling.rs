//! Going idle: whoever makes something runnable sees the idle worker, or that one sees the task. What is lost is a
//! deadlock here.

use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::task::Wake;

use gossamer_core::platform::atomic::Ordering;
use gossamer_core::platform::thread;
use gossamer_core::shard::Shard;
use gossamer_task::spawn;

use super::super::idle::Sleeper;
use super::{Acting, Log, Shared, ends_clean, explore, flags, parked, pool, set};

/// A worker puts a second task into its queue, and then never polls again: the other one, which falls asleep at that
/// moment, comes and takes it (the fence in `WorkerShard::push_stealable` against the one in `worker::sleep`).
#[test]
fn surplus_against_sleep() {
    explore("surplus_against_sleep", || {
        let (shared, log) = (pool(2), Log::default());
        let mut busy = Acting::begin(&shared, 0);
        for _ in 0..2 {
            drop(busy.spawn(log.once()));
        }
        let (its, seen) = (shared.clone(), log.clone());
        let idle = thread::spawn(move || {
            Acting::begin(&its, 1).work_until(|| seen.polls() == 1);
        });
        busy.hand_over();
        idle.join().expect("the idle worker does not panic");
        busy.run();
        drop(busy);
        assert_eq!((log.polls(), log.dropped()), (2, 2));
        ends_clean(shared);
    });
}

/// Whether a sleeping worker has been called. It orders nothing.
#[derive(Default)]
struct Called(AtomicBool);

impl Wake for Called {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed); // Relaxed: looked at when all have stopped
    }
}

/// The worker of this number sleeps, and notes whether it is called.
fn sleeping(shared: &Shared, number: usize) -> (&'static Shard, Arc<Called>) {
    let called = Arc::new(Called::default());
    let shard = shared.shard_for(number).expect("it has one").shard;
    shared.idle.enter(Sleeper {
        shard,
        waker: called.clone().into(),
    });
    (shard, called)
}

/// A worker that searches takes one of two tasks while they are pushed. The pusher has called a sleeping one, or has
/// relied on the search; then its end calls (`Idle::end_search` against `call_unless_searching`).
#[test]
fn surplus_against_the_end_of_a_search() {
    explore("surplus_against_the_end_of_a_search", || {
        let (shared, log) = (pool(3), Log::default());
        let (third, called) = sleeping(&shared, 2);
        assert!(shared.idle.try_search());
        let mut busy = Acting::begin(&shared, 0);
        for _ in 0..3 {
            drop(busy.spawn(log.once()));
        }
        let its = shared.clone();
        let searches = thread::spawn(move || {
            let mut worker = Acting::begin(&its, 1);
            worker.search();
            worker.run();
        });
        busy.hand_over();
        searches
            .join()
            .expect("the searching worker does not panic");
        // The sleeping worker would come, and take what is left.
        let is_called = shared.idle.leave(third);
        assert_eq!(is_called, called.0.load(Ordering::Relaxed)); // Relaxed: all have stopped
        assert!(is_called || busy.shard().steal_len() == 0);
        busy.run();
        drop(busy);
        assert_eq!((log.polls(), log.dropped()), (3, 3));
        ends_clean(shared);
    });
}

/// A worker that searches ends its search while a thread spawns from outside, where no light fence is on the way: it
/// takes the task, or its end calls the sleeping worker, or the thread does (`call_unless_searching`).
#[test]
fn spawn_against_the_end_of_a_search() {
    explore("spawn_against_the_end_of_a_search", || {
        let (shared, log) = (pool(2), Log::default());
        let (_, called) = sleeping(&shared, 1);
        assert!(shared.idle.try_search());
        let its = shared.clone();
        let searches = thread::spawn(move || {
            let mut worker = Acting::begin(&its, 0);
            worker.search();
            worker.run();
        });
        drop(spawn(shared.injector, log.once(), Location::caller()));
        searches
            .join()
            .expect("the searching worker does not panic");
        let is_called = called.0.load(Ordering::Relaxed); // Relaxed: all have stopped
        assert!(is_called || log.polls() == 1);
        super::settle(&shared);
        assert_eq!((log.polls(), log.dropped()), (1, 1));
        ends_clean(shared);
    });
}

/// A worker that searches finds nothing and falls asleep while two tasks are pushed, one more than it takes. The pusher
/// has called a sleeping one, or has relied on the search; then that calls after all, though it was in vain.
#[test]
fn surplus_against_a_search_in_vain() {
    explore("surplus_against_a_search_in_vain", || {
        let (shared, log) = (pool(3), Log::default());
        let (_, called) = sleeping(&shared, 2);
        let mut busy = Acting::begin(&shared, 0);
        for _ in 0..3 {
            drop(busy.spawn(log.once()));
        }
        let its = shared.clone();
        let searches = thread::spawn(move || {
            let mut worker = Acting::begin(&its, 1);
            worker.fall_asleep();
            worker.run();
        });
        busy.hand_over();
        // Then the other one may sleep on: the third is to come. Else it must have come by itself.
        let is_called = || called.0.load(Ordering::Relaxed); // Relaxed: loom runs one thread at a time
        if is_called() {
            shared.closing.store(true, Ordering::Release); // pairs with the acquire in `is_closing`
            shared.idle.call_all();
        }
        searches
            .join()
            .expect("the searching worker does not panic");
        assert!(is_called() || busy.shard().steal_len() == 0);
        busy.run();
        drop(busy);
        super::settle(&shared);
        assert_eq!((log.polls(), log.dropped()), (3, 3));
        ends_clean(shared);
    });
}

/// A wake from outside against the worker that falls asleep: it finds the task in its inbox, or is called.
#[test]
fn wake_against_sleep() {
    explore("wake_against_sleep", || {
        let (shared, flags, log) = (pool(1), flags(), Log::default());
        let mut worker = Acting::begin(&shared, 0);
        let (handle, waker) = parked(&mut worker, &flags, &log);
        drop(handle);
        set(&flags, 0, &waker);
        worker.run();
        let wakes = thread::spawn(move || set(&flags, 1, &waker));
        worker.work_until(|| log.completed() == 1);
        wakes.join().expect("the waker does not panic");
        drop(worker);
        assert_eq!((log.completed(), log.dropped()), (1, 1));
        ends_clean(shared);
    });
}

/// Another worker takes a parked task of the one that falls asleep along, and a thread wakes it from outside: it is
/// polled after both, though the inbox of the sleeper had it.
#[test]
fn wake_of_a_pulled_task_against_sleep() {
    explore("wake_of_a_pulled_task_against_sleep", || {
        let (shared, flags, log) = (pool(2), flags(), Log::default());
        let (handle, waker) = parked(&mut Acting::begin(&shared, 1), &flags, &log);
        drop(handle);
        let mut puller = Acting::begin(&shared, 0);
        let (other, its) = (waker.clone(), flags.clone());
        let wakes = thread::spawn(move || set(&its, 1, &other));
        let (its, seen) = (shared.clone(), log.clone());
        let idle = thread::spawn(move || {
            let mut idle = Acting::begin(&its, 1);
            while !its.is_closing() {
                idle.run();
                if !idle.steal() && !its.is_closing() {
                    idle.fall_asleep();
                }
            }
            drop(seen);
        });
        set(&flags, 0, &waker);
        drop(waker);
        // It is here or there: whoever has it polls it without being told again.
        puller.run();
        wakes.join().expect("the waker does not panic");
        puller.run();
        shared.closing.store(true, Ordering::Release); // pairs with the acquire in `is_closing`
        shared.idle.call_all();
        idle.join().expect("the idle worker does not panic");
        drop(puller);
        super::settle(&shared);
        assert_eq!((log.completed(), log.dropped()), (1, 1));
        ends_clean(shared);
    });
}

/// Everybody is called at the end, also who is just about to sleep (`closing` and the lock of `Idle`).
#[test]
fn call_all_against_sleep() {
    explore("call_all_against_sleep", || {
        let shared = pool(2);
        let threads = [0, 1].map(|number| {
            let its = shared.clone();
            thread::spawn(move || {
                let mut worker = Acting::begin(&its, number);
                while !its.is_closing() {
                    worker.fall_asleep();
                }
            })
        });
        shared.closing.swap(true, Ordering::AcqRel); // pairs with the acquire in `is_closing`
        shared.idle.call_all();
        for thread in threads {
            thread.join().expect("a worker does not panic");
        }
        ends_clean(shared);
    });
}
