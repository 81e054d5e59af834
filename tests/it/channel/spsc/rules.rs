//! One rule at a time, polled by hand.

use std::collections::VecDeque;
use std::marker::PhantomPinned;
use std::panic::catch_unwind;
use std::task::Poll;

use gossamer::channel::{Closed, SendError, TryRecvError, TrySendError};

use super::Rings;
use crate::flavour::both;
use crate::hand::{Hand, parked};
use crate::tally::Tally;

both! {
    as_many_as_there_may_be,
    first_in_first_out_round_the_ring,
    a_receiver_that_waits_is_woken_once,
    a_sender_that_waits_is_woken_by_the_first_free_place,
    messages_outlive_their_sender,
    a_receiver_that_waits_is_told,
    a_sender_that_waits_is_told_and_keeps_its_message,
    the_receiver_drops_what_is_left,
    a_message_after_the_receiver_comes_back,
    many_at_once,
    many_at_once_wake_the_sender_once,
    an_operation_that_was_forgotten,
    another_waker,
    messages_of_all_sizes,
    messages_that_must_not_move,
    capacities,
    iterators,
    names,
}

fn ready<T>(poll: Poll<T>) -> T {
    match poll {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("it waits"),
    }
}

/// Exactly, whether or not that is a power of two.
fn as_many_as_there_may_be<F: Rings>() {
    for capacity in 1..20 {
        let (mut tx, mut rx) = F::ring(capacity);
        for _ in 0..3 {
            assert!(tx.is_empty() && rx.is_empty());
            for number in 0..capacity {
                assert!(!tx.is_full() && !rx.is_full());
                assert_eq!((tx.len(), rx.len()), (number, number));
                assert_eq!(tx.try_send(number), Ok(()));
            }
            assert!(tx.is_full() && rx.is_full());
            assert_eq!(tx.try_send(77), Err(TrySendError::Full(77)));
            for number in 0..capacity {
                assert_eq!(rx.try_recv(), Ok(number));
            }
            assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
        }
        assert_eq!((tx.capacity(), rx.capacity()), (capacity, capacity));
    }
}

/// Any number in the ring at any place of it, by a queue beside it.
fn first_in_first_out_round_the_ring<F: Rings>() {
    let mut random = fastrand::Rng::with_seed(7);
    for capacity in [1, 2, 3, 4, 7, 8] {
        let (mut tx, mut rx) = F::ring(capacity);
        let (mut model, mut next) = (VecDeque::new(), 0);
        for _ in 0..2_000 {
            match random.u8(..4) {
                0 | 1 => {
                    let sent = tx.try_send(next).is_ok();
                    assert_eq!(sent, model.len() < capacity);
                    if sent {
                        model.push_back(next);
                    }
                    next += 1;
                }
                2 => assert_eq!(rx.try_recv().ok(), model.pop_front()),
                _ if model.is_empty() => {}
                _ => {
                    let most = random.usize(1..=capacity);
                    let mut got = Vec::new();
                    let number = ready(Hand::new(rx.recv_many(&mut got, most)).poll());
                    assert_eq!(number, Ok(most.min(model.len())));
                    assert!(got.into_iter().eq(model.drain(..number.unwrap())));
                }
            }
            assert_eq!((tx.len(), rx.len()), (model.len(), model.len()));
        }
    }
}

fn a_receiver_that_waits_is_woken_once<F: Rings>() {
    let (mut tx, mut rx) = F::ring(32);
    for _ in 0..3 {
        let mut receiver = parked(rx.recv());
        for number in 0..4 {
            assert_eq!(tx.try_send(number), Ok(()));
        }
        assert_eq!(receiver.wakes(), 1);
        assert_eq!(ready(receiver.poll()), Ok(0));
        assert_eq!(receiver.wakers_held(), 0);
        drop(receiver);
        assert!(rx.try_iter().eq(1..4));
    }
}

/// Not later: the receiver may want something else first, which the sender does after it has sent.
fn a_sender_that_waits_is_woken_by_the_first_free_place<F: Rings>() {
    let (mut tx, mut rx) = F::ring(4);
    for number in 0..4 {
        assert_eq!(tx.try_send(number), Ok(()));
    }
    for _ in 0..3 {
        let mut sender = parked(tx.send(4));
        assert_eq!(rx.try_recv(), Ok(0));
        assert_eq!(rx.try_recv(), Ok(1));
        assert_eq!(sender.wakes(), 1);
        assert_eq!(ready(sender.poll()), Ok(()));
        drop(sender);
        assert_eq!(tx.try_send(5), Ok(()));
        assert!(rx.try_iter().eq(2..6));
        for number in 0..4 {
            assert_eq!(tx.try_send(number), Ok(()));
        }
    }
}

fn messages_outlive_their_sender<F: Rings>() {
    let (mut tx, mut rx) = F::ring(2);
    assert_eq!(tx.try_send(1), Ok(()));
    assert!(!rx.is_closed());
    drop(tx);
    assert!(rx.is_closed());
    assert_eq!(rx.try_recv(), Ok(1));
    assert_eq!(rx.try_recv(), Err(TryRecvError::Closed));
    assert_eq!(ready(Hand::new(rx.recv()).poll()), Err(Closed));
    let mut got = Vec::new();
    let many = ready(Hand::new(rx.recv_many(&mut got, 3)).poll());
    assert_eq!(many, Err(Closed));
}

fn a_receiver_that_waits_is_told<F: Rings>() {
    let (tx, mut rx) = F::ring::<u32>(2);
    let mut receiver = parked(rx.recv());
    drop(tx);
    assert_eq!(receiver.wakes(), 1);
    assert_eq!(ready(receiver.poll()), Err(Closed));
}

fn a_sender_that_waits_is_told_and_keeps_its_message<F: Rings>() {
    let (mut tx, rx) = F::ring(1);
    assert_eq!(tx.try_send(1), Ok(()));
    let mut sender = parked(tx.send(2));
    drop(rx);
    assert_eq!(sender.wakes(), 1);
    assert_eq!(ready(sender.poll()), Err(SendError(2)));
    drop(sender);
    assert!(tx.is_closed() && tx.is_empty());
}

fn the_receiver_drops_what_is_left<F: Rings>() {
    for (sent, received) in [(0, 0), (5, 0), (5, 3), (3, 3)] {
        let tally = Tally::default();
        let (mut tx, mut rx) = F::ring(5);
        for id in 0..sent {
            assert!(tx.try_send(tally.value(id)).is_ok());
        }
        for id in 0..received {
            assert_eq!(rx.try_recv().ok().map(|value| value.id), Some(id));
        }
        assert_eq!(tally.living(), (sent - received) as usize);
        drop(rx);
        assert_eq!(tally.living(), 0);
        drop(tx);
    }
}

fn a_message_after_the_receiver_comes_back<F: Rings>() {
    // In a fresh ring, in one with room of which the sender knows, in one with room of which it does not, in a full one.
    for (sent, received) in [(0, 0), (1, 0), (2, 1), (2, 0)] {
        let (mut tx, mut rx) = F::ring(2);
        for number in 0..sent {
            assert_eq!(tx.try_send(number), Ok(()));
        }
        for number in 0..received {
            assert_eq!(rx.try_recv(), Ok(number));
        }
        drop(rx);
        for number in 5..10 {
            assert_eq!(tx.try_send(number), Err(TrySendError::Closed(number)));
            let sent = ready(Hand::new(tx.send(number)).poll());
            assert_eq!(sent, Err(SendError(number)));
        }
    }
}

fn many_at_once<F: Rings>() {
    let (mut tx, mut rx) = F::ring(5);
    let mut got = vec![100];
    assert_eq!(ready(Hand::new(rx.recv_many(&mut got, 0)).poll()), Ok(0));
    for number in 0..5 {
        assert_eq!(tx.try_send(number), Ok(()));
    }
    assert_eq!(ready(Hand::new(rx.recv_many(&mut got, 3)).poll()), Ok(3));
    assert_eq!(ready(Hand::new(rx.recv_many(&mut got, 3)).poll()), Ok(2));
    assert_eq!(got, [100, 0, 1, 2, 3, 4]);
    let mut receiver = parked(rx.recv_many(&mut got, 3));
    assert_eq!(tx.try_send(5), Ok(()));
    assert_eq!(tx.try_send(6), Ok(()));
    assert_eq!(ready(receiver.poll()), Ok(2));
    drop(receiver);
    assert_eq!(got[6..], [5, 6]);
}

fn many_at_once_wake_the_sender_once<F: Rings>() {
    let (mut tx, mut rx) = F::ring(4);
    for number in 0..4 {
        assert_eq!(tx.try_send(number), Ok(()));
    }
    let mut sender = parked(tx.send(4));
    let mut got = Vec::new();
    assert_eq!(ready(Hand::new(rx.recv_many(&mut got, 9)).poll()), Ok(4));
    assert_eq!(sender.wakes(), 1);
    assert_eq!(ready(sender.poll()), Ok(()));
    assert_eq!(rx.try_recv(), Ok(4));
}

/// It keeps its place in line, and does no harm there.
fn an_operation_that_was_forgotten<F: Rings>() {
    let (mut tx, mut rx) = F::ring(1);
    std::mem::forget(parked(rx.recv()));
    let mut receiver = parked(rx.recv());
    assert_eq!(tx.try_send(1), Ok(()));
    assert_eq!(receiver.wakes(), 1);
    assert_eq!(ready(receiver.poll()), Ok(1));
    drop(receiver);
    std::mem::forget(parked(rx.recv()));
    assert_eq!(tx.try_send(2), Ok(()));
    std::mem::forget(parked(tx.send(3)));
    assert_eq!(rx.try_recv(), Ok(2));
    assert_eq!(tx.try_send(4), Ok(()));
    std::mem::forget(parked(tx.send(5)));
    drop(tx);
    assert!(rx.into_iter().eq([4]));
}

/// The last one that it was polled with is woken, and no other is kept.
fn another_waker<F: Rings>() {
    let (mut tx, mut rx) = F::ring(1);
    let other = Hand::new(std::future::ready(()));
    let wakes = crate::hand::Wakes::default();
    let wakes = std::sync::Arc::new(wakes);
    let mut receiver = parked(rx.recv());
    assert_eq!(receiver.wakers_held(), 1);
    assert!(receiver.poll().is_pending());
    assert_eq!(receiver.wakers_held(), 1);
    assert!(receiver.poll_with(&wakes.clone().into()).is_pending());
    assert_eq!(receiver.wakers_held(), 0);
    assert_eq!(tx.try_send(1), Ok(()));
    assert_eq!((receiver.wakes(), wakes.count()), (0, 1));
    assert_eq!(ready(receiver.poll()), Ok(1));
    drop((other, receiver));
    // A message that came without a wake is seen all the same.
    let mut receiver = parked(rx.recv());
    assert_eq!(tx.try_send(2), Ok(()));
    assert_eq!(ready(receiver.poll_with(&wakes.clone().into())), Ok(2));
    drop(receiver);
    assert_eq!(std::sync::Arc::strong_count(&wakes), 1);
}

fn messages_of_all_sizes<F: Rings>() {
    let (mut tx, mut rx) = F::ring(1 << 40);
    for _ in 0..1_000 {
        assert_eq!(tx.try_send(()), Ok(()));
    }
    assert_eq!(rx.try_iter().count(), 1_000);
    let large = || {
        let (mut tx, mut rx) = F::ring(2);
        for round in 0..3_u8 {
            assert!(tx.try_send([round; 1 << 20]).is_ok());
            assert!(ready(Hand::new(tx.send([round + 1; 1 << 20])).poll()).is_ok());
            let mut got = Vec::new();
            assert_eq!(ready(Hand::new(rx.recv_many(&mut got, 1)).poll()), Ok(1));
            assert!(got[0].iter().all(|byte| *byte == round));
            let second = ready(Hand::new(rx.recv()).poll()).expect("there is one");
            assert!(second.iter().all(|byte| *byte == round + 1));
        }
    };
    // Without optimisation such a message is on the stack several times.
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(64 << 20);
        let run = thread.spawn_scoped(scope, large).expect("a thread");
        run.join().expect("no panic");
    });
}

fn messages_that_must_not_move<F: Rings>() {
    struct Fixed(u32, #[allow(dead_code)] PhantomPinned);
    let (mut tx, mut rx) = F::ring(1);
    let mut sender = Hand::new(tx.send(Fixed(1, PhantomPinned)));
    assert!(ready(sender.poll()).is_ok());
    assert_eq!(rx.try_recv().map(|fixed| fixed.0), Ok(1));
}

fn capacities<F: Rings>() {
    fn refused<F: Rings, T>(capacity: usize) -> String {
        let payload = catch_unwind(|| drop(F::ring::<T>(capacity))).expect_err("it is refused");
        *payload.downcast::<String>().unwrap_or_else(|payload| {
            Box::new(payload.downcast_ref::<&str>().expect("a text").to_string())
        })
    }
    assert!(refused::<F, u8>(0).contains("`rendezvous`"));
    for capacity in [usize::MAX, usize::MAX / 2 + 2] {
        assert!(refused::<F, u8>(capacity).contains("larger than any memory"));
        assert!(refused::<F, ()>(capacity).contains("larger than any memory"));
    }
    assert!(refused::<F, u64>(usize::MAX / 16 + 1).contains("larger than any memory"));
    // Nothing is asked for before the first message.
    let (tx, _rx) = F::ring::<u64>(1 << 50);
    assert_eq!(tx.capacity(), 1 << 50);
}

fn iterators<F: Rings>() {
    let (mut tx, mut rx) = F::ring(3);
    for number in 0..3 {
        assert_eq!(tx.try_send(number), Ok(()));
    }
    assert!(rx.iter().take(1).eq([0]));
    assert!(rx.try_iter().eq([1, 2]));
    assert_eq!(tx.try_send(3), Ok(()));
    drop(tx);
    for message in &mut rx {
        assert_eq!(message, 3);
    }
    assert_eq!(rx.into_iter().next(), None);
}

fn names<F: Rings>() {
    let (mut tx, mut rx) = F::ring::<u8>(3);
    assert_eq!(tx.try_send(1), Ok(()));
    assert_eq!(format!("{tx:?}"), "Sender { len: 1, capacity: 3, .. }");
    assert_eq!(format!("{rx:?}"), "Receiver { len: 1, capacity: 3, .. }");
    let text = format!("{:?} {:?}", tx.send(1), rx.recv());
    assert!(text.contains("spsc::Sender::send at "), "{text}");
    assert!(text.contains("spsc::Receiver::recv at "), "{text}");
}
