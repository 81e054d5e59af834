//! Cancellation: an operation dropped after any number of polls loses nothing. Every message is counted.

use std::cell::RefCell;
use std::rc::Rc;

use gossamer_sim::{Sim, spawn};

use super::super::exhaust_each_step;
use super::Rings;
use crate::flavour::both;
use crate::mvar::cancelling::{Cut, abort_all, quiet};
use crate::mvar::explore_seeded;
use crate::tally::Tally;

both! {
    a_send_dropped_after_any_poll,
    a_receive_dropped_after_any_poll,
    a_receive_of_many_dropped_after_any_poll,
    every_small_case,
    any_task_aborted_at_any_time,
    either_side_goes_at_any_time,
}

/// What was sent, and what was received, in order.
#[derive(Clone, Default)]
struct Books {
    tally: Tally,
    accepted: Rc<RefCell<Vec<u32>>>,
    received: Rc<RefCell<Vec<u32>>>,
}

impl Books {
    /// All have ended, and what was left has been received.
    fn balance(&self) {
        assert_eq!(self.tally.living(), 0, "messages that are still alive");
        assert_eq!(*self.accepted.borrow(), *self.received.borrow());
    }
}

/// The operation of this kind that is the n-th of its side is dropped at `cut`.
async fn cut_off<F: Rings>(cut: Cut, kind: u32, capacity: usize, nth: u32, messages: u32) {
    let books = Books::default();
    let (mut tx, mut rx) = F::ring(capacity);
    let own = books.clone();
    let sends = spawn(async move {
        for id in 0..messages {
            let send = tx.send(own.tally.value(id));
            let sent = if kind == 0 && id == nth {
                cut.apply(send).await
            } else {
                Some(send.await)
            };
            if sent.is_some_and(|sent| sent.is_ok()) {
                own.accepted.borrow_mut().push(id);
            }
        }
    });
    let own = books.clone();
    let receives = spawn(async move {
        for turn in 0.. {
            let mut got = Vec::new();
            let cut = Some(cut).filter(|_| turn == nth);
            let ended = match (kind, cut) {
                (1, Some(cut)) => cut
                    .apply(rx.recv())
                    .await
                    .map(|one| one.map(|one| got.push(one))),
                (2, Some(cut)) => cut
                    .apply(rx.recv_many(&mut got, 2))
                    .await
                    .map(|number| number.map(drop)),
                (2, None) => Some(rx.recv_many(&mut got, 2).await.map(drop)),
                _ => Some(rx.recv().await.map(|one| got.push(one))),
            };
            own.received
                .borrow_mut()
                .extend(got.iter().map(|message| message.id));
            if ended.is_some_and(|ended| ended.is_err()) {
                break;
            }
        }
    });
    sends.await.expect("no panic");
    receives.await.expect("no panic");
    books.balance();
}

/// Each cut and each capacity has its share of the seeds.
fn dropped_after_any_poll<F: Rings>(kind: u32) {
    explore_seeded(Sim::new(), |seed| {
        let (capacity, nth) = (seed / 8 % 3 + 1, seed / 24 % 4);
        cut_off::<F>(Cut::nth(seed), kind, capacity as usize, nth as u32, 4)
    });
}

fn a_send_dropped_after_any_poll<F: Rings>() {
    dropped_after_any_poll::<F>(0);
}

fn a_receive_dropped_after_any_poll<F: Rings>() {
    dropped_after_any_poll::<F>(1);
}

fn a_receive_of_many_dropped_after_any_poll<F: Rings>() {
    dropped_after_any_poll::<F>(2);
}

fn every_small_case<F: Rings>() {
    for cut in Cut::all() {
        for kind in 0..3 {
            exhaust_each_step::<F, _>(|| cut_off::<F>(cut, kind, 1, 1, 2));
        }
    }
}

/// Abort, unlike a cut, comes from outside: also while the task is in the run queue.
fn any_task_aborted_at_any_time<F: Rings>() {
    explore_seeded(Sim::new(), |seed| async move {
        let books = Books::default();
        let (mut tx, mut rx) = F::ring((seed % 3 + 1) as usize);
        let own = books.clone();
        let sends = spawn(async move {
            for id in 0..8 {
                let message = own.tally.value(id);
                own.accepted.borrow_mut().push(id);
                if tx.send(message).await.is_err() {
                    break;
                }
            }
        });
        let own = books.clone();
        let receives = spawn(async move {
            while let Ok(message) = rx.recv().await {
                own.received.borrow_mut().push(message.id);
            }
        });
        for _ in 0..seed / 3 % 16 {
            gossamer::yield_now().await;
        }
        let first = if seed % 2 == 0 { &sends } else { &receives };
        first.abort();
        quiet().await;
        abort_all(vec![sends, receives]).await;
        assert_eq!(books.tally.living(), 0);
        let (accepted, received) = (books.accepted.take(), books.received.take());
        assert!(accepted.starts_with(&received), "{received:?}");
    });
}

/// In the end the other one has been told, and every message is gone.
fn either_side_goes_at_any_time<F: Rings>() {
    explore_seeded(Sim::new(), |seed| async move {
        let tally = Tally::default();
        let (mut tx, mut rx) = F::ring((seed % 3 + 1) as usize);
        let (sends, receives) = (seed / 4 % 6, seed / 24 % 6);
        let own = tally.clone();
        let sends = spawn(async move {
            for id in 0..sends {
                if tx.send(own.value(id as u32)).await.is_err() {
                    break;
                }
            }
        });
        let receives = spawn(async move {
            for _ in 0..receives {
                if rx.recv().await.is_err() {
                    break;
                }
            }
        });
        sends.await.expect("no panic");
        receives.await.expect("no panic");
        assert_eq!(tally.living(), 0);
    });
}
