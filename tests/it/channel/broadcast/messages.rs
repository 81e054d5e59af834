//! Streams, iterators, and many messages at once: none is passed over in silence.

use std::cell::Cell;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;

use futures_core::{FusedStream, Stream};
use gossamer::Wait;
use gossamer::channel::broadcast::{Lagged, RecvError, TryRecvError};
use gossamer::raw::channel::broadcast::Sender;

use super::Broadcasts;
use crate::flavour::{Flavour, both};
use crate::hand::{Hand, parked};

both! {
    many_at_once,
    many_at_once_end_where_some_are_gone,
    iterators,
    a_stream,
    a_message_that_cannot_be_cloned,
}

fn many_at_once<F: Broadcasts>() {
    let (tx, mut rx) = F::broadcast(4);
    let mut other = rx.clone();
    let mut into = vec![7];
    {
        let mut waits = parked(rx.recv_many(&mut into, 9));
        for number in 0..3 {
            assert_eq!(tx.send(number), Ok(()));
        }
        assert_eq!((waits.wakes(), waits.poll()), (1, Poll::Ready(Ok(3))));
    }
    assert_eq!(into, [7, 0, 1, 2]);
    assert_eq!(other.recv_many(&mut into, 2).wait(), Ok(2));
    assert_eq!(other.recv_many(&mut into, 0).wait(), Ok(0));
    assert_eq!((into.len(), other.len()), (6, 1));
    // Dropped, it has received nothing, also if it was woken.
    let waits = parked(rx.recv_many(&mut into, 9));
    assert_eq!(tx.send(3), Ok(()));
    assert_eq!(waits.wakes(), 1);
    drop(waits);
    drop(tx);
    assert_eq!(rx.recv_many(&mut into, usize::MAX).wait(), Ok(1));
    assert_eq!(rx.recv_many(&mut into, 9).wait(), Err(RecvError::Closed));
    assert_eq!(other.recv_many(&mut into, 1).wait(), Ok(1));
    assert_eq!(into, [7, 0, 1, 2, 0, 1, 3, 2]);
}

/// Where a message finds the sender, if it is to use it.
type SharedSlot<T> = Rc<Cell<Option<T>>>;

/// Sends two more when it is cloned.
struct Spreads<F: Flavour> {
    number: u32,
    tx: SharedSlot<Sender<Spreads<F>, F::P>>,
}

impl<F: Broadcasts> Clone for Spreads<F> {
    fn clone(&self) -> Self {
        let twin = |number| Self {
            number,
            tx: self.tx.clone(),
        };
        if let Some(tx) = self.tx.take() {
            for number in [10, 11] {
                assert!(tx.send(twin(number)).is_ok());
            }
            self.tx.set(Some(tx));
        }
        twin(self.number)
    }
}

/// Senders overtake the receiver while it clones: what it has is given first, and then it is told what it has missed.
fn many_at_once_end_where_some_are_gone<F: Broadcasts>() {
    let (tx, mut rx) = F::broadcast(2);
    let _other = rx.clone();
    let own = SharedSlot::default();
    for number in 0..2 {
        let place = own.clone();
        assert!(tx.send(Spreads::<F> { number, tx: place }).is_ok());
    }
    own.set(Some(tx));
    let mut into = Vec::new();
    assert_eq!(rx.recv_many(&mut into, 9).wait(), Ok(1));
    drop(own.take());
    assert_eq!(rx.recv_many(&mut into, 9).wait(), Err(RecvError::Lagged(1)));
    assert_eq!(rx.recv_many(&mut into, 9).wait(), Ok(2));
    let numbers: Vec<_> = into.iter().map(|message| message.number).collect();
    assert_eq!(numbers, [0, 10, 11]);
}

fn iterators<F: Broadcasts>() {
    let (tx, mut rx) = F::broadcast(3);
    let mut other = rx.clone();
    for number in 0..5 {
        assert_eq!(tx.send(number), Ok(()));
    }
    let got: Vec<_> = rx.try_iter().collect();
    assert_eq!(got, [Err(Lagged(2)), Ok(2), Ok(3), Ok(4)]);
    assert_eq!(rx.try_iter().next(), None);
    assert_eq!(other.iter().next(), Some(Err(Lagged(2))));
    assert_eq!((&mut other).into_iter().next(), Some(Ok(2)));
    assert_eq!(tx.send(5), Ok(()));
    drop(tx);
    assert_eq!(rx.try_iter().next(), Some(Ok(5)));
    assert_eq!(rx.try_iter().next(), None);
    assert_eq!(rx.iter().next(), None);
    assert_eq!(other.into_iter().collect::<Vec<_>>(), [Ok(3), Ok(4), Ok(5)]);
}

/// It tells what was missed, and then gives each message, then the end, again and again; dropped in between it has lost
/// nothing.
fn a_stream<F: Broadcasts>() {
    let (tx, mut rx) = F::broadcast(2);
    {
        let mut stream = pin!(rx.stream());
        let mut next = parked(poll_fn(|cx| stream.as_mut().poll_next(cx)));
        for number in 0..4 {
            assert_eq!(tx.send(number), Ok(()));
        }
        assert_eq!(next.wakes(), 1);
        assert_eq!(next.poll(), Poll::Ready(Some(Err(Lagged(2)))));
        assert_eq!(next.poll(), Poll::Ready(Some(Ok(2))));
        assert_eq!(next.poll(), Poll::Ready(Some(Ok(3))));
        assert!(next.poll().is_pending());
        assert_eq!(tx.send(4), Ok(()));
    }
    let mut last = rx.clone();
    let mut stream = pin!(rx.stream());
    drop(tx);
    let mut next = Hand::new(poll_fn(|cx| stream.as_mut().poll_next(cx)));
    assert_eq!(next.poll(), Poll::Ready(Some(Ok(4))));
    for _ in 0..2 {
        assert_eq!(next.poll(), Poll::Ready(None));
    }
    drop(next);
    assert!(stream.is_terminated());
    assert_eq!(last.try_recv(), Ok(4));
    assert_eq!(last.try_recv(), Err(TryRecvError::Closed));
}

/// Panics when it is cloned, if it is odd.
struct Odd(u32);

impl Clone for Odd {
    fn clone(&self) -> Self {
        if self.0 % 2 == 1 {
            resume_unwind(Box::new("planned"));
        }
        Self(self.0)
    }
}

/// It has been received; those before it are there, and those behind it are left.
fn a_message_that_cannot_be_cloned<F: Broadcasts>() {
    let (tx, mut rx) = F::broadcast(8);
    let _other = rx.clone();
    for number in [0, 2, 1, 4, 3, 6] {
        assert!(tx.send(Odd(number)).is_ok());
    }
    let mut into = Vec::new();
    let receives = AssertUnwindSafe(|| rx.recv_many(&mut into, 9).wait().is_ok());
    assert!(catch_unwind(receives).is_err());
    let numbers: Vec<_> = into.iter().map(|odd| odd.0).collect();
    assert_eq!((numbers, rx.len()), (vec![0, 2], 3));
    let mut stream = pin!(rx.stream());
    let mut next = Hand::new(poll_fn(|cx| stream.as_mut().poll_next(cx)));
    for number in [Some(4), None, Some(6)] {
        let got = catch_unwind(AssertUnwindSafe(|| next.poll()));
        match number {
            Some(number) => {
                assert!(matches!(got, Ok(Poll::Ready(Some(Ok(Odd(other))))) if other == number));
            }
            None => assert!(got.is_err()),
        }
    }
    assert!(next.poll().is_pending());
}
