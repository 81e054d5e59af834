//! Shared senders as branches of a select, and with a time limit: as with any other sender, at most one takes effect.

use std::cell::Cell;
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use gossamer::channel::TryRecvError;
use gossamer::time::{Elapsed, sleep as pause};
use gossamer::{TimeoutExt, select};
use gossamer_sim::spawn;

use super::{SharedOf, Shares};
use crate::exploring::{explore_flavour, quiet};
use crate::flavour::both;
use crate::hand::{Hand, parked};

both! {
    a_send_whose_message_was_taken_is_the_branch,
    of_two_sends_one_is_received,
    a_send_that_timed_out_and_is_kept,
    what_was_sent_is_what_was_received,
    a_turn_is_passed_on_by_one_that_lost,
}

/// It waited for its turn by reference, and is not polled when that comes.
fn a_turn_is_passed_on_by_one_that_lost<F: Shares>() {
    let ((tx, rx), (stop, stopped)) = (F::channel(1), F::channel(1));
    tx.try_send(0).unwrap();
    let tx = F::shared(tx);
    let mut first = parked(tx.send(1));
    let mut send = pin!(tx.send(2));
    let mut select = parked(async {
        select! {
            biased;
            _ = stopped.recv() => {}
            _ = send.as_mut() => panic!("it is not its turn"),
        }
    });
    stop.try_send(()).unwrap();
    assert_eq!(select.poll(), Poll::Ready(()));
    drop(select);
    let mut next = parked(tx.send(3));
    assert_eq!(rx.try_recv(), Ok(0));
    assert_eq!(first.poll(), Poll::Ready(Ok(())));
    assert_eq!(rx.try_recv(), Ok(1));
    assert_eq!(next.poll(), Poll::Ready(Ok(())));
    assert_eq!(rx.try_recv(), Ok(3));
    assert_eq!(Hand::new(send).poll(), Poll::Ready(Ok(())));
}

/// A receiver has taken the message in the moment in which another branch became ready.
fn a_send_whose_message_was_taken_is_the_branch<F: Shares>() {
    let ((tx, rx), (stop, stopped)) = (F::channel(0), F::channel(1));
    let tx = F::shared(tx);
    let mut waits = parked(async {
        select! {
            biased;
            _ = stopped.recv() => "stopped",
            _ = tx.send(1) => "sent",
        }
    });
    assert_eq!(rx.try_recv(), Ok(1));
    stop.try_send(()).unwrap();
    assert_eq!(waits.poll(), Poll::Ready("sent"));
    drop(waits);
    assert_eq!(stopped.try_recv(), Ok(()));
}

fn of_two_sends_one_is_received<F: Shares>() {
    let ((a, one), (b, two)) = (F::channel(0), F::channel(0));
    let (a, b) = (F::shared(a), F::shared(b));
    for number in 0..3 {
        let mut waits = parked(async {
            select! {
                _ = a.send(number) => "a",
                _ = b.send(number) => "b",
            }
        });
        let (first, second, took) = match number % 2 {
            0 => (&one, &two, "a"),
            _ => (&two, &one, "b"),
        };
        assert_eq!(first.try_recv(), Ok(number));
        assert_eq!(second.try_recv(), Err(TryRecvError::Empty));
        assert_eq!(waits.poll(), Poll::Ready(took));
    }
}

/// Its turn is over with its time.
fn a_send_that_timed_out_and_is_kept<F: Shares>() {
    let (tx, rx) = F::channel(0);
    let tx = F::shared(tx);
    let mut late = Hand::new(tx.send(1).timeout(Duration::ZERO));
    assert_eq!(late.poll(), Poll::Ready(Err(Elapsed)));
    assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
    let mut next = parked(tx.send(2));
    assert_eq!(rx.try_recv(), Ok(2));
    assert_eq!(next.poll(), Poll::Ready(Ok(())));
}

/// Sends three times in a select, and with a time limit; gives how many it has sent.
async fn sends<F: Shares>([a, b]: [SharedOf<F, ()>; 2], chance: u64) -> u32 {
    let mut sent = 0;
    for round in 0..3 {
        let limit = Duration::from_millis((chance >> round) % 3);
        sent += select! {
            sent = a.send(()) => u32::from(sent.is_ok()),
            sent = b.send(()) => u32::from(sent.is_ok()),
            _ = pause(limit) => 0,
        };
        sent += u32::from(a.send(()).timeout(limit).await == Ok(Ok(())));
    }
    sent
}

/// Both sides count the same, whenever the time is over.
fn what_was_sent_is_what_was_received<F: Shares>() {
    explore_flavour::<F, _>(|seed| async move {
        let ((a, one), (b, two)) = (F::channel(0), F::channel(0));
        let ends = [F::shared(a), F::shared(b)];
        let got = Rc::new(Cell::new(0));
        for (number, rx) in [one, two].into_iter().enumerate() {
            let got = got.clone();
            let _receives = spawn(async move {
                pause(Duration::from_millis((seed >> number) % 2)).await;
                let limit = Duration::from_micros(500 + 400 * (seed % 3));
                loop {
                    match rx.recv().timeout(limit).await {
                        Ok(Ok(())) => got.set(got.get() + 1),
                        Ok(Err(_)) => return,
                        Err(Elapsed) => {}
                    }
                }
            });
        }
        let sending = [0, 1, 2].map(|number| spawn(sends::<F>(ends.clone(), seed >> number)));
        drop(ends);
        let mut sent = 0;
        for task in sending {
            sent += task.await.unwrap();
        }
        quiet().await;
        assert_eq!(sent, got.get());
    });
}
