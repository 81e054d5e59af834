//! Small programs, exhaustively: three tasks of up to three operations, in every schedule.
//!
//! The programs are all there are of a kind: each task runs one of the scripts below, and the histories
//! are judged by the sequential specification in [`super::model`].

use gossamer_sim::Sim;

use crate::exploring::exhaust_ways;
use crate::flavour::{Flavour, both};
use crate::mvar::model::{Op, run_program};

both! {
    three_tasks_of_one_operation,
    two_tasks_of_two_operations,
    three_tasks_some_of_three_operations,
}

const ALL: [Op; 9] = [
    Op::Take,
    Op::Put,
    Op::Read,
    Op::Swap,
    Op::Replace,
    Op::TryTake,
    Op::TryPut,
    Op::TrySwap,
    Op::TryReplace,
];

/// With scheduling points and without for one thread's flavour, which has short ways of its own, and without for the other.
fn check<F: Flavour>(program: &[Vec<Op>]) {
    let ways: &[bool] = if F::SCHEDULING_POINTS {
        &[true, false]
    } else {
        &[false]
    };
    for full in [true, false] {
        exhaust_ways(ways, Sim::new(), || {
            run_program::<F>(program.to_vec(), full)
        });
    }
}

/// All programs of three tasks with one operation each, on an empty and on a full mvar. Which task has which makes no
/// difference, as each of them may be the next one in some schedule.
fn three_tasks_of_one_operation<F: Flavour>() {
    for (at, first) in ALL.into_iter().enumerate() {
        for (then, second) in ALL.into_iter().enumerate().skip(at) {
            for third in ALL.into_iter().skip(then) {
                check::<F>(&[vec![first], vec![second], vec![third]]);
            }
        }
    }
}

/// All programs of two tasks with two operations each, of those that wait.
fn two_tasks_of_two_operations<F: Flavour>() {
    let waiting = &ALL[..5];
    let pairs = || {
        waiting
            .iter()
            .flat_map(|a| waiting.iter().map(|b| vec![*a, *b]))
    };
    for (at, first) in pairs().enumerate() {
        for second in pairs().skip(at) {
            check::<F>(&[first.clone(), second]);
        }
    }
}

fn three_tasks_some_of_three_operations<F: Flavour>() {
    use Op::{Put, Read, Replace, Swap, Take};
    let programs = [
        [vec![Take, Put, Take], vec![Put, Take], vec![Put]],
        [vec![Put, Put, Put], vec![Take, Take], vec![Take]],
        [vec![Take, Take, Take], vec![Put, Replace], vec![Put]],
        [vec![Put, Replace, Take], vec![Put], vec![Take]],
        [vec![Read, Take, Read], vec![Put, Swap], vec![Put]],
    ];
    for program in programs {
        check::<F>(&program);
    }
}
