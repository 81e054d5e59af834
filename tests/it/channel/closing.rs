//! Closing a channel by hand, waiting for its end, and senders that do not keep it open.

use std::cell::Cell;

use gossamer::channel::{Closed, SendError, TryRecvError, TrySendError};
use gossamer::yield_now;
use gossamer_sim::{Sim, spawn};

use super::Channels;
use crate::bad_wakers::panics_in_wake;
use crate::exploring::explore_seeded;
use crate::flavour::both;
use crate::hand::{Hand, parked, ready};
use crate::ports::Sets;

both! {
    what_was_sent_is_received_before_the_end,
    either_side_closes,
    those_that_wait_are_told,
    a_place_is_lost_when_the_channel_is_closed,
    waiting_for_the_last_receiver,
    all_that_wait_for_the_end_are_told,
    a_weak_sender_keeps_nothing_open,
    counts,
    a_port_set_is_told,
    nothing_is_lost_when_it_is_closed_at_any_time,
}

fn what_was_sent_is_received_before_the_end<F: Channels>() {
    let (tx, rx) = F::channel(3);
    for number in 0..2 {
        tx.try_send(number).expect("there is room");
    }
    assert!(!tx.is_closed() && !rx.is_closed());
    assert!(rx.close());
    assert!(tx.is_closed() && rx.is_closed());
    assert_eq!(tx.try_send(9), Err(TrySendError::Closed(9)));
    assert_eq!(ready(Hand::new(tx.send(9)).poll()), Err(SendError(9)));
    assert!(rx.iter().eq(0..2));
    assert_eq!(rx.try_recv(), Err(TryRecvError::Closed));
    assert_eq!(ready(Hand::new(rx.recv()).poll()), Err(Closed));
    // Clones are as closed as the others.
    assert!(tx.clone().is_closed() && rx.clone().is_closed());
}

/// The first call closes, and no other.
fn either_side_closes<F: Channels>() {
    let (tx, rx) = F::channel::<u32>(1);
    assert!(tx.close());
    assert!(!rx.close() && !tx.close());
    let (tx, rx) = F::channel::<u32>(1);
    drop(tx);
    assert!(!rx.close());
    let (tx, rx) = F::channel::<u32>(1);
    drop(rx);
    assert!(!tx.close());
}

fn those_that_wait_are_told<F: Channels>() {
    for capacity in [0, 1] {
        let (tx, rx) = F::channel(capacity);
        for number in 0..capacity {
            tx.try_send(number).expect("there is room");
        }
        let (mut first, mut second) = (parked(tx.send(8)), parked(tx.send(9)));
        assert!(rx.close());
        assert_eq!((first.wakes(), second.wakes()), (1, 1));
        assert_eq!(ready(second.poll()), Err(SendError(9)));
        assert_eq!(ready(first.poll()), Err(SendError(8)));
        assert!(rx.try_iter().eq(0..capacity));
    }
    for capacity in [0, 1, usize::MAX] {
        let (tx, rx) = F::channel::<u32>(capacity);
        let mut receivers = [parked(rx.recv()), parked(rx.recv())];
        assert!(tx.close());
        for receiver in &mut receivers {
            assert_eq!(receiver.wakes(), 1);
            assert_eq!(ready(receiver.poll()), Err(Closed));
        }
    }
}

/// A sender that has been woken has not sent.
fn a_place_is_lost_when_the_channel_is_closed<F: Channels>() {
    let (tx, rx) = F::channel(1);
    tx.try_send(0).expect("there is room");
    let (mut woken, dropped) = (parked(tx.send(1)), parked(tx.send(2)));
    assert_eq!(rx.try_recv(), Ok(0));
    assert!(rx.close());
    assert_eq!(rx.try_recv(), Err(TryRecvError::Closed));
    assert_eq!(ready(woken.poll()), Err(SendError(1)));
    drop(dropped);
    assert_eq!(rx.try_recv(), Err(TryRecvError::Closed));
}

fn waiting_for_the_last_receiver<F: Channels>() {
    let (tx, rx) = F::channel::<u32>(1);
    let other = rx.clone();
    let mut closed = parked(tx.closed());
    drop(rx);
    assert!(closed.poll().is_pending());
    // It changes nothing for messages.
    assert_eq!(tx.try_send(1), Ok(()));
    assert_eq!((other.try_recv(), closed.wakes()), (Ok(1), 0));
    drop(other);
    assert_eq!(closed.wakes(), 1);
    ready(closed.poll());
    ready(Hand::new(tx.closed()).poll());
    let (tx, rx) = F::channel::<u32>(0);
    let mut closed = parked(tx.closed());
    assert!(rx.close());
    ready(closed.poll());
}

/// Also where a waker panics, and where one was dropped.
fn all_that_wait_for_the_end_are_told<F: Channels>() {
    let (tx, rx) = F::channel::<u32>(1);
    let mut closed: Vec<_> = (0..100).map(|_| parked(tx.closed())).collect();
    drop(closed.remove(50));
    let mut bad = Hand::new(tx.closed());
    assert!(bad.poll_with(&panics_in_wake()).is_pending());
    let mut last = parked(tx.closed());
    drop(rx);
    ready(bad.poll());
    assert_eq!(last.wakes(), 1);
    ready(last.poll());
    for one in &mut closed {
        assert_eq!(one.wakes(), 1);
        ready(one.poll());
    }
}

fn a_weak_sender_keeps_nothing_open<F: Channels>() {
    let (tx, rx) = F::channel(1);
    let weak = tx.downgrade();
    let again = weak.upgrade().expect("there is a sender");
    assert!(again.same_channel(&tx) && weak.same_channel(&weak.clone()));
    drop(tx);
    let mut receiver = parked(rx.recv());
    assert_eq!(again.try_send(1), Ok(()));
    assert_eq!(ready(receiver.poll()), Ok(1));
    drop(receiver);
    let mut receiver = parked(rx.recv());
    drop(again);
    assert_eq!(ready(receiver.poll()), Err(Closed));
    assert!(weak.upgrade().is_none());
    drop(receiver);
    drop(rx);
    assert!(weak.clone().upgrade().is_none());
    // A sender that cannot send is one all the same.
    let (tx, rx) = F::channel(1);
    let weak = tx.downgrade();
    drop(rx);
    let again = weak.upgrade().expect("there is a sender");
    assert_eq!(again.try_send(1), Err(TrySendError::Closed(1)));
}

fn counts<F: Channels>() {
    let (tx, rx) = F::channel::<u32>(1);
    let weak = tx.downgrade();
    let (other, another) = (weak.clone(), tx.clone());
    assert_eq!((tx.sender_count(), tx.weak_count()), (2, 2));
    drop((other, another));
    assert_eq!((weak.sender_count(), weak.weak_count()), (1, 1));
    drop((tx, weak));
    assert_eq!((rx.sender_count(), rx.weak_count()), (0, 0));
}

fn a_port_set_is_told<F: Channels + Sets>() {
    let set = F::set();
    let (tx, rx) = F::channel::<u32>(2);
    let permit = tx.try_reserve().expect("there is room");
    assert!(set.add(rx).is_ok());
    let mut first = parked(set.recv());
    assert!(tx.close());
    assert!(first.poll().is_pending(), "a permit may send");
    permit.send(1);
    assert_eq!(ready(first.poll()).map(|(_, event)| event), Some(Ok(1)));
    let mut second = Hand::new(set.recv());
    assert_eq!(
        ready(second.poll()).map(|(_, event)| event),
        Some(Err(Closed))
    );
}

/// What was accepted is received, and all come to their ends.
fn nothing_is_lost_when_it_is_closed_at_any_time<F: Channels>() {
    explore_seeded(Sim::new(), |seed| async move {
        let capacity = [0, 1, 2, usize::MAX][(seed % 4) as usize];
        let (tx, rx) = F::channel(capacity);
        let accepted = std::rc::Rc::new(Cell::new(0));
        let mut tasks = Vec::new();
        for number in 0..2 {
            let (tx, accepted) = (tx.clone(), accepted.clone());
            let reserves = number == 1 && capacity > 0 && seed / 4 % 2 == 0;
            tasks.push(spawn(async move {
                for _ in 0..4 {
                    let sent = match reserves {
                        true => tx.reserve().await.map(|permit| permit.send(1)).is_ok(),
                        false => tx.send(1).await.is_ok(),
                    };
                    if !sent {
                        break;
                    }
                    accepted.set(accepted.get() + 1);
                }
            }));
        }
        let closes = (tx.clone(), rx.clone());
        tasks.push(spawn(async move {
            for _ in 0..seed / 8 % 16 {
                yield_now().await;
            }
            match seed / 128 % 2 {
                0 => closes.0.close(),
                _ => closes.1.close(),
            };
        }));
        let waits = tx.clone();
        tasks.push(spawn(async move { waits.closed().await }));
        drop(tx);
        let mut received = 0;
        while let Ok(one) = rx.recv().await {
            received += one;
        }
        for task in tasks {
            task.await.expect("no panic");
        }
        assert_eq!(received, accepted.get());
    });
}
