//! The reference model: random programs, each history checked against a sequential specification.
//!
//! A history is *linearizable* if its operations can be put into one sequence that the
//! specification allows and that keeps the order of operations of which one ended before the other
//! began. Histories are small, so all sequences are tried.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::rc::Rc;
use std::time::Duration;

use gossamer::time::sleep as pause;
use gossamer::yield_now;
use gossamer_sim::{Sim, spawn};

use crate::exploring::{SCHEDULING_POINTS, explore_seeded};
use crate::flavour::{Flavour, SharedMVar, both};

both! {
    random_programs_of_three_tasks,
    random_programs_of_four_tasks,
    random_programs_with_cancellation,
}

/// An operation; the value it brings is its own number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Op {
    Take,
    Put,
    Read,
    Swap,
    Replace,
    TryTake,
    TryPut,
    TryRead,
    TrySwap,
    TryReplace,
}

const ALL: [Op; 10] = [
    Op::Take,
    Op::Put,
    Op::Read,
    Op::Swap,
    Op::Replace,
    Op::TryTake,
    Op::TryPut,
    Op::TryRead,
    Op::TrySwap,
    Op::TryReplace,
];

/// What an operation gave: a value or none, and whether it took mvar.
type Output = Result<Option<u32>, ()>;

/// One operation of a history.
#[derive(Debug, Clone, Copy)]
struct Call {
    op: Op,
    value: u32,
    began: u32,
    /// When it ended, and what it gave; not, if it was cut off: then it has not taken mvar.
    ended: Option<(u32, Output)>,
}

async fn perform<F: Flavour>(op: Op, value: u32, mvar: &SharedMVar<F, u32>) -> Output {
    match op {
        Op::Take => Ok(Some(mvar.take().await)),
        Op::Put => {
            mvar.put(value).await;
            Ok(None)
        }
        Op::Read => Ok(Some(mvar.read().await)),
        Op::Swap => Ok(Some(mvar.swap(value).await)),
        Op::Replace => Ok(mvar.replace(value).await),
        Op::TryTake => mvar.try_take().map(Some).ok_or(()),
        Op::TryPut => mvar.try_put(value).map(|()| None).map_err(drop),
        Op::TryRead => mvar.try_read().map(Some).ok_or(()),
        Op::TrySwap => mvar.try_swap(value).map(Some).map_err(drop),
        Op::TryReplace => mvar.try_replace(value).map_err(drop),
    }
}

/// Runs a program on a mvar (full of 1000 or empty) until nothing can happen any more, and judges it.
pub(crate) async fn run_program<F: Flavour>(program: Vec<Vec<Op>>, full: bool) {
    let mvar: SharedMVar<F, u32> = if full { F::mvar_with(1000) } else { F::mvar() };
    let (clock, histories) = (Rc::new(Cell::new(0)), Rc::new(RefCell::new(Vec::new())));
    let tasks: Vec<_> = program
        .into_iter()
        .enumerate()
        .map(|(task, ops)| {
            histories.borrow_mut().push(Vec::new());
            let (mvar, clock, histories) = (mvar.clone(), clock.clone(), histories.clone());
            let tick = move || clock.replace(clock.get() + 1);
            spawn(async move {
                for (number, op) in ops.into_iter().enumerate() {
                    let value = (task * 10 + number) as u32;
                    if !SCHEDULING_POINTS.get() {
                        yield_now().await;
                    }
                    let call = Call {
                        op,
                        value,
                        began: tick(),
                        ended: None,
                    };
                    histories.borrow_mut()[task].push(call);
                    let output = perform::<F>(op, value, &mvar).await;
                    histories.borrow_mut()[task][number].ended = Some((tick(), output));
                }
            })
        })
        .collect();
    // The quiescence check sees to it that nobody who could go on is left waiting.
    pause(Duration::from_secs(1)).await;
    tasks.iter().for_each(gossamer::JoinHandle::abort);
    for task in tasks {
        let _ = task.await;
    }
    let left = mvar.try_take();
    judge(&histories.borrow(), full.then_some(1000), left);
}

/// Whether `call` may take mvar now, and what is in the mvar after it. `waiting`: which lines have somebody.
fn apply(call: &Call, inside: Option<u32>, waiting: Waiting) -> Option<Option<u32>> {
    let output = call.ended?.1;
    let (takes, puts) = (Ok(inside), Ok(None));
    let is = |expected: Output, after: Option<u32>| (output == expected).then_some(after);
    match call.op {
        // A `try_` may fail although the mvar suits it, if the mvar is promised to one who waits.
        Op::TryTake | Op::TryRead | Op::TrySwap if output.is_err() => {
            (inside.is_none() || waiting.takers).then_some(inside)
        }
        Op::TryPut if output.is_err() => (inside.is_some() || waiting.putters).then_some(inside),
        Op::Take | Op::TryTake => inside.and_then(|_| is(takes, None)),
        Op::Read | Op::TryRead => inside.and_then(|_| is(takes, inside)),
        Op::Swap | Op::TrySwap => inside.and_then(|_| is(takes, Some(call.value))),
        Op::Put | Op::TryPut if inside.is_none() => is(puts, Some(call.value)),
        Op::Put | Op::TryPut => None,
        Op::Replace | Op::TryReplace => is(takes, Some(call.value)),
    }
}

/// Whether somebody may be waiting in each line.
#[derive(Clone, Copy)]
struct Waiting {
    takers: bool,
    putters: bool,
}

/// A point in the search: how many calls of each task have taken mvar, and what is inside.
type Point = (Vec<usize>, Option<u32>);

#[track_caller]
fn judge(histories: &[Vec<Call>], start: Option<u32>, left: Option<u32>) {
    let mut seen = HashSet::new();
    let from = (vec![0; histories.len()], start);
    assert!(
        search(histories, from, left, &mut seen),
        "not linearizable, from {start:?} to {left:?}: {histories:#?}"
    );
}

fn search(
    histories: &[Vec<Call>],
    at: Point,
    left: Option<u32>,
    seen: &mut HashSet<Point>,
) -> bool {
    if !seen.insert(at.clone()) {
        return false;
    }
    let (done, inside) = at;
    let next = || {
        histories
            .iter()
            .zip(&done)
            .filter_map(|(calls, done)| calls.get(*done))
    };
    if next().all(|call| call.ended.is_none()) {
        return inside == left;
    }
    // Nothing may take mvar after something that began later than it ended.
    let first_end = next()
        .filter_map(|call| Some(call.ended?.0))
        .min()
        .unwrap_or(u32::MAX);
    (0..histories.len()).any(|task| {
        let Some(call) = histories[task].get(done[task]) else {
            return false;
        };
        if call.began > first_end {
            return false;
        }
        let waits = |ops: &[Op]| {
            next().any(|other| ops.contains(&other.op) && other.began < call.began.max(first_end))
        };
        let takers = waits(&[Op::Take, Op::Read, Op::Swap]);
        let waiting = Waiting {
            takers,
            putters: waits(&[Op::Put]),
        };
        let Some(after) = apply(call, inside, waiting) else {
            return false;
        };
        let mut then = done.clone();
        then[task] += 1;
        search(histories, (then, after), left, seen)
    })
}

/// A program for each seed.
fn random_programs<F: Flavour>(tasks: usize, ops: usize) {
    explore_seeded(Sim::new(), |seed| {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut op = || ALL[rng.usize(..ALL.len())];
        let program = (0..tasks)
            .map(|_| (0..ops).map(|_| op()).collect())
            .collect();
        run_program::<F>(program, rng.bool())
    });
}

fn random_programs_of_three_tasks<F: Flavour>() {
    random_programs::<F>(3, 4);
}

fn random_programs_of_four_tasks<F: Flavour>() {
    random_programs::<F>(4, 3);
}

/// As above, but every task is aborted at some time; what was cut off has not taken mvar.
fn random_programs_with_cancellation<F: Flavour>() {
    explore_seeded(Sim::new(), |seed| {
        let mut rng = fastrand::Rng::with_seed(seed);
        async move {
            let mvar: SharedMVar<F, u32> = F::mvar();
            let (clock, histories) = (Rc::new(Cell::new(0)), Rc::new(RefCell::new(Vec::new())));
            let mut tasks = Vec::new();
            for task in 0..4 {
                let ops: Vec<_> = (0..3).map(|_| ALL[rng.usize(..ALL.len())]).collect();
                histories.borrow_mut().push(Vec::new());
                let (mvar, histories, clock) = (mvar.clone(), histories.clone(), clock.clone());
                tasks.push(spawn(async move {
                    for (number, op) in ops.into_iter().enumerate() {
                        let value = (task * 10 + number) as u32;
                        yield_now().await;
                        let began = clock.replace(clock.get() + 1);
                        histories.borrow_mut()[task].push(Call {
                            op,
                            value,
                            began,
                            ended: None,
                        });
                        let output = perform::<F>(op, value, &mvar).await;
                        let now = clock.replace(clock.get() + 1);
                        histories.borrow_mut()[task][number].ended = Some((now, output));
                    }
                }));
            }
            for task in &tasks {
                for _ in 0..rng.usize(..6) {
                    yield_now().await;
                }
                task.abort();
            }
            for task in tasks {
                let _ = task.await;
            }
            judge(&histories.borrow(), None, mvar.try_take());
        }
    });
}
