//! Permits: places for messages that are still to come.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;

use gossamer::Wait;
use gossamer::channel::{Closed, SendError, TryRecvError, TrySendError};
use gossamer::select;

use super::Channels;
use crate::flavour::both;
use crate::hand::{Hand, parked, ready};
use crate::tally::Tally;

both! {
    a_permit_is_a_place,
    a_permit_that_is_dropped_passes_its_place_on,
    a_reserve_waits_in_line_with_sends,
    a_reserve_that_is_dropped_passes_its_place_on,
    a_branch_by_reference_passes_its_place_on,
    an_owned_permit_gives_its_sender_back,
    an_owned_reserve_keeps_its_sender,
    the_end_waits_for_permits,
    those_that_reserve_are_told_of_the_end,
    a_message_that_nobody_receives_is_dropped,
    as_many_as_one_likes_of_an_unbounded_channel,
    a_rendezvous_has_no_places,
}

/// What a panic says.
fn panics<R>(body: impl FnOnce() -> R) -> String {
    let caught = catch_unwind(AssertUnwindSafe(|| drop(body())));
    let payload = caught.expect_err("it panics");
    match payload.downcast::<String>() {
        Ok(text) => *text,
        Err(payload) => payload.downcast_ref::<&str>().expect("a text").to_string(),
    }
}

fn a_permit_is_a_place<F: Channels>() {
    let (tx, rx) = F::channel(2);
    let first = tx.reserve().wait().expect("there is room");
    let second = tx.try_reserve().expect("there is room");
    assert_eq!((tx.len(), tx.is_full(), rx.room()), (0, false, Some(0)));
    assert_eq!(tx.try_send(9), Err(TrySendError::Full(9)));
    assert_eq!(tx.try_reserve().map(drop), Err(TrySendError::Full(())));
    assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
    let mut receiver = parked(rx.recv());
    second.send(2);
    assert_eq!((tx.len(), rx.room()), (1, Some(0)));
    assert_eq!(ready(receiver.poll()), Ok(2));
    assert_eq!(tx.try_send(3), Ok(()));
    first.send(1);
    assert!(rx.try_iter().eq([3, 1]));
    for number in 0..2 {
        assert_eq!(tx.try_send(number), Ok(()));
    }
    assert_eq!(tx.try_send(9), Err(TrySendError::Full(9)));
}

fn a_permit_that_is_dropped_passes_its_place_on<F: Channels>() {
    let (tx, rx) = F::channel(1);
    let permit = tx.try_reserve().expect("there is room");
    let (mut send, mut reserve) = (parked(tx.send(1)), parked(tx.reserve()));
    drop(permit);
    assert_eq!((send.wakes(), reserve.wakes()), (1, 0));
    assert_eq!(tx.try_send(9), Err(TrySendError::Full(9)));
    assert_eq!(ready(send.poll()), Ok(()));
    assert_eq!(rx.try_recv(), Ok(1));
    drop(ready(reserve.poll()).expect("there is room"));
    assert_eq!(tx.try_send(2), Ok(()));
}

fn a_reserve_waits_in_line_with_sends<F: Channels>() {
    let (tx, rx) = F::channel(1);
    tx.try_send(0).expect("there is room");
    let (mut send, mut reserve) = (parked(tx.send(1)), parked(tx.reserve()));
    let mut last = parked(tx.send(3));
    assert_eq!(rx.try_recv(), Ok(0));
    assert_eq!((send.wakes(), reserve.wakes(), last.wakes()), (1, 0, 0));
    assert_eq!(ready(send.poll()), Ok(()));
    assert_eq!(rx.try_recv(), Ok(1));
    assert_eq!((reserve.wakes(), last.wakes()), (1, 0));
    let permit = ready(reserve.poll()).expect("there is room");
    assert_eq!(last.wakes(), 0);
    permit.send(2);
    assert_eq!(rx.try_recv(), Ok(2));
    assert_eq!(ready(last.poll()), Ok(()));
    assert_eq!(rx.try_recv(), Ok(3));
}

fn a_reserve_that_is_dropped_passes_its_place_on<F: Channels>() {
    let (tx, rx) = F::channel(1);
    tx.try_send(0).expect("there is room");
    let (reserve, mut owned) = (parked(tx.reserve()), parked(tx.clone().reserve_owned()));
    let mut last = parked(tx.send(1));
    assert_eq!(rx.try_recv(), Ok(0));
    assert_eq!((reserve.wakes(), owned.wakes(), last.wakes()), (1, 0, 0));
    drop(reserve);
    assert_eq!((owned.wakes(), last.wakes()), (1, 0));
    // Its permit is never used.
    let permit = ready(owned.poll());
    drop((permit, owned));
    assert_eq!(last.wakes(), 1);
    assert_eq!(ready(last.poll()), Ok(()));
    assert_eq!((tx.sender_count(), rx.try_recv()), (1, Ok(1)));
}

/// The select ends while its branch has been woken.
fn a_branch_by_reference_passes_its_place_on<F: Channels>() {
    let (tx, rx) = F::channel(1);
    tx.try_send(0).expect("there is room");
    let mut reserve = pin!(tx.reserve());
    let mut owned = pin!(tx.clone().reserve_owned());
    let mut lets_go = false;
    let mut selects = Hand::new(async {
        let second = std::future::poll_fn(|_| match std::mem::replace(&mut lets_go, true) {
            true => std::task::Poll::Ready(()),
            false => std::task::Poll::Pending,
        });
        select! {
            biased;
            () = second => {}
            _ = reserve.as_mut() => panic!("it was not asked again"),
            _ = owned.as_mut() => panic!("it was not asked again"),
        }
    });
    assert!(selects.poll().is_pending());
    let mut last = parked(tx.send(1));
    assert_eq!(rx.try_recv(), Ok(0));
    assert_eq!((selects.wakes(), last.wakes()), (1, 0));
    ready(selects.poll());
    assert_eq!(last.wakes(), 1);
    assert_eq!(ready(last.poll()), Ok(()));
}

fn an_owned_permit_gives_its_sender_back<F: Channels>() {
    let (tx, rx) = F::channel(1);
    let other = tx.clone();
    let permit = tx.reserve_owned().wait().expect("there is room");
    assert!(permit.same_channel_as_sender(&other));
    assert!(!permit.same_channel_as_sender(&F::channel(1).0));
    let tx = permit.send(1);
    assert_eq!(rx.try_recv(), Ok(1));
    let tx = tx.try_reserve_owned().expect("there is room").release();
    let permit = tx.try_reserve_owned().expect("there is room");
    let Err(TrySendError::Full(other)) = other.try_reserve_owned() else {
        panic!("there is no room");
    };
    assert_eq!(rx.sender_count(), 2);
    drop(permit);
    assert_eq!(rx.sender_count(), 1);
    assert_eq!(other.try_send(2), Ok(()));
    drop(rx);
    let Err(SendError(other)) = other.reserve_owned().wait() else {
        panic!("nobody receives");
    };
    let Err(TrySendError::Closed(_)) = other.try_reserve_owned() else {
        panic!("nobody receives");
    };
}

/// It is the last one, and the channel goes with it.
fn an_owned_reserve_keeps_its_sender<F: Channels>() {
    let (tx, rx) = F::channel(1);
    tx.try_send(0).expect("there is room");
    let mut reserve = parked(tx.reserve_owned());
    assert_eq!(rx.try_recv(), Ok(0));
    let permit = ready(reserve.poll()).expect("there is room");
    let why = panics(|| drop(reserve.poll()));
    assert!(why.contains("after it was complete"), "{why}");
    drop(permit.send(1));
    drop(reserve);
    assert_eq!(
        (rx.try_recv(), rx.try_recv()),
        (Ok(1), Err(TryRecvError::Closed))
    );
    for is_polled in [false, true] {
        let (tx, rx) = F::channel(1);
        tx.try_send(0).expect("there is room");
        let mut reserve = Hand::new(tx.reserve_owned());
        if is_polled {
            assert!(reserve.poll().is_pending());
        }
        drop(rx);
        drop(reserve);
    }
}

/// A permit may send after the channel was closed, so the receivers wait for it.
fn the_end_waits_for_permits<F: Channels>() {
    let (tx, rx) = F::channel(3);
    let (sends, goes) = (tx.try_reserve(), tx.try_reserve());
    tx.try_send(1).expect("there is room");
    assert!(rx.close());
    assert_eq!(rx.try_recv(), Ok(1));
    assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
    let mut first = parked(rx.recv());
    sends.expect("there is room").send(2);
    assert_eq!(ready(first.poll()), Ok(2));
    let (mut first, mut other) = (parked(rx.recv()), parked(rx.recv()));
    assert_eq!(tx.try_send(9), Err(TrySendError::Closed(9)));
    drop(goes);
    assert_eq!((first.wakes(), other.wakes()), (1, 1));
    assert_eq!(ready(first.poll()), Err(Closed));
    assert_eq!(ready(other.poll()), Err(Closed));
}

fn those_that_reserve_are_told_of_the_end<F: Channels>() {
    for closes in [false, true] {
        let (tx, rx) = F::channel(2);
        tx.try_send(0).expect("there is room");
        let permit = tx.try_reserve().expect("there is room");
        let (mut woken, mut waits) = (parked(tx.reserve()), parked(tx.reserve()));
        let dropped = parked(tx.reserve());
        assert_eq!(rx.try_recv(), Ok(0));
        assert_eq!((woken.wakes(), waits.wakes()), (1, 0));
        if closes {
            assert!(rx.close());
        } else {
            drop(rx);
        }
        assert_eq!(waits.wakes(), 1);
        assert_eq!(ready(woken.poll()).map(drop), Err(SendError(())));
        assert_eq!(ready(waits.poll()).map(drop), Err(SendError(())));
        drop((dropped, permit));
        assert_eq!(tx.try_reserve().map(drop), Err(TrySendError::Closed(())));
        assert_eq!(tx.reserve().wait().map(drop), Err(SendError(())));
    }
}

fn a_message_that_nobody_receives_is_dropped<F: Channels>() {
    let tally = Tally::default();
    let (tx, rx) = F::channel(2);
    let (first, second) = (tx.try_reserve(), tx.try_reserve());
    first.expect("there is room").send(tally.value(1));
    drop(rx);
    assert_eq!(tally.living(), 0);
    second.expect("there is room").send(tally.value(2));
    assert_eq!(tally.living(), 0);
}

fn as_many_as_one_likes_of_an_unbounded_channel<F: Channels>() {
    let (tx, rx) = F::channel(usize::MAX);
    let permits: Vec<_> = (0..100).map(|_| tx.reserve().wait()).collect();
    assert_eq!((tx.try_send(100), tx.room()), (Ok(()), None));
    for (number, permit) in permits.into_iter().enumerate() {
        permit.expect("there is room").send(number);
    }
    assert!(rx.try_iter().eq([100].into_iter().chain(0..100)));
}

fn a_rendezvous_has_no_places<F: Channels>() {
    let (tx, _rx) = F::channel::<u32>(0);
    let why = panics(|| drop(tx.reserve()));
    assert!(why.contains("no places"), "{why}");
    panics(|| drop(tx.try_reserve()));
    panics(|| drop(tx.reserve_owned()));
}
