//! The channel for one message: it gives its output once, its receiver may close it, and how small it is.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Poll, Wake, Waker};

use gossamer::channel::oneshot;
use gossamer::channel::oneshot::{Closed, TryRecvError};

use crate::hand::Hand;

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
fn what_was_sent_before_it_is_closed_is_received() {
    let (tx, mut rx) = oneshot();
    assert!(rx.is_empty());
    assert_eq!(tx.send(7), Ok(()));
    rx.close();
    assert!(!rx.is_empty());
    assert_eq!(rx.try_recv(), Ok(7));
    assert!(rx.is_empty());
    rx.close();
    assert_eq!(rx.try_recv(), Err(TryRecvError::Closed));
}

#[test]
fn nothing_is_sent_into_a_closed_one() {
    let (tx, mut rx) = oneshot();
    rx.close();
    rx.close();
    assert!(tx.is_closed() && rx.is_empty());
    assert_eq!(tx.send(7).map_err(|error| error.into_inner()), Err(7));
    assert_eq!(Hand::new(rx).poll(), Poll::Ready(Err(Closed)));
    // Or the sender goes, and the receiver only looks.
    let (tx, mut rx) = oneshot::<()>();
    rx.close();
    drop(tx);
    assert_eq!(rx.try_recv(), Err(TryRecvError::Closed));
}

#[test]
#[should_panic(expected = "polled after it had given its output")]
fn a_closed_one_is_polled_once_too_often() {
    let (_tx, mut rx) = oneshot::<()>();
    rx.close();
    assert_eq!(rx.try_recv(), Err(TryRecvError::Closed));
    let _again = Hand::new(rx).poll();
}

/// One that has waited drops its waker when it is closed; a panic of that is swallowed.
#[test]
fn a_closed_one_drops_its_waker() {
    struct Fragile(Arc<AtomicUsize>);
    impl Wake for Fragile {
        fn wake(self: Arc<Self>) {}
    }
    impl Drop for Fragile {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
            panic!("as it goes");
        }
    }
    let gone = Arc::new(AtomicUsize::new(0));
    let (_tx, mut rx) = oneshot::<()>();
    let waker = Waker::from(Arc::new(Fragile(gone.clone())));
    assert!(Hand::new(&mut rx).poll_with(&waker).is_pending());
    drop(waker);
    rx.close();
    assert_eq!(gone.load(Ordering::Relaxed), 1);
    assert_eq!(rx.try_recv(), Err(TryRecvError::Closed));
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
