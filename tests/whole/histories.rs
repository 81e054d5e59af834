//! Linearizability of small histories: all programs of three tasks with three operations each, in all schedules.
//!
//! *All* is this. An operation is one of send, try-send, receive, try-receive; a program is three lists of three, where
//! it does not matter which list is whose: 45,760 programs, with 744,807,678 schedules. Each runs with a rendezvous
//! channel, with one of capacity one, and with an unbounded one; with handles that everybody keeps, and with handles that
//! a task drops as soon as it has nothing more to send, or to receive, so that the channel closes on the way. A schedule
//! is an order of polls: a task may be polled unless its operation waits and nobody has woken it.
//!
//! Under its lock an operation happens at once, so between polls there is all that a schedule can see. (That the lock is
//! one, and where it is given up in the midst of an operation, is for loom.) Tasks are polled by hand, with wakers that
//! only note that they were called.
//!
//! A history is linearizable if it is the history of a sequence. That sequence is known: each operation takes effect in
//! its last poll; but a send over a rendezvous channel as its message is taken. So the [specification](spec) goes along,
//! and says of each poll what it has to give. It also says who has to have been woken by then.
//!
//! `cargo xtask whole` has them all (four minutes on two processors), CI each twentieth program, and the tests a few.
//! Three tasks of two operations are there too, in the flavour for one thread.

mod run;
mod spec;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use gossamer::raw::{Local, Shared};

use self::run::{Flavour, Program, schedules};
use crate::part;

/// An operation of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Op {
    Send,
    TrySend,
    Recv,
    TryRecv,
}

const OPS: [Op; 4] = [Op::Send, Op::TrySend, Op::Recv, Op::TryRecv];
const CAPACITIES: [usize; 3] = [0, 1, usize::MAX];

/// What is covered.
#[derive(Debug)]
struct Covered {
    programs: usize,
    schedules: usize,
}

/// All programs of three tasks with so many operations each, but only each `nth` of them.
fn cover<P: Flavour>(operations: usize, nth: usize) -> Covered {
    let lists: Vec<Vec<Op>> = (0..OPS.len().pow(operations as u32))
        .map(|number| digits(number, operations))
        .collect();
    let mut programs = Vec::new();
    for (first, one) in lists.iter().enumerate() {
        for (second, two) in lists.iter().enumerate().skip(first) {
            for three in &lists[second..] {
                programs.push([one.clone(), two.clone(), three.clone()]);
            }
        }
    }
    let programs: Vec<_> = programs.into_iter().step_by(nth).collect();
    let next = AtomicUsize::new(0);
    let run = || {
        let mut count = 0;
        while let Some(tasks) = programs.get(next.fetch_add(1, Ordering::SeqCst)) {
            for capacity in CAPACITIES {
                for closes in [false, true] {
                    count += schedules::<P>(&Program {
                        tasks,
                        capacity,
                        closes,
                    });
                }
            }
        }
        count
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let schedules = thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(run)).collect();
        let counts = running
            .into_iter()
            .map(|one| one.join().expect("see above"));
        counts.sum()
    });
    Covered {
        programs: programs.len(),
        schedules,
    }
}

/// The number to the base of four, as operations.
fn digits(mut number: usize, count: usize) -> Vec<Op> {
    let mut ops = Vec::new();
    for _ in 0..count {
        ops.push(OPS[number % OPS.len()]);
        number /= OPS.len();
    }
    ops
}

/// Covers each `nth` program, and compares with what is known to be covered then.
fn check<P: Flavour>(operations: usize, nth: usize) {
    let covered = cover::<P>(operations, nth);
    println!("{operations} operations a task, each {nth}. program: {covered:?}");
    let known = match (operations, nth) {
        (2, 1) => (816, 597_509),
        (2, 8) => (102, 75_498),
        (3, 1) => (45_760, 749_340_745),
        (3, 20) => (2_288, 37_554_697),
        (3, 6_007) => (8, 108_556),
        _ => return,
    };
    assert_eq!((covered.programs, covered.schedules), known);
}

#[test]
fn three_tasks_of_two_operations() {
    check::<Local>(2, part().map_or(8, |_| 1));
}

#[test]
fn three_tasks_of_three_operations() {
    check::<Shared>(3, part().unwrap_or(6_007));
}
