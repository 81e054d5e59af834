//! Waiting for the last receiver, senders that do not keep the channel open, and receivers that begin now.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Poll, Wake};

use futures_core::{FusedStream, Stream};
use gossamer::channel;
use gossamer::channel::broadcast::{Lagged, RecvError, TryRecvError};

use super::Broadcasts;
use crate::flavour::both;
use crate::hand::{Hand, parked, ready};

both! {
    waiting_for_the_last_receiver,
    a_weak_sender_keeps_nothing_open,
    a_receiver_that_begins_now,
    a_stream_that_owns_its_receiver,
}

fn waiting_for_the_last_receiver<F: Broadcasts>() {
    let (tx, rx) = F::broadcast::<u32>(2);
    let other = rx.clone();
    let (mut first, mut second) = (parked(tx.closed()), parked(tx.closed()));
    drop(parked(tx.closed()));
    drop(rx);
    tx.send(1).expect("there is a receiver");
    assert!(first.poll().is_pending());
    drop(other);
    assert_eq!((first.wakes(), second.wakes()), (1, 1));
    assert!(tx.is_empty());
    ready(first.poll());
    // Another one has come before it was polled.
    let again = tx.subscribe();
    assert!(second.poll().is_pending());
    drop(again);
    assert_eq!(second.wakes(), 2);
    ready(second.poll());
    ready(Hand::new(tx.closed()).poll());
}

fn a_weak_sender_keeps_nothing_open<F: Broadcasts>() {
    let (tx, mut rx) = F::broadcast(2);
    let weak = tx.downgrade();
    assert_eq!((tx.sender_count(), weak.clone().weak_count()), (1, 2));
    let again = weak.upgrade().expect("there is a sender");
    assert!(again.same_channel(&tx));
    drop(tx);
    again.send(1).expect("there is a receiver");
    assert_eq!(rx.try_recv(), Ok(1));
    let mut receives = parked(rx.recv());
    drop(again);
    assert_eq!(ready(receives.poll()), Err(RecvError::Closed));
    drop(receives);
    assert!(weak.upgrade().is_none());
    assert_eq!((rx.sender_count(), rx.weak_count()), (0, 1));
}

fn a_receiver_that_begins_now<F: Broadcasts>() {
    let (tx, rx) = F::broadcast(2);
    tx.send(1).expect("there is a receiver");
    let (mut clone, mut now) = (rx.clone(), rx.resubscribe());
    assert!(rx.same_channel(&now));
    tx.send(2).expect("there is a receiver");
    assert_eq!((clone.try_recv(), now.try_recv()), (Ok(1), Ok(2)));
    assert_eq!(now.try_recv(), Err(TryRecvError::Empty));
    drop(tx);
    assert_eq!(rx.resubscribe().try_recv(), Err(TryRecvError::Closed));
    assert_eq!(
        TryRecvError::from(RecvError::Lagged(1)),
        TryRecvError::Lagged(1)
    );
}

fn a_stream_that_owns_its_receiver<F: Broadcasts>() {
    let (tx, rx) = F::broadcast(2);
    let mut stream = Box::pin(rx.into_stream());
    let mut next = parked(poll_fn(|cx| stream.as_mut().poll_next(cx)));
    for number in 0..3 {
        tx.send(number).expect("there is a receiver");
    }
    for item in [Err(Lagged(1)), Ok(1), Ok(2)] {
        assert_eq!(next.poll(), Poll::Ready(Some(item)));
    }
    assert!(next.poll().is_pending());
    drop(next);
    assert_eq!(stream.receiver().sender_count(), 1);
    let mut closed = parked(tx.closed());
    drop(stream);
    ready(closed.poll());
    drop(closed);
    let mut stream = Box::pin(tx.subscribe().into_stream());
    let mut next = parked(poll_fn(|cx| stream.as_mut().poll_next(cx)));
    drop(tx);
    for _ in 0..2 {
        assert_eq!(next.poll(), Poll::Ready(None));
    }
    drop(next);
    assert!(stream.is_terminated());
}

/// A sender that is told of the end finds nothing in the channel: what only the last receiver needed has gone with it.
#[test]
fn nothing_is_left_when_the_end_is_told() {
    struct Looks(channel::broadcast::Sender<u32>, AtomicUsize);

    impl Wake for Looks {
        fn wake(self: Arc<Self>) {
            assert!(self.0.is_empty() && self.0.is_closed());
            self.1.fetch_add(1, Ordering::Relaxed);
        }
    }

    let (tx, rx) = channel::broadcast(2);
    tx.send(1).expect("there is a receiver");
    let looks = Arc::new(Looks(tx.clone(), AtomicUsize::new(0)));
    let mut closed = Hand::new(tx.closed());
    assert!(closed.poll_with(&looks.clone().into()).is_pending());
    drop(rx);
    assert_eq!(looks.1.load(Ordering::Relaxed), 1);
    ready(closed.poll());
}
