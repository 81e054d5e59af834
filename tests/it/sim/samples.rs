//! Samples of a program's schedules: uniform, and by priorities.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use gossamer::experiment::{Error, Outcome, Samples, Sampling, Simulation, draw};
use gossamer::sim::{Cause, Sim};
use gossamer::sync::MVar;
use gossamer::yield_now;

use super::outcomes::{count, dine, p};

const BOTH: [Sampling; 2] = [Sampling::Uniform, Sampling::Priorities { depth: 2 }];

fn sample<T: Ord, F: Future<Output = T>>(
    runs: u64,
    sampling: Sampling,
    program: impl Fn() -> F,
) -> Samples<T> {
    let found = Simulation::seeded(7).sample(runs, sampling, program);
    found.expect("it is sound")
}

#[test]
fn a_seed_gives_the_same_sample() {
    for sampling in BOTH {
        let found = sample(200, sampling, || dine(3, 1));
        assert_eq!(found, sample(200, sampling, || dine(3, 1)));
        // Whatever was drawn before.
        let mut used = Simulation::seeded(7);
        used.run(|c| c.die(6)).expect("it is sound");
        assert_eq!(
            Ok(&found),
            used.sample(200, sampling, || dine(3, 1)).as_ref()
        );
        assert_eq!(found.iter().map(|(_, count, _)| count).sum::<u64>(), 200);
        assert_eq!((found.runs(), found.seed()), (200, 7));
        let other = Simulation::seeded(8).sample(200, sampling, || dine(3, 1));
        assert_ne!(Ok(found), other);
    }
    // A third of all schedules: six standard deviations.
    let found = sample(900, Sampling::Uniform, || dine(3, 1));
    let deadlocks = found.count(&Outcome::Deadlock);
    assert!((215..=385).contains(&deadlocks), "{found}");
}

#[test]
fn schedules_of_samples_are_run_again() {
    for sampling in BOTH {
        let found = sample(100, sampling, || dine(3, 1));
        let schedule = found.schedule(&Outcome::Deadlock).expect("it comes");
        for _ in 0..100 {
            let failed = Sim::new()
                .only_operations()
                .replay(schedule.choices(), || dine(3, 1));
            let failure = failed.expect_err("it is a deadlock");
            assert!(matches!(failure.cause, Cause::Deadlock(_)), "{failure}");
        }
        let text = found.to_string();
        assert!(text.contains(&format!("such as \"{schedule}\"")), "{text}");
        assert!(
            text.ends_with(&format!("100 schedules, {sampling}, from seed 7")),
            "{text}"
        );
    }
}

/// One task has done twenty operations before another one has begun: one in 2^20 uniform schedules, and half of those by
/// priorities that do not change.
#[test]
fn priorities_find_what_is_rare() {
    let program = async || {
        let flag = Arc::new(MVar::new(false));
        let (sets, looks) = (flag.clone(), flag.clone());
        let slow = gossamer::spawn(async move {
            let own = MVar::new(());
            for _ in 0..10 {
                own.take().await;
                own.put(()).await;
            }
            sets.replace(true).await;
        });
        let fast = gossamer::spawn(async move { looks.read().await });
        slow.await.expect("no panic");
        fast.await.expect("no panic")
    };
    let late = Outcome::Returned(true);
    assert_eq!(sample(300, Sampling::Uniform, program).count(&late), 0);
    let found = sample(300, Sampling::Priorities { depth: 1 }, program);
    assert!((100..=200).contains(&found.count(&late)), "{found}");
}

/// An update is lost if another task comes between a read and a write: a priority has to change.
#[test]
fn a_depth_of_two_preempts() {
    let found = sample(200, Sampling::Priorities { depth: 1 }, || count(2));
    assert_eq!(found.count(&Outcome::Returned(2)), 200, "{found}");
    let found = sample(200, Sampling::Priorities { depth: 2 }, || count(2));
    assert!(found.count(&Outcome::Returned(1)) >= 20, "{found}");
    let lost = found.schedule(&Outcome::Returned(1)).expect("it comes");
    assert_eq!(lost.preemptions(), 1, "{found}");
}

#[test]
fn samples_draw_by_weight() {
    for sampling in BOTH {
        let found = sample(1_200, sampling, async || {
            let task = gossamer::spawn(async { draw(|c| c.coin(&p(1, 4))) });
            MVar::new(()).take().await;
            task.await.expect("no panic")
        });
        let heads = found.count(&Outcome::Returned(true));
        assert!((210..=390).contains(&heads), "{found}");
    }
}

/// One that waits by yielding does not keep the other one from going on.
#[test]
fn who_yields_goes_last() {
    let found = sample(50, Sampling::Priorities { depth: 3 }, async || {
        let is_set = Arc::new(AtomicBool::new(false));
        let theirs = is_set.clone();
        let setter = gossamer::spawn(async move {
            MVar::new(()).take().await;
            // Relaxed: one thread runs all of it.
            theirs.store(true, Ordering::Relaxed);
        });
        let waiters = [(); 2].map(|()| {
            let is_set = is_set.clone();
            gossamer::spawn(async move {
                // Relaxed: see above.
                while !is_set.load(Ordering::Relaxed) {
                    yield_now().await;
                }
            })
        });
        for waiter in waiters {
            waiter.await.expect("no panic");
        }
        setter.await.expect("no panic");
    });
    assert_eq!(found.count(&Outcome::Returned(())), 50, "{found}");
}

#[test]
fn samples_that_cannot_be() {
    let simulation = Simulation::seeded(1);
    let none = simulation.sample(9, Sampling::Priorities { depth: 0 }, || dine(2, 1));
    assert_eq!(none, Err(Error::NoDepth));
    for sampling in BOTH {
        let none = simulation.sample(0, sampling, || dine(2, 1));
        assert_eq!(none.expect("it is sound").iter().len(), 0);
    }
    let runs = Cell::new(0);
    let differs = simulation.sample(9, Sampling::Uniform, async || {
        runs.set(runs.get() + 1);
        runs.get()
    });
    assert_eq!(differs, Err(Error::NotDeterministic { draw: 0 }));
}
