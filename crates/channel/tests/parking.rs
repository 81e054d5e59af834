//! A ring wakes the side that waits for the other: in a small program, as the mutant that this catches needs a build
//! of its own.
#![cfg(not(any(loom, shuttle)))]

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use gossamer_channel::spsc;

/// How often it has been called.
#[derive(Default)]
struct Wakes(AtomicUsize);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        // Relaxed: one thread.
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn a_receiver_that_waits_is_woken() {
    let wakes = Arc::new(Wakes::default());
    let waker = Waker::from(wakes.clone());
    let mut cx = Context::from_waker(&waker);
    let (mut tx, mut rx) = spsc(8);
    // The first message of a ring takes the long way.
    for round in 1..=3 {
        let mut receiving = pin!(rx.recv());
        assert_eq!(receiving.as_mut().poll(&mut cx), Poll::Pending);
        assert_eq!(tx.try_send(round), Ok(()));
        // Relaxed: one thread.
        assert_eq!(wakes.0.load(Ordering::Relaxed), round);
        assert_eq!(receiving.poll(&mut cx), Poll::Ready(Ok(round)));
    }
}
