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
//!
//! So are, in three tasks of two operations (8,436 programs with 27,510,080 schedules), sends in a select whose other
//! branch is ready in the second poll, which may come at any time: asked before the send, or after it as by a timeout.
//! Given up, a send has not sent, and its place goes to the next; taken at a rendezvous, it is the branch. And so are
//! permits, kept for one poll and used in the next, among sends and receives in channels that are closed at any time.

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
    /// In its second poll it gives up, unless it has sent.
    SendOrGiveUp,
    /// In its second poll it gives up, unless its message has been taken.
    GiveUpOrSend,
    /// It reserves a place, and sends in the poll after that.
    Reserve,
    /// It closes the channel.
    Close,
}

/// The last two are there only where that is asked for.
const OPS: [Op; 6] = [
    Op::Send,
    Op::TrySend,
    Op::Recv,
    Op::TryRecv,
    Op::SendOrGiveUp,
    Op::GiveUpOrSend,
];
const WITHOUT_SELECTS: usize = 4;

/// With permits, and with channels that are closed by hand.
const CLOSING: [Op; 5] = [Op::Send, Op::Recv, Op::TryRecv, Op::Reserve, Op::Close];

impl Op {
    /// Whether it may be polled though nobody has woken it.
    fn gives_up(self) -> bool {
        matches!(self, Self::SendOrGiveUp | Self::GiveUpOrSend)
    }
}

const CAPACITIES: [usize; 3] = [0, 1, usize::MAX];

/// What is covered.
#[derive(Debug)]
struct Covered {
    programs: usize,
    schedules: usize,
}

/// All programs of three tasks with so many of these operations each, but only each `nth` of them.
fn cover<P: Flavour>(ops: &[Op], operations: usize, nth: usize) -> Covered {
    let lists: Vec<Vec<Op>> = (0..ops.len().pow(operations as u32))
        .map(|number| digits(ops, number, operations))
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
            // A rendezvous has no places to reserve.
            let reserves = tasks.iter().flatten().any(|op| *op == Op::Reserve);
            for capacity in CAPACITIES.into_iter().skip(usize::from(reserves)) {
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

/// The number to the base of so many operations, as operations.
fn digits(ops: &[Op], mut number: usize, count: usize) -> Vec<Op> {
    let mut list = Vec::new();
    for _ in 0..count {
        list.push(ops[number % ops.len()]);
        number /= ops.len();
    }
    list
}

/// Covers each `nth` program, and compares with what is known to be covered then.
fn check<P: Flavour>(ops: &[Op], operations: usize, nth: usize) {
    let covered = cover::<P>(ops, operations, nth);
    let kinds = ops.len();
    println!("{operations} operations of {kinds} a task, each {nth}. program: {covered:?}");
    let known = match (kinds, operations, nth) {
        (4, 2, 1) => (816, 597_509),
        (4, 2, 8) => (102, 75_498),
        (4, 3, 1) => (45_760, 749_340_745),
        (4, 3, 20) => (2_288, 37_554_697),
        (4, 3, 6_007) => (8, 108_556),
        (6, 2, 1) => (8_436, 27_510_080),
        (6, 2, 20) => (422, 1_325_793),
        (6, 2, 389) => (22, 68_973),
        (6, 2, 401) => (22, 81_565),
        (5, 2, 11) => (266, 345_411),
        (5, 2, 17) => (173, 223_259),
        _ => return,
    };
    assert_eq!((covered.programs, covered.schedules), known);
}

#[test]
fn three_tasks_of_two_operations() {
    check::<Local>(&OPS[..WITHOUT_SELECTS], 2, part().map_or(8, |_| 1));
}

#[test]
fn three_tasks_of_three_operations() {
    check::<Shared>(&OPS[..WITHOUT_SELECTS], 3, part().unwrap_or(6_007));
}

#[test]
fn sends_in_a_select() {
    check::<Local>(&OPS, 2, part().unwrap_or(389));
    check::<Shared>(&OPS, 2, part().unwrap_or(401));
}

#[test]
fn permits_and_closing() {
    check::<Local>(&CLOSING, 2, part().unwrap_or(11));
    check::<Shared>(&CLOSING, 2, part().unwrap_or(17));
}
