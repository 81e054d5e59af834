//! A select with both ends of a rendezvous channel meets others, and not itself.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use gossamer::channel::{Closed, TryRecvError};
use gossamer::select;

use crate::flavour::both;
use crate::hand::{Hand, Wakes, parked};
use crate::ports::Sets;

both! {
    it_waits_for_somebody_else,
    an_any_that_moves_between_its_polls,
}

fn it_waits_for_somebody_else<F: Sets>() {
    for (sends_first, partner_sends) in [(true, true), (true, false), (false, true), (false, false)]
    {
        let (tx, rx) = F::channel(0);
        let mut waits = Hand::new(async {
            if sends_first {
                select! {
                    biased;
                    sent = tx.send(1) => sent.map(|()| 0).map_err(|_| Closed),
                    number = rx.recv() => number,
                }
            } else {
                select! {
                    biased;
                    number = rx.recv() => number,
                    sent = tx.send(1) => sent.map(|()| 0).map_err(|_| Closed),
                }
            }
        });
        for _ in 0..3 {
            assert!(waits.poll().is_pending());
        }
        if partner_sends {
            let mut partner = parked(tx.send(2));
            assert_eq!(waits.poll(), Poll::Ready(Ok(2)));
            drop(waits);
            assert_eq!(partner.poll(), Poll::Ready(Ok(())));
            assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
        } else {
            assert_eq!(rx.try_recv(), Ok(1));
            assert_eq!(waits.poll(), Poll::Ready(Ok(0)));
        }
    }
}

/// And another one comes to where it was: the two meet.
fn an_any_that_moves_between_its_polls<F: Sets>() {
    let (tx, rx) = F::channel(0);
    let side = async |number: Option<u32>| match number {
        Some(number) => tx.send(number).await.is_ok().then_some(0),
        None => rx.recv().await.ok(),
    };
    let both = |number| select::any([side(Some(number)), side(None)]);
    let wakes = Arc::new(Wakes::default());
    let waker = Waker::from(wakes.clone());
    let mut cx = Context::from_waker(&waker);
    let mut here = both(1);
    assert!(Pin::new(&mut here).poll(&mut cx).is_pending());
    let mut first = Box::new(std::mem::replace(&mut here, both(2)));
    for _ in 0..3 {
        assert!(Pin::new(&mut first).poll(&mut cx).is_pending());
    }
    assert_eq!(wakes.count(), 0, "it calls itself");
    assert!(Pin::new(&mut here).poll(&mut cx).is_ready());
    assert!(Pin::new(&mut first).poll(&mut cx).is_ready());
    drop((here, first));
    assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
}
