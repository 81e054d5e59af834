//! What makes a run fail, and what the failure says.

use std::cell::Cell;
use std::future::pending;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::rc::Rc;

use super::step;
use crate::contract::panic_text;
use gossamer::local::MVar;
use gossamer::time::sleep as rest;
use gossamer_sim::{
    Cause, Failure, Origin, Sim, TraceEvent, Waits, choices, exhaustive, explore, replay, run,
    spawn,
};

/// Two tasks that take two locks in opposite orders.
async fn philosophers() {
    let forks = Rc::new([MVar::new(()), MVar::new(())]);
    let both: Vec<_> = [(0, 1), (1, 0)]
        .into_iter()
        .map(|(left, right)| {
            let forks = forks.clone();
            spawn(async move {
                forks[left].take().await;
                forks[right].take().await;
                forks[right].put(()).await;
                forks[left].put(()).await;
            })
        })
        .collect();
    for task in both {
        task.await.unwrap();
    }
}

fn panic_of(run: impl FnOnce()) -> String {
    panic_text(&*catch_unwind(AssertUnwindSafe(run)).expect_err("the run does not fail"))
}

#[test]
fn a_deadlock_is_reported_with_who_waits_for_what() {
    let failure = (0..100)
        .find_map(|seed| run(seed, philosophers).err())
        .expect("a deadlock");
    let Cause::Deadlock(report) = &failure.cause else {
        panic!("{failure}")
    };
    let waiting: Vec<_> = report.waiting().collect();
    assert_eq!(
        waiting.iter().map(|(task, _)| *task).collect::<Vec<_>>(),
        [0, 1, 2]
    );
    assert!(
        matches!(waiting[0].1, Waits::Task { task: 1, .. }),
        "{report}"
    );
    let operations: Vec<_> = waiting[1..]
        .iter()
        .map(|(_, waits)| match waits {
            Waits::Operation {
                name,
                object,
                could_complete: false,
                ..
            } => (*name, *object),
            other => panic!("{other}"),
        })
        .collect();
    assert_eq!(operations, [("MVar::take", 1), ("MVar::take", 2)]);
    let text = failure.to_string();
    assert!(text.contains("MVar::take on MVar #1, called at "), "{text}");
    assert!(text.contains("the end of task 1, spawned at "), "{text}");
    assert!(text.contains("failing.rs:"), "{text}");
}

#[test]
fn a_failure_can_be_run_again() {
    let text = panic_of(|| explore(0..100, philosophers));
    let (_, seed) = text
        .split_once("to run it again: sim::run(")
        .expect("how to replay");
    let seed: u64 = seed
        .split(',')
        .next()
        .and_then(|seed| seed.parse().ok())
        .expect("a seed");
    assert!(
        text.starts_with(&format!("simulation with seed {seed}: deadlock")),
        "{text}"
    );
    let failure = run(seed, philosophers).unwrap_err();
    assert_eq!(failure.to_string(), text);
    let again = replay(&failure.choices, philosophers).unwrap_err();
    assert_eq!((again.cause, again.trace), (failure.cause, failure.trace));

    let text = panic_of(|| assert!(!exhaustive(1000, philosophers).complete));
    let (_, list) = text.split_once("sim::choices(\"").expect("how to replay");
    let list = choices(list.split('"').next().expect("a list"));
    let failure = replay(&list, philosophers).unwrap_err();
    assert!(matches!(failure.cause, Cause::Deadlock(_)), "{failure}");
    assert_eq!(failure.origin, Origin::Recorded);
}

/// What it says is what runs it again, whatever the settings were.
#[test]
fn a_failure_names_its_settings() {
    let fails = || async {
        let bad = spawn(async { panic!("planned") });
        let _panicked: Result<(), _> = bad.await;
        pending::<()>().await;
    };
    let usual = Sim::new();
    let table = [
        (usual, "sim::", "task 1 panicked: planned"),
        (
            usual.expect_panics(),
            "Sim::new().expect_panics().",
            "deadlock: ",
        ),
        (
            usual.without_scheduling_points(),
            "Sim::new().without_scheduling_points().",
            "task 1 panicked: planned",
        ),
        (
            usual.look_each_step(),
            "Sim::new().look_each_step().",
            "task 1 panicked: planned",
        ),
        (
            usual.steps_max(1).expect_panics(),
            "Sim::new().steps_max(1).expect_panics().",
            "no end after 1 steps",
        ),
    ];
    for (sim, settings, cause) in table {
        let text = sim.run(7, fails).unwrap_err().to_string();
        assert!(
            text.starts_with(&format!("simulation with seed 7: {cause}")),
            "{text}"
        );
        let again = format!("\nto run it again: {settings}run(7, …)");
        assert!(text.ends_with(&again), "{text}");
        let text = panic_of(|| assert!(!sim.exhaustive(1, fails).complete));
        let (_, again) = text
            .split_once("\nto run it again: ")
            .expect("how to replay");
        assert!(
            again.starts_with(&format!("{settings}replay(&sim::choices(\"0/1")),
            "{text}"
        );
    }
}

#[test]
fn the_last_fifty_events_are_printed() {
    let failure = run(0, || async {
        for _ in 0..500 {
            step().await;
        }
        pending::<()>().await;
    })
    .unwrap_err();
    let text = failure.to_string();
    assert!(
        text.contains("task 0, the root,") && text.contains("a foreign future"),
        "{text}"
    );
    let events = text
        .lines()
        .filter(|line| line.contains(" runs (of 1 enabled)"))
        .count();
    assert_eq!(events, 50, "{text}");
}

#[test]
fn an_endless_run_ends_at_the_step_limit() {
    let spin = || async {
        loop {
            step().await;
        }
    };
    let failure = Sim::new().steps_max(1000).run(0, spin).unwrap_err();
    assert_eq!(failure.cause, Cause::StepLimit { steps: 1000 });
    assert_eq!(failure.choices.len(), 1000);
    assert!(failure.to_string().contains("livelock"), "{failure}");
    let recorded = failure.choices;
    let again = Sim::new()
        .steps_max(1000)
        .replay(&recorded, spin)
        .unwrap_err();
    assert_eq!(again.cause, Cause::StepLimit { steps: 1000 });
}

/// A program that counts its runs depends on more than its choices.
#[test]
fn a_program_with_a_memory_is_not_deterministic() {
    let runs = Cell::new(0);
    let text = panic_of(|| {
        exhaustive(100, || async {
            runs.set(runs.get() + 1);
            for _ in 0..runs.get() {
                drop(spawn(step()));
            }
            step().await;
            step().await;
        });
    });
    assert!(
        text.starts_with("schedule 1: not deterministic: step 1 had 2 enabled"),
        "{text}"
    );
}

#[test]
fn a_panic_carries_its_seed_and_trace() {
    let text = panic_of(|| explore(3..4, || async { assert_eq!(1 + 1, 3, "sums") }));
    assert!(
        text.starts_with("simulation with seed 3: task 0 panicked: "),
        "{text}"
    );
    assert!(
        text.contains("sums") && text.contains("task 0 runs"),
        "{text}"
    );

    let failure = run(0, || async { panic_any(17_u8) }).unwrap_err();
    let text = "(the payload is no text)".to_owned();
    assert_eq!(
        failure.cause,
        Cause::Panicked {
            task: 0,
            message: text
        }
    );
}

/// Also a panic that nobody joins, in the last step of the run.
#[test]
fn a_panic_of_any_task_fails_the_run() {
    let body = || async {
        let bad = spawn(async { panic!("planned") });
        let other = spawn(pending::<()>());
        drop(bad);
        other.await.unwrap();
    };
    let failure = run(0, body).unwrap_err();
    assert_eq!(
        failure.cause,
        Cause::Panicked {
            task: 1,
            message: "planned".to_owned()
        }
    );

    Sim::new().expect_panics().explore(0..10, || async {
        let bad = spawn(async { panic!("planned") });
        let error = bad.await.map(|never: ()| never).unwrap_err();
        assert_eq!(panic_text(&*error.try_into_panic().unwrap()), "planned");
    });
    // What is expected of a task is not expected of the root.
    let result: Result<(), Failure> = Sim::new().expect_panics().run(0, || async { panic!("no") });
    assert!(matches!(
        result.unwrap_err().cause,
        Cause::Panicked { task: 0, .. }
    ));
}

/// The tasks that are left when the root ends are dropped, whatever they do, in the simulation.
#[test]
fn what_is_left_is_dropped() {
    struct Noted(Rc<Cell<u32>>);
    impl Drop for Noted {
        fn drop(&mut self) {
            self.0.set(self.0.get() + 1);
            gossamer_sim::now();
            drop(spawn(async {}));
        }
    }
    for seed in 0..200 {
        let dropped = Rc::new(Cell::new(0));
        let run = Sim::new().run_traced(seed, || async {
            let mvar = Rc::new(MVar::new(0));
            for _ in 0..3 {
                let (noted, mvar) = (Noted(dropped.clone()), mvar.clone());
                drop(spawn(async move {
                    let _noted = noted;
                    let value = mvar.take().await;
                    rest(std::time::Duration::from_secs(value)).await;
                    mvar.put(value + 1).await;
                    mvar.put(0).await;
                }));
            }
            for _ in 0..seed % 20 {
                step().await;
            }
        });
        run.result.unwrap();
        assert_eq!(dropped.get(), 3, "seed {seed}");
        let count = |is: fn(&TraceEvent) -> bool| {
            run.trace.events().iter().filter(|event| is(event)).count()
        };
        let spawned = count(|event| matches!(event, TraceEvent::Spawned { .. }));
        let ended = count(|event| matches!(event, TraceEvent::Ended { .. }));
        // What a drop spawns as the run ends is dropped at once, and is no task.
        assert!(spawned >= 3, "seed {seed}");
        assert_eq!(ended, 1 + spawned, "seed {seed}");
    }
}

#[test]
fn a_simulation_inside_a_task_is_refused() {
    let failure: Failure = run(0, || async { run(1, || async {}).is_ok() }).unwrap_err();
    let text = failure.to_string();
    assert!(
        text.contains("a simulation was called inside a task"),
        "{text}"
    );
}
