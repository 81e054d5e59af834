//! Draws of programs that are simulated: choices with weights.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use gossamer::experiment::{
    Choices, Distribution, Error, Limits, Outcome, Probability, Schedules, UBig, draw,
};
use gossamer::sim::{self, Cause, Sim};
use gossamer::sync::MVar;
use gossamer::{JoinHandle, Wait, yield_now};

use super::outcomes::{of, p};
use crate::contract::SIM;

/// Its outcomes with merging, which are those without.
pub(super) fn merged<T: Ord + Clone + std::fmt::Debug, F: Future<Output = T>>(
    program: impl Fn() -> F,
) -> Schedules<T> {
    let found = Distribution::of_merged_schedules(&Limits::new(), SIM, &program);
    let (found, each) = (found.expect("it is sound"), of(&program));
    let all = |found: &Schedules<T>| -> Vec<_> {
        let outcomes = found.iter();
        outcomes
            .map(|(outcome, probability, _)| (outcome.clone(), probability.clone()))
            .collect()
    };
    assert_eq!(all(&found), all(&each));
    for (outcome, _, schedule) in each.iter().chain(found.iter()) {
        for _ in 0..3 {
            let replayed = SIM.only_operations().replay(schedule.choices(), &program);
            match (outcome, replayed) {
                (Outcome::Returned(expected), Ok(returned)) => assert_eq!(*expected, returned),
                (Outcome::Deadlock, Err(failure)) => {
                    assert!(matches!(failure.cause, Cause::Deadlock(_)), "{failure}");
                }
                (Outcome::Panicked(_), Err(failure)) => {
                    assert!(matches!(failure.cause, Cause::Panicked { .. }), "{failure}");
                }
                (_, other) => panic!("{outcome:?} became {other:?}"),
            }
        }
    }
    found
}

#[test]
fn alternatives_have_their_weights() {
    let die = of(async || draw(|c| c.die(6)));
    assert_eq!(die.paths(), 6);
    for sides in 1..=6 {
        assert_eq!(die.probability(&Outcome::Returned(sides)), p(1, 6));
    }
    let three = die.schedule(&Outcome::Returned(3)).expect("it comes");
    assert_eq!((three.to_string(), three.preemptions()), ("2/6".into(), 0));

    // What is impossible is no alternative, and of one there is no choice.
    let weighted = merged(async || {
        let never = draw(|c| *c.weighted(&[('x', 0), ('y', 7), ('z', 0)]));
        let third = draw(|c| c.coin(&p(1, 3)));
        let letter = draw(|c| *c.weighted(&[('a', 3), ('b', 0), ('c', 1)]));
        format!("{never}{third}{letter}")
    });
    for (outcome, probability) in [
        ("ytruea", p(1, 4)),
        ("ytruec", p(1, 12)),
        ("yfalsea", p(1, 2)),
        ("yfalsec", p(1, 6)),
    ] {
        let outcome = Outcome::Returned(outcome.to_owned());
        assert_eq!(weighted.probability(&outcome), probability, "{weighted}");
        let schedule = weighted.schedule(&outcome).expect("it comes");
        assert_eq!(schedule.choices().len(), 2, "{schedule}");
    }

    // Weights of more than two words.
    let one = Probability::new(1, u64::MAX).expect("it is one");
    let rare = one.clone() * one.clone() * one;
    let coin = of(async || draw(|c| c.coin(&rare)));
    assert_eq!(coin.probability(&Outcome::Returned(true)), rare);
    assert!(rare.denominator() > &UBig::from(u128::MAX));
}

/// Takes the left fork first if a coin says so.
async fn dine(philosophers: usize, left_first: Probability) {
    let forks: Arc<Vec<MVar<()>>> = Arc::new((0..philosophers).map(|_| MVar::new(())).collect());
    let tasks: Vec<_> = (0..philosophers)
        .map(|at| {
            let (forks, left_first) = (forks.clone(), left_first.clone());
            gossamer::spawn(async move {
                let (left, right) = (&forks[at], &forks[(at + 1) % philosophers]);
                let (first, second) = match draw(|c| c.coin(&left_first)) {
                    true => (left, right),
                    false => (right, left),
                };
                first.take().await;
                second.take().await;
                first.put(()).await;
                second.put(()).await;
            })
        })
        .collect();
    for task in tasks {
        task.await.expect("nobody panics");
    }
}

/// All take the same side first with 1/27 + 8/27, and then a third of the schedules is a deadlock.
#[test]
fn philosophers_who_toss_a_coin() {
    let found = merged(|| dine(3, p(1, 3)));
    assert_eq!(found.probability(&Outcome::Deadlock), p(1, 9), "{found}");
    let found = merged(|| dine(2, p(1, 2)));
    assert_eq!(found.probability(&Outcome::Deadlock), p(1, 4), "{found}");
}

#[test]
fn all_kinds_draw() {
    type Spawn = fn(Arc<MVar<u32>>) -> JoinHandle<()>;
    fn fiber(cell: &MVar<u32>) {
        let taken = cell.take().wait();
        let drawn = draw(|c| c.below(2) * 2 + c.below(2));
        cell.put(taken * 10 + drawn).wait();
    }
    let kinds: [Spawn; 3] = [
        |cell| {
            gossamer::spawn(async move {
                let taken = cell.take().await;
                let drawn = draw(|c| c.below(2) * 2 + c.below(2));
                cell.put(taken * 10 + drawn).await;
            })
        },
        |cell| gossamer::spawn_fiber(move || fiber(&cell)),
        |cell| gossamer::spawn_thread(move || fiber(&cell)),
    ];
    for kind in kinds {
        let found = merged(async || {
            let cell = Arc::new(MVar::new(0));
            let others = [kind(cell.clone()), kind(cell.clone())];
            for other in others {
                other.await.expect("nobody panics");
            }
            cell.take().await
        });
        assert_eq!(found.iter().count(), 16, "{found}");
        for (_, probability, _) in found.iter() {
            assert_eq!(*probability, p(1, 16));
        }
    }
}

/// A draw may be made before others are spawned, after an operation of this turn, twice in a turn, and be what makes a panic.
#[test]
fn draws_in_the_midst_of_turns() {
    let found = merged(async || {
        let cell = Arc::new(MVar::new(0));
        let before = draw(|c| c.below(2));
        let tasks: Vec<_> = (0..2)
            .map(|task| {
                let cell = cell.clone();
                let early = draw(|c| c.below(2));
                gossamer::spawn(async move {
                    let read = cell.read().await;
                    let add = draw(|c| *c.weighted(&[(1, 1), (2, 2)]));
                    if task == 1 && early == 1 {
                        yield_now().await;
                    }
                    cell.replace(read + add + before).await;
                })
            })
            .collect();
        for task in tasks {
            task.await.expect("no panic");
        }
        let sum = cell.take().await;
        assert_ne!(sum, 6, "planned");
        sum
    });
    let whole = found.iter().map(|(_, probability, _)| probability.clone());
    assert_eq!(whole.sum::<Probability>(), Probability::ONE);
    // Both are written one after the other, and both add three: 8 of 36 draws, and 1/2 or 3/4 of the schedules.
    let planned = |(outcome, ..): &(&Outcome<u32>, &Probability, &_)| matches!(outcome, Outcome::Panicked(message) if message.contains("planned"));
    assert_eq!(found.iter().filter(planned).count(), 1, "{found}");
}

/// What draws as it goes, at a run's end or as a panic unwinds, and what catches the unwinding of a draw that is not made.
#[test]
fn draws_of_destructors_and_caught_ones() {
    struct Draws;
    impl Drop for Draws {
        fn drop(&mut self) {
            draw(|c| c.die(6));
        }
    }
    let never = merged(async || {
        let left = gossamer::spawn(async {
            let _draws = Draws;
            MVar::<()>::empty().take().await;
        });
        MVar::new(()).take().await;
        drop(left);
    });
    assert_eq!(never.paths(), 1, "nobody draws before the end: {never}");

    let unwinds = merged(async || {
        let task = gossamer::spawn(async {
            let _draws = Draws;
            assert!(draw(|c| c.below(2)) == 0, "planned");
        });
        task.await.expect("no panic");
    });
    let planned = Outcome::Panicked("planned".to_owned());
    assert_eq!(unwinds.probability(&planned), p(1, 2), "{unwinds}");

    let caught = merged(async || {
        let both = [(); 2].map(|()| {
            let drawn = catch_unwind(AssertUnwindSafe(|| draw(|c| c.below(3))));
            drawn.unwrap_or(7)
        });
        both[0] * 10 + both[1]
    });
    assert_eq!(caught.iter().count(), 9, "{caught}");
}

#[test]
fn seeds_draw_at_random() {
    let roll = async || draw(|c: &mut Choices<'_>| (c.die(6), c.coin(&p(1, 4))));
    let mut heads = 0;
    let mut sides = BTreeMap::new();
    for seed in 0..6_000 {
        let (side, head) = sim::run(seed, roll).expect("it returns");
        assert_eq!(sim::run(seed, roll).expect("it returns"), (side, head));
        *sides.entry(side).or_insert(0) += 1;
        heads += u32::from(head);
    }
    // Six standard deviations.
    assert!((1_300..=1_700).contains(&heads), "{heads}");
    for (side, count) in sides {
        assert!((830..=1_170).contains(&count), "{side}: {count}");
    }
    let run = Sim::new().run_traced(7, roll);
    let again = sim::replay(&run.choices, roll).expect("it returns");
    assert_eq!(again, run.result.expect("it returns"));
}

#[test]
fn draws_that_cannot_be() {
    let nothing = of(async || draw(|c| c.below(0)));
    let (outcome, ..) = nothing.iter().next().expect("there is one");
    assert!(
        matches!(outcome, Outcome::Panicked(message) if message.contains("below(0) has nothing to draw from")),
        "{nothing}"
    );

    let outside = catch_unwind(|| draw(|c| c.die(6))).expect_err("nothing runs");
    let message = outside.downcast_ref::<&str>().expect("a text");
    assert!(message.contains("outside of a simulation"), "{message}");

    let sides = Cell::new(2);
    let differs = Distribution::of_schedules(async || {
        sides.set(sides.get() + 1);
        draw(|c| c.die(sides.get()))
    });
    let error = differs
        .map(|_| ())
        .expect_err("it has more sides each time");
    assert_eq!(error, Error::NotDeterministic { draw: 0 });
}

/// A coin that is tossed until it shows heads: twenty times at most, by the settings.
#[test]
fn draws_without_end_are_an_outcome() {
    let half = Probability::new(1, 2).expect("a probability");
    let tosses = async || while !draw(|c| c.coin(&half)) {};
    let sim = Sim::new().steps_max(20);
    let found = Distribution::of_schedules_within(&Limits::new(), sim, tosses)
        .expect("it is the same each time");
    let never = Probability::new(1, 1 << 20);
    assert_eq!(Some(found.probability(&Outcome::NoEnd)), never);
    let ends = Probability::new((1 << 20) - 1, 1 << 20);
    assert_eq!(Some(found.probability(&Outcome::Returned(()))), ends);
    assert_eq!(found.paths(), 21);
    let schedule = found.schedule(&Outcome::NoEnd).expect("there is one");
    let failure = sim
        .only_operations()
        .replay(schedule.choices(), tosses)
        .expect_err("it has no end");
    assert_eq!(failure.cause, sim::Cause::StepLimit { steps: 20 });
}
