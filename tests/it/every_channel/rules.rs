//! One rule at a time, polled by hand.

use std::sync::Arc;
use std::task::Poll;

use gossamer::channel::{Closed, SendError, TryRecvError, TrySendError};

use super::{Kind, Message, Rx, Tx, Variant, over_all};
use crate::hand::{Hand, Wakes, parked, ready};
use crate::tally::Tally;

over_all! {
    in_order_and_none_is_lost,
    as_many_as_there_is_room,
    a_receiver_that_waits_is_woken_once,
    the_first_free_place_wakes_the_sender,
    messages_outlive_their_sender,
    the_last_one_of_a_side_closes_it,
    a_receiver_that_waits_is_told_of_the_end,
    a_sender_that_waits_is_told_and_keeps_its_message,
    the_last_receiver_drops_what_is_left,
    a_message_after_the_receiver_comes_back,
    a_send_that_is_dropped_has_not_sent,
    a_receive_that_is_dropped_leaves_the_message,
    the_last_waker_is_called,
    an_operation_that_was_forgotten,
    many_at_once,
}

/// No more than so many messages where there is no limit.
const MOST: usize = 20;

/// Runs a rule on every variant; in the end no message is left.
fn each(kind: &Kind, rule: impl Fn(&Variant, &Tally)) {
    for variant in &kind.variants {
        let tally = Tally::default();
        rule(variant, &tally);
        assert_eq!(tally.living(), 0, "room for {}", variant.room);
    }
}

/// What was received: the number of a message.
#[track_caller]
pub(super) fn got(rx: &mut Rx) -> Result<u32, TryRecvError> {
    rx.try_recv().map(|message| message.id)
}

/// What a receive that is ready gives.
#[track_caller]
pub(super) fn received(rx: &mut Rx) -> Result<u32, Closed> {
    ready(Hand::new(rx.recv()).poll()).map(|message| message.id)
}

/// What a send that is ready gives: the number of the message, if that comes back.
#[track_caller]
fn sent(poll: Poll<Result<(), SendError<Message>>>) -> Result<(), u32> {
    ready(poll).map_err(|SendError(message)| message.id)
}

/// What comes back, if nobody is there.
#[track_caller]
pub(super) fn refused(tx: &mut Tx, message: Message) -> u32 {
    match tx.try_send(message) {
        Err(TrySendError::Closed(message)) => message.id,
        Err(TrySendError::Full(_)) => panic!("it is full"),
        Ok(()) => panic!("it was sent"),
    }
}

fn in_order_and_none_is_lost(kind: &Kind) {
    each(kind, |variant, tally| {
        let (mut tx, mut rx) = (variant.make)();
        for id in 0..variant.messages.min(100) as u32 {
            assert_eq!(got(&mut rx), Err(TryRecvError::Empty));
            let mut sends = Hand::new(tx.send(Message::new(tally, id)));
            let polled = sends.poll();
            assert_eq!(polled.is_pending(), variant.room == 0, "{id}");
            assert_eq!(got(&mut rx), Ok(id));
            if polled.is_pending() {
                assert_eq!((sends.wakes(), sent(sends.poll())), (1, Ok(())));
            }
        }
    });
}

fn as_many_as_there_is_room(kind: &Kind) {
    each(kind, |variant, tally| {
        let (mut tx, mut rx) = (variant.make)();
        for round in 0..3 {
            if round > 0 && variant.messages == 1 {
                break;
            }
            let number = variant.room.min(1_000) as u32;
            for id in 0..number {
                assert!(tx.try_send(Message::new(tally, id)).is_ok(), "{id}");
            }
            if variant.room < 1_000 && variant.can_be_full() {
                let Err(TrySendError::Full(back)) = tx.try_send(Message::new(tally, 77)) else {
                    panic!("there is no room")
                };
                assert_eq!(back.id, 77);
            }
            for id in 0..number {
                assert_eq!(got(&mut rx), Ok(id));
            }
        }
    });
}

fn a_receiver_that_waits_is_woken_once(kind: &Kind) {
    each(kind, |variant, tally| {
        let (mut tx, mut rx) = (variant.make)();
        for _ in 0..variant.messages.min(3) {
            let mut receives = parked(rx.recv());
            let most = variant.room.clamp(1, 3) as u32;
            for id in 0..most {
                assert!(tx.try_send(Message::new(tally, id)).is_ok());
            }
            assert_eq!(receives.wakes(), 1);
            assert_eq!(ready(receives.poll()).map(|message| message.id), Ok(0));
            assert_eq!(receives.wakers_held(), 0);
            drop(receives);
            for id in 1..most {
                assert_eq!(received(&mut rx), Ok(id));
            }
        }
    });
}

fn the_first_free_place_wakes_the_sender(kind: &Kind) {
    each(kind, |variant, tally| {
        if !variant.can_be_full() || variant.room > MOST {
            return;
        }
        let (mut tx, mut rx, number) = variant.filled(tally, MOST);
        let mut sends = parked(tx.send(Message::new(tally, number)));
        for id in 0..=number {
            assert_eq!(sends.wakes(), usize::from(id > 0));
            assert_eq!(got(&mut rx), Ok(id));
            if id == 0 {
                assert_eq!((sends.wakes(), sent(sends.poll())), (1, Ok(())));
                assert_eq!(sends.wakers_held(), 0);
            }
        }
        drop(sends);
        assert_eq!(got(&mut rx), Err(TryRecvError::Empty));
        assert!(tx.try_send(Message::new(tally, 9)).is_ok() || variant.room == 0);
    });
}

fn messages_outlive_their_sender(kind: &Kind) {
    each(kind, |variant, tally| {
        let (tx, mut rx, number) = variant.filled(tally, 3);
        if let Some(other) = tx.another() {
            drop(other);
        }
        let tx = tx.another().unwrap_or(tx);
        drop(tx);
        for id in 0..number {
            assert_eq!(received(&mut rx), Ok(id));
        }
        for _ in 0..2 {
            assert_eq!(received(&mut rx), Err(Closed));
            assert_eq!(got(&mut rx), Err(TryRecvError::Closed));
        }
    });
}

fn the_last_one_of_a_side_closes_it(kind: &Kind) {
    each(kind, |variant, _| {
        let says = |closed: Option<bool>, wanted| assert_eq!(closed.unwrap_or(wanted), wanted);
        let (tx, rx) = (variant.make)();
        let other = tx.another();
        says(rx.is_closed(), false);
        drop(tx);
        says(rx.is_closed(), other.is_none());
        drop(other);
        says(rx.is_closed(), true);
        let (tx, rx) = (variant.make)();
        let other = rx.another();
        says(tx.is_closed(), false);
        drop(rx);
        says(tx.is_closed(), other.is_none());
        drop(other);
        says(tx.is_closed(), true);
    });
}

fn a_receiver_that_waits_is_told_of_the_end(kind: &Kind) {
    each(kind, |variant, tally| {
        let (mut tx, mut rx) = (variant.make)();
        let mut others: Vec<_> = (0..2).filter_map(|_| rx.another()).collect();
        let mut waiting: Vec<_> = std::iter::once(&mut rx)
            .chain(&mut others)
            .map(|rx| parked(rx.recv()))
            .collect();
        // They wait on for the other sender.
        if let Some(other) = tx.another() {
            tx = other;
        }
        assert!(
            waiting
                .iter_mut()
                .all(|receives| receives.poll().is_pending())
        );
        drop(tx);
        for receives in &mut waiting {
            assert_eq!(receives.wakes(), 1);
            assert!(ready(receives.poll()).is_err());
            assert_eq!(receives.wakers_held(), 0);
        }
        drop(waiting);
        assert_eq!((tally.living(), received(&mut rx)), (0, Err(Closed)));
    });
}

fn a_sender_that_waits_is_told_and_keeps_its_message(kind: &Kind) {
    each(kind, |variant, tally| {
        if !variant.can_be_full() || variant.room > MOST {
            return;
        }
        let (mut tx, rx, _) = variant.filled(tally, MOST);
        let mut other = tx.another();
        let mut sends = parked(tx.send(Message::new(tally, 30)));
        let mut second = other
            .as_mut()
            .map(|tx| parked(tx.send(Message::new(tally, 31))));
        drop(rx.another());
        assert_eq!(sends.wakes(), 0);
        drop(rx);
        assert_eq!((sends.wakes(), sent(sends.poll())), (1, Err(30)));
        if let Some(second) = &mut second {
            assert_eq!((second.wakes(), sent(second.poll())), (1, Err(31)));
        }
        drop((sends, second));
        assert_eq!(refused(&mut tx, Message::new(tally, 32)), 32);
    });
}

fn the_last_receiver_drops_what_is_left(kind: &Kind) {
    each(kind, |variant, tally| {
        for (received, sender_first) in [(0, false), (0, true), (1, false), (1, true)] {
            let (tx, mut rx, number) = variant.filled(tally, 5);
            for id in 0..number.min(received) {
                assert_eq!(got(&mut rx), Ok(id));
            }
            if let Some(other) = rx.another() {
                rx = other;
            }
            assert_eq!(tally.living(), number.saturating_sub(received) as usize);
            let kept = if sender_first {
                drop(tx);
                None
            } else {
                Some(tx)
            };
            drop(rx);
            assert_eq!(tally.living(), 0);
            drop(kept);
        }
    });
}

fn a_message_after_the_receiver_comes_back(kind: &Kind) {
    each(kind, |variant, tally| {
        // In a fresh channel, and in one that has, or had, messages.
        for received in 0..3 {
            let (mut tx, mut rx, number) = variant.filled(tally, received as usize);
            for id in 0..number.min(received / 2) {
                assert_eq!(got(&mut rx), Ok(id));
            }
            drop(rx);
            for id in 5..8 {
                assert_eq!(refused(&mut tx, Message::new(tally, id)), id);
                let mut sends = Hand::new(tx.send(Message::new(tally, id)));
                assert_eq!(sent(sends.poll()), Err(id));
            }
        }
    });
}

fn a_send_that_is_dropped_has_not_sent(kind: &Kind) {
    each(kind, |variant, tally| {
        let (mut tx, mut rx) = (variant.make)();
        drop(tx.send(Message::new(tally, 9)));
        assert_eq!(
            (tally.living(), got(&mut rx)),
            (0, Err(TryRecvError::Empty))
        );
        if !variant.can_be_full() || variant.room > MOST {
            return;
        }
        let (mut tx, mut rx, number) = variant.filled(tally, MOST);
        drop(parked(tx.send(Message::new(tally, 9))));
        assert_eq!(tally.living(), number as usize);
        let sends = parked(tx.send(Message::new(tally, 9)));
        if number > 0 {
            assert_eq!((got(&mut rx), sends.wakes()), (Ok(0), 1));
        }
        // It has a place, which is free again without it.
        drop(sends);
        for id in 1..=number {
            if id == number {
                assert!(tx.try_send(Message::new(tally, id)).is_ok());
            }
            assert_eq!(got(&mut rx), Ok(id));
        }
        assert_eq!(got(&mut rx), Err(TryRecvError::Empty));
    });
}

fn a_receive_that_is_dropped_leaves_the_message(kind: &Kind) {
    each(kind, |variant, tally| {
        let (mut tx, mut rx) = (variant.make)();
        drop(rx.recv());
        drop(parked(rx.recv()));
        let receives = parked(rx.recv());
        assert!(tx.try_send(Message::new(tally, 1)).is_ok());
        assert_eq!(receives.wakes(), 1);
        drop(receives);
        assert_eq!(got(&mut rx), Ok(1));
        assert!(got(&mut rx).is_err());
    });
}

/// The last one that it was polled with is woken, and no other is kept.
fn the_last_waker_is_called(kind: &Kind) {
    each(kind, |variant, tally| {
        let (mut tx, mut rx) = (variant.make)();
        let wakes = Arc::<Wakes>::default();
        let mut receives = parked(rx.recv());
        assert!(receives.poll().is_pending());
        assert_eq!(receives.wakers_held(), 1);
        assert!(receives.poll_with(&wakes.clone().into()).is_pending());
        assert_eq!(receives.wakers_held(), 0);
        assert!(tx.try_send(Message::new(tally, 1)).is_ok());
        assert_eq!((receives.wakes(), wakes.count()), (0, 1));
        assert!(ready(receives.poll()).is_ok());
        drop(receives);
        if variant.can_be_full() && variant.room < MOST {
            let (mut tx, mut rx, _) = variant.filled(tally, MOST);
            let mut sends = parked(tx.send(Message::new(tally, 40)));
            assert!(sends.poll_with(&wakes.clone().into()).is_pending());
            assert_eq!(sends.wakers_held(), 0);
            assert!(got(&mut rx).is_ok());
            assert_eq!((sends.wakes(), wakes.count()), (0, 2));
            assert_eq!(sent(sends.poll()), Ok(()));
        }
        assert_eq!(Arc::strong_count(&wakes), 1);
    });
}

/// Its node stays in the queue, and does no harm there.
fn an_operation_that_was_forgotten(kind: &Kind) {
    for variant in &kind.variants {
        if !variant.survives_forgetting {
            continue;
        }
        let tally = Tally::default();
        let (mut tx, mut rx) = (variant.make)();
        std::mem::forget(parked(rx.recv()));
        assert!(tx.try_send(Message::new(&tally, 1)).is_ok());
        assert_eq!(got(&mut rx), Ok(1));
        if variant.messages > 1 {
            std::mem::forget(parked(rx.recv()));
            // Of one that receives alone, the next operation takes its place.
            if rx.another().is_none() {
                let mut receives = parked(rx.recv());
                assert!(tx.try_send(Message::new(&tally, 2)).is_ok());
                assert_eq!(receives.wakes(), 1);
                assert_eq!(ready(receives.poll()).map(|message| message.id), Ok(2));
            }
        }
        drop((tx, rx));
        assert_eq!(tally.living(), 0);
        if variant.can_be_full() && variant.room < MOST {
            let (mut tx, mut rx, number) = variant.filled(&tally, MOST);
            std::mem::forget(parked(tx.send(Message::new(&tally, 9))));
            for id in 0..number {
                assert_eq!(got(&mut rx), Ok(id));
            }
            if tx.another().is_none() {
                assert!(tx.try_send(Message::new(&tally, 8)).is_ok());
                assert_eq!(got(&mut rx), Ok(8));
            }
            drop((tx, rx));
            // The message went with the operation.
            assert_eq!(tally.living(), 1);
        }
    }
}

fn many_at_once(kind: &Kind) {
    each(kind, |variant, tally| {
        let (mut tx, mut rx, number) = variant.filled(tally, 5);
        let mut into = vec![Message::new(tally, 100)];
        let Some(none) = rx.recv_many(&mut into, 0) else {
            return;
        };
        assert_eq!(ready(Hand::new(none).poll()), Ok(0));
        let mut receives = |into: &mut Vec<Message>, most: usize| {
            let receives = rx.recv_many(into, most).expect("it has the operation");
            let mut receives = Hand::new(receives);
            let polled = receives.poll();
            // Those that were woken by this send, and those after them.
            if polled.is_pending() {
                assert!(tx.try_send(Message::new(tally, number)).is_ok());
                assert_eq!(receives.wakes(), 1);
                return ready(receives.poll());
            }
            ready(polled)
        };
        let mut all = 0;
        while all < number {
            let most = 3.min(number - all);
            assert_eq!(receives(&mut into, 3), Ok(most as usize));
            all += most;
        }
        assert_eq!(receives(&mut into, 3), Ok(1));
        drop(tx);
        let receives = rx.recv_many(&mut into, 9).expect("it has the operation");
        assert_eq!(ready(Hand::new(receives).poll()), Err(Closed));
        let ids = into.iter().map(|message| message.id);
        assert!(ids.eq(std::iter::once(100).chain(0..=number)));
    });
}
