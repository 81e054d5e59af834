//! Models of joins over several channels, and of sends that keep their message.
//!
//! Run by `cargo xtask loom`; what loom cannot see is told in `crates/core/tests/loom.rs`.
#![cfg(loom)]

use std::pin::pin;
use std::task::Poll;

use gossamer_channel::{Closed, bounded, join_pattern, rendezvous, unbounded};
use gossamer_core::platform::model::{explore, explore_within, joined, poll_once};
use gossamer_core::platform::thread;
use gossamer_core::wait::Wait;

/// Messages come to both while the join looks and waits.
#[test]
fn a_join_against_its_senders() {
    explore_within(1, "a_join_against_its_senders", || {
        let ((a, ones), (b, twos)) = (unbounded(), bounded(1));
        let sends = thread::spawn(move || {
            b.try_send(2).unwrap();
            a.try_send(1).unwrap();
        });
        assert_eq!(join_pattern((&ones, &twos)).wait(), Ok((1, 2)));
        joined(sends);
    });
}

/// Two joins over the same channels, in different orders, do not wait for each other's locks, or have a part each.
#[test]
fn two_joins() {
    explore("two_joins", || {
        let ((a, ones), (b, twos)) = (unbounded(), unbounded());
        a.try_send(1).unwrap();
        b.try_send(10).unwrap();
        let (other, others) = (ones.clone(), twos.clone());
        let joins = thread::spawn(move || join_pattern((&others, &other)).wait());
        a.try_send(2).unwrap();
        b.try_send(20).unwrap();
        let (here, there) = (join_pattern((&ones, &twos)).wait(), joined(joins));
        let ((one, ten), (twenty, two)) = (here.unwrap(), there.unwrap());
        assert_eq!((one + two, ten + twenty), (3, 30));
    });
}

/// A join that waits at a channel another receiver waits at too: both have what they need, or the join is told.
#[test]
fn a_join_and_a_receiver() {
    explore("a_join_and_a_receiver", || {
        let ((a, ones), (b, twos)) = (unbounded(), unbounded());
        let other = ones.clone();
        let receives = thread::spawn(move || other.recv().wait().unwrap());
        a.try_send(1).unwrap();
        a.try_send(2).unwrap();
        b.try_send(5).unwrap();
        let (one, five) = join_pattern((&ones, &twos)).wait().unwrap();
        assert_eq!((one + joined(receives), five), (3, 5));
    });
}

/// Another receiver takes the last message, and then the last sender goes, while a join begins to wait elsewhere: it is
/// told.
#[test]
fn a_join_and_an_end() {
    explore("a_join_and_an_end", || {
        let ((a, ones), (_b, twos)) = (unbounded(), unbounded::<i32>());
        a.try_send(1).unwrap();
        let other = ones.clone();
        let ends = thread::spawn(move || {
            assert_eq!(other.try_recv(), Ok(1));
            drop(a);
        });
        assert_eq!(join_pattern((&ones, &twos)).wait(), Err(Closed));
        joined(ends);
    });
}

/// The other way round; and another join waits for the same end, and is given up.
#[test]
fn two_joins_and_an_end() {
    explore_within(1, "two_joins_and_an_end", || {
        let ((a, ones), (_b, twos)) = (unbounded(), unbounded::<i32>());
        a.try_send(1).unwrap();
        let (other, others) = (ones.clone(), twos.clone());
        let ends = thread::spawn(move || {
            drop(a);
            assert_eq!(other.try_recv(), Ok(1));
        });
        {
            let mut first = pin!(join_pattern((&ones, &others)));
            let _polled = poll_once(first.as_mut());
        }
        assert_eq!(join_pattern((&ones, &twos)).wait(), Err(Closed));
        joined(ends);
    });
}

/// A join takes an offer of a rendezvous channel while another receiver takes one, and while a sender gives up.
#[test]
fn a_join_and_offers() {
    explore("a_join_and_offers", || {
        let ((a, ones), (b, twos)) = (rendezvous(), unbounded());
        b.try_send(5).unwrap();
        let mut first = Box::pin(a.send(Box::new(1)));
        let mut second = Box::pin(a.send(Box::new(2)));
        assert!(poll_once(first.as_mut()).is_pending());
        assert!(poll_once(second.as_mut()).is_pending());
        let other = ones.clone();
        let receives = thread::spawn(move || other.try_recv().ok());
        let joins = thread::spawn(
            move || match poll_once(pin!(join_pattern((&ones, &twos)))) {
                Poll::Ready(both) => both.ok().map(|both| both.0),
                Poll::Pending => None,
            },
        );
        drop(first);
        let got = [joined(receives), joined(joins)];
        assert!(got[0].is_none() || got[0] != got[1], "{got:?}");
        assert!(got.iter().any(Option::is_some), "{got:?}");
        drop(second);
    });
}

/// A send is given up while a receiver makes room for it: the message is here or there.
#[test]
fn a_send_that_is_given_up() {
    explore("a_send_that_is_given_up", || {
        let (tx, rx) = bounded(1);
        tx.try_send(1).unwrap();
        let receives = thread::spawn(move || {
            let first = rx.try_recv();
            (first, rx.try_recv())
        });
        let mut message = Some(2);
        let _polled = poll_once(pin!(tx.send_from(&mut message)));
        let (first, second) = joined(receives);
        assert_eq!(first, Ok(1));
        assert!(second != Ok(2) || message.is_none());
    });
}
