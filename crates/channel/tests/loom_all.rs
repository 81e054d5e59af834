//! Models of broadcast and watch channels, and of shared senders: who is let go, and who drops what.
//!
//! Run by `cargo xtask loom`; what loom cannot see is told in `crates/core/tests/loom.rs`.
#![cfg(loom)]

mod support;

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize as Count, Ordering as Counted};

use gossamer_channel::broadcast::{RecvError, TryRecvError, broadcast};
use gossamer_channel::watch::watch;
use gossamer_channel::{Closed, SharedSender, bounded, unbounded};
use gossamer_core::platform::atomic::{AtomicU32, Ordering};
use gossamer_core::platform::model::{explore, joined, poll_once};
use gossamer_core::platform::thread;
use gossamer_core::wait::Wait;

use support::Message;

/// A message against one that looks and waits; what was done before is seen.
#[test]
fn broadcast_send_against_receive() {
    explore("broadcast_send_against_receive", || {
        let behind = Arc::new(AtomicU32::new(0));
        let (tx, mut rx) = broadcast(1);
        let seen = behind.clone();
        let receives = thread::spawn(move || (rx.recv().wait(), seen.load(Ordering::Relaxed)));
        behind.store(1, Ordering::Relaxed);
        assert_eq!(tx.send(7), Ok(()));
        assert_eq!(joined(receives), (Ok(7), 1));
    });
}

/// A receiver clones a message that has to go at the same moment: it has it, or is told; nothing is left.
#[test]
fn broadcast_overtakes_its_receivers() {
    explore("broadcast_overtakes_its_receivers", || {
        let living = Arc::new(Count::new(0));
        let (tx, mut one) = broadcast(1);
        let mut two = one.clone();
        assert!(tx.send(Message::new(&living)).is_ok());
        let receives = thread::spawn(move || two.try_recv().map(drop));
        assert!(tx.send(Message::new(&living)).is_ok());
        assert_eq!(one.try_recv().map(drop), Err(TryRecvError::Lagged(1)));
        assert!(matches!(
            joined(receives),
            Ok(()) | Err(TryRecvError::Lagged(1))
        ));
        assert!(one.try_recv().is_ok());
        assert_eq!((living.load(Counted::Relaxed), tx.len()), (0, 0));
    });
}

/// The last sender goes as a receiver comes, and waits.
#[test]
fn broadcast_sender_goes() {
    explore("broadcast_sender_goes", || {
        let (tx, mut rx) = broadcast::<u32>(1);
        let receives = thread::spawn(move || rx.recv().wait());
        drop(tx);
        assert_eq!(joined(receives), Err(RecvError::Closed));
    });
}

/// A receiver goes as another one receives: what only the two needed goes with them.
#[test]
fn broadcast_receiver_goes() {
    explore("broadcast_receiver_goes", || {
        let living = Arc::new(Count::new(0));
        let (tx, one) = broadcast(2);
        let mut two = one.clone();
        assert!(tx.send(Message::new(&living)).is_ok());
        let goes = thread::spawn(move || drop(one));
        assert!(two.try_recv().is_ok());
        joined(goes);
        assert_eq!((living.load(Counted::Relaxed), tx.len()), (0, 0));
    });
}

/// A new value against one that looks and waits.
#[test]
fn watch_send_against_changed() {
    explore("watch_send_against_changed", || {
        let behind = Arc::new(AtomicU32::new(0));
        let (tx, mut rx) = watch(0);
        let seen = behind.clone();
        let follows = thread::spawn(move || {
            let told = rx.changed().wait().map(|value| *value);
            (told, seen.load(Ordering::Relaxed))
        });
        behind.store(1, Ordering::Relaxed);
        tx.send(7);
        assert_eq!(joined(follows), (Ok(7), 1));
    });
}

/// The last sender goes as a receiver comes, and waits.
#[test]
fn watch_sender_goes() {
    explore("watch_sender_goes", || {
        let (tx, mut rx) = watch(0);
        let goes = thread::spawn(move || drop(tx));
        assert_eq!(rx.changed().wait().map(|value| *value), Err(Closed));
        joined(goes);
    });
}

/// The last receiver goes as a sender begins to wait for that.
#[test]
fn watch_receiver_goes() {
    explore("watch_receiver_goes", || {
        let (tx, rx) = watch(0);
        let waits = thread::spawn(move || tx.closed().wait());
        drop(rx);
        joined(waits);
    });
}

/// Two modify at once: neither is lost.
#[test]
fn watch_modify_against_modify() {
    explore("watch_modify_against_modify", || {
        let (tx, rx) = watch(0);
        let other = tx.clone();
        let modifies = thread::spawn(move || other.send_modify(|value| *value += 1));
        tx.send_modify(|value| *value += 2);
        joined(modifies);
        assert_eq!(rx.get(), 3);
    });
}

/// Two senders whose operations are dropped, at their turn or before: the turn is free afterwards.
#[test]
fn shared_sender_goes_at_its_turn() {
    explore("shared_sender_goes_at_its_turn", || {
        let (tx, rx) = bounded(1);
        let one = SharedSender::new(tx);
        assert_eq!(one.try_send(0), Ok(()));
        let two = one.clone();
        let goes = thread::spawn(move || poll_once(pin!(two.send(1))).is_pending());
        assert!(poll_once(pin!(one.send(2))).is_pending());
        assert!(joined(goes));
        assert_eq!((rx.try_recv(), one.try_send(3)), (Ok(0), Ok(())));
    });
}

/// Two senders share an end: both messages come.
#[test]
fn shared_sender_has_one_turn() {
    explore("shared_sender_has_one_turn", || {
        let (tx, rx) = unbounded();
        let one = SharedSender::new(tx);
        let two = one.clone();
        let sends = thread::spawn(move || two.send(1).wait());
        assert_eq!(one.send(2).wait(), Ok(()));
        assert_eq!(joined(sends), Ok(()));
        assert_eq!(rx.try_iter().sum::<u32>(), 3);
    });
}
