//! Cancellation: an operation dropped after any number of polls, in any position, loses nothing.
//!
//! Every message is counted. What was sent is received, or left; what was dropped with its operation is dropped; and
//! nobody who could go on is left waiting (the quiescence check sees to that).

use std::cell::RefCell;
use std::rc::Rc;

use gossamer_sim::{Sim, spawn};

use super::{Channels, exhaust_each_step};
use crate::flavour::both;
use crate::mvar::cancelling::{Cut, abort_all, quiet};
use crate::mvar::explore_seeded;
use crate::tally::{Tally, Value};

both! {
    a_send_dropped_after_any_poll,
    a_send_that_keeps_its_message,
    a_receive_dropped_after_any_poll,
    a_receive_of_many_dropped_after_any_poll,
    any_task_aborted_at_any_time,
    every_small_case,
    everything_goes_at_any_time,
}

const CAPACITIES: [usize; 4] = [0, 1, 2, usize::MAX];

/// What became of the messages.
#[derive(Clone, Default)]
struct Books {
    tally: Tally,
    accepted: Rc<RefCell<Vec<u32>>>,
    received: Rc<RefCell<Vec<u32>>>,
}

impl Books {
    fn receive(&self, messages: impl IntoIterator<Item = Value>) {
        self.received
            .borrow_mut()
            .extend(messages.into_iter().map(|message| message.id));
    }

    /// All have ended, and what was left has been received.
    fn balance(&self) {
        assert_eq!(self.tally.living(), 0, "messages that are still alive");
        let received = self.received.take();
        for id in self.accepted.take() {
            assert!(received.contains(&id), "{id} was accepted: {received:?}");
        }
        for (at, id) in received.iter().enumerate() {
            assert!(!received[..at].contains(id), "{id} came twice");
        }
    }
}

/// Two senders and two receivers, and an operation of this kind that is dropped at `cut`.
async fn among_others<F: Channels>(cut: Cut, kind: u32, capacity: usize, others: u32) {
    let books = Books::default();
    let (tx, rx) = F::channel::<Value>(capacity);
    let mut tasks = Vec::new();
    for id in 0..others {
        let (tx, own) = (tx.clone(), books.clone());
        tasks.push(spawn(async move {
            let sent = tx.send(own.tally.value(id)).await;
            if sent.is_ok() {
                own.accepted.borrow_mut().push(id);
            }
        }));
        let (rx, own) = (rx.clone(), books.clone());
        tasks.push(spawn(async move { own.receive(rx.recv().await) }));
    }
    let (own, own_tx, own_rx) = (books.clone(), tx.clone(), rx.clone());
    tasks.push(spawn(async move {
        match kind {
            0 => {
                let sent = cut.apply(own_tx.send(own.tally.value(9))).await;
                if let Some(Ok(())) = sent {
                    own.accepted.borrow_mut().push(9);
                }
            }
            1 => own.receive(cut.apply(own_rx.recv()).await.into_iter().flatten()),
            _ => {
                let mut messages = Vec::new();
                let number = cut.apply(own_rx.recv_many(&mut messages, 2)).await;
                assert_eq!(number.and_then(Result::ok).unwrap_or(0), messages.len());
                own.receive(messages);
            }
        }
    }));
    quiet().await;
    abort_all(tasks).await;
    books.receive(rx.try_iter());
    drop((tx, rx));
    books.balance();
}

/// Each cut and each capacity has its share of the seeds.
fn dropped_after_any_poll<F: Channels>(kind: u32) {
    explore_seeded(Sim::new(), |seed| {
        let capacity = CAPACITIES[(seed / 8 % 4) as usize];
        among_others::<F>(Cut::nth(seed), kind, capacity, 3)
    });
}

fn a_send_dropped_after_any_poll<F: Channels>() {
    dropped_after_any_poll::<F>(0);
}

/// Cut off after any poll, the message is where it was, or it has been sent; never both, and never neither.
fn a_send_that_keeps_its_message<F: Channels>() {
    explore_seeded(Sim::new(), |seed| async move {
        let capacity = CAPACITIES[(seed / 8 % 4) as usize];
        let (tx, rx) = F::channel::<u32>(capacity);
        let receives = seed / 32 % 3;
        let receiver = spawn(async move {
            let mut got = Vec::new();
            for _ in 0..receives {
                got.extend(rx.recv().await);
            }
            got.extend(rx.try_iter());
            got
        });
        let before = spawn({
            let tx = tx.clone();
            async move { tx.send(1).await.is_ok() }
        });
        let mut message = Some(2);
        let sent = Cut::nth(seed).apply(tx.send_from(&mut message)).await;
        assert!(sent.is_none_or(|sent| sent.is_ok() == message.is_none()));
        drop(tx);
        let (first, got) = (before.await.unwrap(), receiver.await.unwrap());
        assert!(
            !got.contains(&2) || message.is_none(),
            "{got:?} {message:?}"
        );
        // What was sent, and not received, went with the receiver.
        let wanted = usize::from(first) + usize::from(message.is_none());
        let all = receives as usize >= wanted;
        assert!(
            !all || got.contains(&2) == message.is_none(),
            "{got:?} {message:?}"
        );
    });
}

fn a_receive_dropped_after_any_poll<F: Channels>() {
    dropped_after_any_poll::<F>(1);
}

fn a_receive_of_many_dropped_after_any_poll<F: Channels>() {
    dropped_after_any_poll::<F>(2);
}

/// One sender, one receiver and one operation that is cut, at every cut, in all schedules.
fn every_small_case<F: Channels>() {
    for cut in Cut::all() {
        for kind in 0..3 {
            for capacity in [0, 1, usize::MAX] {
                exhaust_each_step::<F, _>(|| among_others::<F>(cut, kind, capacity, 1));
            }
        }
    }
}

/// Abort, unlike a cut, comes from outside: also while the task is in the run queue.
fn any_task_aborted_at_any_time<F: Channels>() {
    explore_seeded(Sim::new(), |seed| async move {
        let books = Books::default();
        let (tx, rx) = F::channel::<Value>(CAPACITIES[(seed % 4) as usize]);
        let mut tasks = Vec::new();
        for id in 0..6 {
            let (tx, rx, own) = (tx.clone(), rx.clone(), books.clone());
            tasks.push(spawn(async move {
                for round in 0..2 {
                    let id = id * 2 + round;
                    if id % 4 < 2 {
                        if tx.send(own.tally.value(id)).await.is_ok() {
                            own.accepted.borrow_mut().push(id);
                        }
                    } else {
                        own.receive(rx.recv().await);
                    }
                }
            }));
        }
        for task in &tasks {
            gossamer::yield_now().await;
            task.abort();
        }
        abort_all(tasks).await;
        books.receive(rx.try_iter());
        drop((tx, rx));
        books.balance();
    });
}

/// Senders and receivers that go at any time: in the end everybody has been told, and every message is gone.
fn everything_goes_at_any_time<F: Channels>() {
    explore_seeded(Sim::new(), |seed| async move {
        let tally = Tally::default();
        let (tx, rx) = F::channel::<Value>(CAPACITIES[(seed % 4) as usize]);
        let mut tasks = Vec::new();
        for id in 0..3 {
            let (tx, tally) = (tx.clone(), tally.clone());
            let rounds = seed / 4 % 4;
            tasks.push(spawn(async move {
                for _ in 0..rounds {
                    if tx.send(tally.value(id)).await.is_err() {
                        break;
                    }
                }
            }));
            let rx = rx.clone();
            let rounds = seed / 16 % 4;
            tasks.push(spawn(async move {
                for _ in 0..rounds {
                    if rx.recv().await.is_err() {
                        break;
                    }
                }
            }));
        }
        drop((tx, rx));
        for task in tasks {
            task.await.expect("no panic");
        }
        assert_eq!(tally.living(), 0);
    });
}
