//! One rule at a time, polled by hand.

use std::future::poll_fn;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Poll, Wake, Waker};

use futures_core::{FusedStream, Stream};
use gossamer::channel::{Closed, SendError, TryRecvError, TrySendError};

use super::Channels;
use crate::bad_wakers::{fails, panics_in_drop};
use crate::flavour::both;
use crate::hand::{Hand, parked, ready};

both! {
    a_full_channel_lets_senders_wait_in_order,
    a_send_that_is_dropped_has_not_sent,
    those_that_have_places_enter_as_they_are_polled,
    a_message_comes_back_though_its_waker_panics,
    a_rendezvous_ends_when_the_message_is_taken,
    try_send_meets_a_waiting_receiver,
    each_waiting_receiver_may_be_sent_to,
    large_messages_of_senders_in_line,
    who_comes_may_be_quicker_than_who_was_called,
    the_last_message_goes_before_the_end,
    those_that_have_places_are_told_of_the_end,
    many_at_once_make_room_for_those_who_wait,
    sizes,
    messages_without_size_and_large_ones,
    iterators,
    a_stream,
    a_stream_that_owns_its_receiver,
}

/// With `?`, where one function tries and waits.
#[test]
fn errors_become_each_other() {
    assert_eq!(TrySendError::from(SendError(1)), TrySendError::Closed(1));
    assert_eq!(TryRecvError::from(Closed), TryRecvError::Closed);
    assert_eq!(SendError(2).into_inner(), 2);
}

/// Whatever the messages are: as crossbeam's and tokio's.
#[test]
fn ends_are_unwind_safe() {
    fn safe<E: UnwindSafe + RefUnwindSafe>(_: &E) {}
    type Unsafe = std::cell::RefCell<Box<dyn Fn()>>;
    let (tx, rx) = gossamer::channel::bounded::<Unsafe>(1);
    let permit = tx.try_reserve().expect("there is room");
    safe(&tx.downgrade());
    safe(&permit);
    safe(&rx);
    let (tx, rx) = gossamer::channel::oneshot::<Unsafe>();
    safe(&tx);
    safe(&rx);
    let (tx, rx) = gossamer::channel::broadcast::<Unsafe>(1);
    safe(&tx);
    safe(&rx);
    let (tx, rx) = gossamer::local::channel::watch(Unsafe::new(Box::new(|| ())));
    safe(&tx);
    safe(&rx);
}

fn a_full_channel_lets_senders_wait_in_order<F: Channels>() {
    let (tx, rx) = F::channel(1);
    tx.try_send(0).expect("there is room");
    assert_eq!(tx.try_send(9), Err(TrySendError::Full(9)));
    let mut waiting: Vec<_> = (1..4).map(|number| parked(tx.send(number))).collect();
    for number in 0..4 {
        assert_eq!(rx.try_recv(), Ok(number));
        // There is a place for the first one, and nobody else may have it.
        for (at, sender) in waiting.iter().enumerate() {
            assert_eq!(
                sender.wakes(),
                usize::from(at <= number),
                "{at} of {number}"
            );
        }
        assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
        if let Some(sender) = waiting.get_mut(number) {
            assert_eq!(tx.try_send(9), Err(TrySendError::Full(9)));
            assert_eq!(ready(sender.poll()), Ok(()));
        }
    }
    assert_eq!(tx.try_send(9), Ok(()));
}

fn a_send_that_is_dropped_has_not_sent<F: Channels>() {
    for capacity in [1, 2] {
        let (tx, rx) = F::channel(capacity);
        for number in 0..capacity {
            tx.try_send(number).expect("there is room");
        }
        let first = parked(tx.send(10));
        let mut second = parked(tx.send(11));
        assert_eq!(rx.try_recv(), Ok(0));
        // It has a place, and the next one has it when the first is dropped.
        assert_eq!((first.wakes(), second.wakes()), (1, 0));
        drop(first);
        assert_eq!(second.wakes(), 1);
        assert_eq!(tx.try_send(12), Err(TrySendError::Full(12)));
        assert_eq!(ready(second.poll()), Ok(()));
        assert!(rx.try_iter().eq((1..capacity).chain([11])));
        // Nobody waits for the last one: the place is free again.
        for number in 0..capacity {
            tx.try_send(number).expect("there is room");
        }
        let last = parked(tx.send(10));
        assert_eq!(rx.try_recv(), Ok(0));
        drop(last);
        assert_eq!(tx.try_send(12), Ok(()));
    }
}

fn those_that_have_places_enter_as_they_are_polled<F: Channels>() {
    let (tx, rx) = F::channel(2);
    for number in 0..2 {
        tx.try_send(number).expect("there is room");
    }
    let (mut first, mut second) = (parked(tx.send(2)), parked(tx.send(3)));
    assert!(rx.try_iter().eq(0..2));
    assert_eq!((first.wakes(), second.wakes()), (1, 1));
    // Nothing is in the channel, and all of it is reserved.
    assert_eq!(tx.try_send(9), Err(TrySendError::Full(9)));
    assert_eq!(ready(second.poll()), Ok(()));
    assert_eq!(tx.try_send(9), Err(TrySendError::Full(9)));
    assert_eq!(ready(first.poll()), Ok(()));
    assert!(rx.try_iter().eq([3, 2]));
}

/// The waker belongs to the operation alone, so the operation's drop drops it, which panics.
fn a_message_comes_back_though_its_waker_panics<F: Channels>() {
    let (tx, rx) = F::channel(1);
    tx.try_send(0).expect("there is room");
    let mut message = Some(1);
    let mut send = Hand::new(tx.send_from(&mut message));
    assert!(send.poll_with(&panics_in_drop()).is_pending());
    fails(|| drop(send));
    assert_eq!(message, Some(1));
    assert_eq!(rx.try_recv(), Ok(0));
    assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
}

fn a_rendezvous_ends_when_the_message_is_taken<F: Channels>() {
    let (tx, rx) = F::channel(0);
    assert_eq!(tx.try_send(1), Err(TrySendError::Full(1)));
    assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
    // The receiver comes first: it is called, and the sender waits until it has been there.
    let mut receiver = parked(rx.recv());
    let mut sender = parked(tx.send(2));
    assert_eq!((receiver.wakes(), sender.wakes()), (1, 0));
    assert_eq!(ready(receiver.poll()), Ok(2));
    assert_eq!(sender.wakes(), 1);
    assert_eq!(ready(sender.poll()), Ok(()));
    // The sender comes first.
    let mut sender = parked(tx.send(3));
    assert_eq!(rx.try_recv(), Ok(3));
    assert_eq!(ready(sender.poll()), Ok(()));
    // It takes its message away: the receiver that was called waits on, as the first.
    let mut receiver = parked(rx.recv());
    let second = parked(rx.recv());
    drop(parked(tx.send(4)));
    assert_eq!(receiver.wakes(), 1);
    assert!(receiver.poll().is_pending());
    let mut sender = parked(tx.send(5));
    assert_eq!((receiver.wakes(), second.wakes()), (2, 0));
    assert_eq!(ready(receiver.poll()), Ok(5));
    assert_eq!(ready(sender.poll()), Ok(()));
    assert!(rx.is_empty() && rx.is_full());
}

fn try_send_meets_a_waiting_receiver<F: Channels>() {
    let (tx, rx) = F::channel(0);
    let mut receiver = parked(rx.recv());
    let mut sender = parked(tx.send(1));
    // That receiver has one already.
    assert_eq!(tx.try_send(2), Err(TrySendError::Full(2)));
    assert_eq!(ready(receiver.poll()), Ok(1));
    assert_eq!(ready(sender.poll()), Ok(()));
    let mut receiver = parked(rx.recv());
    assert_eq!(tx.try_send(3), Ok(()));
    assert_eq!(tx.try_send(4), Err(TrySendError::Full(4)));
    assert_eq!(ready(receiver.poll()), Ok(3));
    // Dropped, it leaves the message to the next.
    let receiver = parked(rx.recv());
    assert_eq!(tx.try_send(5), Ok(()));
    drop(receiver);
    assert_eq!(rx.try_recv(), Ok(5));
}

fn each_waiting_receiver_may_be_sent_to<F: Channels>() {
    let (tx, rx) = F::channel(0);
    let (mut one, mut two) = (parked(rx.recv()), parked(rx.recv()));
    assert_eq!((tx.try_send(1), tx.try_send(2)), (Ok(()), Ok(())));
    assert_eq!(tx.try_send(3), Err(TrySendError::Full(3)));
    assert_eq!((one.wakes(), two.wakes()), (1, 1));
    assert_eq!((ready(two.poll()), ready(one.poll())), (Ok(1), Ok(2)));
}

/// The memory that is given back and the messages that are moved up do not get into each other's way.
fn large_messages_of_senders_in_line<F: Channels>() {
    for capacity in [1, 3, 64] {
        let (tx, rx) = F::channel(capacity);
        for number in 0..capacity {
            tx.try_send([number; 30]).expect("there is room");
        }
        let mut waiting: Vec<_> = (0..3).map(|number| parked(tx.send([number; 30]))).collect();
        let mut messages = Vec::new();
        while messages.len() < capacity + 3 {
            assert!(ready(Hand::new(rx.recv_many(&mut messages, 64)).poll()).is_ok());
            waiting.retain_mut(|sender| sender.wakes() == 0 || ready(sender.poll()).is_err());
        }
        assert!(
            messages[..capacity]
                .iter()
                .map(|message| message[29])
                .eq(0..capacity)
        );
        assert!(waiting.is_empty());
    }
}

fn who_comes_may_be_quicker_than_who_was_called<F: Channels>() {
    let (tx, rx) = F::channel(4);
    let mut receiver = parked(rx.recv());
    let mut second = parked(rx.recv());
    tx.try_send(1).expect("there is room");
    assert_eq!((receiver.wakes(), second.wakes()), (1, 0));
    assert_eq!(rx.try_recv(), Ok(1));
    // It is the first in line as before.
    assert!(receiver.poll().is_pending());
    tx.try_send(2).expect("there is room");
    assert_eq!((receiver.wakes(), second.wakes()), (2, 0));
    tx.try_send(3).expect("there is room");
    assert_eq!((receiver.wakes(), second.wakes()), (2, 1));
    assert_eq!(ready(second.poll()), Ok(2));
    // Dropped, it has the next one called.
    let mut third = Hand::new(rx.recv());
    drop(receiver);
    assert_eq!(ready(third.poll()), Ok(3));
    let (receiver, third) = (parked(rx.recv()), parked(rx.recv()));
    tx.try_send(4).expect("there is room");
    drop(receiver);
    assert_eq!(third.wakes(), 1);
}

/// One has been called for the last message: until that is taken, the others wait.
fn the_last_message_goes_before_the_end<F: Channels>() {
    let (tx, rx) = F::channel(1);
    let mut receiver = parked(rx.recv());
    let mut second = parked(rx.recv());
    tx.try_send(1).expect("there is room");
    drop(tx);
    assert_eq!((receiver.wakes(), second.wakes()), (1, 0));
    assert_eq!(ready(receiver.poll()), Ok(1));
    assert_eq!(second.wakes(), 1);
    assert_eq!(ready(second.poll()), Err(Closed));
}

/// One was called for a place, and has not come; the others wait in line. All get their messages back.
fn those_that_have_places_are_told_of_the_end<F: Channels>() {
    let (tx, rx) = F::channel(1);
    tx.try_send(0).unwrap();
    let mut called = parked(tx.send(1));
    let mut waits = parked(tx.send(2));
    let gone = parked(tx.send(3));
    assert_eq!(rx.try_recv(), Ok(0));
    assert_eq!((called.wakes(), waits.wakes()), (1, 0));
    drop(rx);
    assert_eq!((waits.wakes(), gone.wakes()), (1, 1));
    drop(gone);
    assert_eq!(called.poll(), Poll::Ready(Err(SendError(1))));
    assert_eq!(waits.poll(), Poll::Ready(Err(SendError(2))));
    assert_eq!(tx.try_send(4), Err(TrySendError::Closed(4)));
}

fn many_at_once_make_room_for_those_who_wait<F: Channels>() {
    for capacity in [0, 2, 3] {
        let (tx, rx) = F::channel(capacity);
        for number in 0..capacity {
            tx.try_send(number).expect("there is room");
        }
        let more = capacity..capacity + 4;
        let mut waiting: Vec<_> = more.map(|number| parked(tx.send(number))).collect();
        let mut messages = Vec::with_capacity(100);
        while messages.len() < capacity + 4 {
            let received = ready(Hand::new(rx.recv_many(&mut messages, 100)).poll());
            assert!(received.is_ok_and(|received| received > 0));
            waiting.retain_mut(|sender| sender.wakes() == 0 || ready(sender.poll()).is_err());
        }
        assert!(messages.iter().copied().eq(0..capacity + 4), "{messages:?}");
        assert!(waiting.is_empty());
    }
}

fn sizes<F: Channels>() {
    let (tx, rx) = F::channel::<u8>(2);
    assert_eq!((tx.len(), tx.capacity(), tx.is_full()), (0, Some(2), false));
    tx.try_send(1).expect("there is room");
    tx.try_send(2).expect("there is room");
    assert_eq!((rx.len(), rx.is_full(), rx.is_empty()), (2, true, false));
    let (other_tx, other_rx) = (tx.clone(), rx.clone());
    assert_eq!((rx.sender_count(), tx.receiver_count()), (2, 2));
    assert!(tx.same_channel(&other_tx) && rx.same_channel(&other_rx));
    drop((other_tx, other_rx));
    assert_eq!((tx.sender_count(), rx.receiver_count()), (1, 1));
    assert!(!tx.same_channel(&F::channel(2).0));
    assert_eq!(F::channel::<u8>(usize::MAX).0.capacity(), None);
    assert_eq!(F::channel::<u8>(0).1.capacity(), Some(0));
    assert!(format!("{tx:?}").contains("len: 2"), "{tx:?}");
}

fn messages_without_size_and_large_ones<F: Channels>() {
    let (tx, rx) = F::channel(3);
    for _ in 0..3 {
        tx.try_send(()).expect("there is room");
    }
    assert_eq!(tx.try_send(()), Err(TrySendError::Full(())));
    assert_eq!(rx.try_iter().count(), 3);
    // By value, on a stack with room for them.
    let large = std::thread::Builder::new().stack_size(64 << 20);
    let sends = || {
        let (tx, rx) = F::channel(usize::MAX);
        for number in 0..10 {
            tx.try_send([number; 1 << 20]).expect("there is room");
        }
        for number in 0..10_u8 {
            let message = rx.try_recv().expect("it was sent");
            assert_eq!((message[0], message[(1 << 20) - 1]), (number, number));
        }
    };
    let large = large.spawn(sends).expect("a thread");
    large.join().expect("no panic");
}

fn iterators<F: Channels>() {
    let (tx, rx) = F::channel(usize::MAX);
    for number in 0..6 {
        tx.try_send(number).expect("there is room");
    }
    assert_eq!(rx.try_iter().take(2).sum::<u32>(), 1);
    assert_eq!(rx.iter().take(2).sum::<u32>(), 5);
    drop(tx);
    assert_eq!((&rx).into_iter().next(), Some(4));
    assert_eq!(rx.into_iter().collect::<Vec<_>>(), [5]);
}

/// It gives each message, then the end, again and again; dropped in between it has lost nothing.
fn a_stream<F: Channels>() {
    let (tx, rx) = F::channel(2);
    {
        let mut stream = pin!(rx.stream());
        let mut next = parked(poll_fn(|cx| stream.as_mut().poll_next(cx)));
        tx.try_send(1).unwrap();
        assert_eq!(next.poll(), Poll::Ready(Some(1)));
        tx.try_send(2).unwrap();
        assert_eq!(next.poll(), Poll::Ready(Some(2)));
        assert!(next.poll().is_pending());
        tx.try_send(3).unwrap();
    }
    let mut stream = pin!(rx.stream());
    drop(tx);
    let mut next = Hand::new(poll_fn(|cx| stream.as_mut().poll_next(cx)));
    assert_eq!(next.poll(), Poll::Ready(Some(3)));
    for _ in 0..2 {
        assert_eq!(next.poll(), Poll::Ready(None));
    }
    drop(next);
    assert!(stream.is_terminated());
}

fn a_stream_that_owns_its_receiver<F: Channels>() {
    for capacity in [0, 2] {
        let (tx, rx) = F::channel(capacity);
        let mut stream = Box::pin(rx.into_stream());
        let mut next = parked(poll_fn(|cx| stream.as_mut().poll_next(cx)));
        let mut first = Hand::new(tx.send(1));
        let mut second = Hand::new(tx.send(2));
        let _one_after_the_other = (first.poll(), second.poll());
        for number in 1..3 {
            assert_eq!(next.poll(), Poll::Ready(Some(number)));
        }
        assert!(next.poll().is_pending());
        drop((first, second, next));
        assert_eq!(stream.receiver().sender_count(), 1);
        // It waits, and goes: so does the channel.
        let closed = parked(tx.closed());
        drop(stream);
        assert_eq!(closed.wakes(), 1);
        drop(closed);
        let (tx, rx) = F::channel::<u32>(capacity);
        let mut stream = Box::pin(rx.into_stream());
        let mut next = parked(poll_fn(|cx| stream.as_mut().poll_next(cx)));
        drop(tx);
        assert_eq!(
            (next.poll(), next.poll()),
            (Poll::Ready(None), Poll::Ready(None))
        );
        drop(next);
        assert!(stream.is_terminated());
    }
}

/// Two senders wait, and the waker of the first sends as well: that one comes after the second.
#[test]
fn a_waker_that_sends_passes_nobody() {
    struct Sends(gossamer::channel::Sender<u32>);
    impl Wake for Sends {
        fn wake(self: Arc<Self>) {
            let _sent_or_not = self.0.try_send(9);
        }
    }
    for capacity in [2, 3] {
        let (tx, rx) = gossamer::channel::bounded(capacity);
        for number in 0..capacity as u32 {
            assert_eq!(tx.try_send(number), Ok(()));
        }
        let mut first = Hand::new(tx.send(3));
        let waker = Waker::from(Arc::new(Sends(tx.clone())));
        assert!(first.poll_with(&waker).is_pending());
        let mut second = parked(tx.send(4));
        let mut messages = Vec::with_capacity(16);
        let received = Hand::new(rx.recv_many(&mut messages, capacity)).poll();
        assert_eq!(received, Poll::Ready(Ok(capacity)));
        // The waker of the first one sends too: there is room for it only if each that waits has a place.
        let nines = usize::from(capacity > 2);
        assert_eq!(rx.try_iter().collect::<Vec<_>>(), [9][..nines]);
        assert!(first.poll().is_ready() && second.poll().is_ready());
        assert_eq!(rx.try_iter().collect::<Vec<_>>(), [3, 4]);
    }
}
