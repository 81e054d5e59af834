//! Virtual time: when it moves, and in which order timers come.

use std::cell::RefCell;
use std::collections::HashSet;
use std::panic::catch_unwind;
use std::rc::Rc;
use std::time::Duration;

use gossamer::time::sleep as rest;

use super::step;
use crate::contract::panic_text;
use gossamer_sim::{Sim, TraceEvent, exhaustive, explore, now, spawn};

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn timers_come_in_the_order_of_their_deadlines() {
    explore(0..1000, || async {
        let order = Rc::new(RefCell::new(Vec::new()));
        let tasks: Vec<_> = [5, 3, 8, 1, 3]
            .into_iter()
            .map(|seconds| {
                let order = order.clone();
                spawn(async move {
                    rest(seconds * SECOND).await;
                    assert_eq!(now(), seconds * SECOND);
                    order.borrow_mut().push(seconds);
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(*order.borrow(), [1, 3, 3, 5, 8]);
    });
}

/// Time stands still while anything is enabled, however long it takes.
#[test]
fn time_moves_only_when_nothing_is_enabled() {
    let run = Sim::new().run_traced(3, || async {
        let timer = spawn(rest(SECOND));
        for _ in 0..1000 {
            step().await;
            assert_eq!(now(), Duration::ZERO);
        }
        timer.await.unwrap();
        assert_eq!(now(), SECOND);
        rest(Duration::ZERO).await;
        assert_eq!(now(), SECOND);
    });
    run.result.unwrap();
    let moved = run
        .trace
        .events()
        .iter()
        .filter(|event| matches!(event, TraceEvent::Advanced { .. }));
    assert_eq!(moved.count(), 1);
}

/// Both orders of two timers with one deadline are found, so both were enabled at once.
#[test]
fn equal_deadlines_become_enabled_together() {
    let orders = RefCell::new(HashSet::new());
    let explored = exhaustive(10_000, || async {
        let order = Rc::new(RefCell::new(String::new()));
        let both: Vec<_> = ['a', 'b']
            .into_iter()
            .map(|name| {
                let order = order.clone();
                spawn(async move {
                    rest(SECOND).await;
                    order.borrow_mut().push(name);
                })
            })
            .collect();
        for task in both {
            task.await.unwrap();
        }
        assert_eq!(now(), SECOND);
        orders.borrow_mut().insert(order.take());
    });
    assert!(explored.complete);
    assert_eq!(
        *orders.borrow(),
        HashSet::from(["ab".to_owned(), "ba".to_owned()])
    );
}

/// A timer that was dropped holds time back nowhere and wakes nobody.
#[test]
fn a_dropped_timer_is_gone() {
    explore(0..100, || async {
        let aborted = spawn(rest(5 * SECOND));
        let kept = spawn(rest(7 * SECOND));
        rest(SECOND).await;
        aborted.abort();
        assert!(aborted.await.unwrap_err().is_cancelled());
        assert_eq!(now(), SECOND);
        kept.await.unwrap();
        assert_eq!(now(), 7 * SECOND);
    });
    let run = Sim::new().run_traced(0, || async {
        let aborted = spawn(rest(5 * SECOND));
        rest(SECOND).await;
        aborted.abort();
        drop(aborted);
        rest(9 * SECOND).await;
    });
    run.result.unwrap();
    let moves: Vec<_> = run
        .trace
        .events()
        .iter()
        .filter_map(|event| match event {
            TraceEvent::Advanced { to } => Some(to.as_secs()),
            _ => None,
        })
        .collect();
    assert_eq!(moves, [1, 10]);
}

#[test]
fn outside_of_a_simulation_they_say_so() {
    let calls: [(&str, fn()); 2] = [
        ("sim::now()", || assert!(now().is_zero())),
        ("sim::spawn()", || drop(spawn(async {}))),
    ];
    for (name, call) in calls {
        let message = panic_text(&*catch_unwind(call).unwrap_err());
        assert!(
            message.contains(name) && message.contains("outside of a simulation"),
            "{message}"
        );
    }
    // And not after one either.
    gossamer_sim::run(0, || async {}).unwrap();
    assert!(catch_unwind(now).is_err());
}
