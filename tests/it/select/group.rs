//! At most one branch takes effect, also where a receiver takes the message of a sender that waits.

use std::cell::Cell;
use std::future::pending;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use gossamer::channel::{TryRecvError, join_pattern, rendezvous, unbounded};
use gossamer::time::Elapsed;
use gossamer::{TimeoutExt, select};

use crate::bad_wakers::{comes_back, coming_back};
use crate::hand::{Hand, parked};

/// A receiver has taken the message in the moment in which another branch became ready: that one is taken no more.
#[test]
fn a_send_whose_message_was_taken_is_the_branch() {
    let ((tx, rx), (other, others)) = (rendezvous(), unbounded());
    let mut message = Some("hello");
    let mut waits = parked(async {
        select! {
            biased;
            _ = others.recv() => "other",
            _ = tx.send_from(&mut message) => "sent",
        }
    });
    assert_eq!(rx.try_recv(), Ok("hello"));
    other.try_send(()).unwrap();
    assert_eq!(waits.poll(), Poll::Ready("sent"));
    drop(waits);
    assert_eq!(message, None);
    assert_eq!(others.try_recv(), Ok(()));
}

/// A select that sends and receives over one rendezvous channel meets others, and not itself.
#[test]
fn a_select_is_not_its_own_partner() {
    let (tx, rx) = rendezvous();
    let both = async |number: i32| {
        select! {
            received = rx.recv() => received.ok(),
            sent = tx.send(number) => sent.ok().and(None),
        }
    };
    for number in 0..20 {
        let mut waits = parked(both(number));
        assert_eq!(waits.poll(), Poll::Pending);
        let mut partner = Hand::new(both(-1));
        assert_eq!(partner.poll(), Poll::Ready(Some(number)));
        assert_eq!(waits.poll(), Poll::Ready(None));
    }
    assert!(rx.try_recv().is_err(), "nobody sends");
}

/// Each sends once in a select over four rendezvous channels; a second message is not to be had.
#[test]
fn of_four_sends_one_is_received() {
    let channels: [_; 4] = std::array::from_fn(|_| rendezvous());
    let [(a, from_a), (b, from_b), (c, from_c), (d, from_d)] = &channels;
    for place in 0..4 {
        let mut waits = parked(async {
            select! {
                _ = a.send(0) => 0,
                _ = b.send(1) => 1,
                _ = c.send(2) => 2,
                _ = d.send(3).timeout(Duration::from_secs(600)) => 3,
            }
        });
        let ways = [from_a, from_b, from_c, from_d];
        assert_eq!(ways[place].try_recv(), Ok(place as i32));
        for other in ways {
            assert!(other.try_recv().is_err(), "a second one was received");
        }
        // One that waits where it is turned away is called when there is a sender again.
        let mut receiver = parked(ways[(place + 1) % 4].recv());
        assert_eq!(waits.poll(), Poll::Ready(place as i32));
        drop(waits);
        assert_eq!(receiver.poll(), Poll::Pending);
        let mut later = parked(channels[(place + 1) % 4].0.send(7));
        assert_eq!(receiver.poll(), Poll::Ready(Ok(7)));
        assert_eq!(later.poll(), Poll::Ready(Ok(())));
    }
}

/// A time limit is a select of two: if the message has been taken, the time is not over.
#[test]
fn a_send_whose_message_was_taken_is_in_time() {
    let (tx, rx) = rendezvous();
    let limit = Duration::from_millis(1);
    let mut waits = parked(tx.send(1).timeout(limit));
    assert_eq!(rx.try_recv(), Ok(1));
    // Time enough, whoever else uses the machine: one that began later is over.
    let mut later = Hand::new(rx.recv().timeout(limit));
    while later.poll().is_pending() {}
    assert_eq!(waits.poll(), Poll::Ready(Ok(Ok(()))));
}

/// A receiver comes between the last look at the operation and the look at the clock. (The waker of the poll before is
/// dropped there if the thread of the timers has called it by then; else the next try shows it.)
#[test]
fn a_send_that_is_out_of_time_is_not_taken() {
    let found = (0..1_000).find_map(|_| received_out_of_time());
    assert_eq!(found, Some(Err(TryRecvError::Empty)));
}

/// What the receiver that comes in between gets, if it does come.
fn received_out_of_time() -> Option<Result<i32, TryRecvError>> {
    let (tx, rx) = rendezvous();
    let limit = Duration::from_millis(1);
    let mut waits = Hand::new(tx.send(1).timeout(limit));
    assert!(waits.poll_with(&comes_back()).is_pending());
    let mut later = Hand::new(pending::<()>().timeout(limit));
    while later.poll().is_pending() {}
    let received = Rc::new(Cell::new(None));
    let receives = {
        let (received, rx) = (received.clone(), rx.clone());
        move || received.set(Some(rx.try_recv()))
    };
    coming_back(receives, || {
        assert_eq!(waits.poll(), Poll::Ready(Err(Elapsed)))
    });
    received.get()
}

/// A branch by reference goes on by itself, once it is polled again.
#[test]
fn a_send_by_reference_waits_for_its_next_poll() {
    let ((tx, rx), (stop, stopped)) = (rendezvous(), unbounded());
    let mut send = Box::pin(tx.send(1));
    let mut waits = parked(async {
        select! {
            biased;
            _ = stopped.recv() => "stopped",
            _ = &mut send => "sent",
        }
    });
    stop.try_send(()).unwrap();
    assert_eq!(waits.poll(), Poll::Ready("stopped"));
    drop(waits);
    assert!(
        rx.try_recv().is_err(),
        "its select has taken another branch"
    );
    let mut receiver = parked(rx.recv());
    let mut send = parked(send);
    assert_eq!(receiver.poll(), Poll::Ready(Ok(1)));
    assert_eq!(send.poll(), Poll::Ready(Ok(())));
    // Or its select was dropped, while it waited.
    let mut send = Box::pin(tx.send(2));
    drop(parked(async {
        select! {
            _ = stopped.recv() => {}
            _ = &mut send => {}
        }
    }));
    assert!(rx.try_recv().is_err(), "its select is gone");
    let mut send = parked(send);
    assert_eq!(rx.try_recv(), Ok(2));
    assert_eq!(send.poll(), Poll::Ready(Ok(())));
}

/// A join takes no two messages of one select, and what it could not take is there for others.
#[test]
fn a_join_takes_one_message_of_a_select() {
    let ((a, from_a), (b, from_b)) = (rendezvous(), rendezvous());
    for number in 0..3 {
        let mut waits = parked(async {
            select! {
                _ = a.send(number) => "a",
                _ = b.send(-1) => "b",
            }
        });
        let mut join = parked(join_pattern((&from_a, &from_b)));
        let mut other = parked(b.send(7));
        assert_eq!(join.poll(), Poll::Ready(Ok((number, 7))));
        assert_eq!(other.poll(), Poll::Ready(Ok(())));
        assert_eq!(waits.poll(), Poll::Ready("a"));
    }
    let mut waits = parked(async {
        select! {
            _ = a.send(0) => "a",
            _ = b.send(1) => "b",
        }
    });
    drop(parked(join_pattern((&from_a, &from_b))));
    assert_eq!(from_b.try_recv(), Ok(1));
    assert_eq!(waits.poll(), Poll::Ready("b"));
}

/// A receiver that is called by nobody but its own select would keep that busy for ever.
#[test]
fn a_select_with_both_ends_sleeps() {
    let (tx, rx) = rendezvous::<i32>();
    let mut waits = parked(async {
        select! {
            _ = rx.recv() => {}
            _ = tx.send(1) => {}
        }
    });
    for _ in 0..3 {
        assert_eq!(
            (waits.poll(), waits.wakes()),
            (Poll::Pending, 0),
            "nobody came"
        );
    }
}
