//! Wakes of tasks that change workers at the same moment: none is lost, and the poll sees what the waker did.

use gossamer_core::platform::thread;
use gossamer_core::shard::Shard;
use gossamer_core::wait::Wait;

use super::{Acting, Flags, Log, ends_clean, explore, flags, parked, pool, set, settle};

/// After all is done the task has completed, once, and everything has gone.
fn completed(shared: std::sync::Arc<super::Shared>, log: &Log) {
    settle(&shared);
    assert_eq!((log.completed(), log.dropped()), (1, 1), "a wake was lost");
    ends_clean(shared);
}

/// A worker that has two tasks, of which the other waits, runnable, in the steal queue: that one has its waker.
fn waiting(owner: &mut Acting, flags: &Flags, log: &Log) -> std::task::Waker {
    let (handle, waker) = parked(owner, flags, log);
    drop(handle);
    set(flags, 0, &waker);
    drop(owner.spawn(async {}));
    owner.hand_over();
    assert_eq!(owner.shard().steal_len(), 1);
    waker
}

/// A wake from outside of a task that is being stolen: it may go to the shard where the task no longer lives, and
/// is forwarded (`WorkerShard::receive_unless_stealable`).
#[test]
fn wake_from_outside_against_theft() {
    explore("wake_from_outside_against_theft", || {
        let (shared, flags, log) = (pool(2), flags(), Log::default());
        let mut owner = Acting::begin(&shared, 0);
        let waker = waiting(&mut owner, &flags, &log);
        let its = shared.clone();
        let thief = thread::spawn(move || {
            let mut thief = Acting::begin(&its, 1);
            thief.steal();
            thief.run();
        });
        let wakes = thread::spawn(move || set(&flags, 1, &waker));
        owner.run();
        thief.join().expect("the thief does not panic");
        wakes.join().expect("the waker does not panic");
        drop(owner);
        completed(shared, &log);
    });
}

/// A worker wakes a task of its own that is in its steal queue, and another steals and polls it: the waker finds it
/// gone and takes the other way, or the poll sees what the waker did (the fence in `still_scheduled` against the
/// one in `WorkerShard::steal`).
#[test]
fn wake_by_the_owner_against_theft() {
    explore("wake_by_the_owner_against_theft", || {
        let (shared, flags, log) = (pool(2), flags(), Log::default());
        let mut owner = Acting::begin(&shared, 0);
        let waker = waiting(&mut owner, &flags, &log);
        let its = shared.clone();
        let thief = thread::spawn(move || {
            let mut thief = Acting::begin(&its, 1);
            thief.steal();
            thief.run();
        });
        set(&flags, 1, &waker);
        drop(waker);
        owner.run();
        thief.join().expect("the thief does not panic");
        drop(owner);
        completed(shared, &log);
    });
}

/// A poll wakes a task of its shard that another worker steals meanwhile. One look, before the runner comes inside its
/// shard, says whose the task is: if it is elsewhere, it stays elsewhere, as only a runner moves tasks to its shard
/// (`wake_elsewhere` asserts it); if it is here, that look is as good inside.
#[test]
fn one_look_against_theft() {
    explore("one_look_against_theft", || {
        let (shared, flags, log) = (pool(2), flags(), Log::default());
        shared.shards().next().expect("two").set_monitored();
        let waker = waiting(&mut Acting::begin(&shared, 0), &flags, &log);
        let its = shared.clone();
        let wakes = thread::spawn(move || {
            let mut owner = Acting::begin(&its, 0);
            let wakes = owner.spawn(async move {
                set(&flags, 1, &waker);
                waker.wake();
            });
            owner.run();
            drop(owner);
            wakes.wait().expect("no wake finds its task here again");
        });
        let mut thief = Acting::begin(&shared, 1);
        while thief.steal() {}
        thief.run();
        drop(thief);
        wakes.join().expect("the owner does not panic");
        completed(shared, &log);
    });
}

/// A wake from outside reaches the owner's inbox, and the owner receives it while the task is being stolen: the
/// note that it was woken is taken by one of them, and the wake is not lost with it.
#[test]
fn receive_against_theft() {
    explore("receive_against_theft", || {
        let (shared, flags, log) = (pool(2), flags(), Log::default());
        let mut owner = Acting::begin(&shared, 0);
        let waker = waiting(&mut owner, &flags, &log);
        // The inbox has it already.
        let wakes = thread::spawn(move || set(&flags, 1, &waker));
        wakes.join().expect("the waker does not panic");
        let its = shared.clone();
        let thief = thread::spawn(move || {
            let mut thief = Acting::begin(&its, 1);
            thief.steal();
            thief.run();
        });
        owner.acquire().drain();
        owner.run();
        thief.join().expect("the thief does not panic");
        drop(owner);
        completed(shared, &log);
    });
}

/// A worker takes a parked task of an idle worker along (`pull`) while a thread outside wakes the same task.
#[test]
fn pull_against_a_wake_from_outside() {
    explore("pull_against_a_wake_from_outside", || {
        let (shared, flags, log) = (pool(2), flags(), Log::default());
        let (handle, waker) = parked(&mut Acting::begin(&shared, 1), &flags, &log);
        drop(handle);
        let mut puller = Acting::begin(&shared, 0);
        let (other, its) = (waker.clone(), flags.clone());
        let wakes = thread::spawn(move || {
            set(&its, 0, &other);
            drop(other);
        });
        set(&flags, 1, &waker);
        drop(waker);
        puller.run();
        wakes.join().expect("the waker does not panic");
        drop(puller);
        completed(shared, &log);
    });
}

/// Two workers wake a task of a third, which is idle: one takes it along, and the other's wake follows.
#[test]
fn pull_against_pull() {
    explore("pull_against_pull", || {
        let (shared, flags, log) = (pool(3), flags(), Log::default());
        let (handle, waker) = parked(&mut Acting::begin(&shared, 2), &flags, &log);
        drop(handle);
        let threads = [0, 1].map(|number| {
            let (its, flags, waker) = (shared.clone(), flags.clone(), waker.clone());
            thread::spawn(move || {
                let mut puller = Acting::begin(&its, number);
                set(&flags, number, &waker);
                drop(waker);
                puller.run();
            })
        });
        drop(waker);
        for thread in threads {
            thread.join().expect("a worker does not panic");
        }
        completed(shared, &log);
    });
}

/// The owner comes back and wakes its task itself while another worker takes the task along.
#[test]
fn pull_against_the_owners_return() {
    explore("pull_against_the_owners_return", || {
        let (shared, flags, log) = (pool(2), flags(), Log::default());
        let (handle, waker) = parked(&mut Acting::begin(&shared, 1), &flags, &log);
        drop(handle);
        let mut puller = Acting::begin(&shared, 0);
        let (its, flag, other) = (shared.clone(), flags.clone(), waker.clone());
        let returns = thread::spawn(move || {
            let mut owner = Acting::begin(&its, 1);
            set(&flag, 0, &other);
            drop(other);
            owner.run();
        });
        set(&flags, 1, &waker);
        drop(waker);
        puller.run();
        returns.join().expect("the owner does not panic");
        drop(puller);
        completed(shared, &log);
    });
}

/// A wake of a task that completes elsewhere meanwhile, having been stolen: it is polled no more, and its memory
/// goes once, whoever is the last to hold it.
#[test]
fn late_wake_against_theft() {
    explore("late_wake_against_theft", || {
        let (shared, flags, log) = (pool(2), flags(), Log::default());
        let mut owner = Acting::begin(&shared, 0);
        let waker = waiting(&mut owner, &flags, &log);
        // It completes at its next poll, and is woken once more.
        flags[1].store(true, gossamer_core::platform::atomic::Ordering::Relaxed);
        let shard = owner.shard().index();
        drop(owner);
        let its = shared.clone();
        let thief = thread::spawn(move || {
            let mut thief = Acting::begin(&its, 1);
            thief.steal();
            thief.run();
        });
        waker.wake();
        thief.join().expect("the thief does not panic");
        assert_eq!(Shard::at(shard).index(), shard);
        completed(shared, &log);
    });
}
