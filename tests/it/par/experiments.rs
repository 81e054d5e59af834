//! Enumerations of experiments: on all workers, and with what comes of them alone.

use std::sync::Mutex;

use gossamer::experiment::{Choices, Dist, Distribution, Error, Limit, Limits, Probability};
use gossamer::{Model, Wait};

use super::{From, called, from_everywhere, meet};
use crate::models::{runtime, watched};

/// With draws of many and few alternatives, of weights with gaps, and a loop: 40,000 paths.
fn mixed(c: &mut Choices<'_>) -> u32 {
    let wide = c.below(1_000) / 100;
    let gap = *c.weighted(&[(0, 0), (1, 3), (2, 0), (3, 0), (4, 1), (5, 0)]);
    let mut heads = 0;
    while c.coin(&Probability::new(1, 2).expect("it is one")) && heads < 3 {
        heads += 1;
    }
    wide + gap + heads + c.die(4)
}

#[test]
fn they_find_what_one_thread_finds() {
    let alone = Distribution::of(mixed).expect("it is sound");
    assert_eq!(*alone.uncovered(), Probability::ZERO);
    assert_eq!(alone.paths(), 1_000 * 2 * 5 * 4);
    from_everywhere(|| {
        let by_value = Dist::die(6).repeat(6);
        let dice = |c: &mut Choices<'_>| (0..6).map(|_| c.die(6)).sum();
        let found: Distribution<u32> = Distribution::of(dice).expect("it is sound");
        assert_eq!(found, Distribution::from(&by_value));
    });
    watched("pool:4", move || {
        let rt = runtime(Model::Pool { workers: 4 });
        let found = rt.enter(|| Distribution::of(mixed));
        assert_eq!(found, Ok(alone));
    });
}

/// What a limit leaves out does not depend on how many threads there are.
#[test]
fn limits_leave_out_the_same() {
    let limits = [
        (Limits::new().paths(20_001), Limit::Paths),
        (Limits::new().outcomes(7), Limit::Outcomes),
        (Limits::new().draws(4), Limit::Draws),
    ];
    for (limits, limit) in limits {
        let alone = Distribution::within(&limits, mixed).expect("it is sound");
        assert_eq!(alone.stopped_by(), Some(limit));
        assert!(*alone.uncovered() > Probability::ZERO);
        watched(&format!("{limit:?}"), move || {
            for workers in [2, 4] {
                let rt = runtime(Model::Pool { workers });
                let found = rt.enter(|| Distribution::within(&limits, mixed));
                let found = found.expect("it is sound");
                assert_eq!(found, alone);
                assert_eq!(found.paths(), alone.paths());
                assert_eq!(found.uncovered(), alone.uncovered());
            }
        });
    }
}

#[test]
fn workers_help() {
    for from in [From::Thread, From::Task, From::Fiber, From::Compute] {
        watched(&format!("{from:?}"), move || {
            let rt = runtime(Model::Pool { workers: 2 });
            let found = called(&rt, from, || {
                let met = Mutex::default();
                Distribution::of(|c| {
                    let number = c.below(40_000);
                    // The first part runs alone.
                    if number >= 5_000 {
                        meet(2, &met);
                    }
                    number / 10_000
                })
            });
            let found = found.expect("it is sound");
            assert_eq!(found.probability(&3), Probability::new(1, 4).expect("one"));
        });
    }
}

#[test]
fn faults_are_the_callers() {
    watched("pool:2", || {
        let rt = runtime(Model::Pool { workers: 2 });
        let nothing = rt.enter(|| {
            Distribution::of(|c| match c.die(20_000) {
                19_000 => c.below(0),
                number => number,
            })
        });
        assert!(
            matches!(nothing, Err(Error::NothingToDraw(_))),
            "{nothing:?}"
        );
        let panics = rt.spawn(async {
            Distribution::of(|c| assert!(c.below(20_000) < 19_999, "of its own")).map(|_| ())
        });
        let panicked = panics.wait().expect_err("it panics").into_panic();
        let message = panicked.downcast_ref::<&str>();
        assert_eq!(message, Some(&"of its own"));
    });
}
