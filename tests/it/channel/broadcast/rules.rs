//! One rule at a time, polled by hand; and all together against a plain model.

use std::task::Poll;

use gossamer::channel::SendError;
use gossamer::channel::broadcast::{RecvError, TryRecvError};

use super::Broadcasts;
use crate::flavour::both;
use crate::hand::{Hand, parked};
use crate::tally::{Tally, Value};

both! {
    every_receiver_gets_every_message,
    the_slow_are_told,
    a_clone_stands_where_the_original_stands,
    who_subscribes_gets_what_is_sent_from_then_on,
    receivers_that_wait_are_woken,
    nobody_there_gives_the_message_back,
    the_last_one_gets_the_message_itself,
    what_nobody_needs_is_dropped,
    sizes,
    against_a_plain_model,
}

fn every_receiver_gets_every_message<F: Broadcasts>() {
    let (tx, mut one) = F::broadcast(100);
    let (mut two, other) = (tx.subscribe(), tx.clone());
    for number in 0..100 {
        let tx = if number % 3 == 0 { &tx } else { &other };
        assert_eq!(tx.send(number), Ok(()));
    }
    for rx in [&mut one, &mut two] {
        for number in 0..100 {
            assert_eq!(Hand::new(rx.recv()).poll(), Poll::Ready(Ok(number)));
        }
        assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
    }
}

fn the_slow_are_told<F: Broadcasts>() {
    for capacity in [1, 2, 3, 8, 13] {
        let (tx, mut slow) = F::broadcast(capacity as usize);
        let mut quick = tx.subscribe();
        for number in 0..3 * capacity {
            assert_eq!(tx.send(number), Ok(()));
            assert_eq!(quick.try_recv(), Ok(number));
        }
        assert_eq!(
            Hand::new(slow.recv()).poll(),
            Poll::Ready(Err(RecvError::Lagged(2 * capacity)))
        );
        // More of them go meanwhile.
        assert_eq!(tx.send(3 * capacity), Ok(()));
        assert_eq!(slow.try_recv(), Err(TryRecvError::Lagged(1)));
        for number in 2 * capacity + 1..=3 * capacity {
            assert_eq!(slow.try_recv(), Ok(number));
        }
        assert_eq!(slow.try_recv(), Err(TryRecvError::Empty));
        assert_eq!((quick.len(), slow.len()), (1, 0));
    }
}

fn a_clone_stands_where_the_original_stands<F: Broadcasts>() {
    let (tx, mut rx) = F::broadcast(2);
    let mut early = rx.clone();
    for number in 0..3 {
        assert_eq!(tx.send(number), Ok(()));
    }
    let mut late = rx.clone();
    for rx in [&mut early, &mut rx, &mut late] {
        assert_eq!(rx.try_recv(), Err(TryRecvError::Lagged(1)));
        assert_eq!(rx.try_recv(), Ok(1));
    }
    let mut between = rx.clone();
    drop((early, late, rx));
    assert_eq!(between.try_recv(), Ok(2));
    assert_eq!(between.try_recv(), Err(TryRecvError::Empty));
}

fn who_subscribes_gets_what_is_sent_from_then_on<F: Broadcasts>() {
    let (tx, rx) = F::broadcast(4);
    assert_eq!(tx.send(0), Ok(()));
    let mut late = tx.subscribe();
    assert_eq!((rx.len(), late.len()), (1, 0));
    assert_eq!(late.try_recv(), Err(TryRecvError::Empty));
    assert_eq!(tx.send(1), Ok(()));
    assert_eq!(late.try_recv(), Ok(1));
}

fn receivers_that_wait_are_woken<F: Broadcasts>() {
    let (tx, one) = F::broadcast(1);
    let mut receivers: Vec<_> = (0..100).map(|_| one.clone()).collect();
    drop(one);
    let mut waiting: Vec<_> = receivers.iter_mut().map(|rx| parked(rx.recv())).collect();
    // They still wait, with another waker.
    for receiver in &mut waiting {
        assert!(receiver.poll().is_pending());
    }
    assert_eq!(tx.send(7), Ok(()));
    // One that has gone meanwhile leaves the message to the others; two come too late for it.
    drop(waiting.pop());
    for receiver in &mut waiting[2..] {
        assert_eq!(receiver.wakes(), 1);
        assert_eq!(receiver.poll(), Poll::Ready(Ok(7)));
    }
    assert_eq!(tx.send(8), Ok(()));
    for receiver in &mut waiting[..2] {
        assert_eq!(receiver.wakes(), 1);
        assert_eq!(receiver.poll(), Poll::Ready(Err(RecvError::Lagged(1))));
    }
    drop(waiting);
    for rx in &mut receivers[..99] {
        assert_eq!(rx.try_recv(), Ok(8));
    }
    assert_eq!(receivers[99].try_recv(), Err(TryRecvError::Lagged(1)));
    assert_eq!(receivers[99].try_recv(), Ok(8));
    let mut waiting: Vec<_> = receivers.iter_mut().map(|rx| parked(rx.recv())).collect();
    drop(tx);
    for receiver in &mut waiting {
        assert_eq!(receiver.wakes(), 1);
        assert_eq!(receiver.poll(), Poll::Ready(Err(RecvError::Closed)));
    }
}

fn nobody_there_gives_the_message_back<F: Broadcasts>() {
    let (tx, rx) = F::broadcast(4);
    let other = rx.clone();
    drop(rx);
    assert!(!tx.is_closed());
    drop(other);
    assert!(tx.is_closed());
    assert_eq!(tx.send(1), Err(SendError(1)));
    let mut late = tx.subscribe();
    assert_eq!(tx.send(2), Ok(()));
    assert_eq!(late.try_recv(), Ok(2));
}

fn the_last_one_gets_the_message_itself<F: Broadcasts>() {
    let tally = Tally::default();
    let (tx, mut one) = F::broadcast(4);
    assert!(tx.send(tally.value(0)).is_ok());
    assert!(one.try_recv().is_ok_and(|value| value.id == 0));
    assert_eq!((tally.cloned(), tally.living()), (0, 0));
    let mut two = one.clone();
    assert!(tx.send(tally.value(1)).is_ok());
    assert!(one.try_recv().is_ok_and(|value| value.id == 1));
    assert_eq!((tally.cloned(), tally.living()), (1, 1));
    assert!(two.try_recv().is_ok_and(|value| value.id == 1));
    assert_eq!((tally.cloned(), tally.living()), (1, 0));
}

fn what_nobody_needs_is_dropped<F: Broadcasts>() {
    let tally = Tally::default();
    let (tx, mut quick) = F::broadcast(100);
    let (slow, mut half) = (quick.clone(), quick.clone());
    for id in 0..50 {
        assert!(tx.send(tally.value(id)).is_ok());
        assert!(quick.try_recv().is_ok());
        assert!(id % 2 == 0 || half.try_recv().is_ok());
    }
    assert_eq!(tally.living(), 50);
    drop(slow);
    assert_eq!((tally.living(), tx.len(), half.len()), (25, 25, 25));
    drop(half);
    assert_eq!((tally.living(), tx.len()), (0, 0));
    // Those that have to go are dropped at once, too.
    for id in 0..300 {
        assert!(tx.send(tally.value(id)).is_ok());
    }
    assert_eq!(tally.living(), 100);
    drop((tx, quick));
    assert_eq!(tally.living(), 0);
}

fn sizes<F: Broadcasts>() {
    let (tx, rx) = F::broadcast::<u8>(2);
    let other = tx.clone();
    assert_eq!((tx.capacity(), rx.capacity()), (2, 2));
    assert_eq!((rx.sender_count(), tx.receiver_count()), (2, 1));
    assert!(tx.same_channel(&other) && rx.same_channel(&tx.subscribe()));
    assert!(!tx.same_channel(&F::broadcast(2).0));
    assert!(tx.is_empty() && rx.is_empty());
    assert!(format!("{tx:?} {rx:?}").contains("capacity: 2"), "{tx:?}");
    let (tx, mut rx) = F::broadcast(usize::MAX);
    assert_eq!((tx.send(()), rx.try_recv()), (Ok(()), Ok(())));
    let none = std::panic::catch_unwind(|| drop(F::broadcast::<u8>(0)));
    let message = none.expect_err("no capacity").downcast::<&str>();
    assert!(message.is_ok_and(|text| text.contains("its capacity is 0")));
}

/// A receiver of the model: the number of its next message.
type Model = u32;

/// Random operations: what each gives, and which messages are alive.
fn against_a_plain_model<F: Broadcasts>() {
    for seed in 0..2_000 {
        let mut random = fastrand::Rng::with_seed(seed);
        let tally = Tally::default();
        let capacity = random.u32(1..6);
        let (tx, rx) = F::broadcast::<Value>(capacity as usize);
        let mut receivers: Vec<(_, Model)> = vec![(rx, 0)];
        let mut sent = 0;
        for _ in 0..60 {
            let oldest = |sent: u32| sent.saturating_sub(capacity);
            let at = random.usize(..receivers.len().max(1));
            match (random.u32(..10), receivers.get_mut(at)) {
                (0..3, chosen) => {
                    let sends = tx.send(tally.value(sent));
                    assert_eq!(sends.is_ok(), chosen.is_some(), "seed {seed}");
                    sent += u32::from(chosen.is_some());
                }
                (3, _) => receivers.push((tx.subscribe(), sent)),
                (4, Some((rx, next))) => {
                    let clone = (rx.clone(), *next);
                    receivers.push(clone);
                }
                (5, Some(_)) => drop(receivers.swap_remove(at)),
                (_, Some((rx, next))) => {
                    let got = rx.try_recv().map(|value| value.id);
                    let wanted = if *next < oldest(sent) {
                        let missed = oldest(sent) - *next;
                        *next = oldest(sent);
                        Err(TryRecvError::Lagged(missed.into()))
                    } else if *next == sent {
                        Err(TryRecvError::Empty)
                    } else {
                        *next += 1;
                        Ok(*next - 1)
                    };
                    assert_eq!(got, wanted, "seed {seed}");
                }
                (_, None) => {}
            }
            let slowest = receivers.iter().map(|(_, next)| *next).min();
            let needed = sent - slowest.unwrap_or(sent).max(oldest(sent));
            assert_eq!(tally.living(), needed as usize, "seed {seed}");
            assert_eq!(tx.len(), needed as usize, "seed {seed}");
        }
    }
}
