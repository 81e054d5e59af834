//! One rule at a time, polled by hand.

use std::collections::VecDeque;
use std::marker::PhantomPinned;
use std::panic::catch_unwind;

use gossamer::channel::{TryRecvError, TrySendError};

use super::Rings;
use crate::flavour::both;
use crate::hand::{Hand, parked, ready};

both! {
    as_many_as_there_may_be,
    first_in_first_out_round_the_ring,
    many_at_once_wake_the_sender_once,
    messages_of_all_sizes,
    messages_that_must_not_move,
    capacities,
    iterators,
    names,
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
