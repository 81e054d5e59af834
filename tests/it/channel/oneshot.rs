//! The channel for one message: it gives its output once, what is told of its end, and how small it is.

use std::panic::{AssertUnwindSafe, catch_unwind};

use gossamer::channel::oneshot;
use gossamer::channel::{Closed, SendError, TryRecvError};

use crate::bad_wakers::panics_in_wake;
use crate::hand::{Hand, parked, ready};
use crate::tally::Tally;

#[test]
#[should_panic(expected = "polled after it had given its output")]
fn polled_once_too_often() {
    let (tx, rx) = oneshot();
    tx.send(()).expect("the receiver is there");
    let mut receives = Hand::new(rx);
    assert!(receives.poll().is_ready());
    let _again = receives.poll();
}

#[test]
#[should_panic(expected = "polled after it had given its output")]
fn polled_once_too_often_after_it_was_closed() {
    let (_tx, mut rx) = oneshot::<u32>();
    rx.close();
    let mut receives = Hand::new(rx);
    assert_eq!(ready(receives.poll()), Err(Closed));
    let _again = receives.poll();
}

#[test]
fn the_sender_is_told() {
    for closes in [false, true] {
        let (mut tx, mut rx) = oneshot::<u32>();
        let mut closed = parked(tx.closed());
        assert!(closed.poll().is_pending());
        match closes {
            true => rx.close(),
            false => drop(std::mem::replace(&mut rx, oneshot().1)),
        }
        assert_eq!(closed.wakes(), 1);
        ready(closed.poll());
        drop(closed);
        assert!(tx.is_closed());
        ready(Hand::new(tx.closed()).poll());
        assert_eq!(tx.send(1), Err(SendError(1)));
    }
}

/// One that is dropped leaves no waker behind; one that is forgotten leaves it until the channel goes.
#[test]
fn waiting_for_the_end_is_given_up() {
    let (mut tx, rx) = oneshot::<u32>();
    let mut closed = parked(tx.closed());
    assert_eq!(closed.wakers_held(), 1);
    assert!(closed.poll().is_pending());
    assert_eq!(closed.wakers_held(), 1);
    drop(closed);
    let mut again = parked(tx.closed());
    drop(rx);
    ready(again.poll());
    let (mut tx, rx) = oneshot::<u32>();
    std::mem::forget(parked(tx.closed()));
    assert_eq!(tx.send(1), Ok(()));
    assert_eq!(ready(Hand::new(rx).poll()), Ok(1));
    let (mut tx, rx) = oneshot::<u32>();
    std::mem::forget(parked(tx.closed()));
    drop(rx);
    drop(tx);
}

#[test]
fn what_was_sent_before_it_was_closed_is_received() {
    let (tx, mut rx) = oneshot();
    assert!(rx.is_empty() && !rx.is_terminated());
    assert_eq!(tx.send(1), Ok(()));
    assert!(!rx.is_empty());
    rx.close();
    assert_eq!(rx.try_recv(), Ok(1));
    assert!(rx.is_empty() && rx.is_terminated());
    assert_eq!(rx.try_recv(), Err(TryRecvError::Closed));
    let (tx, mut rx) = oneshot::<u32>();
    rx.close();
    rx.close();
    assert!(tx.is_closed() && !rx.is_terminated());
    assert_eq!(ready(Hand::new(rx).poll()), Err(Closed));
}

/// `try_recv` has said that none comes, whoever closed it: that is its output.
#[test]
fn told_that_none_comes_it_is_over() {
    for closes in [false, true] {
        let (tx, mut rx) = oneshot::<u32>();
        match closes {
            true => rx.close(),
            false => drop(tx),
        }
        assert!(!rx.is_terminated());
        assert_eq!(rx.try_recv(), Err(TryRecvError::Closed));
        assert!(rx.is_terminated(), "closes: {closes}");
        assert_eq!(rx.try_recv(), Err(TryRecvError::Closed));
    }
}

#[test]
fn a_waiting_receiver_is_closed() {
    let (tx, rx) = oneshot();
    let mut rx = Box::pin(rx);
    assert!(Hand::new(rx.as_mut()).poll().is_pending());
    rx.close();
    assert!(ready(Hand::new(rx.as_mut()).poll()).is_err());
    let tally = Tally::default();
    assert!(tx.send(tally.value(1)).is_err());
    assert_eq!(tally.living(), 0);
}

/// The receiver goes all the same.
#[test]
fn a_sender_whose_waker_panics() {
    let tally = Tally::default();
    let (mut tx, rx) = oneshot();
    let mut closed = Hand::new(tx.closed());
    assert!(closed.poll_with(&panics_in_wake()).is_pending());
    let _either = catch_unwind(AssertUnwindSafe(|| drop(rx)));
    ready(closed.poll());
    drop(closed);
    assert!(tx.send(tally.value(1)).is_err());
    assert_eq!(tally.living(), 0);
}

/// A task parked on its own one-shot is small: the pointer and nothing else, and one allocation of 24 bytes, which takes
/// with glibc what one of 16 would.
#[test]
fn it_is_small() {
    let (tx, rx) = oneshot::<u32>();
    assert_eq!((size_of_val(&tx), size_of_val(&rx)), (8, 8));
    let allocated = |info: allocation_counter::AllocationInfo| (info.count_total, info.bytes_total);
    let info = allocation_counter::measure(|| drop(oneshot::<u32>()));
    assert_eq!(allocated(info), (1, 24));
}
