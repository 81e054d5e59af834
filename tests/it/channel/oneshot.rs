//! The channel for one message: each end first, at every poll; and how small it is.

use std::task::Poll;

use gossamer::channel::oneshot;
use gossamer::channel::oneshot::{Closed, TryRecvError};

use crate::hand::{Hand, parked};

#[test]
fn either_end_may_go() {
    let (tx, rx) = oneshot::<u32>();
    drop(rx);
    assert!(tx.is_closed());
    assert_eq!(tx.send(1).expect_err("nobody is there").0, 1);

    let (tx, rx) = oneshot::<u32>();
    let mut receives = parked(rx);
    drop(tx);
    assert_eq!(
        (receives.wakes(), receives.poll()),
        (1, Poll::Ready(Err(Closed)))
    );

    let (tx, mut rx) = oneshot::<u32>();
    assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
    tx.send(3).expect("the receiver is there");
    assert_eq!(rx.try_recv(), Ok(3));
    assert_eq!(rx.try_recv(), Err(TryRecvError::Closed));
    let (tx, mut rx) = oneshot::<u32>();
    drop(tx);
    assert_eq!(rx.try_recv(), Err(TryRecvError::Closed));
}

/// A wait can be given up and begun anew, with another waker.
#[test]
fn the_last_waker_is_called() {
    let (tx, rx) = oneshot();
    let mut rx = Box::pin(rx);
    let first = parked(rx.as_mut());
    let first_wakes = first.wakes();
    drop(first);
    let mut second = parked(rx.as_mut());
    tx.send(5).expect("the receiver is there");
    assert_eq!((first_wakes, second.wakes()), (0, 1));
    assert_eq!(second.poll(), Poll::Ready(Ok(5)));
}

#[test]
#[should_panic(expected = "polled after it had given its output")]
fn polled_once_too_often() {
    let (tx, rx) = oneshot();
    tx.send(()).expect("the receiver is there");
    let mut receives = Hand::new(rx);
    assert!(receives.poll().is_ready());
    let _again = receives.poll();
}

/// A task parked on its own one-shot is small: the pointer and nothing else, and one allocation of 16 bytes.
#[test]
fn it_is_small() {
    let (tx, rx) = oneshot::<u32>();
    assert_eq!((size_of_val(&tx), size_of_val(&rx)), (8, 8));
    let allocated = |info: allocation_counter::AllocationInfo| (info.count_total, info.bytes_total);
    let info = allocation_counter::measure(|| drop(oneshot::<u32>()));
    assert_eq!(allocated(info), (1, 16));
}
