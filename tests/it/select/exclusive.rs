//! At most one branch takes effect: over rendezvous channels too, where a partner completes what waits.
//!
//! Polled by hand, so that a test says what comes between a partner's operation and the select's next poll.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use gossamer::channel::{Closed, SendError, TryRecvError, TrySendError};
use gossamer::{TimeoutExt, Wait, select};
use gossamer_fiber::Fiber;

use crate::contract::FIBERS;
use crate::flavour::both;
use crate::hand::{Hand, parked, ready};
use crate::ports::Sets;

both! {
    a_send_that_was_taken_is_the_branch,
    of_two_sends_one_is_taken,
    of_two_sends_on_one_channel_one_is_taken,
    any_of_four_sends,
    of_two_receives_one_is_given,
    a_send_and_a_receive_in_time,
    two_of_both_ends_meet,
    a_channel_closes_and_the_message_is_back,
    taken_before_the_channel_closes,
    dropped_it_has_not_sent,
    a_pattern_that_fails_has_taken_effect,
    of_messages_of_any_alignment_one_is_taken,
    a_pattern_that_fails_leaves_the_others_members,
    a_fiber_in_a_branch_is_outside,
    one_that_is_moved_has_its_members,
}

/// A receiver takes the message, and then another branch is ready, which was preferred; or before.
fn a_send_that_was_taken_is_the_branch<F: Sets>() {
    for first in [true, false] {
        let ((tx, rx), (other, others)) = (F::channel(0), F::channel(9));
        let mut message = Some("hello");
        let mut waits = parked(async {
            select! {
                biased;
                _ = others.recv() => "other",
                sent = tx.send_from(&mut message) => sent.map_or("closed", |()| "sent"),
            }
        });
        if first {
            other.try_send(()).unwrap();
        }
        assert_eq!(rx.try_recv(), Ok("hello"));
        if !first {
            other.try_send(()).unwrap();
        }
        assert_eq!(waits.poll(), Poll::Ready("sent"));
        drop(waits);
        assert_eq!(message, None);
        assert_eq!(others.try_recv(), Ok(()), "it was not received");
    }
}

fn of_two_sends_one_is_taken<F: Sets>() {
    for taken in 0..2 {
        let channels = [F::channel(0), F::channel(0)];
        let [(a, one), (b, two)] = &channels;
        let mut waits = parked(async {
            select! {
                sent = a.send(10) => (0, sent),
                sent = b.send(11) => (1, sent),
            }
        });
        let (first, other) = match taken {
            0 => (one, two),
            _ => (two, one),
        };
        assert_eq!(first.try_recv(), Ok(10 + taken));
        assert_eq!(other.try_recv(), Err(TryRecvError::Empty));
        let mut waits_too = parked(other.recv());
        assert_eq!(waits.poll(), Poll::Ready((taken, Ok(()))));
        drop(waits);
        // Nobody sends to that one.
        assert!(waits_too.poll().is_pending());
        drop(waits_too);
        for (tx, rx) in &channels {
            assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
            assert_eq!(tx.try_send(0), Err(TrySendError::Full(0)));
        }
    }
}

/// Even by an operation that takes many.
fn of_two_sends_on_one_channel_one_is_taken<F: Sets>() {
    for many in [true, false] {
        let (tx, rx) = F::channel(0);
        let mut waits = parked(async {
            select! {
                sent = tx.send(1) => (1, sent),
                sent = tx.send(2) => (2, sent),
            }
        });
        let mut got = Vec::new();
        match many {
            true => drop(rx.recv_many(&mut got, 9).wait().unwrap()),
            false => got.extend(rx.try_iter()),
        }
        let (branch, sent) = ready(waits.poll());
        assert_eq!((got, sent), (vec![branch], Ok(())));
        drop(waits);
        assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
    }
}

fn any_of_four_sends<F: Sets>() {
    for taken in 0..4 {
        let channels = [(); 4].map(|()| F::channel(0));
        let sends = channels.iter().map(|(tx, _)| tx.send("message"));
        let mut waits = parked(select::any(sends));
        assert_eq!(channels[taken].1.try_recv(), Ok("message"));
        for (_, rx) in &channels {
            assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
        }
        assert_eq!(waits.poll(), Poll::Ready((taken, Ok(()))));
    }
}

/// The other sender goes on waiting, with its message.
fn of_two_receives_one_is_given<F: Sets>() {
    let ((a, ones), (b, twos)) = (F::channel(0), F::channel(0));
    let mut waits = parked(async {
        select! {
            number = ones.recv() => number,
            number = twos.recv() => number,
        }
    });
    let (mut one, mut two) = (parked(a.send(1)), parked(b.send(2)));
    let got = ready(waits.poll()).unwrap();
    drop(waits);
    let (given, other, rest) = match got {
        1 => (&mut one, &mut two, &twos),
        _ => (&mut two, &mut one, &ones),
    };
    assert_eq!(given.poll(), Poll::Ready(Ok(())));
    assert!(other.poll().is_pending());
    assert_eq!(rest.try_recv(), Ok(3 - got));
    assert_eq!(other.poll(), Poll::Ready(Ok(())));
}

/// A limit passes on to its operation what belongs to the select.
fn a_send_and_a_receive_in_time<F: Sets>() {
    const LONG: Duration = Duration::from_secs(3_600);
    for sends in [true, false] {
        let ((a, ones), (b, twos)) = (F::channel(0), F::channel(0));
        let mut waits = parked(async {
            select! {
                sent = a.send(1).timeout(LONG) => sent.is_ok_and(|sent| sent.is_ok()),
                got = twos.recv().timeout(LONG) => got != Ok(Ok(2)),
            }
        });
        let mut other = Hand::new(b.send(2));
        if sends {
            assert_eq!(ones.try_recv(), Ok(1));
        }
        assert!(other.poll().is_pending());
        assert_eq!(waits.poll(), Poll::Ready(sends));
        drop(waits);
        assert_eq!(ones.try_recv(), Err(TryRecvError::Empty));
        assert_eq!(other.poll().is_ready(), !sends);
    }
}

/// Of two such selects one sends, and the other one receives.
fn two_of_both_ends_meet<F: Sets>() {
    let (tx, rx) = F::channel(0);
    let both_ends = |number| {
        let (tx, rx) = (&tx, &rx);
        async move {
            select! {
                sent = tx.send(number) => sent.map(|()| 0).map_err(|_| Closed),
                number = rx.recv() => number,
            }
        }
    };
    let (mut one, mut two) = (parked(both_ends(1)), Hand::new(both_ends(2)));
    match (ready(two.poll()), ready(one.poll())) {
        (Ok(0), got) => assert_eq!(got, Ok(2)),
        (got, sent) => assert_eq!((got, sent), (Ok(1), Ok(0))),
    }
}

fn a_channel_closes_and_the_message_is_back<F: Sets>() {
    let ((a, one), (b, two)) = (F::channel(0), F::channel(0));
    let mut waits = parked(async {
        select! {
            sent = a.send(1) => (1, sent),
            sent = b.send(2) => (2, sent),
        }
    });
    drop(two);
    assert_eq!(waits.poll(), Poll::Ready((2, Err(SendError(2)))));
    drop(waits);
    assert_eq!(one.try_recv(), Err(TryRecvError::Empty));
    // And so with receivers.
    let (c, three) = F::channel(0);
    let mut waits = parked(async {
        select! {
            number = one.recv() => number,
            number = three.recv() => number,
        }
    });
    drop(c);
    assert_eq!(waits.poll(), Poll::Ready(Err(Closed)));
}

/// The message has gone, and all receivers go, before the select is polled.
fn taken_before_the_channel_closes<F: Sets>() {
    let ((a, one), (b, two)) = (F::channel(0), F::channel(0));
    let mut waits = parked(async {
        select! {
            biased;
            sent = b.send(2) => (2, sent),
            sent = a.send(1) => (1, sent),
        }
    });
    assert_eq!(one.try_recv(), Ok(1));
    drop((one, two));
    assert_eq!(waits.poll(), Poll::Ready((1, Ok(()))));
}

fn dropped_it_has_not_sent<F: Sets>() {
    let ((a, one), (b, two)) = (F::channel(0), F::channel(0));
    let mut messages = (Some(1), Some(2));
    let waits = parked(async {
        select! {
            _ = a.send_from(&mut messages.0) => {}
            _ = b.send_from(&mut messages.1) => {}
        }
    });
    drop(waits);
    assert_eq!(one.try_recv(), Err(TryRecvError::Empty));
    assert_eq!(two.try_recv(), Err(TryRecvError::Empty));
    assert_eq!(messages, (Some(1), Some(2)));
}

/// The branch is out then, and the others go on: only then may one of those be taken.
fn a_pattern_that_fails_has_taken_effect<F: Sets>() {
    let ((a, one), (b, two)) = (F::channel(0), F::channel(0));
    let mut waits = parked(async {
        select! {
            Err(_) = a.send(1) => panic!("somebody receives"),
            sent = b.send(2) => sent,
        }
    });
    assert_eq!(one.try_recv(), Ok(1));
    assert_eq!(two.try_recv(), Err(TryRecvError::Empty));
    assert!(waits.poll().is_pending());
    assert_eq!(one.try_recv(), Err(TryRecvError::Empty));
    assert_eq!(two.try_recv(), Ok(2));
    assert_eq!(waits.poll(), Poll::Ready(Ok(())));
}

/// A message that begins behind the start of its operation, as its alignment wants it.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(align(32))]
struct Aligned(u8);

/// The same, further behind.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(align(64))]
struct FurtherAligned(u8);

fn of_messages_of_any_alignment_one_is_taken<F: Sets>() {
    fn check<F: Sets, T: Copy + PartialEq + std::fmt::Debug>(message: T) {
        let ((a, one), (b, two)) = (F::channel(0), F::channel(0));
        let channels = [&one, &two];
        for (taken, from_place) in [(0, false), (1, false), (0, true), (1, true)] {
            let (mut here, mut there) = (Some(message), Some(message));
            let mut waits = Hand::new(async {
                if from_place {
                    select! {
                        _ = a.send_from(&mut here) => 0,
                        _ = b.send_from(&mut there) => 1,
                    }
                } else {
                    select! {
                        _ = a.send(message) => 0,
                        _ = b.send(message).timeout(Duration::from_secs(600)) => 1,
                    }
                }
            });
            assert!(waits.poll().is_pending());
            assert_eq!(channels[taken].try_recv(), Ok(message));
            assert_eq!(channels[1 - taken].try_recv(), Err(TryRecvError::Empty));
            assert_eq!(waits.poll(), Poll::Ready(taken));
        }
        let mut late = Hand::new(a.send(message).timeout(Duration::ZERO));
        assert!(ready(late.poll()).is_err());
        assert_eq!(one.try_recv(), Err(TryRecvError::Empty));
    }
    check::<F, _>(1_u128);
    check::<F, _>(Aligned(1));
    check::<F, _>(FurtherAligned(1));
}

/// The message of a branch whose pattern fails is taken, and the select goes on; then another one is.
fn a_pattern_that_fails_leaves_the_others_members<F: Sets>() {
    let (buffered, [(a, from_a), (b, from_b)]) = (F::channel(1), [F::channel(0), F::channel(0)]);
    let mut waits = parked(async {
        select! {
            biased;
            received = buffered.1.recv() => received,
            Err(_) = a.send("a") => unreachable!("it was taken"),
            sent = b.send("b") => sent.map(|()| "sent").map_err(|_| Closed),
        }
    });
    assert_eq!(from_a.try_recv(), Ok("a"));
    assert_eq!(waits.poll(), Poll::Pending);
    assert_eq!(from_b.try_recv(), Ok("b"));
    buffered.0.try_send("received").unwrap();
    assert_eq!(waits.poll(), Poll::Ready(Ok("sent")));
    drop(waits);
    assert_eq!(buffered.1.try_recv(), Ok("received"));
}

/// A select over a list need not stay where it is.
fn one_that_is_moved_has_its_members<F: Sets>() {
    let [(a, from_a), (b, from_b)] = [F::channel(0), F::channel(0)];
    let mut slot = Some(select::any([a.send("a"), b.send("b")]));
    let mut waits = Hand::new(poll_fn(move |cx| {
        let mut here = slot.take().expect("it is put back");
        let polled = pin!(&mut here).poll(cx);
        slot = Some(here);
        polled
    }));
    for _ in 0..2 {
        assert!(waits.poll().is_pending());
    }
    assert_eq!(from_b.try_recv(), Ok("b"));
    assert_eq!(from_a.try_recv(), Err(TryRecvError::Empty));
    assert!(matches!(waits.poll(), Poll::Ready((1, Ok(())))));
}

/// A fiber that is a branch stands still in a select of its own: each of the two takes one branch.
fn a_fiber_in_a_branch_is_outside<F: Sets>() {
    let [(a, from_a), (b, from_b), (c, from_c), (d, from_d)] =
        std::array::from_fn(|_| F::channel(0));
    let body = move || {
        select! {
            wait;
            sent = c.send("c") => sent,
            sent = d.send("d") => sent,
        }
    };
    let Ok(fiber) = Fiber::new(body, Some(FIBERS), "", std::panic::Location::caller()) else {
        panic!("no fiber could be made");
    };
    let mut waits = parked(async {
        select! {
            biased;
            _ = fiber => "the fiber",
            sent = a.send("a") => sent.map_or("closed", |()| "a"),
            sent = b.send("b") => sent.map_or("closed", |()| "b"),
        }
    });
    assert_eq!(from_c.try_recv(), Ok("c"));
    assert_eq!(from_d.try_recv(), Err(TryRecvError::Empty));
    assert_eq!(from_a.try_recv(), Ok("a"));
    assert_eq!(from_b.try_recv(), Err(TryRecvError::Empty));
    // What the fiber did is not taken: it is dropped, and unwinds.
    assert_eq!(waits.poll(), Poll::Ready("a"));
}
