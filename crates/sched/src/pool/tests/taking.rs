//! Theft: what is runnable changes workers.

use gossamer_core::platform::thread;

use super::{Acting, Log, ends_clean, explore, pool, settle};

/// A thief against the owner: each task is polled once, by one of them (`WorkerShard::steal` and `WorkerShard::pop_stealable`,
/// both under the queue's lock).
#[test]
fn theft_against_pop() {
    explore("theft_against_pop", || {
        let (shared, log) = (pool(2), Log::default());
        let mut owner = Acting::begin(&shared, 0);
        for _ in 0..3 {
            drop(owner.spawn(log.once()));
        }
        owner.hand_over();
        let its = shared.clone();
        let thief = thread::spawn(move || {
            let mut thief = Acting::begin(&its, 1);
            thief.steal();
            thief.run();
        });
        owner.run();
        thief.join().expect("the thief does not panic");
        drop(owner);
        settle(&shared);
        assert_eq!((log.polls(), log.dropped()), (3, 3));
        ends_clean(shared);
    });
}

/// A thief against the owner whose tasks yield to each other (`WorkerShard::exchange_stealable`): each is polled twice.
#[test]
fn theft_against_yields() {
    explore("theft_against_yields", || {
        let (shared, log) = (pool(2), Log::default());
        let mut owner = Acting::begin(&shared, 0);
        for _ in 0..2 {
            drop(owner.spawn(log.twice()));
        }
        owner.hand_over();
        let its = shared.clone();
        let thief = thread::spawn(move || {
            let mut thief = Acting::begin(&its, 1);
            thief.steal();
            thief.run();
        });
        owner.run();
        thief.join().expect("the thief does not panic");
        drop(owner);
        settle(&shared);
        assert_eq!((log.polls(), log.completed(), log.dropped()), (4, 2, 2));
        ends_clean(shared);
    });
}

/// Two thieves at one queue, while its owner is stuck in a poll.
#[test]
fn theft_against_theft() {
    explore("theft_against_theft", || {
        let (shared, log) = (pool(3), Log::default());
        let mut owner = Acting::begin(&shared, 0);
        for _ in 0..4 {
            drop(owner.spawn(log.once()));
        }
        owner.hand_over();
        let thieves = [1, 2].map(|number| {
            let its = shared.clone();
            thread::spawn(move || {
                let mut thief = Acting::begin(&its, number);
                thief.steal();
                thief.run();
            })
        });
        for thief in thieves {
            thief.join().expect("the thief does not panic");
        }
        drop(owner);
        settle(&shared);
        assert_eq!((log.polls(), log.dropped()), (4, 4));
        ends_clean(shared);
    });
}

/// A thief takes while the owner puts more in, and takes the same from the thief in turn: each task is polled once.
#[test]
fn theft_against_theft_in_turn() {
    explore("theft_against_theft_in_turn", || {
        let (shared, log) = (pool(2), Log::default());
        let threads = [0, 1].map(|number| {
            let (its, log) = (shared.clone(), log.clone());
            thread::spawn(move || {
                let mut worker = Acting::begin(&its, number);
                for _ in 0..2 {
                    drop(worker.spawn(log.once()));
                }
                worker.hand_over();
                worker.steal();
                worker.run();
            })
        });
        for thread in threads {
            thread.join().expect("a worker does not panic");
        }
        settle(&shared);
        assert_eq!((log.polls(), log.dropped()), (4, 4));
        ends_clean(shared);
    });
}
