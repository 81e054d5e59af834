//! Seeds, records and the enumeration of all schedules.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::rc::Rc;

use super::step;
use crate::contract::panic_text;
use gossamer::local::MVar;
use gossamer_sim::{
    Cause, Choice, End, Explored, Sim, TraceEvent, choices, exhaustive, replay, spawn,
};

/// Tasks that pass values through two `MVar`s: something with a schedule worth looking at.
async fn traffic() -> u32 {
    let mvars = Rc::new([MVar::empty(), MVar::new(0)]);
    for task in 0..3 {
        let mvars = mvars.clone();
        drop(spawn(async move {
            let value: u32 = mvars[1].take().await;
            mvars[0].put(value + task).await;
        }));
    }
    let mut sum = 0;
    for _ in 0..3 {
        let value = mvars[0].take().await;
        sum += value;
        mvars[1].put(value).await;
    }
    sum
}

#[test]
fn a_run_is_a_function_of_its_seed() {
    let mut traces = HashSet::new();
    for seed in 0..100 {
        let (first, second) = (
            Sim::new().run_traced(seed, traffic),
            Sim::new().run_traced(seed, traffic),
        );
        assert_eq!(first.trace, second.trace, "seed {seed}");
        assert_eq!(first.choices, second.choices, "seed {seed}");
        assert_eq!(first.result.unwrap(), second.result.unwrap(), "seed {seed}");
        traces.insert(first.trace.to_string());
    }
    assert!(
        traces.len() > 50,
        "100 seeds made only {} different runs",
        traces.len()
    );
}

#[test]
fn a_run_is_a_function_of_its_choices() {
    for seed in 0..100 {
        let run = Sim::new().run_traced(seed, traffic);
        assert_eq!(
            replay(&run.choices, traffic).unwrap(),
            run.result.unwrap(),
            "seed {seed}"
        );
    }
}

/// Of tasks with equal work each order is equally likely: uniform over the enabled, not a rotation.
#[test]
fn the_choice_is_uniform() {
    const RUNS: usize = 6000;
    let mut first = [0_usize; 3];
    for seed in 0..RUNS {
        let winner = gossamer_sim::run(seed as u64, || async {
            let winner = Rc::new(Cell::new(None::<usize>));
            let tasks: Vec<_> = (0..3)
                .map(|task| {
                    let winner = winner.clone();
                    spawn(async move { winner.set(winner.get().or(Some(task))) })
                })
                .collect();
            for task in tasks {
                task.await.unwrap();
            }
            winner.get().unwrap()
        });
        first[winner.unwrap()] += 1;
    }
    let expected = RUNS / 3;
    let far = first
        .iter()
        .any(|count| count.abs_diff(expected) > expected / 10);
    assert!(!far, "who was first, in {RUNS} runs: {first:?}");
}

#[test]
fn a_replay_that_differs_names_the_step() {
    let recorded = Sim::new().run_traced(1, traffic).choices;
    let mut other = recorded.clone();
    other[3].enabled += 1;
    let failure = replay(&other, traffic).unwrap_err();
    let (recorded_there, found) = (Some(other[3].enabled), Some(recorded[3].enabled));
    let cause = Cause::NonDeterministic {
        step: 3,
        recorded: recorded_there,
        found,
    };
    assert_eq!(failure.cause, cause);
    assert!(failure.to_string().contains("step 3 had"), "{failure}");

    let last = recorded.len() - 1;
    let failure = replay(&recorded[..last], traffic).unwrap_err();
    let found = Some(recorded[last].enabled);
    assert_eq!(
        failure.cause,
        Cause::NonDeterministic {
            step: last,
            recorded: None,
            found
        }
    );

    let longer: Vec<_> = recorded
        .iter()
        .copied()
        .chain([Choice {
            enabled: 1,
            chosen: 0,
        }])
        .collect();
    let failure = replay(&longer, traffic).unwrap_err();
    let step = recorded.len();
    assert_eq!(
        failure.cause,
        Cause::NonDeterministic {
            step,
            recorded: Some(1),
            found: None
        }
    );
}

#[test]
fn choices_are_written_as_they_are_read() {
    let list = Sim::new().run_traced(5, traffic).choices;
    let text: Vec<String> = list.iter().map(Choice::to_string).collect();
    assert_eq!(choices(&text.join(" ")), list);
    for wrong in ["3", "a/b", "2/2", "0/0", "1/", "-1/2"] {
        let caught = std::panic::catch_unwind(|| choices(wrong)).unwrap_err();
        assert!(panic_text(&*caught).contains(wrong), "{wrong}");
    }
}

fn binomial(n: usize, k: usize) -> usize {
    (0..k).fold(1, |product, i| product * (n - i) / (i + 1))
}

/// Two tasks of `n` polls each have `binomial(2n, n)` interleavings. The root is one of the two and
/// has its first poll alone; the run ends with it, which merges no two interleavings: what is left of
/// the other task then has one order only. That leaves `binomial(2n - 1, n)`.
#[test]
fn two_tasks_have_as_many_schedules_as_interleavings() {
    for steps in 1..6 {
        let orders = RefCell::new(HashSet::new());
        let explored = exhaustive(10_000, || async {
            let order = Rc::new(RefCell::new(String::new()));
            drop(spawn({
                let order = order.clone();
                async move {
                    for _ in 0..steps {
                        order.borrow_mut().push('b');
                        step().await;
                    }
                    order.borrow_mut().push('b');
                }
            }));
            for _ in 0..steps {
                step().await;
                order.borrow_mut().push('a');
            }
            assert!(
                orders.borrow_mut().insert(order.take()),
                "an order came twice"
            );
        });
        let polls = steps + 1;
        let schedules = binomial(2 * polls - 1, polls);
        assert_eq!(
            explored,
            Explored {
                schedules,
                complete: true
            },
            "{steps} steps"
        );
        assert_eq!(orders.borrow().len(), schedules);
    }
}

/// A run with one task has one schedule; a limit is told from the end.
#[test]
fn the_enumeration_says_whether_it_is_complete() {
    let alone = exhaustive(1, || async { step().await });
    assert_eq!(
        alone,
        Explored {
            schedules: 1,
            complete: true
        }
    );
    let cut = exhaustive(5, || async {
        drop(spawn(async { step().await }));
        step().await;
        step().await;
    });
    assert_eq!(
        cut,
        Explored {
            schedules: 5,
            complete: false
        }
    );
}

/// An operation on a primitive is one scheduling point before it takes effect: another task may
/// come between two operations of one task, and also before the first.
#[test]
fn operations_are_scheduling_points() {
    let seen = RefCell::new(HashSet::new());
    let explored = exhaustive(10_000, || async {
        let mvar = Rc::new(MVar::new(0));
        let other = spawn({
            let mvar = mvar.clone();
            async move { mvar.replace(9).await }
        });
        mvar.replace(1).await;
        let before = mvar.replace(2).await;
        let after = other.await.unwrap();
        seen.borrow_mut().insert((before, after));
    });
    assert!(explored.complete);
    let all = [(Some(1), Some(0)), (Some(9), Some(1)), (Some(1), Some(2))];
    assert_eq!(*seen.borrow(), HashSet::from(all));
}

#[test]
fn the_trace_tells_what_happened() {
    let run = Sim::new().run_traced(0, || async {
        let child = spawn(async { step().await });
        child.await.unwrap();
    });
    let events: Vec<String> = run
        .trace
        .events()
        .iter()
        .map(|event| match *event {
            TraceEvent::Spawned { task, at } => {
                assert!(at.file().ends_with("choosing.rs"), "{at}");
                format!("+{task}")
            }
            TraceEvent::Chosen { task, enabled } => format!("{task}/{enabled}"),
            TraceEvent::Ended {
                task,
                how: End::Returned,
            } => format!("-{task}"),
            other => panic!("{other}"),
        })
        .collect();
    let text = events.join(" ");
    assert!(text.starts_with("0/1 +1 "), "{text}");
    assert!(text.ends_with(" -0"), "{text}");
    assert!(text.contains(" -1 "), "{text}");
    let chosen = events.iter().filter(|event| event.contains('/')).count();
    assert_eq!(chosen, run.choices.len());
}
