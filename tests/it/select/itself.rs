//! A select with both ends of a rendezvous channel meets others, and not itself.

use std::task::Poll;

use gossamer::channel::{Closed, TryRecvError};
use gossamer::select;

use crate::flavour::both;
use crate::hand::{Hand, parked};
use crate::ports::Sets;

both! {
    it_waits_for_somebody_else,
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
