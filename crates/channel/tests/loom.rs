//! Models of the one-shot: who frees, who is woken, and what is seen.
//!
//! Run by `cargo xtask loom`; what loom cannot see is told in `crates/core/tests/loom.rs`.
#![cfg(loom)]

mod support;

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize as Count;
use std::task::Poll;

use gossamer_channel::oneshot;
use gossamer_channel::oneshot::{Closed, TryRecvError};
use gossamer_core::platform::atomic::{AtomicU32, Ordering};
use gossamer_core::platform::model::{explore, joined, poll_once};
use gossamer_core::platform::thread;
use gossamer_core::wait::Wait;

use support::Message;

/// A message against one that looks, parks and is woken; what was done before is seen.
#[test]
fn send_against_receive() {
    explore("send_against_receive", || {
        let behind = Arc::new(AtomicU32::new(0));
        let (tx, rx) = oneshot();
        let seen = behind.clone();
        let receives = thread::spawn(move || (rx.wait(), seen.load(Ordering::Relaxed)));
        behind.store(1, Ordering::Relaxed);
        tx.send(7).expect("the receiver is there");
        assert_eq!(joined(receives), (Ok(7), 1));
    });
}

/// Both ends go at once, one with a message: it is dropped once, or comes back.
#[test]
fn send_against_drop() {
    explore("send_against_drop", || {
        let living = Arc::new(Count::new(0));
        let (tx, rx) = oneshot();
        let goes = thread::spawn(move || drop(rx));
        let back = tx.send(Message::new(&living)).is_err();
        joined(goes);
        let _either = back;
        assert_eq!(living.load(Ordering::Relaxed), 0);
    });
}

/// The same when the receiver has waited.
#[test]
fn send_against_drop_of_a_waiting_one() {
    explore("send_against_drop_of_a_waiting_one", || {
        let living = Arc::new(Count::new(0));
        let (tx, mut rx) = oneshot();
        let goes = thread::spawn(move || {
            let polled = poll_once(Pin::new(&mut rx));
            drop(polled);
        });
        drop(tx.send(Message::new(&living)));
        joined(goes);
        assert_eq!(living.load(Ordering::Relaxed), 0);
    });
}

/// The sender goes without a message, and the receiver waits, with one waker and then another.
#[test]
fn close_against_receive() {
    explore("close_against_receive", || {
        let (tx, mut rx) = oneshot::<u32>();
        let receives = thread::spawn(move || {
            let polled = poll_once(Pin::new(&mut rx));
            match polled {
                Poll::Ready(received) => received,
                Poll::Pending => rx.wait(),
            }
        });
        drop(tx);
        assert_eq!(joined(receives), Err(Closed));
    });
}

/// A message against one that only looks.
#[test]
fn send_against_try() {
    explore("send_against_try", || {
        let (tx, mut rx) = oneshot();
        let sends = thread::spawn(move || tx.send(7).is_ok());
        match rx.try_recv() {
            Ok(value) => assert_eq!(value, 7),
            Err(error) => {
                assert_eq!(error, TryRecvError::Empty);
                assert_eq!(rx.wait(), Ok(7));
            }
        }
        assert!(joined(sends));
    });
}

/// The receiver goes as the sender comes to wait for that.
#[test]
fn the_sender_waits_for_the_receiver_to_go() {
    explore("the_sender_waits_for_the_receiver_to_go", || {
        let behind = Arc::new(AtomicU32::new(0));
        let (mut tx, rx) = oneshot::<u32>();
        let writes = behind.clone();
        let goes = thread::spawn(move || {
            writes.store(1, Ordering::Relaxed);
            drop(rx);
        });
        tx.closed().wait();
        assert_eq!(behind.load(Ordering::Relaxed), 1);
        drop(tx);
        joined(goes);
    });
}

/// The sender gives up waiting, and sends, as the receiver is closed: the message is received, or comes back.
#[test]
fn send_against_close() {
    explore("send_against_close", || {
        let living = Arc::new(Count::new(0));
        let (mut tx, mut rx) = oneshot();
        let message = Message::new(&living);
        let sends = thread::spawn(move || {
            let is_closed = poll_once(Pin::new(&mut tx.closed())).is_ready();
            let is_sent = tx.send(message).is_ok();
            assert!(!(is_closed && is_sent), "it was sent after it was closed");
            is_sent
        });
        rx.close();
        let received = rx.try_recv().is_ok();
        let sent = joined(sends);
        assert_eq!(received, sent);
        assert_eq!(living.load(Ordering::Relaxed), 0);
    });
}

/// The sender goes without having sent, as the receiver is closed: nothing is received.
#[test]
fn no_send_against_close() {
    explore("no_send_against_close", || {
        let (tx, mut rx) = oneshot::<u64>();
        let goes = thread::spawn(move || drop(tx));
        rx.close();
        assert_eq!(rx.try_recv(), Err(TryRecvError::Closed));
        joined(goes);
    });
}
