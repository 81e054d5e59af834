//! Workers that are stuck in a poll: the monitor opens their homes, and others adopt their tasks.

use std::sync::Arc;
use std::task::Waker;

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
