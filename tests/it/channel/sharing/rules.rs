//! One rule at a time, panics, threads.

use std::pin::Pin;
use std::task::{Context, Poll};

use gossamer::Wait;
use gossamer::channel::{
    SendError, SharedSender, TrySendError, UniqueSender, bounded, rendezvous, unbounded,
};

use super::Shares;
use crate::bad_wakers::{fails, may_fail, panics_in_drop, panics_in_wake, planned};
use crate::flavour::both;
use crate::hand::{Hand, parked};
use crate::models::{MODELS, runtime, watched};
use crate::tally::Tally;

both! {
    one_after_the_other,
    who_leaves_hands_the_turn_on,
    who_leaves_hands_the_turn_on_though_wakers_panic,
    without_waiting,
}

fn one_after_the_other<F: Shares>() {
    let (tx, rx) = F::channel(1);
    let one = F::shared(tx);
    let two = one.clone();
    assert_eq!(Hand::new(one.send(0)).poll(), Poll::Ready(Ok(())));
    let mut waiting: Vec<_> = (1..5)
        .map(|number| parked(if number % 2 == 0 { &one } else { &two }.send(number)))
        .collect();
    for number in 0..5 {
        assert_eq!(rx.try_recv(), Ok(number));
        if let Some(next) = waiting.get_mut(number) {
            // The first one waited for room, the others for their turn.
            assert_eq!((next.wakes(), next.poll()), (1, Poll::Ready(Ok(()))));
        }
    }
    assert!(rx.is_empty());
}

fn who_leaves_hands_the_turn_on<F: Shares>() {
    let tally = Tally::default();
    let (tx, rx) = F::channel(1);
    let tx = F::shared(tx);
    assert!(tx.try_send(tally.value(0)).is_ok());
    let has_turn = parked(tx.send(tally.value(1)));
    let waits = parked(tx.send(tally.value(2)));
    let mut third = parked(tx.send(tally.value(3)));
    // In line; at its turn; handed the turn without having noticed.
    drop(waits);
    drop(has_turn);
    assert_eq!((third.wakes(), tally.living()), (1, 2));
    let mut fourth = parked(tx.send(tally.value(4)));
    assert!(third.poll().is_pending());
    let (fifth, mut sixth) = (
        parked(tx.send(tally.value(5))),
        parked(tx.send(tally.value(6))),
    );
    assert!(rx.try_recv().is_ok_and(|value| value.id == 0));
    assert!(matches!(third.poll(), Poll::Ready(Ok(()))));
    assert!(rx.try_recv().is_ok_and(|value| value.id == 3));
    assert!(matches!(fourth.poll(), Poll::Ready(Ok(()))));
    assert_eq!((fifth.wakes(), sixth.wakes()), (1, 0));
    drop(fifth);
    assert_eq!(sixth.wakes(), 1);
    assert!(rx.try_recv().is_ok_and(|value| value.id == 4));
    assert!(matches!(sixth.poll(), Poll::Ready(Ok(()))));
    assert!(rx.try_recv().is_ok_and(|value| value.id == 6));
    assert_eq!(tally.living(), 0);
}

/// The waker of the first one panics when it is dropped, that of the second when it is woken.
fn who_leaves_hands_the_turn_on_though_wakers_panic<F: Shares>() {
    let tally = Tally::default();
    let (tx, rx) = F::channel(1);
    let tx = F::shared(tx);
    assert!(tx.try_send(tally.value(0)).is_ok());
    let mut first = Hand::new(tx.send(tally.value(1)));
    let waker = panics_in_drop();
    assert!(first.poll_with(&waker).is_pending());
    may_fail(|| drop(waker));
    let mut second = Hand::new(tx.send(tally.value(2)));
    assert!(second.poll_with(&panics_in_wake()).is_pending());
    let mut third = parked(tx.send(tally.value(3)));
    may_fail(|| drop(first));
    assert!(second.poll().is_pending());
    drop(second);
    assert!(third.poll().is_pending());
    assert!(rx.try_recv().is_ok_and(|value| value.id == 0));
    assert!(matches!(third.poll(), Poll::Ready(Ok(()))));
    assert!(rx.try_recv().is_ok_and(|value| value.id == 3));
    assert_eq!(tally.living(), 0);
    assert!(tx.try_send(tally.value(4)).is_ok());
}

fn without_waiting<F: Shares>() {
    let (tx, rx) = F::channel(1);
    let tx = F::shared(tx);
    assert_eq!(tx.try_send(0), Ok(()));
    assert_eq!(tx.try_send(1), Err(TrySendError::Full(1)));
    let mut waits = parked(tx.send(2));
    assert_eq!(rx.try_recv(), Ok(0));
    // Its turn is not over.
    assert_eq!(tx.try_send(3), Err(TrySendError::Full(3)));
    assert!(waits.poll().is_ready());
    assert_eq!(rx.try_recv(), Ok(2));
    drop(rx);
    assert_eq!(tx.try_send(4), Err(TrySendError::Closed(4)));
}

/// An end that panics, at the point it is told.
struct Loud(u32);

struct Sending(u32);

fn planned_at(point: u32, here: u32) {
    if point == here {
        planned();
    }
}

impl Future for Sending {
    type Output = Result<(), SendError<u32>>;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        planned_at(self.0, 1);
        if self.0 == 2 {
            return Poll::Pending;
        }
        Poll::Ready(Ok(()))
    }
}

impl Drop for Sending {
    fn drop(&mut self) {
        planned_at(self.0, 2);
        planned_at(self.0, 3);
    }
}

impl UniqueSender<u32> for Loud {
    type Sending<'a> = Sending;

    fn send(&mut self, message: u32) -> Sending {
        self.0 += 1;
        planned_at(message, 0);
        Sending(message)
    }

    fn try_send(&mut self, message: u32) -> Result<(), TrySendError<u32>> {
        planned_at(message, 0);
        Ok(())
    }
}

/// The end panics when it is asked, polled, or dropped: the next one has its turn.
#[test]
fn an_end_that_panics() {
    let tx = SharedSender::new(Loud(0));
    for point in [0, 1, 3] {
        fails(|| Hand::new(tx.send(point)).poll());
        assert_eq!(tx.try_send(9), Ok(()));
    }
    let stands = parked(tx.send(2));
    let mut next = parked(tx.send(9));
    fails(|| drop(stands));
    assert_eq!((next.wakes(), next.poll()), (1, Poll::Ready(Ok(()))));
    fails(|| tx.try_send(0));
    assert_eq!(tx.try_send(9), Ok(()));
}

/// Senders of all three kinds share an end, under every model.
#[test]
fn tasks_fibers_and_threads() {
    const EACH: u32 = 500;
    for model in MODELS {
        for capacity in [0, 1, 16, usize::MAX] {
            watched("shared sender", move || {
                let rt = runtime(model);
                let (tx, rx) = match capacity {
                    0 => rendezvous(),
                    usize::MAX => unbounded(),
                    capacity => bounded(capacity),
                };
                let one = SharedSender::new(tx);
                let (two, three) = (one.clone(), one.clone());
                let task = rt.spawn(async move {
                    for number in 0..EACH {
                        one.send((0, number)).await.expect("there is a receiver");
                    }
                });
                let fiber = rt.spawn_fiber(move || {
                    for number in 0..EACH {
                        two.send((1, number)).wait().expect("there is a receiver");
                    }
                });
                let thread = rt.spawn_thread(move || {
                    for number in 0..EACH {
                        three.send((2, number)).wait().expect("there is a receiver");
                    }
                });
                let receives = rt.spawn_thread(move || rx.iter().collect::<Vec<_>>());
                for sends in [task.wait(), fiber.wait(), thread.wait()] {
                    sends.expect("no panic");
                }
                let got = receives.wait().expect("no panic");
                for sender in 0..3 {
                    let own = got.iter().filter(|(from, _)| *from == sender);
                    assert!(own.map(|(_, number)| *number).eq(0..EACH));
                }
            });
        }
    }
}
