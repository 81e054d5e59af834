//! Channels of one sender and one receiver in a set, which registers its waker with the receiver's ring.

use std::cell::RefCell;
use std::rc::Rc;
use std::task::Poll;

use gossamer::Wait;
use gossamer::channel::{Closed, TrySendError};
use gossamer::raw::channel::Port;
use gossamer_sim::spawn;

use super::Sets;
use crate::exploring::{Cut, abort_all, explore_flavour, quiet};
use crate::flavour::both;
use crate::hand::parked;

both! {
    one_after_the_other_with_others,
    what_waits_before_comes_too,
    its_end_is_reported_once,
    it_leaves_while_it_waits_and_comes_back,
    a_sender_that_waits_goes_on,
    senders_that_were_forgotten_too,
    a_sender_is_told_when_the_set_goes,
    all_at_once,
    any_receive_dropped_and_ports_that_come_and_go,
}

fn one_after_the_other_with_others<F: Sets>() {
    let (set, (mut tx, rx), (other, others)) = (F::set(), F::ring(4), F::channel(4));
    let [ring, channel] = [set.add(rx).unwrap(), set.add(others).unwrap()];
    for round in 0..3 {
        let mut waits = parked(set.recv());
        tx.try_send(round).unwrap();
        assert_eq!(waits.poll(), Poll::Ready(Some((ring, Ok(round)))));
        let mut waits = parked(set.recv());
        other.try_send(9).unwrap();
        assert_eq!(waits.poll(), Poll::Ready(Some((channel, Ok(9)))));
    }
    // They take turns.
    for number in 0..2 {
        tx.try_send(number).unwrap();
        other.try_send(10 + number).unwrap();
    }
    let order = [(ring, 0), (channel, 10), (ring, 1), (channel, 11)];
    for (key, message) in order {
        assert_eq!(set.try_recv(), Some((key, Ok(message))));
    }
    assert_eq!((set.try_recv(), set.len()), (None, 2));
}

fn what_waits_before_comes_too<F: Sets>() {
    let (set, (mut tx, mut rx)) = (F::set(), F::ring(2));
    // It has received before, and has waited.
    drop(parked(rx.recv()));
    tx.try_send(1).unwrap();
    tx.try_send(2).unwrap();
    let key = set.add(rx).unwrap();
    assert_eq!(set.try_recv(), Some((key, Ok(1))));
    tx.try_send(3).unwrap();
    assert_eq!(set.try_recv(), Some((key, Ok(2))));
    assert_eq!(set.try_recv(), Some((key, Ok(3))));
    assert_eq!(set.try_recv(), None);
}

fn its_end_is_reported_once<F: Sets>() {
    for waits_first in [false, true] {
        let (set, (mut tx, rx), (_held, holds)) = (F::set(), F::ring(2), F::channel(1));
        set.add(holds).unwrap();
        let key = set.add(rx).unwrap();
        if waits_first {
            assert_eq!(set.try_recv(), None);
        }
        tx.try_send(1).unwrap();
        drop(tx);
        assert_eq!(set.try_recv(), Some((key, Ok(1))));
        assert!(set.contains(key));
        assert_eq!(set.try_recv(), Some((key, Err(Closed))));
        assert!(!set.contains(key) && set.remove(key).is_none());
        assert_eq!((set.try_recv(), set.len()), (None, 1));
        // Its place is announced anew by the next one.
        let (mut tx, rx) = F::ring(2);
        let next = set.add(rx).unwrap();
        tx.try_send(2).unwrap();
        assert_eq!(set.try_recv(), Some((next, Ok(2))));
        assert_eq!(set.try_recv(), None);
        tx.try_send(3).unwrap();
        assert_eq!(set.try_recv(), Some((next, Ok(3))));
    }
}

fn it_leaves_while_it_waits_and_comes_back<F: Sets>() {
    let (set, (mut tx, rx)) = (F::set(), F::ring(2));
    let mut key = set.add(rx).unwrap();
    for number in 0..3 {
        assert_eq!(set.try_recv(), None);
        let Some(Port::Spsc(mut rx)) = set.remove(key) else {
            panic!("it is there");
        };
        tx.try_send(number).unwrap();
        assert_eq!((set.try_recv(), rx.try_recv()), (None, Ok(number)));
        // It waits as ever.
        let mut waits = parked(rx.recv());
        tx.try_send(5).unwrap();
        assert_eq!(waits.poll(), Poll::Ready(Ok(5)));
        drop(waits);
        key = set.add(rx).unwrap();
        tx.try_send(6).unwrap();
        assert_eq!(set.try_recv(), Some((key, Ok(6))));
    }
}

fn a_sender_that_waits_goes_on<F: Sets>() {
    let (set, (mut tx, rx)) = (F::set(), F::ring(1));
    let key = set.add(rx).unwrap();
    tx.try_send(0).unwrap();
    for number in 1..4 {
        let mut waits = parked(tx.send(number));
        assert_eq!(set.try_recv(), Some((key, Ok(number - 1))));
        assert_eq!((waits.wakes(), waits.poll()), (1, Poll::Ready(Ok(()))));
    }
}

/// Those that waited and were forgotten are in line before the one that still waits.
fn senders_that_were_forgotten_too<F: Sets>() {
    let (set, (mut tx, rx)) = (F::set(), F::ring(1));
    let key = set.add(rx).unwrap();
    tx.try_send(0).unwrap();
    for number in 1..3 {
        std::mem::forget(parked(tx.send(number)));
    }
    let mut waits = parked(tx.send(3));
    assert_eq!(set.try_recv(), Some((key, Ok(0))));
    assert_eq!((waits.wakes(), waits.poll()), (1, Poll::Ready(Ok(()))));
    assert_eq!(set.try_recv(), Some((key, Ok(3))));
}

fn a_sender_is_told_when_the_set_goes<F: Sets>() {
    let (set, (mut tx, rx)) = (F::set(), F::ring(1));
    set.add(rx).unwrap();
    assert_eq!(set.try_recv(), None);
    tx.try_send(0).unwrap();
    let mut waits = parked(tx.send(1));
    drop(set);
    assert!(matches!(waits.poll(), Poll::Ready(Err(error)) if error.0 == 1));
    drop(waits);
    assert_eq!(tx.try_send(2), Err(TrySendError::Closed(2)));
}

fn all_at_once<F: Sets>() {
    let (set, (mut tx, rx), (_other, others)) = (F::set(), F::ring(8), F::channel(1));
    set.add(others).unwrap();
    let key = set.add(rx).unwrap();
    let mut events = Vec::new();
    for round in 0..3 {
        let mut waits = parked(set.recv_many(&mut events, 100));
        for number in 0..5 {
            tx.try_send(5 * round + number).unwrap();
        }
        assert_eq!(waits.poll(), Poll::Ready(5));
    }
    let all: Vec<_> = (0..15).map(|number| (key, Ok(number))).collect();
    assert_eq!((&events, set.try_recv()), (&all, None));
    tx.try_send(15).unwrap();
    tx.try_send(16).unwrap();
    assert_eq!(set.recv_many(&mut events, 1).wait(), 1);
    assert_eq!(events.pop(), Some((key, Ok(15))));
    assert_eq!(set.try_recv(), Some((key, Ok(16))));
}

/// Messages through three rings, one of which goes out and in again; a receive that is cut, and another receiver.
fn any_receive_dropped_and_ports_that_come_and_go<F: Sets>() {
    explore_flavour::<F, _>(|seed| async move {
        let (cut, many) = (Cut::nth(seed), seed / 8 % 2 == 0);
        let (set, got) = (Rc::new(F::set()), Rc::new(RefCell::new(Vec::new())));
        let mut tasks = Vec::new();
        let keys = [0, 1, 2].map(|port| {
            let (mut tx, rx) = F::ring([1, 2, 1][port]);
            tasks.push(spawn(async move {
                for number in 0..3 {
                    tx.send(10 * port + number).await.unwrap();
                }
            }));
            set.add(rx).unwrap()
        });
        let (own, into) = (set.clone(), got.clone());
        tasks.push(spawn(async move {
            let mut events = Vec::new();
            if many {
                cut.apply(own.recv_many(&mut events, 4)).await;
            } else {
                events.extend(cut.apply(own.recv()).await.flatten());
            }
            let mut into = into.borrow_mut();
            into.extend(events.into_iter().filter_map(|event| event.1.ok()));
        }));
        let (own, into) = (set.clone(), got.clone());
        tasks.push(spawn(async move {
            let removed = own.remove(keys[1]);
            gossamer::yield_now().await;
            if let Some(Port::Spsc(mut rx)) = removed {
                into.borrow_mut().extend(rx.try_recv());
                own.add(rx).unwrap();
            }
            while let Some((_, event)) = own.recv().await {
                into.borrow_mut().extend(event.ok());
            }
        }));
        quiet().await;
        abort_all(tasks).await;
        assert!(set.is_empty(), "{set:?}");
        let mut got = got.take();
        got.sort_unstable();
        assert_eq!(got, [0, 1, 2, 10, 11, 12, 20, 21, 22]);
    });
}
