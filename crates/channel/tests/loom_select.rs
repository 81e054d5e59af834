//! Models of selects over rendezvous channels: their groups, and who claims them.
//!
//! Run by `cargo xtask loom`; what loom cannot see is told in `crates/core/tests/loom.rs`.
#![cfg(loom)]

mod support;

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize as Count, Ordering as Counted};
use std::task::Poll;

use gossamer_channel::select::{Select, Turn, poll_branch_at};
use gossamer_channel::{Closed, bounded, join_pattern, rendezvous, unbounded};
use gossamer_core::context::range_of;
use gossamer_core::platform::model::{explore, explore_within, joined, poll_once};
use gossamer_core::platform::thread;
use gossamer_core::wait::Wait;

use support::Message;

/// The output of the branch that is taken.
#[derive(Debug, PartialEq, Eq)]
enum Taken<A, B> {
    One(A),
    Other(B),
}

/// What `select!` makes of two branches, the first of which is asked first.
async fn first<A: Future, B: Future>(one: A, other: B) -> Taken<A::Output, B::Output> {
    let (mut one, mut other) = (pin!(one), pin!(other));
    let select = Select::new(2, 0, |branch, cx| {
        let Some(cx) = cx else { return Turn::Out };
        let polled = if branch == 0 {
            poll_branch_at(range_of(&*one), one.as_mut(), cx).map(Taken::One)
        } else {
            poll_branch_at(range_of(&*other), other.as_mut(), cx).map(Taken::Other)
        };
        match polled {
            Poll::Ready(taken) => Turn::Ready(taken),
            Poll::Pending => Turn::Waits,
        }
    });
    select.await.expect("both take part to the end")
}

/// One select sends over two channels, at each of which a receiver comes: one has a message, and the other none. One that
/// is turned away, as the select is being polled, is called afterwards.
#[test]
fn a_select_of_sends_against_its_receivers() {
    explore_within(1, "a_select_of_sends_against_its_receivers", || {
        let ((a, from_a), (b, from_b)) = (rendezvous(), rendezvous());
        let sends = thread::spawn(move || first(a.send(1), b.send(2)).wait());
        let seen = from_b.try_recv().ok();
        let received = from_a.recv().wait();
        match received {
            Ok(one) => assert_eq!((one, joined(sends), seen), (1, Taken::One(Ok(())), None)),
            Err(Closed) => assert_eq!((joined(sends), seen), (Taken::Other(Ok(())), Some(2))),
        }
    });
}

/// Two selects over two channels, in crossed order: exactly one message goes over.
#[test]
fn two_selects_in_crossed_order() {
    explore_within(2, "two_selects_in_crossed_order", || {
        let ((a, from_a), (b, from_b)) = (rendezvous(), rendezvous());
        let other = thread::spawn(move || first(a.send(1), from_b.recv()).wait());
        let here = first(from_a.recv(), b.send(2)).wait();
        match joined(other) {
            Taken::One(sent) => assert_eq!((sent, here), (Ok(()), Taken::One(Ok(1)))),
            Taken::Other(received) => assert_eq!((received, here), (Ok(2), Taken::Other(Ok(())))),
        }
    });
}

/// Two selects that send and receive over one channel meet each other, and none meets itself.
#[test]
fn two_selects_over_one_channel() {
    explore_within(1, "two_selects_over_one_channel", || {
        let (tx, rx) = rendezvous();
        let (other_tx, other_rx) = (tx.clone(), rx.clone());
        let other = thread::spawn(move || first(other_rx.recv(), other_tx.send(1)).wait());
        let here = first(rx.recv(), tx.send(2)).wait();
        match joined(other) {
            Taken::One(received) => assert_eq!((received, here), (Ok(2), Taken::Other(Ok(())))),
            Taken::Other(sent) => assert_eq!((sent, here), (Ok(()), Taken::One(Ok(1)))),
        }
    });
}

/// Another branch becomes ready as a receiver comes: either the message is received, or that branch is taken.
#[test]
fn a_send_against_another_branch() {
    explore("a_send_against_another_branch", || {
        let ((a, from_a), (stop, stopped)) = (rendezvous(), unbounded());
        let selects = thread::spawn(move || first(stopped.recv(), a.send(1)).wait());
        assert!(stop.try_send(()).is_ok());
        let received = from_a.try_recv().ok();
        let expected = match received {
            Some(_) => Taken::Other(Ok(())),
            None => Taken::One(Ok(())),
        };
        assert_eq!(joined(selects), expected);
    });
}

/// A join wants a message of each of two channels, and one select sends over both: it has one of them at most.
#[test]
fn a_join_against_a_select_of_sends() {
    explore_within(1, "a_join_against_a_select_of_sends", || {
        let ((a, from_a), (b, from_b)) = (rendezvous(), rendezvous());
        let other = b.clone();
        let sends = thread::spawn(move || first(a.send(1), b.send(2)).wait());
        let mut another = pin!(other.send(3));
        assert!(poll_once(another.as_mut()).is_pending());
        assert_eq!(join_pattern((&from_a, &from_b)).wait(), Ok((1, 3)));
        assert_eq!(joined(sends), Taken::One(Ok(())));
        assert_eq!(poll_once(another), Poll::Ready(Ok(())));
    });
}

/// A join claims a group and gives it back, as it lacks another message; who comes next has it.
#[test]
fn a_join_gives_back_to_a_receiver() {
    explore_within(1, "a_join_gives_back_to_a_receiver", || {
        let ((a, from_a), (b, from_b)) = (rendezvous(), rendezvous());
        let sends = thread::spawn(move || first(a.send(1), b.send(2)).wait());
        {
            let mut join = pin!(join_pattern((&from_a, &from_b)));
            assert!(poll_once(join.as_mut()).is_pending());
        }
        assert_eq!(from_b.recv().wait(), Ok(2));
        assert_eq!(joined(sends), Taken::Other(Ok(())));
    });
}

/// A select goes as a receiver comes: the message is received, or dropped with its operation.
#[test]
fn a_select_goes_against_a_receiver() {
    explore("a_select_goes_against_a_receiver", || {
        let living = Arc::new(Count::new(0));
        let ((a, from_a), (b, from_b)) = (rendezvous(), rendezvous());
        let other = from_a.clone();
        let receives = thread::spawn(move || other.try_recv().is_ok());
        {
            let (one, other) = (Message::new(&living), Message::new(&living));
            let mut select = pin!(first(a.send(one), b.send(other)));
            assert!(poll_once(select.as_mut()).is_pending());
        }
        joined(receives);
        drop((from_a, from_b));
        assert_eq!(living.load(Counted::Relaxed), 0);
    });
}

/// A place is reserved for a sender that waits; it goes without a poll, and the next one has the place.
#[test]
fn a_reservation_against_cancelling() {
    explore_within(1, "a_reservation_against_cancelling", || {
        let (tx, rx) = bounded(1);
        assert!(tx.try_send(1).is_ok());
        let receives = thread::spawn(move || {
            let receive = || rx.recv().wait().ok();
            (receive(), receive(), receive())
        });
        let sent = {
            let mut goes = pin!(tx.send(2));
            poll_once(goes.as_mut()).is_ready()
        };
        assert_eq!(tx.send(3).wait(), Ok(()));
        drop(tx);
        let expected = match sent {
            true => (Some(1), Some(2), Some(3)),
            false => (Some(1), Some(3), None),
        };
        assert_eq!(joined(receives), expected);
    });
}
