//! Panics in messages and wakers, and user code that comes back to the channel: at each place where it is called.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::rules::{got, received, refused};
use super::{Kind, Message, Rx, Tx, over_all};
use crate::bad_wakers::{
    comes_back, coming_back, fails, may_fail, not_cloned, panics_in_drop, panics_in_wake, planned,
};
use crate::hand::{Hand, parked, ready};
use crate::tally::Tally;

over_all! {
    a_message_whose_drop_panics,
    a_message_that_sends_when_it_is_dropped,
    a_waker_that_panics_when_it_wakes,
    a_waker_that_panics_when_it_is_dropped,
    a_waker_that_panics_when_it_is_cloned,
    a_waker_that_comes_back,
}

fn bad(tally: &Tally, id: u32) -> Message {
    Message::new(tally, id).when_dropped(|| planned())
}

/// The panic reaches whoever drops; the other messages and the channel go all the same, and a sender that waits is told.
fn a_message_whose_drop_panics(kind: &Kind) {
    for (variant, sender_first) in kind
        .variants
        .iter()
        .flat_map(|one| [(one, false), (one, true)])
    {
        let tally = Tally::default();
        let (mut tx, rx) = (variant.make)();
        let number = variant.room.min(4) as u32;
        for id in 0..number {
            let message = match id {
                0 => bad(&tally, id),
                _ => Message::new(&tally, id),
            };
            assert!(tx.try_send(message).is_ok());
        }
        let goes = |rx| match number {
            0 => drop::<Rx>(rx),
            _ => fails(|| drop(rx)),
        };
        if sender_first {
            drop(tx);
            goes(rx);
            assert_eq!(tally.living(), 0);
            continue;
        }
        if variant.can_be_full() && variant.room < 4 {
            let waits = parked(tx.send(bad(&tally, 9)));
            fails(|| drop(waits));
            let mut waits = parked(tx.send(Message::new(&tally, 9)));
            goes(rx);
            assert_eq!(waits.wakes(), 1);
            assert!(ready(waits.poll()).is_err());
        } else {
            goes(rx);
        }
        assert_eq!(tally.living(), 0);
        fails(|| drop(tx.try_send(bad(&tally, 9))));
        assert_eq!(refused(&mut tx, Message::new(&tally, 8)), 8);
        drop(tx);
        assert_eq!(tally.living(), 0);
    }
}

/// It sends through the sender, in the midst of the receiver's end, and the last one drops it there.
fn a_message_that_sends_when_it_is_dropped(kind: &Kind) {
    for variant in &kind.variants {
        let tally = Tally::default();
        let (mut tx, mut rx) = (variant.make)();
        let slot = Rc::new(RefCell::new(None::<Tx>));
        let seen = Rc::new(Cell::new(0));
        let number = variant.room.min(variant.messages).min(4) as u32;
        for id in 0..number {
            let (slot, seen, own) = (slot.clone(), seen.clone(), tally.clone());
            let message = Message::new(&tally, id).when_dropped(move || {
                let Some(mut tx) = slot.take() else { return };
                assert_eq!(refused(&mut tx, Message::new(&own, 9)), 9);
                seen.set(seen.get() + 1);
                if id + 1 < number {
                    slot.replace(Some(tx));
                }
            });
            assert!(tx.try_send(message).is_ok());
        }
        // If one has been received, there is room of which a ring's sender does not know.
        let first = (number > 1).then(|| rx.try_recv());
        slot.replace(Some(tx));
        drop(rx);
        let left = number - u32::from(first.is_some());
        assert_eq!(seen.get(), left);
        drop(first);
        assert_eq!(tally.living(), 0);
    }
}

/// Nobody sees the panic, the operation goes on, and others that are woken with it are woken.
fn a_waker_that_panics_when_it_wakes(kind: &Kind) {
    let loud = panics_in_wake();
    for variant in &kind.variants {
        let tally = Tally::default();
        let (mut tx, mut rx) = (variant.make)();
        let mut receives = Hand::new(rx.recv());
        assert!(receives.poll_with(&loud).is_pending());
        assert!(tx.try_send(Message::new(&tally, 1)).is_ok());
        assert!(ready(receives.poll_with(&loud)).is_ok());
        drop(receives);

        let (tx, mut rx) = (variant.make)();
        let mut other = rx.another();
        let mut receives = Hand::new(rx.recv());
        assert!(receives.poll_with(&loud).is_pending());
        let second = other.as_mut().map(|rx| parked(rx.recv()));
        drop(tx);
        assert!(ready(receives.poll_with(&loud)).is_err());
        assert!(second.is_none_or(|second| second.wakes() == 1));
        drop(receives);

        if variant.can_be_full() && variant.room < 4 {
            let (mut tx, mut rx, number) = variant.filled(&tally, 4);
            let mut other = tx.another();
            let mut sends = Hand::new(tx.send(Message::new(&tally, number)));
            assert!(sends.poll_with(&loud).is_pending());
            let last = Message::new(&tally, number + 1);
            let second = other.as_mut().map(|tx| parked(tx.send(last)));
            assert_eq!(got(&mut rx), Ok(0));
            assert!(ready(sends.poll_with(&loud)).is_ok());
            for id in 1..=number {
                assert_eq!(got(&mut rx), Ok(id));
            }
            if number == 0 {
                // A rendezvous: one that is not woken so far is taken, one that has the turn by now is woken.
                drop(rx.try_recv());
            }
            assert!(second.is_none_or(|second| second.wakes() == 1));
        }
        drop((rx, other));
        assert_eq!(tally.living(), 0);
    }
}

/// The panic may reach whoever dropped the waker; the channel does not mind.
fn a_waker_that_panics_when_it_is_dropped(kind: &Kind) {
    for variant in &kind.variants {
        let tally = Tally::default();
        let (mut tx, mut rx) = (variant.make)();
        let mut receives = Hand::new(rx.recv());
        // It has the last waker of its kind; then another one takes its place, or the operation goes.
        let waker = panics_in_drop();
        assert!(receives.poll_with(&waker).is_pending());
        drop(waker);
        may_fail(|| assert!(receives.poll().is_pending()));
        assert!(receives.poll().is_pending());
        assert_eq!(receives.wakers_held(), 1);
        let waker = panics_in_drop();
        assert!(receives.poll_with(&waker).is_pending());
        drop(waker);
        may_fail(|| drop(receives));
        let receives = parked(rx.recv());
        assert!(tx.try_send(Message::new(&tally, 1)).is_ok());
        assert_eq!(receives.wakes(), 1);
        drop(receives);
        assert_eq!(received(&mut rx), Ok(1));
        if variant.can_be_full() && variant.room < 4 {
            let (mut tx, mut rx, number) = variant.filled(&tally, 4);
            let mut sends = Hand::new(tx.send(Message::new(&tally, 9)));
            let waker = panics_in_drop();
            assert!(sends.poll_with(&waker).is_pending());
            drop(waker);
            may_fail(|| drop(sends));
            let mut sends = parked(tx.send(Message::new(&tally, number)));
            assert_eq!((got(&mut rx), sends.wakes()), (Ok(0), 1));
            assert!(ready(sends.poll()).is_ok());
        }
        drop(rx);
        assert_eq!(tally.living(), 0);
    }
}

/// The panic reaches whoever polls, whose operation waits on or goes.
fn a_waker_that_panics_when_it_is_cloned(kind: &Kind) {
    for variant in &kind.variants {
        let tally = Tally::default();
        for goes_on in [true, false] {
            let (mut tx, mut rx) = (variant.make)();
            let mut receives = Hand::new(rx.recv());
            fails(|| drop(receives.poll_with(&not_cloned())));
            if goes_on {
                assert!(receives.poll().is_pending());
                fails(|| drop(receives.poll_with(&not_cloned())));
            }
            drop(receives);
            let mut receives = parked(rx.recv());
            assert!(tx.try_send(Message::new(&tally, 1)).is_ok());
            assert_eq!(receives.wakes(), 1);
            assert!(ready(receives.poll()).is_ok());
        }
        if variant.can_be_full() && variant.room < 4 {
            let (mut tx, mut rx, number) = variant.filled(&tally, 4);
            let mut sends = Hand::new(tx.send(Message::new(&tally, 9)));
            fails(|| drop(sends.poll_with(&not_cloned())));
            drop(sends);
            let mut sends = parked(tx.send(Message::new(&tally, number)));
            assert_eq!((got(&mut rx), sends.wakes()), (Ok(0), 1));
            assert!(ready(sends.poll()).is_ok());
        }
        assert_eq!(tally.living(), 0);
    }
}

/// It sends when it is called and when it is dropped: no lock is held.
fn a_waker_that_comes_back(kind: &Kind) {
    for variant in kind.variants.iter().filter(|variant| variant.room > 0) {
        let tally = Tally::default();
        let (mut tx, mut rx) = (variant.make)();
        let other = tx.another().filter(|_| variant.room > 1);
        let (own, came) = (tally.clone(), Rc::new(Cell::new(0)));
        let counts = came.clone();
        let sends = move || {
            counts.set(counts.get() + 1);
            drop(tx.try_send(Message::new(&own, 7)));
        };
        coming_back(sends, || {
            if let Some(mut other) = other {
                let mut receives = Hand::new(rx.recv());
                assert!(receives.poll_with(&comes_back()).is_pending());
                assert!(other.try_send(Message::new(&tally, 1)).is_ok());
                assert_eq!(came.replace(0), 2, "woken and dropped");
                assert_eq!(ready(receives.poll()).map(|message| message.id), Ok(1));
                drop(receives);
                assert_eq!((got(&mut rx), got(&mut rx)), (Ok(7), Ok(7)));
            }
            // Another waker takes its place.
            let mut receives = Hand::new(rx.recv());
            assert!(receives.poll_with(&comes_back()).is_pending());
            let mut polled = receives.poll();
            assert_eq!(came.get(), 1, "dropped");
            if polled.is_pending() {
                assert_eq!(receives.wakes(), 1);
                polled = receives.poll();
            }
            assert_eq!(ready(polled).map(|message| message.id), Ok(7));
        });
        drop(rx);
        assert_eq!(tally.living(), 0);
    }
}
