//! Workers that are stuck in a poll: the monitor opens their shards, and others evacuate their tasks.

use std::sync::Arc;
use std::task::Waker;

use gossamer_core::platform::atomic::Ordering;
use gossamer_core::platform::thread;

use super::{
    Acting, Log, Shared, ends_clean, explore, flags, parked, pool, set, set_and_give_up, settle,
};

/// A pool of two, of which the first may be found stuck.
fn monitored() -> Arc<Shared> {
    let shared = pool(2);
    shared.shards().next().expect("two").set_monitored();
    shared
}

/// Evacuates as the monitor does, then steals and runs as an idle worker does.
fn relieve(shared: &Arc<Shared>) {
    let shard = shared.shards().next().expect("two");
    let _answered = shard.ping_again();
    let _stuck_or_not = shard.open_for_evacuation(Waker::noop().clone());
    shard.evacuate();
    let mut other = Acting::begin(shared, 1);
    other.steal();
    other.run();
}

/// After all is done the task has completed, once, and everything has gone.
fn completed(shared: Arc<Shared>, log: &Log) {
    settle(&shared);
    assert_eq!((log.completed(), log.dropped()), (1, 1), "a wake was lost");
    ends_clean(shared);
}

/// A poll wakes a task, twice, while its shard is opened and evacuated: the runner comes inside, or finds the shard
/// open (`AccessFlag::go_inside` against `AccessFlag::open`); then the poll ends, and the shard is closed.
#[test]
fn opening_against_the_own_wakes() {
    explore("opening_against_the_own_wakes", || {
        let (shared, flags, log) = (monitored(), flags(), Log::default());
        let mut owner = Acting::begin(&shared, 0);
        let (handle, waker) = parked(&mut owner, &flags, &log);
        drop(handle);
        drop(owner.spawn(async move {
            set(&flags, 0, &waker);
            set(&flags, 1, &waker);
        }));
        let its = shared.clone();
        let monitor = thread::spawn(move || relieve(&its));
        owner.run();
        monitor.join().expect("the monitor does not panic");
        drop(owner);
        completed(shared, &log);
    });
}

/// The same, by wakers that are given up: the runner is inside for a few stores, and goes back to where it stood
/// (`AccessFlag::while_inside`), or leaves it to the general way.
#[test]
fn opening_against_a_quick_wake() {
    explore("opening_against_a_quick_wake", || {
        let (shared, flags, log) = (monitored(), flags(), Log::default());
        let mut owner = Acting::begin(&shared, 0);
        let (handle, waker) = parked(&mut owner, &flags, &log);
        drop(handle);
        drop(owner.spawn(async move {
            set_and_give_up(&flags, 0, waker.clone());
            set_and_give_up(&flags, 1, waker);
        }));
        let its = shared.clone();
        let monitor = thread::spawn(move || relieve(&its));
        owner.run();
        monitor.join().expect("the monitor does not panic");
        drop(owner);
        completed(shared, &log);
    });
}

/// A poll wakes its own task while its shard is opened and evacuated (`Context::yields`), and somebody else
/// does too: the task is polled again, by the runner or by who has stolen it then.
#[test]
fn opening_against_a_yield() {
    explore("opening_against_a_yield", || {
        let (shared, flags, log) = (monitored(), flags(), Log::default());
        let mut owner = Acting::begin(&shared, 0);
        let (handle, waker) = parked(&mut owner, &flags, &log);
        drop(handle);
        drop(owner.spawn(log.twice()));
        set(&flags, 0, &waker);
        let its = shared.clone();
        let monitor = thread::spawn(move || {
            set(&flags, 1, &waker);
            drop(waker);
            relieve(&its);
        });
        owner.run();
        monitor.join().expect("the monitor does not panic");
        drop(owner);
        settle(&shared);
        assert_eq!((log.completed(), log.dropped()), (2, 2), "a wake was lost");
        ends_clean(shared);
    });
}

/// A task is woken from outside, and by the poll of its shard's runner, while that shard is opened and evacuated: it
/// is evacuated the inbox, or received by the runner, once.
#[test]
fn evacuation_against_a_wake_from_outside() {
    explore("evacuation_against_a_wake_from_outside", || {
        let (shared, flags, log) = (monitored(), flags(), Log::default());
        let mut owner = Acting::begin(&shared, 0);
        let (handle, waker) = parked(&mut owner, &flags, &log);
        drop(handle);
        let (own_flags, own_waker) = (flags.clone(), waker.clone());
        drop(owner.spawn(async move { set(&own_flags, 0, &own_waker) }));
        let its = shared.clone();
        let monitor = thread::spawn(move || {
            set(&flags, 1, &waker);
            drop(waker);
            relieve(&its);
        });
        owner.run();
        monitor.join().expect("the monitor does not panic");
        drop(owner);
        completed(shared, &log);
    });
}

/// A poll that spawns while its shard is opened and evacuated: the new task is polled once.
#[test]
fn evacuation_against_a_spawn() {
    explore("evacuation_against_a_spawn", || {
        let (shared, log) = (monitored(), Log::default());
        let mut owner = Acting::begin(&shared, 0);
        let (shard, child) = (owner.shard(), log.once());
        drop(owner.spawn(async move {
            drop(super::spawn(shard, child, std::panic::Location::caller()));
        }));
        let its = shared.clone();
        let monitor = thread::spawn(move || relieve(&its));
        owner.run();
        monitor.join().expect("the monitor does not panic");
        drop(owner);
        settle(&shared);
        assert_eq!((log.polls(), log.dropped()), (1, 1));
        ends_clean(shared);
    });
}

/// An evacuating thread puts back the tasks that it took out of the inbox but cannot make runnable, as the runner is
/// back. If that worker has retired meanwhile, somebody is called to look after its shard (`Shard::put_back`).
#[test]
fn evacuation_against_retirement() {
    explore("evacuation_against_retirement", || {
        let (shared, flags, log) = (pool(2), flags(), Log::default());
        let shard = shared.shard_for(1).expect("it has one");
        shard.set_monitored();
        let mut retires = Acting::begin(&shared, 1);
        let (handle, waker) = parked(&mut retires, &flags, &log);
        drop(handle);
        set(&flags, 0, &waker);
        retires.run();
        // It is to retire after this poll, in which it is found.
        shared.workers.ask_for(1);
        drop(retires.spawn(async move {
            let _answered = shard.ping_again();
            let _found = shard.open_for_evacuation(Waker::noop().clone());
        }));
        let evacuates = thread::spawn(move || {
            set(&flags, 1, &waker);
            drop(waker);
            shard.evacuate();
        });
        let (its, seen) = (shared.clone(), log.clone());
        let stays = thread::spawn(move || {
            let done = || seen.completed() == 1 || its.is_closing();
            Acting::begin(&its, 0).work_until(done);
        });
        retires.run();
        if log.completed() == 1 {
            // It got there first, and nobody else has anything to do.
            shared.closing.store(true, Ordering::Release); // pairs with the acquire in `is_closing`
            shared.idle.call_all();
        }
        retires.retire();
        evacuates
            .join()
            .expect("the evacuating thread does not panic");
        stays.join().expect("the other worker does not panic");
        assert_eq!((log.completed(), log.dropped()), (1, 1));
        ends_clean(shared);
    });
}
