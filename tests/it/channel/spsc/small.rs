//! Small programs, exhaustively, each history judged by a sequential specification.
//!
//! The sender's operations come in one order and the receiver's in one, so a history is right if some merge of the two
//! is what a queue does, in which no operation comes before one that had ended when it began.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use gossamer::channel::{TryRecvError, TrySendError};
use gossamer::raw::channel::spsc::{Receiver, RingPolicy, Sender};
use gossamer_sim::spawn;

use super::Rings;
use crate::exploring::{abort_all, exhaust_flavour, quiet};
use crate::flavour::both;

both! {
    programs_of_two_and_two_operations,
    programs_of_three_and_three_operations,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Op {
    Send,
    TrySend,
    CloseSender,
    Recv,
    TryRecv,
    RecvTwo,
    CloseReceiver,
}
use Op::{CloseReceiver, CloseSender, Recv, RecvTwo, Send, TryRecv, TrySend};

const SENDS: [Op; 3] = [Send, TrySend, CloseSender];
const RECEIVES: [Op; 4] = [Recv, TryRecv, RecvTwo, CloseReceiver];

/// What an operation says.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Output {
    Sent,
    Full,
    Got(Vec<u32>),
    Empty,
    Closed,
    Gone,
}

#[derive(Debug, Clone)]
struct Call {
    op: Op,
    message: u32,
    began: u32,
    /// Not, if it waits for ever.
    ended: Option<(u32, Output)>,
}

type History = Rc<RefCell<Vec<Call>>>;

/// Notes that an operation begins, and then what it gives.
async fn noted(history: &History, clock: &Cell<u32>, op: Op, run: impl Future<Output = Output>) {
    let tick = || clock.replace(clock.get() + 1);
    let message = history.borrow().len() as u32;
    history.borrow_mut().push(Call {
        op,
        message,
        began: tick(),
        ended: None,
    });
    let output = run.await;
    let ended = Some((tick(), output));
    history.borrow_mut()[message as usize].ended = ended;
}

async fn send_one<P: RingPolicy>(op: Op, tx: &mut Option<Sender<u32, P>>, number: u32) -> Output {
    match (op, tx) {
        (Send, Some(tx)) => match tx.send(number).await {
            Ok(()) => Output::Sent,
            Err(_) => Output::Closed,
        },
        (TrySend, Some(tx)) => match tx.try_send(number) {
            Ok(()) => Output::Sent,
            Err(TrySendError::Full(_)) => Output::Full,
            Err(TrySendError::Closed(_)) => Output::Closed,
        },
        (_, tx) => {
            *tx = None;
            Output::Gone
        }
    }
}

async fn receive_one<P: RingPolicy>(op: Op, rx: &mut Option<Receiver<u32, P>>) -> Output {
    let mut got = Vec::new();
    match (op, rx) {
        (Recv, Some(rx)) => match rx.recv().await {
            Ok(message) => Output::Got(vec![message]),
            Err(_) => Output::Closed,
        },
        (RecvTwo, Some(rx)) => match rx.recv_many(&mut got, 2).await {
            Ok(_) => Output::Got(got),
            Err(_) => Output::Closed,
        },
        (TryRecv, Some(rx)) => match rx.try_recv() {
            Ok(message) => Output::Got(vec![message]),
            Err(TryRecvError::Empty) => Output::Empty,
            Err(TryRecvError::Closed) => Output::Closed,
        },
        (_, rx) => {
            *rx = None;
            Output::Gone
        }
    }
}

async fn run_program<F: Rings>(sends: Vec<Op>, receives: Vec<Op>, capacity: usize) {
    let (tx, rx) = F::ring::<u32>(capacity);
    let clock = Rc::new(Cell::new(0));
    let (sent, received) = (History::default(), History::default());
    let (history, time) = (sent.clone(), clock.clone());
    let sender = spawn(async move {
        let mut tx = Some(tx);
        for (number, op) in (0..).zip(sends) {
            if !F::SCHEDULING_POINTS {
                gossamer::yield_now().await;
            }
            noted(&history, &time, op, send_one(op, &mut tx, number)).await;
        }
        std::future::pending::<()>().await;
    });
    let (history, time) = (received.clone(), clock.clone());
    let receiver = spawn(async move {
        let mut rx = Some(rx);
        for op in receives {
            if !F::SCHEDULING_POINTS {
                gossamer::yield_now().await;
            }
            noted(&history, &time, op, receive_one(op, &mut rx)).await;
        }
        std::future::pending::<()>().await;
    });
    quiet().await;
    abort_all(vec![sender, receiver]).await;
    let histories = [sent.take(), received.take()];
    let start = Queue {
        capacity,
        ..Queue::default()
    };
    assert!(
        is_right(&histories, [0, 0], &start),
        "{capacity}: {histories:#?}"
    );
}

/// The specification.
#[derive(Clone, Default)]
struct Queue {
    messages: VecDeque<u32>,
    capacity: usize,
    no_sender: bool,
    no_receiver: bool,
}

impl Queue {
    /// Whether this call can be the next one.
    fn step(&mut self, call: &Call) -> bool {
        let is_full = self.messages.len() >= self.capacity;
        let is_empty = self.messages.is_empty();
        let Some((_, output)) = &call.ended else {
            // It waits for ever, so it must not be able to go on.
            return match call.op {
                Send => is_full && !self.no_receiver,
                Recv | RecvTwo => is_empty && !self.no_sender,
                _ => false,
            };
        };
        match (call.op, output) {
            (Send | TrySend, Output::Sent) if !is_full && !self.no_receiver => {
                self.messages.push_back(call.message);
                true
            }
            (Send | TrySend, Output::Closed) => self.no_receiver,
            (TrySend, Output::Full) => is_full && !self.no_receiver,
            (Recv | TryRecv | RecvTwo, Output::Got(got)) => {
                let all = call.op != RecvTwo || got.len() == 2 || got.len() == self.messages.len();
                all && !got.is_empty()
                    && got
                        .iter()
                        .all(|one| self.messages.pop_front() == Some(*one))
            }
            (TryRecv, Output::Empty) => is_empty && !self.no_sender,
            (Recv | TryRecv | RecvTwo, Output::Closed) => is_empty && self.no_sender,
            (CloseSender, Output::Gone) => {
                self.no_sender = true;
                true
            }
            (CloseReceiver, Output::Gone) => {
                self.no_receiver = true;
                self.messages.clear();
                true
            }
            _ => false,
        }
    }
}

fn is_right(histories: &[Vec<Call>; 2], at: [usize; 2], queue: &Queue) -> bool {
    let next = |side: usize| histories[side].get(at[side]);
    if next(0).is_none() && next(1).is_none() {
        return true;
    }
    (0..2).any(|side| {
        let Some(call) = next(side) else { return false };
        let other_end = next(1 - side).and_then(|other| other.ended.as_ref());
        if other_end.is_some_and(|(end, _)| *end < call.began) {
            return false;
        }
        // What waits for ever does so in the end.
        if call.ended.is_none() && next(1 - side).is_some_and(|other| other.ended.is_some()) {
            return false;
        }
        let (mut after, mut queue) = (at, queue.clone());
        after[side] += 1;
        queue.step(call) && is_right(histories, after, &queue)
    })
}

/// All of so many operations, which end with the first that closes.
fn programs(ops: &[Op], length: usize) -> Vec<Vec<Op>> {
    let mut all = vec![Vec::new()];
    for _ in 0..length {
        all = all
            .into_iter()
            .flat_map(|program: Vec<Op>| {
                let is_over = matches!(program.last(), Some(CloseSender | CloseReceiver));
                let more = if is_over { &[][..] } else { ops };
                let longer = more.iter().map({
                    let program = program.clone();
                    move |op| [&program[..], &[*op]].concat()
                });
                let longer: Vec<_> = longer.collect();
                if is_over { vec![program] } else { longer }
            })
            .collect();
    }
    all
}

fn programs_of_two_and_two_operations<F: Rings>() {
    for sends in programs(&SENDS, 2) {
        for receives in programs(&RECEIVES, 2) {
            exhaust_flavour::<F, _>(|| run_program::<F>(sends.clone(), receives.clone(), 1));
        }
    }
}

/// One of them is the long way round: both sides wait, more than once.
fn programs_of_three_and_three_operations<F: Rings>() {
    for first in [Recv, RecvTwo] {
        exhaust_flavour::<F, _>(|| run_program::<F>(vec![Send; 3], vec![first, Recv, Recv], 1));
    }
}
