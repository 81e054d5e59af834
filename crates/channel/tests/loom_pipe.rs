//! Models of pipes: whose turn it is, who is woken, and who frees.
//!
//! Run by `cargo xtask loom`; what loom cannot see is told in `crates/core/tests/loom.rs`.
#![cfg(loom)]

mod support;

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize as Count, Ordering as Counted};
use std::task::Poll;

use gossamer_channel::Closed;
use gossamer_channel::pipe::{
    Endpoint, First, Hears, Receiving, ReceivingEnd, Second, SendingEnd, Side, pair,
};
use gossamer_core::platform::atomic::{AtomicU32, Ordering};
use gossamer_core::platform::model::{explore, joined, poll_once};
use gossamer_core::platform::thread;
use gossamer_core::policy::Shared;
use gossamer_core::wait::Wait;

use support::Message;

/// The simplest protocol: any message, any number of times, by turns.
struct Hearing<M, S: Side>(ReceivingEnd<M, Shared, S>);

impl<M, S: Side> Endpoint for Hearing<M, S> {
    type Message = M;
    type Flavour = Shared;
    type Side = S;
}

impl<M, S: Side> Hears for Hearing<M, S> {
    type Heard = (Option<M>, SendingEnd<M, Shared, S>);

    fn of_receiving_end(end: ReceivingEnd<M, Shared, S>) -> Self {
        Self(end)
    }

    fn into_receiving_end(self) -> ReceivingEnd<M, Shared, S> {
        self.0
    }

    fn hear(message: Option<M>, end: SendingEnd<M, Shared, S>) -> Self::Heard {
        (message, end)
    }
}

fn pipe<M>() -> (
    SendingEnd<M, Shared, First>,
    ReceivingEnd<M, Shared, Second>,
) {
    pair()
}

fn recv<M, S: Side>(end: ReceivingEnd<M, Shared, S>) -> Receiving<Hearing<M, S>> {
    Receiving::new(Hearing(end))
}

/// A message against one that looks, waits and is woken; what was done before is seen.
#[test]
fn say_against_receive() {
    explore("say_against_receive", || {
        let behind = Arc::new(AtomicU32::new(0));
        let (speaks, hears) = pipe();
        let seen = behind.clone();
        let receives = thread::spawn(move || {
            let heard = recv(hears).wait().map(|(message, _)| message);
            (heard, seen.load(Ordering::Relaxed))
        });
        behind.store(1, Ordering::Relaxed);
        let speaks = speaks.say(7);
        assert_eq!(joined(receives), (Ok(Some(7)), 1));
        drop(speaks);
    });
}

/// One slot for the whole session: each message is taken before the next is there.
#[test]
fn three_messages_reuse_the_slot() {
    explore("three_messages_reuse_the_slot", || {
        let (speaks, hears) = pipe();
        let answers = thread::spawn(move || {
            let (one, end) = recv(hears).wait()?;
            let end = end.say(one.map(|one| one + 1).expect("a message"));
            let (three, _) = recv(end.map_err(|_| Closed)?).wait()?;
            Ok::<_, Closed>(three)
        });
        let end = speaks.say(1).expect("it is there");
        let (two, end) = recv(end).wait().expect("it answers");
        assert_eq!(two, Some(2));
        drop(end.say(3).expect("it waits"));
        assert_eq!(joined(answers), Ok(Some(3)));
    });
}

/// Two messages in a row: the second waits until the first has been taken.
#[test]
fn two_in_a_row() {
    explore("two_in_a_row", || {
        let (speaks, hears) = pipe();
        let receives = thread::spawn(move || {
            let (one, end) = recv(hears).wait()?;
            let (two, _) = recv(end.pass()).wait()?;
            Ok::<_, Closed>((one, two))
        });
        let end = speaks.say(1).expect("it is there");
        let (none, end) = recv(end).wait().expect("it passes");
        assert_eq!(none, None);
        drop(end.say(2).expect("it waits"));
        assert_eq!(joined(receives), Ok((Some(1), Some(2))));
    });
}

/// The one whose turn it is goes as the other looks, and waits: it is told.
#[test]
fn drop_against_park() {
    explore("drop_against_park", || {
        let (speaks, hears) = pipe::<u32>();
        let receives = thread::spawn(move || recv(hears).wait().map(|(message, _)| message));
        drop(speaks);
        assert_eq!(joined(receives), Err(Closed));
    });
}

/// The one that listens goes, waiting or not, as the other sends: the message is dropped once, by whom it belongs to.
#[test]
fn drop_against_say() {
    explore("drop_against_say", || {
        let living = Arc::new(Count::new(0));
        let (speaks, hears) = pipe();
        let goes = thread::spawn(move || {
            let mut receiving = recv(hears);
            let heard = poll_once(Pin::new(&mut receiving)).is_ready();
            drop(receiving);
            heard
        });
        let back = speaks.say(Message::new(&living));
        let (is_back, was_heard) = (back.is_err(), joined(goes));
        assert!(!(is_back && was_heard));
        let so_far = living.load(Counted::Relaxed);
        assert_eq!(so_far, usize::from(is_back));
        drop(back);
        assert_eq!(living.load(Counted::Relaxed), 0);
    });
}

/// Both go at once, with a message on its way: it is dropped, and all is freed once.
#[test]
fn both_go() {
    explore("both_go", || {
        let living = Arc::new(Count::new(0));
        let (speaks, hears) = pipe();
        let end = speaks.say(Message::new(&living)).map_err(drop);
        let goes = thread::spawn(move || drop(hears));
        drop(end);
        joined(goes);
        assert_eq!(living.load(Counted::Relaxed), 0);
    });
}

/// One sends and goes at once; the message is received all the same, and the slot passed to nobody.
#[test]
fn what_was_sent_is_received() {
    explore("what_was_sent_is_received", || {
        let (speaks, hears) = pipe();
        let receives = thread::spawn(move || {
            let (message, end) = recv(hears).wait()?;
            Ok((message, recv(end.pass()).wait().is_err()))
        });
        drop(speaks.say(5).expect("it is there"));
        assert_eq!(joined(receives), Ok::<_, Closed>((Some(5), true)));
    });
}

/// Who waits gives up, takes its waker back, and waits anew with another one, as the message comes.
#[test]
fn give_up_against_say() {
    explore("give_up_against_say", || {
        let (speaks, hears) = pipe();
        let receives = thread::spawn(move || {
            let mut receiving = recv(hears);
            if let Poll::Ready(heard) = poll_once(Pin::new(&mut receiving)) {
                return heard.map(|(message, _)| message);
            }
            let Hearing(end) = receiving.into_endpoint().expect("it has given nothing");
            recv(end).wait().map(|(message, _)| message)
        });
        let end = speaks.say(7).expect("it is there");
        assert_eq!(joined(receives), Ok(Some(7)));
        drop(end);
    });
}

/// A foreign waker is replaced by another one, in its box, as the message comes: the last one is called, or finds it.
#[test]
fn another_waker_against_say() {
    explore("another_waker_against_say", || {
        let (speaks, hears) = pipe();
        let receives = thread::spawn(move || {
            let mut receiving = recv(hears);
            if let Poll::Ready(heard) = poll_once(Pin::new(&mut receiving)) {
                return heard.map(|(message, _)| message);
            }
            poll_fn(|cx| Pin::new(&mut receiving).poll(cx))
                .wait()
                .map(|(message, _)| message)
        });
        let end = speaks.say(7).expect("it is there");
        assert_eq!(joined(receives), Ok(Some(7)));
        drop(end);
    });
}
