//! Selects, join patterns and port sets over the same rendezvous channels: of a select one message goes, at most.

use std::task::Poll;

use gossamer::channel::{Closed, TryRecvError, join_pattern};
use gossamer::select;

use crate::flavour::both;
use crate::hand::parked;
use crate::ports::Sets;

both! {
    a_join_does_not_take_from_its_own_select,
    a_set_does_not_take_from_its_own_select,
}

fn a_join_does_not_take_from_its_own_select<F: Sets>() {
    let ((a, ones), (b, twos)) = (F::channel(0), F::channel(0));
    let mut waits = parked(async {
        select! {
            joined = join_pattern((&ones, &twos)) => joined,
            _ = a.send(1) => Err(Closed),
        }
    });
    let mut second = parked(b.send(2));
    assert!(waits.poll().is_pending());
    let mut first = parked(a.send(10));
    assert_eq!(waits.poll(), Poll::Ready(Ok((10, 2))));
    drop(waits);
    assert_eq!(first.poll(), Poll::Ready(Ok(())));
    assert_eq!(second.poll(), Poll::Ready(Ok(())));
    assert_eq!(ones.try_recv(), Err(TryRecvError::Empty));
}

fn a_set_does_not_take_from_its_own_select<F: Sets>() {
    let (set, (tx, rx)) = (F::set(), F::channel(0));
    set.add(rx).unwrap();
    let mut waits = parked(async {
        select! {
            event = set.recv() => event.and_then(|(_, got)| got.ok()),
            _ = tx.send(1) => None,
        }
    });
    assert!(waits.poll().is_pending());
    let mut sends = parked(tx.send(2));
    assert_eq!(waits.poll(), Poll::Ready(Some(2)));
    drop(waits);
    assert_eq!(sends.poll(), Poll::Ready(Ok(())));
}
