//! Models of the ring of one sender and one receiver: who is woken, what is seen, and who frees.
//!
//! Run by `cargo xtask loom`; what loom cannot see is told in `crates/core/tests/loom.rs`. Every ring's numbers begin
//! just below the largest one, so that they wrap.
#![cfg(loom)]

mod support;

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize as Count, Ordering as Counted};
use std::task::{Context, Poll, Wake, Waker};

use gossamer_channel::{Closed, SendError, TryRecvError, TrySendError, spsc};
use gossamer_core::platform::atomic::{AtomicU32, Ordering};
use gossamer_core::platform::model::{explore, explore_within, joined};
use gossamer_core::platform::thread;
use gossamer_core::wait::Wait;

use support::Message;

/// Counts its wakes.
#[derive(Default)]
struct Wakes(Count);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Counted::Relaxed);
    }
}

/// Polls an operation once.
fn poll_once<F: Future>(operation: Pin<&mut F>, waker: &Waker) -> Poll<F::Output> {
    operation.poll(&mut Context::from_waker(waker))
}

/// A message against one that looks, and waits; what was done before is seen.
#[test]
fn send_against_receive() {
    explore("send_against_receive", || {
        let behind = Arc::new(AtomicU32::new(0));
        let (mut tx, mut rx) = spsc(1);
        let seen = behind.clone();
        let receives = thread::spawn(move || (rx.recv().wait(), seen.load(Ordering::Relaxed)));
        behind.store(1, Ordering::Relaxed);
        assert_eq!(tx.send(7).wait(), Ok(()));
        assert_eq!(joined(receives), (Ok(7), 1));
    });
}

/// One place: the sender waits for the receiver, and then that for the sender.
#[test]
fn both_wait_for_each_other() {
    explore("both_wait_for_each_other", || {
        let (mut tx, mut rx) = spsc(1);
        assert!(tx.try_send(1).is_ok());
        let sends = thread::spawn(move || tx.send(2).wait().is_ok());
        assert_eq!(rx.recv().wait(), Ok(1));
        assert_eq!(rx.recv().wait(), Ok(2));
        assert!(joined(sends));
        assert_eq!(rx.try_recv(), Err(TryRecvError::Closed));
    });
}

/// Round the ring, past the largest number, by messages that loom watches; nobody waits.
#[test]
fn round_the_ring() {
    explore("round_the_ring", || {
        let living = Arc::new(Count::new(0));
        let (mut tx, mut rx) = spsc(2);
        assert!(tx.try_send(Message::new(&living)).is_ok());
        assert!(tx.try_send(Message::new(&living)).is_ok());
        let all = living.clone();
        let sends = thread::spawn(move || {
            let put = |_: &i32| tx.try_send(Message::new(&all)).is_ok();
            (0..3).filter(put).count()
        });
        let received = (0..3).filter(|_| rx.try_recv().is_ok()).count();
        let sent = joined(sends);
        let rest = rx.try_iter().count();
        assert_eq!(2 + sent, received + rest);
        assert_eq!(rx.try_recv().err(), Some(TryRecvError::Closed));
    });
}

/// The sender goes as the receiver comes to wait.
#[test]
fn the_sender_goes_against_the_receiver() {
    explore("the_sender_goes_against_the_receiver", || {
        let (mut tx, mut rx) = spsc(2);
        let sends = thread::spawn(move || tx.try_send(1).is_ok());
        assert_eq!(rx.recv().wait(), Ok(1));
        assert_eq!(rx.recv().wait(), Err(Closed));
        assert!(joined(sends));
    });
}

/// The receiver goes as the sender comes to wait: it is told, and its message is dropped once.
#[test]
fn the_receiver_goes_against_the_sender() {
    explore("the_receiver_goes_against_the_sender", || {
        let living = Arc::new(Count::new(0));
        let (mut tx, rx) = spsc(1);
        let (one, two) = (Message::new(&living), Message::new(&living));
        assert!(tx.try_send(one).is_ok());
        let goes = thread::spawn(move || drop(rx));
        match tx.send(two).wait() {
            Ok(()) => panic!("there is no room"),
            Err(SendError(message)) => drop(message),
        }
        joined(goes);
        assert_eq!(living.load(Counted::Relaxed), 0);
    });
}

/// The receiver goes as a message is put, of which the sender then finds out whose it is.
#[test]
fn the_receiver_goes_against_a_message() {
    explore("the_receiver_goes_against_a_message", || {
        let living = Arc::new(Count::new(0));
        let (mut tx, rx) = spsc(4);
        assert!(tx.try_send(Message::new(&living)).is_ok());
        let goes = thread::spawn(move || drop(rx));
        for _ in 0..2 {
            let _sent_or_not = tx.try_send(Message::new(&living));
        }
        joined(goes);
        // What was sent is gone, as the receiver is; and what was not, too.
        assert_eq!(living.load(Counted::Relaxed), 0);
        let last = tx.try_send(Message::new(&living));
        assert!(matches!(last, Err(TrySendError::Closed(_))));
    });
}

/// Both go at once: the channel is freed once.
#[test]
fn both_sides_go() {
    explore("both_sides_go", || {
        let living = Arc::new(Count::new(0));
        let (mut tx, rx) = spsc(1);
        assert!(tx.try_send(Message::new(&living)).is_ok());
        let goes = thread::spawn(move || drop(rx));
        drop(tx);
        joined(goes);
        assert_eq!(living.load(Counted::Relaxed), 0);
    });
}

/// A receiver that waits is dropped as it is woken; the next one finds the message.
#[test]
fn a_receive_is_dropped_against_the_wake() {
    explore("a_receive_is_dropped_against_the_wake", || {
        let wakes = Arc::new(Wakes::default());
        let (mut tx, mut rx) = spsc(1);
        let sends = {
            let mut receiving = pin!(rx.recv());
            let polled = poll_once(receiving.as_mut(), &wakes.clone().into());
            assert!(polled.is_pending());
            thread::spawn(move || tx.try_send(1).is_ok())
        };
        assert_eq!(rx.recv().wait(), Ok(1));
        assert!(joined(sends));
        assert!(wakes.0.load(Counted::Relaxed) <= 1);
    });
}

/// A sender that waits is dropped as it is woken: its message goes with it, and the next one has the place.
#[test]
fn a_send_is_dropped_against_the_wake() {
    explore("a_send_is_dropped_against_the_wake", || {
        let living = Arc::new(Count::new(0));
        let (mut tx, mut rx) = spsc(1);
        assert!(tx.try_send(Message::new(&living)).is_ok());
        let receives = {
            let mut sending = pin!(tx.send(Message::new(&living)));
            assert!(poll_once(sending.as_mut(), Waker::noop()).is_pending());
            thread::spawn(move || drop(rx.recv().wait()))
        };
        drop(tx.send(Message::new(&living)).wait());
        joined(receives);
        drop(tx);
        assert_eq!(living.load(Counted::Relaxed), 0);
    });
}

/// It is polled again by another waker as it is woken: one of the two is called, or the poll finds the message.
#[test]
fn another_waker_against_the_wake() {
    explore("another_waker_against_the_wake", || {
        let (first, second) = (Arc::new(Wakes::default()), Arc::new(Wakes::default()));
        let (mut tx, mut rx) = spsc(1);
        let mut receiving = Box::pin(rx.recv());
        assert!(poll_once(receiving.as_mut(), &first.clone().into()).is_pending());
        let sends = thread::spawn(move || tx.try_send(1).is_ok());
        let polled = poll_once(receiving.as_mut(), &second.clone().into());
        assert!(joined(sends));
        match polled {
            Poll::Ready(got) => assert_eq!(got, Ok(1)),
            Poll::Pending => assert_eq!(second.0.load(Counted::Relaxed), 1),
        }
    });
}

/// A receive that waits is forgotten; what wakes it does not keep the next ones from being woken.
#[test]
fn a_receive_is_forgotten() {
    explore("a_receive_is_forgotten", || {
        let (mut tx, mut rx) = spsc(1);
        let mut forgotten = Box::pin(rx.recv());
        assert!(poll_once(forgotten.as_mut(), Waker::noop()).is_pending());
        std::mem::forget(forgotten);
        let sends = thread::spawn(move || tx.send(1).wait().and(tx.send(2).wait()));
        assert_eq!(rx.recv().wait(), Ok(1));
        assert_eq!(rx.recv().wait(), Ok(2));
        assert_eq!(joined(sends), Ok(()));
    });
}

/// A sender that looks late at a step before takes the bit of a receiver that is about to park: that one sees so, and
/// begins anew.
#[test]
fn a_late_look_against_parking() {
    explore_within(4, "a_late_look_against_parking", || {
        let (mut tx, mut rx) = spsc(2);
        let receives = thread::spawn(move || (rx.recv().wait(), rx.recv().wait()));
        assert!(tx.try_send(1).is_ok() && tx.try_send(2).is_ok());
        assert_eq!(joined(receives), (Ok(1), Ok(2)));
    });
}

/// Many at once against a sender that waits.
#[test]
fn many_at_once() {
    explore("many_at_once", || {
        let (mut tx, mut rx) = spsc(2);
        assert!(tx.try_send(0).is_ok() && tx.try_send(1).is_ok());
        let sends = thread::spawn(move || tx.send(2).wait());
        let mut got = Vec::with_capacity(8);
        assert!(rx.recv_many(&mut got, 2).wait().is_ok());
        if got.len() < 3 {
            assert!(rx.recv_many(&mut got, 2).wait().is_ok());
        }
        assert_eq!(got, [0, 1, 2]);
        assert_eq!(joined(sends), Ok(()));
    });
}
