//! Cancelling: an operation dropped after any number of polls, in any position, loses nothing.
//!
//! Every message is counted. What was sent is received, once and in order; what was dropped with its operation is
//! dropped; and nobody who could go on is left waiting (the simulation sees to that).

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use gossamer::channel::Closed;
use gossamer::time::{Elapsed, sleep as pause};
use gossamer::{JoinHandle, TimeoutExt, yield_now};
use gossamer_sim::spawn;

use super::{Kind, Message, Rx, Tx, Variant, over_all};
use crate::exploring::{Cut, exhaust_in, explore_in, sim};
use crate::tally::Tally;

over_all! {
    a_send_dropped_after_any_poll,
    a_receive_dropped_after_any_poll,
    every_small_case,
    operations_that_time_out_at_any_time,
    any_task_aborted_at_any_time,
    either_side_goes_at_any_time,
}

/// Which operation is cut off.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Op {
    Send,
    Recv,
    RecvMany,
}

/// What became of the messages.
#[derive(Clone, Default)]
struct Books {
    tally: Tally,
    accepted: Rc<RefCell<Vec<u32>>>,
    received: Rc<RefCell<Vec<u32>>>,
}

impl Books {
    async fn send(&self, tx: &mut Tx, id: u32, cut: Option<Cut>) -> bool {
        let send = tx.send(Message::new(&self.tally, id));
        let sent = match cut {
            Some(cut) => cut.apply(send).await,
            None => Some(send.await),
        };
        if let Some(Ok(())) = sent {
            self.accepted.borrow_mut().push(id);
        }
        sent.is_none_or(|sent| sent.is_ok())
    }

    /// Answers whether more may come.
    async fn recv(&self, rx: &mut Rx, many: bool, cut: Option<Cut>) -> bool {
        let mut got = Vec::new();
        let cut = cut.unwrap_or(Cut::NEVER);
        let has_many = many && rx.recv_many(&mut Vec::new(), 0).is_some();
        let ended = if has_many {
            let receives = rx.recv_many(&mut got, 2).expect("it has the operation");
            cut.apply(receives).await.map(|ended| ended.map(drop))
        } else {
            let ended = cut.apply(rx.recv()).await;
            ended.map(|ended| ended.map(|message| got.push(message)))
        };
        let ids = got.iter().map(|message| message.id);
        self.received.borrow_mut().extend(ids);
        ended.is_none_or(|ended| ended.is_ok())
    }

    /// All have ended, and what was left has been received. One message may have been sent by an operation that was
    /// dropped before it could say so.
    fn balance(&self, in_order: bool, unsaid: Option<u32>) {
        assert_eq!(self.tally.living(), 0, "messages that are still alive");
        let (mut accepted, mut received) = (self.accepted.take(), self.received.take());
        if let Some(at) = received.iter().position(|id| unsaid == Some(*id))
            && !accepted.contains(&received[at])
        {
            received.remove(at);
        }
        if !in_order {
            accepted.sort_unstable();
            received.sort_unstable();
        }
        assert_eq!(accepted, received, "accepted, and received");
    }
}

/// Some senders of some messages each and some receivers, all that there may be; of the first sender or receiver, the
/// operation number `nth` is cut off.
async fn cut_off(
    variant: &Variant,
    (op, cut, nth): (Op, Cut, u32),
    others: (usize, usize),
    each: u32,
) {
    let books = Books::default();
    let (tx, rx) = (variant.make)();
    let mut senders: Vec<_> = (0..others.0).filter_map(|_| tx.another()).collect();
    senders.insert(0, tx);
    let mut receivers: Vec<_> = (0..others.1).filter_map(|_| rx.another()).collect();
    receivers.insert(0, rx);
    let in_order = senders.len() == 1 && receivers.len() == 1;
    let each = variant.messages.min(each as usize) as u32;
    let mut tasks = Vec::new();
    for (number, mut tx) in (0..).zip(senders) {
        let own = books.clone();
        tasks.push(spawn(async move {
            for turn in 0..each {
                let is_cut = op == Op::Send && number == 0 && turn == nth % each;
                own.send(&mut tx, number * each + turn, is_cut.then_some(cut))
                    .await;
            }
        }));
    }
    for (number, mut rx) in (0..).zip(receivers) {
        let own = books.clone();
        tasks.push(spawn(async move {
            for turn in 0.. {
                let is_cut = op != Op::Send && number == 0 && turn == nth;
                let many = op == Op::RecvMany && number == 0;
                if !own.recv(&mut rx, many, is_cut.then_some(cut)).await {
                    break;
                }
            }
        }));
    }
    for task in tasks {
        task.await.expect("no panic");
    }
    // A rendezvous: the message is taken, and then its sender is told.
    let unsaid = (op == Op::Send && variant.room == 0).then_some(nth % each);
    books.balance(in_order, unsaid);
}

/// Runs a program in seeded schedules; each variant has its share of the seeds, and the program is given the rest.
fn explore<'a, B: Future>(kind: &'a Kind, program: impl Fn(&'a Variant, u64) -> B) {
    let variants = &kind.variants;
    explore_in(sim(kind.scheduling_points), |seed| {
        let variant = &variants[seed as usize % variants.len()];
        program(variant, seed / variants.len() as u64)
    });
}

/// None, or one or two more senders and receivers.
fn others(number: u64) -> (usize, usize) {
    let others = (number % 3) as usize;
    (others, others)
}

fn a_send_dropped_after_any_poll(kind: &Kind) {
    explore(kind, |variant, seed| {
        let cut = (Op::Send, Cut::nth(seed), (seed / 8 % 3) as u32);
        cut_off(variant, cut, others(seed / 24), 3)
    });
}

fn a_receive_dropped_after_any_poll(kind: &Kind) {
    explore(kind, |variant, seed| {
        let op = [Op::Recv, Op::RecvMany][(seed / 72 % 2) as usize];
        let cut = (op, Cut::nth(seed), (seed / 8 % 3) as u32);
        cut_off(variant, cut, others(seed / 24), 3)
    });
}

/// Two messages, of one sender or of two, or two receivers; and each operation that is cut, in all schedules.
fn every_small_case(kind: &Kind) {
    for variant in &kind.variants {
        // With scheduling points there would be too many schedules of more than two tasks.
        let several = !kind.scheduling_points && (variant.make)().0.another().is_some();
        for cut in Cut::all() {
            for op in [Op::Send, Op::Recv, Op::RecvMany] {
                let body = || match (several, op) {
                    (true, Op::Send) => cut_off(variant, (op, cut, 0), (1, 0), 1),
                    (true, _) => cut_off(variant, (op, cut, 0), (0, 1), 1),
                    // The last one that there is: a second message, or the only one of a one-shot.
                    (false, _) => {
                        let nth = (variant.messages - 1).min(1) as u32;
                        cut_off(variant, (op, cut, nth), (0, 0), 2)
                    }
                };
                exhaust_in(sim(kind.scheduling_points).look_each_step(), body);
            }
        }
    }
}

/// A task for each end, and for one more of each if there may be: of senders and of receivers.
fn ends(variant: &Variant, books: &Books, rounds: (u32, u32)) -> [Vec<JoinHandle<()>>; 2] {
    let (tx, rx) = (variant.make)();
    let messages = variant.messages.min(rounds.0 as usize) as u32;
    let sends = |(number, mut tx): (u32, Tx)| {
        let own = books.clone();
        spawn(async move {
            for turn in 0..messages {
                if !own.send(&mut tx, number * messages + turn, None).await {
                    break;
                }
            }
        })
    };
    let receives = |mut rx: Rx| {
        let own = books.clone();
        spawn(async move {
            for _ in 0..rounds.1 {
                if !own.recv(&mut rx, false, None).await {
                    break;
                }
            }
        })
    };
    let senders = tx.another().into_iter().chain([tx]);
    let receivers = rx.another().into_iter().chain([rx]);
    [
        (0..).zip(senders).map(sends).collect(),
        receivers.map(receives).collect(),
    ]
}

/// Both sides give up often, and often in the moment in which the other side comes.
fn operations_that_time_out_at_any_time(kind: &Kind) {
    fn ms(seed: u64, turn: u32) -> Duration {
        Duration::from_millis(1 + (seed >> (2 * turn) & 1))
    }
    explore(kind, |variant, seed| async move {
        let books = Books::default();
        let (mut tx, mut rx) = (variant.make)();
        let (own, messages) = (books.clone(), variant.messages.min(8) as u32);
        let sends = spawn(async move {
            for turn in 0..messages {
                let send = tx.send(Message::new(&own.tally, turn));
                match send.timeout(ms(seed, turn)).await {
                    Ok(sent) => assert!(sent.is_ok(), "the receiver is there"),
                    Err(Elapsed) => continue,
                }
                own.accepted.borrow_mut().push(turn);
            }
        });
        let own = books.clone();
        let receives = spawn(async move {
            for turn in 0.. {
                if seed >> (turn % 32) & 2 > 0 {
                    pause(ms(seed, turn % 16)).await;
                }
                match rx.recv().timeout(ms(!seed, turn % 16)).await {
                    Ok(Ok(message)) => own.received.borrow_mut().push(message.id),
                    Ok(Err(Closed)) => break,
                    Err(Elapsed) => {}
                }
            }
        });
        for task in [sends, receives] {
            task.await.expect("no panic");
        }
        no_more_than_was_sent(variant, &books, true);
    });
}

/// Nothing came twice, or came that was not sent, and all are gone. All of what was sent has come if `all`.
///
/// The operation of a rendezvous may have sent its message before it could say so.
fn no_more_than_was_sent(variant: &Variant, books: &Books, all: bool) {
    assert_eq!(books.tally.living(), 0);
    let (mut accepted, mut received) = (books.accepted.take(), books.received.take());
    accepted.sort_unstable();
    received.sort_unstable();
    let twice = received.windows(2).find(|pair| pair[0] == pair[1]);
    assert_eq!(twice, None, "it came twice: {received:?}");
    if variant.room > 0 {
        let unsent = received.iter().find(|id| !accepted.contains(id));
        assert_eq!(unsent, None, "it was not sent: {accepted:?}");
    }
    let lost = accepted.iter().find(|id| !received.contains(id));
    assert!(!all || lost.is_none(), "{lost:?} is lost: {received:?}");
}

/// Abort, unlike a cut, comes from outside: also while the task is in the run queue. The other ones end, too: those of
/// its side as it no longer stands in their way, those of the other side as they are told.
fn any_task_aborted_at_any_time(kind: &Kind) {
    explore(kind, |variant, seed| async move {
        let books = Books::default();
        let [senders, receivers] = ends(variant, &books, (6, u32::MAX));
        for _ in 0..seed / 2 % 16 {
            yield_now().await;
        }
        let aborts_sender = seed % 2 == 0;
        let (mut first, others) = if aborts_sender {
            (senders, receivers)
        } else {
            (receivers, senders)
        };
        let aborted = first.remove(0);
        aborted.abort();
        for task in first.into_iter().chain(others) {
            task.await.expect("it goes on, and ends");
        }
        // It may have ended before.
        let _ = aborted.await;
        no_more_than_was_sent(variant, &books, aborts_sender);
    });
}

/// In the end the other ones have been told, and every message is gone.
fn either_side_goes_at_any_time(kind: &Kind) {
    explore(kind, |variant, seed| async move {
        let books = Books::default();
        let rounds = ((seed % 6) as u32, (seed / 6 % 6) as u32);
        for task in ends(variant, &books, rounds).into_iter().flatten() {
            task.await.expect("no panic");
        }
        no_more_than_was_sent(variant, &books, false);
    });
}
