//! Models of channels of many senders and receivers: who is called, who is told, and who frees.
//!
//! Run by `cargo xtask loom`; what loom cannot see is told in `crates/core/tests/loom.rs`.
#![cfg(loom)]

mod support;

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize as Count, Ordering as Counted};
use std::task::Poll;

use gossamer_channel::{Closed, SendError, TryRecvError, bounded, rendezvous, unbounded};
use gossamer_core::platform::atomic::{AtomicU32, Ordering};
use gossamer_core::platform::model::{explore, joined, poll_once};
use gossamer_core::platform::thread;
use gossamer_core::wait::Wait;

use support::Message;

/// A message against one that looks, waits and is called; what was done before is seen.
#[test]
fn send_against_receive() {
    explore("send_against_receive", || {
        let behind = Arc::new(AtomicU32::new(0));
        let (tx, rx) = bounded(1);
        let seen = behind.clone();
        let receives = thread::spawn(move || (rx.recv().wait(), seen.load(Ordering::Relaxed)));
        behind.store(1, Ordering::Relaxed);
        assert_eq!(tx.send(7).wait(), Ok(()));
        assert_eq!(joined(receives), (Ok(7), 1));
    });
}

/// The place is taken: the sender waits, and its message is moved up for it.
#[test]
fn a_sender_that_waits_against_the_receiver() {
    explore("a_sender_that_waits_against_the_receiver", || {
        let (tx, rx) = bounded(1);
        assert!(tx.try_send(1).is_ok());
        let sends = thread::spawn(move || tx.send(2).wait());
        assert_eq!(rx.try_recv(), Ok(1));
        assert_eq!(joined(sends), Ok(()));
        assert_eq!(
            (rx.try_recv(), rx.try_recv()),
            (Ok(2), Err(TryRecvError::Closed))
        );
    });
}

/// No buffer: the sender goes on when its message has been taken.
#[test]
fn a_rendezvous() {
    explore("a_rendezvous", || {
        let taken = Arc::new(AtomicU32::new(0));
        let (tx, rx) = rendezvous();
        let takes = taken.clone();
        let receives = thread::spawn(move || {
            takes.store(1, Ordering::Relaxed);
            rx.recv().wait()
        });
        assert_eq!(tx.send(5).wait(), Ok(()));
        assert_eq!(taken.load(Ordering::Relaxed), 1);
        assert_eq!(joined(receives), Ok(5));
    });
}

/// Two senders, and one that receives twice.
#[test]
fn two_senders() {
    explore("two_senders", || {
        let (tx, rx) = unbounded();
        let other = tx.clone();
        let sends = thread::spawn(move || other.try_send(1).is_ok());
        assert!(tx.try_send(2).is_ok());
        let sum = rx.recv().wait().and_then(|one| Ok(one + rx.recv().wait()?));
        assert_eq!(sum, Ok(3));
        assert!(joined(sends));
        assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
    });
}

/// Two receivers that wait, and one message: the sender goes, and the other one is told.
#[test]
fn two_receivers() {
    explore("two_receivers", || {
        let (tx, rx) = bounded(1);
        let other = rx.clone();
        let receives = thread::spawn(move || other.recv().wait());
        assert!(tx.try_send(1).is_ok());
        drop(tx);
        let (one, two) = (rx.recv().wait(), joined(receives));
        assert!(
            matches!((one, two), (Ok(1), Err(Closed)) | (Err(Closed), Ok(1))),
            "{one:?} {two:?}"
        );
    });
}

/// The last receiver goes as a sender comes, waits, and is told: its message is dropped once, by whom it belongs to.
#[test]
fn the_receiver_goes_against_a_sender() {
    explore("the_receiver_goes_against_a_sender", || {
        let living = Arc::new(Count::new(0));
        let (tx, rx) = rendezvous();
        let message = Message::new(&living);
        let sends = thread::spawn(move || match tx.send(message).wait() {
            Ok(()) => panic!("nobody has received it"),
            Err(SendError(message)) => drop(message),
        });
        drop(rx);
        joined(sends);
        assert_eq!(living.load(Counted::Relaxed), 0);
    });
}

/// A receiver is dropped as it is called: the next one is called instead.
#[test]
fn a_called_receiver_goes() {
    explore("a_called_receiver_goes", || {
        let (tx, rx) = bounded(1);
        let other = rx.clone();
        let (mut first, mut second) = (Box::pin(rx.recv()), Box::pin(other.recv()));
        let polled = (poll_once(first.as_mut()), poll_once(second.as_mut()));
        assert!(polled.0.is_pending() && polled.1.is_pending());
        let sends = thread::spawn(move || tx.try_send(1).is_ok());
        drop(first);
        assert!(joined(sends));
        assert_eq!(poll_once(second.as_mut()), Poll::Ready(Ok(1)));
    });
}

/// A sender that waits is dropped as its message is taken: it is received, or dropped with it.
#[test]
fn a_sender_goes_against_the_receiver() {
    explore("a_sender_goes_against_the_receiver", || {
        let living = Arc::new(Count::new(0));
        let (tx, rx) = rendezvous();
        let message = Message::new(&living);
        let receives = thread::spawn(move || rx.try_recv().is_ok());
        {
            let mut sending = pin!(tx.send(message));
            let _sent_or_not = poll_once(sending.as_mut());
        }
        let _received_or_not = joined(receives);
        assert_eq!(living.load(Counted::Relaxed), 0);
    });
}

/// Both sides go at once: the channel and its message are freed once.
#[test]
fn both_sides_go() {
    explore("both_sides_go", || {
        let living = Arc::new(Count::new(0));
        let (tx, rx) = unbounded();
        assert!(tx.try_send(Message::new(&living)).is_ok());
        let goes = thread::spawn(move || drop(rx));
        drop(tx);
        joined(goes);
        assert_eq!(living.load(Counted::Relaxed), 0);
    });
}

/// The buffer grows without the lock, twice at once.
#[test]
fn growing_against_growing() {
    explore("growing_against_growing", || {
        let (tx, rx) = unbounded();
        let other = tx.clone();
        let sends = thread::spawn(move || other.try_send(1).is_ok());
        assert!(tx.try_send(2).is_ok());
        assert!(joined(sends));
        assert_eq!(rx.try_iter().sum::<u32>(), 3);
    });
}

/// Many at once against a sender that waits.
#[test]
fn many_at_once() {
    explore("many_at_once", || {
        let (tx, rx) = bounded(1);
        assert!(tx.try_send(1).is_ok());
        let sends = thread::spawn(move || tx.send(2).wait());
        let mut got = Vec::with_capacity(8);
        let polled = poll_once(pin!(rx.recv_many(&mut got, 8)));
        assert!(matches!(polled, Poll::Ready(Ok(1..))));
        assert_eq!(joined(sends), Ok(()));
        got.extend(rx.try_iter());
        assert_eq!(got, [1, 2]);
    });
}

/// A channel is closed as a message comes: that is received, or comes back; and who waits for the end is told.
#[test]
fn closing_against_a_message() {
    explore("closing_against_a_message", || {
        let (tx, rx) = bounded(1);
        let sends = thread::spawn(move || tx.send(1).wait().is_ok());
        rx.close();
        let (received, sent) = (rx.recv().wait(), joined(sends));
        assert_eq!(received.is_ok(), sent);
    });
}

/// The receiver goes as a sender comes to wait for that.
#[test]
fn waiting_for_the_receiver_to_go() {
    explore("waiting_for_the_receiver_to_go", || {
        let behind = Arc::new(AtomicU32::new(0));
        let (tx, rx) = bounded::<u32>(1);
        let writes = behind.clone();
        let goes = thread::spawn(move || {
            writes.store(1, Ordering::Relaxed);
            drop(rx);
        });
        tx.closed().wait();
        assert_eq!(behind.load(Ordering::Relaxed), 1);
        joined(goes);
    });
}

/// A permit is dropped as a sender waits for its place, which has it then.
#[test]
fn a_permit_against_a_sender_that_waits() {
    explore("a_permit_against_a_sender_that_waits", || {
        let (tx, rx) = bounded(1);
        let permit = tx.clone().try_reserve_owned().expect("there is room");
        let sends = thread::spawn(move || tx.send(1).wait());
        drop(permit);
        assert_eq!(joined(sends), Ok(()));
        assert_eq!(rx.try_recv(), Ok(1));
    });
}

/// A permit sends into a channel that is closed as its receiver waits.
#[test]
fn a_permit_against_closing() {
    explore("a_permit_against_closing", || {
        let (tx, rx) = bounded(1);
        let permit = tx.try_reserve_owned().expect("there is room");
        let sends = thread::spawn(move || drop(permit.send(1)));
        rx.close();
        assert_eq!((rx.recv().wait(), rx.recv().wait()), (Ok(1), Err(Closed)));
        joined(sends);
    });
}

/// A sender is dropped and drops the place that it waits for; its operation has it.
#[test]
fn reserving_against_the_receiver() {
    explore("reserving_against_the_receiver", || {
        let (tx, rx) = bounded(1);
        assert!(tx.try_send(1).is_ok());
        let other = tx.clone();
        let reserves = thread::spawn(move || {
            let mut reserve = Box::pin(other.reserve_owned());
            let _permit_or_not = poll_once(reserve.as_mut());
        });
        assert_eq!(rx.try_recv(), Ok(1));
        assert_eq!(tx.send(2).wait(), Ok(()));
        joined(reserves);
    });
}

/// A weak sender becomes one, or the receiver has been told of the end.
#[test]
fn a_weak_sender_against_the_last_one() {
    explore("a_weak_sender_against_the_last_one", || {
        let (tx, rx) = bounded(1);
        let weak = tx.downgrade();
        let sends = thread::spawn(move || {
            let sends = |tx: gossamer_channel::Sender<u32>| tx.try_send(1).is_ok();
            weak.upgrade().is_some_and(sends)
        });
        drop(tx);
        let received = rx.recv().wait();
        assert_eq!(joined(sends), received.is_ok());
    });
}
