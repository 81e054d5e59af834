//! A timeout that has said that the time is over, and is kept: its operation is gone, and waits nowhere any more.

use std::task::Poll;
use std::time::Duration;

use gossamer::channel::TryRecvError;
use gossamer::time::{Elapsed, Timeout, timeout};
use gossamer::{TimeoutExt, select};

use crate::flavour::both;
use crate::hand::{Hand, parked, ready};
use crate::locks::Locks;
use crate::ports::Sets;

both! {
    a_lock_goes_to_the_next,
    an_arrival_does_not_count,
    a_place_goes_to_the_next,
    a_message_is_received_by_nobody,
    a_branch_whose_pattern_does_not_want_it,
}

/// The time is over in the first poll.
fn elapsed<O: Future<Output: std::fmt::Debug>>(operation: Timeout<O>) -> Hand<Timeout<O>> {
    let mut late = Hand::new(operation);
    assert!(matches!(late.poll(), Poll::Ready(Err(Elapsed))));
    late
}

fn a_lock_goes_to_the_next<F: Locks>() {
    let mutex = F::fair_mutex(0);
    let held = mutex.try_lock().unwrap();
    let _late = elapsed(mutex.lock().timeout(Duration::ZERO));
    let mut next = parked(mutex.lock());
    drop(held);
    drop(ready(next.poll()));
    assert!(mutex.try_lock().is_ok());
}

fn an_arrival_does_not_count<F: Locks>() {
    let barrier = F::barrier(2);
    let _late = elapsed(timeout(Duration::ZERO, barrier.arrive()));
    let mut waits = parked(barrier.arrive());
    assert!(ready(Hand::new(barrier.arrive()).poll()).is_leader());
    assert!(waits.poll().is_ready());
}

/// A task that has kept it sends something else: it would wait for itself.
fn a_place_goes_to_the_next<F: Sets>() {
    let (tx, rx) = F::channel(1);
    tx.try_send(0).unwrap();
    let _late = elapsed(tx.send(1).timeout(Duration::ZERO));
    let mut next = parked(tx.send(2));
    assert_eq!(rx.try_recv(), Ok(0));
    assert_eq!(next.poll(), Poll::Ready(Ok(())));
    assert_eq!(rx.try_recv(), Ok(2));
    assert_eq!(tx.try_send(3), Ok(()));
}

fn a_message_is_received_by_nobody<F: Sets>() {
    let (tx, rx) = F::channel(0);
    let _late = elapsed(tx.send(1).timeout(Duration::ZERO));
    assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
    let mut message = Some(2);
    let late = elapsed(tx.send_from(&mut message).timeout(Duration::ZERO));
    assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
    drop(late);
    assert_eq!(message, Some(2));
}

/// A select has it by reference, and goes on with its other branch.
fn a_branch_whose_pattern_does_not_want_it<F: Sets>() {
    let ((a, one), (b, two)) = (F::channel(0), F::channel(0));
    let mut late = Box::pin(a.send(1).timeout(Duration::ZERO));
    let mut waits = parked(async {
        select! {
            biased;
            Ok(_) = &mut late => "in time",
            _ = b.send(2) => "the other one",
        }
    });
    assert_eq!(one.try_recv(), Err(TryRecvError::Empty));
    assert_eq!(two.try_recv(), Ok(2));
    assert_eq!(waits.poll(), Poll::Ready("the other one"));
}
