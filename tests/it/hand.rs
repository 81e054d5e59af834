//! Polling by hand, with a foreign waker that counts: no runtime between the test and the primitive.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

/// Counts its wakes.
#[derive(Default)]
pub(crate) struct Wakes(AtomicUsize);

impl Wakes {
    pub(crate) fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// A future held in the hand.
pub(crate) struct Hand<F: Future> {
    future: Pin<Box<F>>,
    wakes: Arc<Wakes>,
}

impl<F: Future> Hand<F> {
    pub(crate) fn new(future: F) -> Self {
        Self {
            future: Box::pin(future),
            wakes: Arc::default(),
        }
    }

    pub(crate) fn poll(&mut self) -> Poll<F::Output> {
        let waker = Waker::from(self.wakes.clone());
        self.poll_with(&waker)
    }

    pub(crate) fn poll_with(&mut self, waker: &Waker) -> Poll<F::Output> {
        self.future.as_mut().poll(&mut Context::from_waker(waker))
    }

    /// How often it has been woken.
    pub(crate) fn wakes(&self) -> usize {
        self.wakes.count()
    }

    /// Who holds its waker, apart from itself.
    pub(crate) fn wakers_held(&self) -> usize {
        Arc::strong_count(&self.wakes) - 1
    }
}

/// The hand of a future that has been polled once and waits.
pub(crate) fn parked<F: Future>(future: F) -> Hand<F> {
    let mut hand = Hand::new(future);
    assert!(hand.poll().is_pending(), "it does not wait");
    hand
}

/// What a poll gives that must not wait.
#[track_caller]
pub(crate) fn ready<T>(poll: Poll<T>) -> T {
    match poll {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("it waits"),
    }
}
