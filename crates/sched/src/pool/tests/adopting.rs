//! Workers that are stuck in a poll: the monitor opens their homes, and others adopt their tasks.

use std::sync::Arc;
use std::task::Waker;

use gossamer_core::door::atomic::Ordering;
use gossamer_core::door::thread;

use super::{Acting, Log, Shared, ends_clean, explore, flags, parked, pool, set, settle};

/// A pool of two, of which the first may be found stuck.
fn monitored() -> Arc<Shared> {
    let shared = pool(2);
    shared.homes().next().expect("two").set_monitored();
    shared
}

/// What the monitor does, and then a worker that is idle.
fn relieve(shared: &Arc<Shared>) {
    let home = shared.homes().next().expect("two");
    let _answered = home.poke_again();
    let _stuck_or_not = home.open_to_adopters(Waker::noop().clone());
    home.adopt();
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

/// A poll wakes a task, twice, while its home is opened and adopted from: the driver comes inside, or finds the home
/// open (`Marks::come_in` against `Marks::open`); then the poll ends, and the home is closed.
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

/// A poll wakes its own task while its home is opened and adopted from (`Context::wakes_itself`), and somebody else
/// does too: the task is polled again, by the driver or by who has stolen it then.
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

/// A task is woken from outside, and by the poll of its home's driver, while that home is opened and adopted from: it
/// is adopted from the inbox, or received by the driver, once.
#[test]
fn adoption_against_a_wake_from_outside() {
    explore("adoption_against_a_wake_from_outside", || {
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

/// A poll that spawns while its home is opened and adopted from: the new task is polled once.
#[test]
fn adoption_against_a_spawn() {
    explore("adoption_against_a_spawn", || {
        let (shared, log) = (monitored(), Log::default());
        let mut owner = Acting::begin(&shared, 0);
        let (home, child) = (owner.home(), log.once());
        drop(owner.spawn(async move {
            // SAFETY: driven by the one who polls this, so open.
            drop(unsafe { super::spawn(home, child, std::panic::Location::caller()) });
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

/// What an adopter has taken out of the inbox and cannot make runnable, as the driver is back, it puts back; and if
/// that worker has retired meanwhile, somebody is called to look after its home (`Home::push_quietly`).
#[test]
fn adoption_against_retirement() {
    explore("adoption_against_retirement", || {
        let (shared, flags, log) = (pool(2), flags(), Log::default());
        let home = shared.home_for(1).expect("it has one");
        home.set_monitored();
        let mut retires = Acting::begin(&shared, 1);
        let (handle, waker) = parked(&mut retires, &flags, &log);
        drop(handle);
        set(&flags, 0, &waker);
        retires.run();
        // It is to retire after this poll, in which it is found.
        shared.crew.ask_for(1);
        drop(retires.spawn(async move {
            let _answered = home.poke_again();
            let _found = home.open_to_adopters(Waker::noop().clone());
        }));
        let adopts = thread::spawn(move || {
            set(&flags, 1, &waker);
            drop(waker);
            home.adopt();
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
        adopts.join().expect("the adopter does not panic");
        stays.join().expect("the other worker does not panic");
        assert_eq!((log.completed(), log.dropped()), (1, 1));
        ends_clean(shared);
    });
}
