//! What a set does, step by step, polled by hand.

use std::collections::HashSet;
use std::task::Poll;

use gossamer::Wait;
use gossamer::channel::{Closed, TrySendError, oneshot};
use gossamer::raw::channel::Port;

use super::Sets;
use crate::flavour::both;
use crate::hand::{Hand, parked};

both! {
    the_ports_take_turns,
    messages_of_before_come_too,
    a_closed_port_is_reported_once,
    a_receiver_with_clones_is_given_back,
    a_port_leaves_with_its_messages,
    a_place_is_taken_anew,
    a_place_is_announced_once,
    a_rendezvous_is_a_hint,
    one_shots_too,
    a_set_without_ports_does_not_wait,
    who_waits_is_told_when_the_last_port_goes,
    senders_that_wait_go_on,
    a_place_is_kept_for_a_sender_that_waits,
    senders_are_told_when_the_set_goes,
    many_at_once,
    all_that_a_port_has,
    no_port_is_passed_over,
    no_port_is_passed_over_by_an_exact_fit,
    no_more_than_were_asked_for,
    who_was_woken_and_is_dropped_passes_it_on,
}

fn the_ports_take_turns<F: Sets>() {
    let set = F::set();
    let channels = [0, 1, 2].map(|_| F::channel(usize::MAX));
    let [a, b, c] = channels.map(|(tx, rx)| (tx, set.add(rx).unwrap()));
    for number in 0..3 {
        a.0.try_send(number).unwrap();
    }
    c.0.try_send(20).unwrap();
    b.0.try_send(10).unwrap();
    b.0.try_send(11).unwrap();
    let order = [
        (a.1, 0),
        (c.1, 20),
        (b.1, 10),
        (a.1, 1),
        (b.1, 11),
        (a.1, 2),
    ];
    for (key, message) in order {
        assert_eq!(set.try_recv(), Some((key, Ok(message))));
    }
    assert_eq!(set.try_recv(), None);
    assert_eq!(set.len(), 3);
}

fn messages_of_before_come_too<F: Sets>() {
    let (set, (tx, rx)) = (F::set(), F::channel(1));
    tx.try_send(1).unwrap();
    let mut waits = parked(tx.send(2));
    let key = set.add(rx).unwrap();
    assert_eq!(set.try_recv(), Some((key, Ok(1))));
    assert_eq!(waits.poll(), Poll::Ready(Ok(())));
    assert_eq!(set.try_recv(), Some((key, Ok(2))));
    assert_eq!(set.try_recv(), None);
}

fn a_closed_port_is_reported_once<F: Sets>() {
    let (set, (tx, rx)) = (F::set(), F::channel(1));
    let key = set.add(rx).unwrap();
    tx.try_send(1).unwrap();
    drop(tx);
    assert_eq!(set.try_recv(), Some((key, Ok(1))));
    assert!(set.contains(key));
    assert_eq!(set.try_recv(), Some((key, Err(Closed))));
    assert!(!set.contains(key) && set.is_empty());
    assert_eq!(set.try_recv(), None);
    assert!(set.remove(key).is_none());
}

fn a_receiver_with_clones_is_given_back<F: Sets>() {
    let (set, (tx, rx)) = (F::set::<i32>(), F::channel(1));
    let error = set.add(rx.clone()).expect_err("there are two");
    assert!(error.to_string().contains("other receivers"));
    let Port::Channel(back) = error.0 else {
        panic!("it was a channel's");
    };
    assert!(back.same_channel(&rx));
    drop(back);
    set.add(rx).unwrap();
    assert_eq!((tx.receiver_count(), set.len()), (1, 1));
}

fn a_port_leaves_with_its_messages<F: Sets>() {
    let (set, (tx, rx), (other, others)) = (F::set(), F::channel(2), F::channel(1));
    let key = set.add(rx).unwrap();
    let stays = set.add(others).unwrap();
    tx.try_send(1).unwrap();
    let Some(Port::Channel(rx)) = set.remove(key) else {
        panic!("it is there");
    };
    tx.try_send(2).unwrap();
    assert_eq!(set.try_recv(), None);
    assert_eq!((rx.try_recv(), rx.try_recv()), (Ok(1), Ok(2)));
    // It waits as ever.
    let mut waits = parked(rx.recv());
    tx.try_send(3).unwrap();
    assert_eq!(waits.poll(), Poll::Ready(Ok(3)));
    other.try_send(4).unwrap();
    assert_eq!(set.try_recv(), Some((stays, Ok(4))));
}

/// Also one that has been announced when its port left it: the next port's messages come once each.
fn a_place_is_taken_anew<F: Sets>() {
    let set = F::set();
    for announced in [false, true] {
        let ((tx, rx), (next, nexts)) = (F::channel(2), F::channel(2));
        let old = set.add(rx).unwrap();
        if announced {
            tx.try_send(1).unwrap();
        }
        let kept = set.remove(old);
        let new = set.add(nexts).unwrap();
        assert_ne!(old, new);
        let mut waits = parked(set.recv());
        next.try_send(2).unwrap();
        assert_eq!(waits.poll(), Poll::Ready(Some((new, Ok(2)))));
        assert_eq!(set.try_recv(), None);
        next.try_send(3).unwrap();
        next.try_send(4).unwrap();
        assert_eq!(set.try_recv(), Some((new, Ok(3))));
        assert_eq!(set.try_recv(), Some((new, Ok(4))));
        assert!(set.remove(old).is_none());
        assert!(set.remove(new).is_some());
        drop(kept);
    }
}

/// However many ports have left it since anybody looked.
fn a_place_is_announced_once<F: Sets>() {
    let set = F::set();
    // They say nothing, and the queue has room for them.
    let mut seen = Vec::new();
    let _idle: Vec<_> = (0..3)
        .map(|_| {
            let (tx, rx) = F::channel(1);
            (tx, set.add(rx).unwrap())
        })
        .collect();
    for number in 0..3 {
        let (tx, rx) = F::channel(1);
        let key = set.add(rx).unwrap();
        tx.try_send(number).unwrap();
        assert!(set.remove(key).is_some());
        seen.push(format!("{set:?}"));
    }
    assert_eq!(set.try_recv(), None);
    drop(set);
    assert_eq!(seen, ["PortSet { ports: 3, ready: 1, .. }"; 3]);
}

fn a_rendezvous_is_a_hint<F: Sets>() {
    let (set, (tx, rx)) = (F::set(), F::channel(0));
    let key = set.add(rx).unwrap();
    assert_eq!(tx.try_send(1), Err(TrySendError::Full(1)));
    let gone = parked(tx.send(2));
    drop(gone);
    let mut waits = parked(set.recv());
    let mut sends = parked(tx.send(3));
    assert_eq!(waits.poll(), Poll::Ready(Some((key, Ok(3)))));
    assert_eq!(sends.poll(), Poll::Ready(Ok(())));
    let gone = parked(tx.send(4));
    drop(gone);
    assert_eq!(set.try_recv(), None);
}

fn one_shots_too<F: Sets>() {
    let set = F::set();
    let ((tx, rx), (early, earlies), (never, nevers)) = (oneshot(), oneshot(), oneshot());
    early.send(1).unwrap();
    let [key, early, nobody] = [rx, earlies, nevers].map(|rx| set.add(rx).unwrap());
    assert_eq!(set.try_recv(), Some((early, Ok(1))));
    let mut waits = parked(set.recv());
    tx.send(2).unwrap();
    assert_eq!(waits.poll(), Poll::Ready(Some((key, Ok(2)))));
    let mut waits = parked(set.recv());
    drop(never);
    assert_eq!(waits.poll(), Poll::Ready(Some((nobody, Err(Closed)))));
    assert!(set.is_empty());
    // One that was taken out may still be sent to, and a used one says so.
    let (tx, rx) = oneshot();
    let key = set.add(rx).unwrap();
    assert_eq!(set.try_recv(), None);
    let Some(Port::Oneshot(mut rx)) = set.remove(key) else {
        panic!("it is there");
    };
    tx.send(3).unwrap();
    assert_eq!(set.try_recv(), None);
    assert_eq!(rx.try_recv(), Ok(3));
    let used = set.add(rx).unwrap();
    assert_eq!(set.try_recv(), Some((used, Err(Closed))));
}

fn a_set_without_ports_does_not_wait<F: Sets>() {
    let set = F::set::<i32>();
    assert_eq!(set.recv().wait(), None);
    let mut events = Vec::new();
    assert_eq!(set.recv_many(&mut events, 5).wait(), 0);
    let (tx, rx) = F::channel(1);
    let key = set.add(rx).unwrap();
    tx.try_send(1).unwrap();
    assert_eq!(set.recv().wait(), Some((key, Ok(1))));
}

fn who_waits_is_told_when_the_last_port_goes<F: Sets>() {
    let (set, (_tx, rx)) = (F::set::<i32>(), F::channel(1));
    let key = set.add(rx).unwrap();
    let (mut one, mut two) = (parked(set.recv()), parked(set.recv()));
    let _port = set.remove(key);
    assert_eq!(one.poll(), Poll::Ready(None));
    assert_eq!(two.poll(), Poll::Ready(None));
}

fn senders_that_wait_go_on<F: Sets>() {
    let (set, (tx, rx)) = (F::set(), F::channel(1));
    let key = set.add(rx).unwrap();
    tx.try_send(0).unwrap();
    let mut waits: Vec<_> = (1..4).map(|number| parked(tx.send(number))).collect();
    for number in 0..4 {
        assert_eq!(set.try_recv(), Some((key, Ok(number))));
        if let Some(wait) = waits.get_mut(number) {
            assert_eq!(wait.poll(), Poll::Ready(Ok(())));
        }
    }
}

fn senders_are_told_when_the_set_goes<F: Sets>() {
    let (set, (tx, rx)) = (F::set(), F::channel(1));
    set.add(rx).unwrap();
    tx.try_send(0).unwrap();
    let mut waits = parked(tx.send(1));
    let (answer, answered) = oneshot();
    set.add(answered).unwrap();
    drop(set);
    assert!(matches!(waits.poll(), Poll::Ready(Err(error)) if error.0 == 1));
    assert_eq!(tx.try_send(2), Err(TrySendError::Closed(2)));
    assert!(answer.is_closed());
}

fn many_at_once<F: Sets>() {
    let set = F::set();
    let ports: Vec<_> = (0..200)
        .map(|_| {
            let (tx, rx) = F::channel(1);
            (tx, set.add(rx).unwrap())
        })
        .collect();
    for (number, (tx, _)) in ports.iter().enumerate().step_by(2) {
        tx.try_send(number).unwrap();
    }
    let mut events = Vec::new();
    assert_eq!(set.recv_many(&mut events, 1_000).wait(), 100);
    for (at, (key, message)) in events.into_iter().enumerate() {
        assert_eq!((key, message), (ports[2 * at].1, Ok(2 * at)));
    }
    assert_eq!(set.try_recv(), None);
}

/// With the end, if it is closed.
fn all_that_a_port_has<F: Sets>() {
    let (set, (tx, rx), (_other, others)) = (F::set(), F::channel(9), F::channel(9));
    set.add(others).unwrap();
    let key = set.add(rx).unwrap();
    let mut events = Vec::new();
    for number in 0..5 {
        tx.try_send(number).unwrap();
    }
    assert_eq!(set.recv_many(&mut events, 100).wait(), 5);
    tx.try_send(5).unwrap();
    tx.try_send(6).unwrap();
    drop(tx);
    assert_eq!(set.recv_many(&mut events, 100).wait(), 3);
    assert_eq!(events.pop(), Some((key, Err(Closed))));
    assert_eq!(
        events,
        (0..7).map(|number| (key, Ok(number))).collect::<Vec<_>>()
    );
    assert_eq!((set.try_recv(), set.len()), (None, 1));
}

/// Two ports have more than a call takes; the others have their turns all the same.
fn no_port_is_passed_over<F: Sets>() {
    for (ports, most) in [(3, 3), (64, 64), (100, 64)] {
        let (set, mut senders) = (F::set(), Vec::new());
        for number in 0..ports {
            let (tx, rx) = F::channel(10_000);
            for message in 0..if number < 2 { 10_000 } else { 1 } {
                tx.try_send(message).unwrap();
            }
            senders.push((tx, set.add(rx).unwrap()));
        }
        let mut heard = HashSet::new();
        for _ in 0..ports {
            let mut events = Vec::new();
            assert_eq!(set.recv_many(&mut events, most).wait(), most);
            heard.extend(events.into_iter().map(|(key, _)| key));
        }
        assert_eq!(heard.len(), ports, "at most {most} at once");
    }
}

/// Those before it have just as much as a call takes, time after time.
fn no_port_is_passed_over_by_an_exact_fit<F: Sets>() {
    let set = F::set();
    let ports = [1, 4, 1, 1, 4].map(|messages| {
        let (tx, rx) = F::channel(messages);
        (tx, set.add(rx).unwrap())
    });
    let mut heard = HashSet::new();
    for round in 0..6 {
        for (at, (tx, _)) in ports.iter().enumerate() {
            // The one in the midst has one message, once.
            while (at != 2 || round == 0) && tx.try_send(round).is_ok() {}
        }
        let mut events = Vec::new();
        assert_eq!(set.recv_many(&mut events, 5).wait(), 5);
        heard.extend(events.into_iter().map(|(key, _)| key));
    }
    assert_eq!(heard.len(), ports.len());
}

fn no_more_than_were_asked_for<F: Sets>() {
    let (set, (tx, rx), (other, others)) = (F::set(), F::channel(9), F::channel(9));
    set.add(rx).unwrap();
    set.add(others).unwrap();
    for number in 0..5 {
        tx.try_send(number).unwrap();
        other.try_send(10 + number).unwrap();
    }
    let mut events = Vec::new();
    assert_eq!(set.recv_many(&mut events, 0).wait(), 0);
    while events.len() < 10 {
        let before = events.len();
        assert!((1..=3).contains(&set.recv_many(&mut events, 3).wait()));
        assert!(events.len() <= before + 3);
    }
    let messages = events.into_iter().map(|event| event.1.unwrap());
    let (ones, twos): (Vec<_>, Vec<_>) = messages.partition(|message| *message < 10);
    assert_eq!((ones, twos), ((0..5).collect(), (10..15).collect()));
}

fn who_was_woken_and_is_dropped_passes_it_on<F: Sets>() {
    let (set, (tx, rx)) = (F::set(), F::channel(1));
    let key = set.add(rx).unwrap();
    let (one, mut two) = (parked(set.recv()), Hand::new(set.recv()));
    assert!(two.poll().is_pending());
    tx.try_send(1).unwrap();
    assert_eq!((one.wakes(), two.wakes()), (1, 0));
    drop(one);
    assert_eq!(two.wakes(), 1);
    assert_eq!(two.poll(), Poll::Ready(Some((key, Ok(1)))));
}

fn a_place_is_kept_for_a_sender_that_waits<F: Sets>() {
    let set = F::set();
    let (tx, rx) = F::channel(1);
    let key = set.add(rx).unwrap();
    tx.try_send(0).unwrap();
    let mut first = parked(tx.send(1));
    assert_eq!(set.try_recv(), Some((key, Ok(0))));
    // The set waits for the next message, and there is a place, but it is not for who comes now.
    let mut second = Hand::new(tx.send(2));
    assert!(second.poll().is_pending());
    assert_eq!(first.poll(), Poll::Ready(Ok(())));
    assert_eq!(set.try_recv(), Some((key, Ok(1))));
    assert_eq!(second.poll(), Poll::Ready(Ok(())));
    assert_eq!(set.try_recv(), Some((key, Ok(2))));
}
