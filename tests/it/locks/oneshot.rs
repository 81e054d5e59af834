//! The channel for one message: each end first, at every poll; and how small it is.

use std::task::Poll;

use gossamer::channel::oneshot;
use gossamer::channel::oneshot::{Closed, TryRecvError};
use gossamer::yield_now;
use gossamer_sim::spawn;

use crate::hand::{Hand, parked};
use crate::mvar::cancelling::Cut;
use crate::mvar::exhaust;
use crate::tally::Tally;

#[test]
fn either_end_may_be_first() {
    let (tx, rx) = oneshot();
    let mut receives = parked(rx);
    tx.send(1).expect("the receiver is there");
    assert_eq!((receives.wakes(), receives.poll()), (1, Poll::Ready(Ok(1))));
    drop(receives);

    let (tx, rx) = oneshot();
    assert!(!tx.is_closed());
    tx.send(2).expect("the receiver is there");
    assert_eq!(Hand::new(rx).poll(), Poll::Ready(Ok(2)));
}

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

/// The receiver is dropped at every poll, in every schedule: the message comes, comes back, or is dropped, once.
#[test]
fn dropped_after_any_poll() {
    for cut in Cut::all() {
        exhaust(|| async move {
            let tally = Tally::default();
            let (tx, rx) = oneshot();
            let value = tally.value(1);
            let sends = spawn(async move {
                yield_now().await;
                tx.send(value).map_err(|back| back.0.id)
            });
            let receives =
                spawn(async move { cut.apply(rx).await.map(|got| got.map(|value| value.id)) });
            let sent = sends.await.expect("no panic");
            match receives.await.expect("no panic") {
                Some(received) => assert_eq!((received, sent), (Ok(1), Ok(()))),
                None => assert!(sent == Ok(()) || sent == Err(1)),
            }
            assert_eq!(tally.living(), 0);
        });
    }
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
