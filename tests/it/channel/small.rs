//! Small programs, exhaustively, each history judged by a sequential specification.
//!
//! A history is *linearizable* if its operations can be put into one sequence that the specification allows and that
//! keeps the order of operations of which one ended before the other began. Histories are small, so all sequences are
//! tried. (Whether somebody is left waiting who could go on, the simulation says.)

use std::cell::{Cell, RefCell};
use std::collections::{HashSet, VecDeque};
use std::rc::Rc;

use gossamer::raw::channel::{Receiver, Sender};
use gossamer_sim::{Sim, spawn};

use super::Channels;
use crate::exploring::{abort_all, exhaust_flavour, explore_seeded, quiet};
use crate::flavour::both;

both! {
    three_tasks_of_one_operation,
    two_tasks_of_two_operations,
    three_tasks_of_several_operations,
    random_programs_of_four_tasks,
}

/// An operation; the message it brings is its own number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Op {
    Send,
    Recv,
    RecvTwo,
    TrySend,
    TryRecv,
}

const ALL: [Op; 5] = [Op::Send, Op::Recv, Op::RecvTwo, Op::TrySend, Op::TryRecv];

/// What it gave: messages, or whether it was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Output {
    Got(Vec<u32>),
    Sent(bool),
}

/// One operation of a history.
#[derive(Debug, Clone)]
struct Call {
    op: Op,
    message: u32,
    began: u32,
    /// Not, if it waited until the end: a message of a rendezvous may have been sent all the same.
    ended: Option<(u32, Output)>,
}

async fn perform<F: Channels>(
    op: Op,
    message: u32,
    tx: &Sender<u32, F::P>,
    rx: &Receiver<u32, F::P>,
) -> Output {
    match op {
        Op::Send => Output::Sent(tx.send(message).await.is_ok()),
        Op::Recv => Output::Got(vec![rx.recv().await.expect("there is a sender")]),
        Op::RecvTwo => {
            let mut got = Vec::new();
            let number = rx.recv_many(&mut got, 2).await;
            assert_eq!(number, Ok(got.len()));
            Output::Got(got)
        }
        Op::TrySend => Output::Sent(tx.try_send(message).is_ok()),
        Op::TryRecv => Output::Got(rx.try_recv().into_iter().collect()),
    }
}

/// Runs a program until nothing can happen any more, and judges it.
async fn run_program<F: Channels>(program: Vec<Vec<Op>>, capacity: usize) {
    let (tx, rx) = F::channel::<u32>(capacity);
    // That of one has memory from now on: so a receiver of one thread may wait inline.
    assert!(capacity != 1 || tx.try_send(0).is_ok() && rx.try_recv().is_ok());
    let (clock, histories) = (Rc::new(Cell::new(0)), Rc::new(RefCell::new(Vec::new())));
    let mut tasks = Vec::new();
    for (task, ops) in program.into_iter().enumerate() {
        histories.borrow_mut().push(Vec::new());
        let (tx, rx) = (tx.clone(), rx.clone());
        let (clock, histories) = (clock.clone(), histories.clone());
        let tick = move || clock.replace(clock.get() + 1);
        tasks.push(spawn(async move {
            for (number, op) in ops.into_iter().enumerate() {
                let message = (task * 10 + number) as u32;
                if !F::SCHEDULING_POINTS {
                    gossamer::yield_now().await;
                }
                let (began, ended) = (tick(), None);
                histories.borrow_mut()[task].push(Call {
                    op,
                    message,
                    began,
                    ended,
                });
                let output = perform::<F>(op, message, &tx, &rx).await;
                histories.borrow_mut()[task][number].ended = Some((tick(), output));
            }
        }));
    }
    quiet().await;
    abort_all(tasks).await;
    let mut left = Vec::new();
    left.extend(rx.try_iter());
    let began = clock.get();
    // What is left is received at once, in the end.
    histories.borrow_mut().push(vec![Call {
        op: Op::RecvTwo,
        message: 0,
        began,
        ended: Some((began + 1, Output::Got(left))),
    }]);
    let histories = histories.take();
    assert!(
        is_linearizable(&histories, capacity),
        "capacity {capacity}: {histories:#?}"
    );
}

/// How far each task's history has been put into the sequence, and the messages then.
type Reached = (Vec<usize>, Vec<u32>);

fn is_linearizable(histories: &[Vec<Call>], capacity: usize) -> bool {
    let mut seen = HashSet::new();
    search(
        histories,
        capacity,
        (vec![0; histories.len()], Vec::new()),
        &mut seen,
    )
}

fn search(
    histories: &[Vec<Call>],
    capacity: usize,
    reached: Reached,
    seen: &mut HashSet<Reached>,
) -> bool {
    if !seen.insert(reached.clone()) {
        return false;
    }
    let (at, messages) = reached;
    let next = |task: usize| histories[task].get(at[task]);
    if (0..histories.len()).all(|task| next(task).is_none()) {
        // What was left has been received too.
        return messages.is_empty();
    }
    // Nobody goes before one that had ended when it began.
    let first_end = (0..histories.len())
        .flat_map(|task| histories[task][at[task]..].iter())
        .filter_map(|call| call.ended.as_ref())
        .map(|(end, _)| *end)
        .min();
    for task in 0..histories.len() {
        let Some(call) = next(task) else { continue };
        if first_end.is_some_and(|end| call.began > end) {
            continue;
        }
        let end = call.ended.as_ref().map_or(u32::MAX, |(end, _)| *end);
        let waits = |other: &usize| {
            *other != task && next(*other).is_some_and(|one| one.op == Op::Send && one.began < end)
        };
        let waiting = (0..histories.len()).filter(waits).count();
        for after in steps(call, &messages, capacity, waiting) {
            let mut at = at.clone();
            at[task] += 1;
            if search(histories, capacity, (at, after), seen) {
                return true;
            }
        }
    }
    false
}

/// What may become of the messages by this call, while so many others wait to send. A place may be reserved for each
/// of those. A rendezvous channel has the messages of senders that are taken meanwhile: they are sent just before.
fn steps(call: &Call, messages: &[u32], capacity: usize, waiting: usize) -> Vec<Vec<u32>> {
    let room = if capacity == 0 { usize::MAX } else { capacity };
    let sends = |messages: &[u32]| {
        let mut after = messages.to_vec();
        after.push(call.message);
        (after.len() <= room).then_some(after)
    };
    match (&call.ended, call.op) {
        (None, Op::Send) if capacity == 0 => {
            let mut all = vec![messages.to_vec()];
            all.extend(sends(messages));
            all
        }
        (None, _) => vec![messages.to_vec()],
        (Some((_, Output::Sent(true))), _) => sends(messages).into_iter().collect(),
        (Some((_, Output::Sent(false))), _) => {
            let is_full = messages.len() + waiting >= capacity;
            if is_full {
                vec![messages.to_vec()]
            } else {
                Vec::new()
            }
        }
        (Some((_, Output::Got(got))), _) => {
            let mut rest = VecDeque::from(messages.to_vec());
            let same = got.iter().all(|message| rest.pop_front() == Some(*message));
            let is_right = same && (!got.is_empty() || messages.is_empty());
            if is_right {
                vec![rest.into()]
            } else {
                Vec::new()
            }
        }
    }
}

const CAPACITIES: [usize; 3] = [0, 1, usize::MAX];

fn check<F: Channels>(program: &[Vec<Op>]) {
    for capacity in CAPACITIES {
        exhaust_flavour::<F, _>(|| run_program::<F>(program.to_vec(), capacity));
    }
}

/// All programs but those that receive two at once; which task is which does not matter.
fn three_tasks_of_one_operation<F: Channels>() {
    let ops = [Op::Send, Op::Recv, Op::TrySend, Op::TryRecv];
    for (first, one) in ops.into_iter().enumerate() {
        for (second, two) in ops.into_iter().enumerate().skip(first) {
            for three in ops.into_iter().skip(second) {
                check::<F>(&[vec![one], vec![two], vec![three]]);
            }
        }
    }
}

fn two_tasks_of_two_operations<F: Channels>() {
    let pairs = || ALL.into_iter().flat_map(|a| ALL.map(|b| vec![a, b]));
    for (at, first) in pairs().enumerate() {
        for second in pairs().skip(at) {
            check::<F>(&[first.clone(), second]);
        }
    }
}

fn three_tasks_of_several_operations<F: Channels>() {
    use Op::{Recv, Send};
    check::<F>(&[vec![Send, Send], vec![Recv, Recv], vec![Recv]]);
}

fn random_programs_of_four_tasks<F: Channels>() {
    explore_seeded(Sim::new(), |seed| {
        // A number of five digits to the base of five for each task, and the capacity.
        let mut digits = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 8;
        let mut digit = |base: u64| {
            let digit = digits % base;
            digits = (digits / base) ^ seed << 40;
            digit as usize
        };
        let capacity = CAPACITIES[digit(3)];
        let program = (0..4)
            .map(|_| (0..3).map(|_| ALL[digit(5)]).collect())
            .collect();
        run_program::<F>(program, capacity)
    });
}
