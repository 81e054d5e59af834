//! One rule at a time, polled by hand.

use std::cell::Cell;
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use futures_core::{FusedStream, Stream};
use gossamer::channel::Closed;
use gossamer::raw::LockPolicy;
use gossamer::raw::channel::watch::Snapshot;

use super::Watches;
use crate::flavour::both;
use crate::hand::{Hand, parked};
use crate::tally::Tally;

both! {
    the_latest_is_what_is_told,
    the_first_value_has_been_seen,
    receivers_that_wait_are_woken,
    the_last_value_outlives_its_senders,
    nobody_needs_to_be_there,
    a_condition_is_waited_for,
    a_condition_that_nothing_meets,
    modifying,
    values_go_when_nobody_reads_them,
    a_stream_and_an_iterator,
    counts,
    what_is_seen,
    a_stream_that_owns_its_receiver,
    waiting_for_the_last_receiver,
}

/// What a poll gave.
fn told<T: Clone, P: LockPolicy>(poll: Poll<Result<Snapshot<T, P>, Closed>>) -> Result<T, Closed> {
    match poll {
        Poll::Ready(result) => result.map(|latest| T::clone(&latest)),
        Poll::Pending => panic!("it waits"),
    }
}

fn the_latest_is_what_is_told<F: Watches>() {
    let (tx, mut rx) = F::watch(0);
    let mut other = rx.clone();
    for value in 1..4 {
        tx.send(value);
    }
    assert!(rx.has_changed());
    assert_eq!(told(Hand::new(rx.changed()).poll()), Ok(3));
    assert!(!rx.has_changed() && other.has_changed());
    // It has seen what the other has.
    let mut third = rx.clone();
    assert!(parked(third.changed()).poll().is_pending());
    assert_eq!(told(Hand::new(other.changed()).poll()), Ok(3));
    assert_eq!(
        (rx.get(), *rx.snapshot(), tx.get(), *tx.snapshot()),
        (3, 3, 3, 3)
    );
}

fn the_first_value_has_been_seen<F: Watches>() {
    let (tx, mut rx) = F::watch(0);
    assert!(!rx.has_changed());
    let mut waits = parked(rx.changed());
    let mut late = tx.subscribe();
    tx.send(1);
    assert_eq!(waits.wakes(), 1);
    // Another one comes before it looks.
    tx.send(2);
    assert_eq!((waits.wakes(), told(waits.poll())), (1, Ok(2)));
    assert_eq!(told(Hand::new(late.changed()).poll()), Ok(2));
    // What is read without waiting is not seen.
    tx.send(3);
    assert_eq!(late.get(), 3);
    assert_eq!(told(Hand::new(late.changed()).poll()), Ok(3));
    drop(waits);
    assert_eq!(told(Hand::new(rx.changed()).poll()), Ok(3));
}

fn receivers_that_wait_are_woken<F: Watches>() {
    let (tx, rx) = F::watch(0);
    let mut receivers: Vec<_> = (0..100).map(|_| rx.clone()).collect();
    let mut waiting: Vec<_> = receivers
        .iter_mut()
        .map(|rx| parked(rx.changed()))
        .collect();
    for receiver in &mut waiting {
        assert!(receiver.poll().is_pending());
    }
    drop(waiting.swap_remove(50));
    tx.send(1);
    drop(waiting.pop());
    for receiver in &mut waiting {
        assert_eq!((receiver.wakes(), told(receiver.poll())), (1, Ok(1)));
    }
    drop(waiting);
    let unseen = receivers.iter().filter(|rx| rx.has_changed()).count();
    assert_eq!(unseen, 2);
}

fn the_last_value_outlives_its_senders<F: Watches>() {
    let (tx, mut rx) = F::watch(0);
    let (other, mut waits) = (tx.clone(), rx.clone());
    tx.send(1);
    drop(tx);
    assert!(!rx.is_closed());
    assert_eq!(told(Hand::new(waits.changed()).poll()), Ok(1));
    let mut waits = parked(waits.changed());
    drop(other);
    assert!(rx.is_closed() && rx.has_changed());
    assert_eq!((waits.wakes(), told(waits.poll())), (1, Err(Closed)));
    assert_eq!(told(Hand::new(rx.changed()).poll()), Ok(1));
    assert_eq!(told(Hand::new(rx.changed()).poll()), Err(Closed));
    assert_eq!(rx.get(), 1);
}

fn nobody_needs_to_be_there<F: Watches>() {
    let (tx, rx) = F::watch(0);
    drop(rx);
    assert!(tx.is_closed());
    tx.send(1);
    assert_eq!(tx.get(), 1);
    let mut rx = tx.subscribe();
    assert!(!tx.is_closed() && !rx.has_changed());
    assert_eq!(
        told(Hand::new(rx.wait_for(|value| *value == 1)).poll()),
        Ok(1)
    );
}

fn a_condition_is_waited_for<F: Watches>() {
    let (tx, mut rx) = F::watch(0);
    let (looks, mut other) = (Cell::new(0), rx.clone());
    let condition = |value: &i32| {
        looks.set(looks.get() + 1);
        *value >= 10
    };
    let mut waits = parked(rx.wait_for(condition));
    assert_eq!(looks.get(), 1);
    tx.send(1);
    assert_eq!((waits.wakes(), looks.get()), (1, 1));
    assert!(waits.poll().is_pending());
    assert!(waits.poll().is_pending());
    assert_eq!(looks.get(), 2);
    tx.send(2);
    tx.send(12);
    assert_eq!((waits.wakes(), told(waits.poll())), (2, Ok(12)));
    assert_eq!(looks.get(), 3);
    drop(waits);
    assert!(!rx.has_changed());
    // The value of the moment is looked at too, seen or not.
    assert_eq!(told(Hand::new(rx.wait_for(|_| true)).poll()), Ok(12));
    assert_eq!(told(Hand::new(other.wait_for(|_| true)).poll()), Ok(12));
    assert!(!other.has_changed());
}

fn a_condition_that_nothing_meets<F: Watches>() {
    let (tx, mut rx) = F::watch(0);
    let mut waits = parked(rx.wait_for(|value| *value == 7));
    tx.send(1);
    drop(tx);
    assert_eq!(told(waits.poll()), Err(Closed));
    drop(waits);
    assert_eq!(
        told(Hand::new(rx.wait_for(|value| *value == 1)).poll()),
        Ok(1)
    );
    assert_eq!(
        told(Hand::new(rx.wait_for(|value| *value == 7)).poll()),
        Err(Closed)
    );
}

fn modifying<F: Watches>() {
    let (tx, mut rx) = F::watch(vec![1]);
    tx.send_modify(|value| value.push(2));
    assert_eq!(told(Hand::new(rx.changed()).poll()), Ok(vec![1, 2]));
    assert!(!tx.send_if_modified(|value| {
        value.clear();
        false
    }));
    assert!(!tx.send_update(|_| None));
    assert!(!rx.has_changed());
    assert_eq!(rx.get(), [1, 2]);
    assert!(tx.send_if_modified(|value| value.pop().is_some()));
    assert!(tx.send_update(|value| Some([&value[..], &[7]].concat())));
    assert_eq!(told(Hand::new(rx.changed()).poll()), Ok(vec![1, 7]));
}

fn values_go_when_nobody_reads_them<F: Watches>() {
    let tally = Tally::default();
    let (tx, mut rx) = F::watch(tally.value(0));
    tx.send(tally.value(1));
    assert_eq!(tally.living(), 1);
    let kept = rx.snapshot();
    let twin = kept.clone();
    tx.send(tally.value(2));
    assert_eq!((tally.living(), kept.id, twin.id), (2, 1, 1));
    drop(kept);
    let told = Hand::new(rx.changed()).poll();
    assert!(matches!(&told, Poll::Ready(Ok(value)) if value.id == 2));
    assert_eq!((tally.living(), tally.cloned()), (2, 0));
    drop((twin, told));
    assert_eq!(tally.living(), 1);
    drop((tx, rx));
    assert_eq!(tally.living(), 0);
}

/// They give what is the latest when they are asked, then the end, again and again.
fn a_stream_and_an_iterator<F: Watches>() {
    let (tx, mut rx) = F::watch(0);
    let mut other = rx.clone();
    {
        let mut stream = pin!(rx.stream());
        let mut next = parked(poll_fn(|cx| stream.as_mut().poll_next(cx)));
        tx.send(1);
        tx.send(2);
        assert_eq!(next.wakes(), 1);
        assert!(matches!(next.poll(), Poll::Ready(Some(latest)) if *latest == 2));
        assert!(next.poll().is_pending());
        tx.send(3);
    }
    // It was not given, so it has not been seen.
    let mut stream = pin!(rx.stream());
    let mut next = Hand::new(poll_fn(|cx| stream.as_mut().poll_next(cx)));
    assert!(matches!(next.poll(), Poll::Ready(Some(latest)) if *latest == 3));
    assert_eq!(other.iter().next().map(|latest| *latest), Some(3));
    assert!(next.poll().is_pending());
    tx.send(4);
    drop(tx);
    assert!(matches!(next.poll(), Poll::Ready(Some(latest)) if *latest == 4));
    for _ in 0..2 {
        assert!(matches!(next.poll(), Poll::Ready(None)));
    }
    drop(next);
    assert!(stream.is_terminated());
    assert_eq!(other.iter().map(|latest| *latest).collect::<Vec<_>>(), [4]);
}

fn counts<F: Watches>() {
    let (tx, rx) = F::watch(5);
    let (other_tx, other_rx) = (tx.clone(), rx.clone());
    assert_eq!((rx.sender_count(), tx.receiver_count()), (2, 2));
    assert!(tx.same_channel(&other_tx) && rx.same_channel(&other_rx));
    drop((other_tx, other_rx));
    assert_eq!((tx.sender_count(), rx.receiver_count()), (1, 1));
    assert!(!tx.same_channel(&F::watch(5).0));
    assert!(format!("{tx:?} {rx:?}").contains("latest: 5"), "{tx:?}");
}

fn what_is_seen<F: Watches>() {
    let (tx, mut rx) = F::watch(0);
    assert_eq!(*tx.send_replace(1), 0);
    assert_eq!(*rx.snapshot_and_update(), 1);
    assert!(!rx.has_changed());
    rx.mark_changed();
    assert!(rx.has_changed());
    assert_eq!(told(Hand::new(rx.changed()).poll()), Ok(1));
    tx.send(2);
    rx.mark_unchanged();
    assert!(!rx.has_changed());
    assert!(parked(rx.changed()).poll().is_pending());
    drop(tx);
    rx.mark_changed();
    assert_eq!(told(Hand::new(rx.changed()).poll()), Ok(2));
    assert_eq!(told(Hand::new(rx.changed()).poll()), Err(Closed));
}

fn waiting_for_the_last_receiver<F: Watches>() {
    let (tx, rx) = F::watch(0);
    let other = rx.clone();
    let mut closed = [parked(tx.closed()), parked(tx.closed())];
    drop(rx);
    tx.send(1);
    assert_eq!(closed[0].wakes(), 0);
    drop(other);
    for one in &mut closed {
        assert_eq!(one.wakes(), 1);
        assert!(one.poll().is_ready());
    }
    assert!(Hand::new(tx.closed()).poll().is_ready());
    let rx = tx.subscribe();
    let mut again = parked(tx.closed());
    drop(rx);
    assert!(again.poll().is_ready());
}

fn a_stream_that_owns_its_receiver<F: Watches>() {
    let (tx, rx) = F::watch(0);
    let mut stream = Box::pin(rx.into_stream());
    let mut next = parked(poll_fn(|cx| stream.as_mut().poll_next(cx)));
    tx.send(1);
    tx.send(2);
    assert!(matches!(next.poll(), Poll::Ready(Some(latest)) if *latest == 2));
    assert!(next.poll().is_pending());
    drop(next);
    assert!(!stream.receiver().has_changed());
    let mut closed = parked(tx.closed());
    drop(stream);
    assert!(closed.poll().is_ready());
    drop(closed);
    let mut stream = Box::pin(tx.subscribe().into_stream());
    let mut next = parked(poll_fn(|cx| stream.as_mut().poll_next(cx)));
    tx.send(3);
    drop(tx);
    assert!(matches!(next.poll(), Poll::Ready(Some(latest)) if *latest == 3));
    for _ in 0..2 {
        assert!(matches!(next.poll(), Poll::Ready(None)));
    }
    drop(next);
    assert!(stream.is_terminated());
}
