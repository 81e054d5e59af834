//! Descriptions that are at fault, and limits.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use gossamer_experiment::{
    Among, Choices, Dist, Distribution, Error, Expectation, Interpreter, Limit, Limits,
    Probability, Simulation, attempt,
};

use crate::{of, p};

fn tosses(c: &mut Choices<'_>) -> u32 {
    let half = p(1, 2);
    (1..).find(|_| c.coin(&half)).unwrap_or(0)
}

#[test]
fn nothing_to_draw_from() {
    let nothings: [fn(&mut Choices<'_>) -> u32; 6] = [
        |c| c.below(0),
        |c| c.die(0),
        |c| *c.pick(&[]),
        |c| *c.weighted(&[]),
        |c| *c.weighted(&[(1, 0), (2, 0)]),
        |c| c.keep_highest(3, 0, 1),
    ];
    for nothing in nothings {
        let found = Distribution::of(nothing);
        assert!(matches!(found, Err(Error::NothingToDraw(_))), "{found:?}");
        let found = Simulation::seeded(1).run(nothing);
        assert!(matches!(found, Err(Error::NothingToDraw(_))), "{found:?}");
    }
    let found = Dist::weighted([(1, 0)]);
    assert!(matches!(found, Err(Error::NothingToDraw(_))), "{found:?}");
}

#[test]
fn a_description_that_remembers() {
    let runs = AtomicU32::new(0);
    let count = || runs.fetch_add(1, Ordering::Relaxed) + 1;
    let other_die = Distribution::of(|c| c.die(5 + count() % 2));
    assert_eq!(other_die, Err(Error::NotDeterministic { draw: 0 }));
    runs.store(0, Ordering::Relaxed);
    let fewer_draws = Distribution::of(|c| c.die(2) + if count() == 1 { c.die(2) } else { 0 });
    assert_eq!(fewer_draws, Err(Error::NotDeterministic { draw: 1 }));
}

#[test]
fn what_is_left_over_is_exact() {
    let limits = Limits::new();
    let by_draws = Distribution::within(&limits.clone().draws(7), tosses).expect("it is sound");
    assert_eq!(*by_draws.uncovered(), p(1, 128));
    assert_eq!(by_draws.stopped_by(), Some(Limit::Draws));
    assert_eq!(by_draws.mean(), None);
    assert_eq!(by_draws.quantile(&p(1, 2)), None);

    let by_paths = Distribution::within(&limits.clone().draws(9).paths(4), tosses);
    let by_paths = by_paths.expect("it is sound");
    // Four tails, which are cut, and heads after three, two and one.
    assert_eq!(*by_paths.uncovered(), p(9, 16));
    assert_eq!(
        (by_paths.paths(), by_paths.stopped_by()),
        (4, Some(Limit::Paths))
    );

    let by_outcomes = Distribution::within(&limits.clone().outcomes(5), |c| c.die(6));
    let by_outcomes = by_outcomes.expect("it is sound");
    assert_eq!(*by_outcomes.uncovered(), p(1, 6));
    assert_eq!(by_outcomes.stopped_by(), Some(Limit::Outcomes));

    let by_time = Distribution::within(&limits.time(Duration::ZERO), tosses);
    let by_time = by_time.expect("it is sound");
    assert_eq!(
        (by_time.paths(), by_time.stopped_by()),
        (0, Some(Limit::Time))
    );
    assert_eq!(*by_time.uncovered(), Probability::ONE);
}

#[test]
fn an_expectation_says_what_it_has_left_out() {
    let limits = Limits::new().draws(4);
    let even = Expectation::within(&limits, tosses, |count| count % 2 == 0);
    let even = even.expect("it is sound");
    assert_eq!(*even.probability(), p(5, 16));
    assert_eq!(*even.uncovered(), p(1, 16));
    assert_eq!(even.stopped_by(), Some(Limit::Draws));
}

#[test]
fn a_simulation_that_does_not_end() {
    let for_ever = |c: &mut Choices<'_>| while c.die(6) > 0 {};
    let found = Simulation::seeded(3).draws(1_000).run(for_ever);
    assert_eq!(found, Err(Error::TooManyDraws(1_000)));
}

#[test]
#[should_panic(expected = "of its own")]
fn a_panic_is_the_callers() {
    let _ = Distribution::of(|c| match c.die(6) {
        4 => panic!("of its own"),
        die => die,
    });
}

/// A loop with several ways to go on: the first path alone is of no use.
#[test]
fn a_loop_is_covered_evenly() {
    let until_six = |c: &mut Choices<'_>| (1..).find(|_| c.die(6) == 6).unwrap_or(0);
    let found = Distribution::within(&Limits::new().paths(50_000), until_six);
    let found = found.expect("it is sound");
    assert_eq!(found.stopped_by(), Some(Limit::Paths));
    for rolls in 1..=4 {
        let expected = p(5_u64.pow(rolls - 1), 6_u64.pow(rolls));
        assert_eq!(found.probability(&rolls), expected);
    }
    assert_eq!(
        *found.uncovered(),
        p(5_u64.pow(4), 6_u64.pow(4)),
        "the round of four draws"
    );
}

#[test]
fn limits_of_nothing() {
    let limits = Limits::new();
    for (limits, by) in [
        (limits.clone().paths(0), Limit::Paths),
        (limits.clone().draws(0), Limit::Draws),
        (limits.clone().outcomes(0), Limit::Outcomes),
    ] {
        let found = Distribution::within(&limits, |c| c.die(6)).expect("it is sound");
        assert_eq!(
            (found.uncovered(), found.stopped_by()),
            (&Probability::ONE, Some(by))
        );
    }
    let exactly = Distribution::within(&limits.clone().paths(6), |c| c.die(6));
    assert_eq!(exactly.expect("it is sound").stopped_by(), None);
    let without = Distribution::within(&limits.draws(0), |_| 7).expect("it is sound");
    assert_eq!(without.probability(&7), Probability::ONE);
}

/// The end of a path that a description catches is not an outcome.
#[test]
fn a_caught_end_is_one() {
    let caught = |c: &mut Choices<'_>| {
        let drawn = catch_unwind(AssertUnwindSafe(|| c.die(0)));
        drawn.unwrap_or(1)
    };
    let found = Distribution::of(caught);
    assert!(matches!(found, Err(Error::NothingToDraw(_))), "{found:?}");
    let later = |c: &mut Choices<'_>| {
        let drawn = catch_unwind(AssertUnwindSafe(|| c.die(0)));
        drawn.unwrap_or(1) + c.die(6)
    };
    assert!(Simulation::seeded(1).run(later).is_err());
}

/// A simulation inside an experiment, which draws from that: the end of the outer path passes through it.
#[test]
fn an_experiment_inside_another() {
    let inside = |c: &mut Choices<'_>| {
        let mut simulation = Simulation::seeded(1);
        let drawn = (0..5).map(|_| simulation.run(|_| c.die(2)).unwrap_or(0));
        drawn.sum::<u32>()
    };
    let found = Distribution::within(&Limits::new().draws(3), inside).expect("it is sound");
    assert_eq!(found.stopped_by(), Some(Limit::Draws));
    assert_eq!(*found.uncovered(), Probability::ONE);
    assert_eq!(of(inside).probability(&5), p(1, 32));
}

struct Answers(usize);

impl Interpreter for Answers {
    fn choose(&mut self, _: Among<'_>) -> Result<usize, Error> {
        Ok(self.0)
    }
}

#[test]
fn an_interpreter_may_answer_what_can_be() {
    let drawn = |c: &mut Choices<'_>| *c.weighted(&[("never", 0), ("always", 1)]);
    assert_eq!(attempt(&mut Answers(1), drawn), Ok("always"));
    for impossible in [0, 2] {
        let answered = catch_unwind(|| attempt(&mut Answers(impossible), drawn));
        assert!(answered.is_err(), "{impossible}");
    }
}

#[test]
fn pools_whose_sums_are_no_numbers() {
    for pool in [
        Dist::keep_highest(65_536, 65_536, 65_536),
        Dist::keep_lowest(2, u32::MAX, 1),
        Dist::keep_highest(1_000, 1_000, 1_000),
        Dist::explode(1, u32::MAX),
        Dist::explode(2, 1 << 30),
    ] {
        assert!(matches!(pool, Err(Error::TooLarge(_))), "{pool:?}");
    }
}

#[test]
#[should_panic(expected = "256 is not a u8")]
fn a_sum_that_is_no_number() {
    let _ = Dist::always(128_u8).repeat(2);
}

#[test]
fn errors_say_what_to_do() {
    let said = Error::NothingToDraw("a die without sides").to_string();
    assert!(
        said.contains("a die without sides") && said.contains("give it one"),
        "{said}"
    );
    let said = Error::TooManyDraws(10).to_string();
    assert!(
        said.contains("more than 10 draws") && said.contains("allow more"),
        "{said}"
    );
    let said = Error::NotDeterministic { draw: 3 }.to_string();
    assert!(
        said.contains("draw number 3") && said.contains("on its draws alone"),
        "{said}"
    );
}
