//! Polled by a foreign executor, and with wakers that panic.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Instant;

use gossamer::time::{sleep as rest, sleep_until, timeout};
use gossamer::{Model, Wait};

use super::{FAR, NEAR};
use crate::hand::{Hand, parked};
use crate::models::{runtime, watched};

/// The smallest executor there is.
fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    loop {
        let polled = future.as_mut().poll(&mut Context::from_waker(&waker));
        if let std::task::Poll::Ready(output) = polled {
            return output;
        }
        thread::park();
    }
}

#[test]
fn a_foreign_executor_is_woken() {
    watched("foreign", || {
        let others = [1, 3, 2].map(|times| {
            thread::spawn(move || {
                let began = Instant::now();
                block_on(async {
                    for _ in 0..10 {
                        rest(NEAR * times).await;
                        assert!(timeout(FAR, rest(NEAR)).await.is_ok());
                    }
                });
                assert!(began.elapsed() >= NEAR * 10 * (times + 1));
            })
        });
        for other in others {
            other.join().expect("no panic");
        }
    });
}

#[test]
fn a_cancelled_timer_wakes_nobody_and_keeps_no_waker() {
    let mut hand = parked(rest(FAR));
    assert!(hand.poll().is_pending());
    assert_eq!((hand.wakers_held(), hand.wakes()), (1, 0));
}

/// Panics when it is woken, or when it is dropped.
struct Angry {
    in_wake: bool,
    woken: AtomicUsize,
}

impl Wake for Angry {
    fn wake(self: Arc<Self>) {
        self.woken.fetch_add(1, Ordering::SeqCst);
        assert!(!self.in_wake, "a planned panic");
    }
}

impl Drop for Angry {
    fn drop(&mut self) {
        assert!(self.in_wake || thread::panicking(), "a planned panic");
    }
}

/// All of one moment are woken, though the first wakers panic, when they are woken or when they are dropped then.
#[test]
fn wakers_that_panic_harm_nobody() {
    for model in [Model::Single, Model::Pool { workers: 1 }, Model::Threads] {
        watched(&model.to_string(), move || {
            let rt = runtime(model);
            let task = rt.spawn(async {
                let soon = gossamer::time::now() + NEAR;
                let mut angry = [true, false, true, false].map(|in_wake| {
                    let woken = AtomicUsize::new(0);
                    let waker = Waker::from(Arc::new(Angry { in_wake, woken }));
                    let mut hand = Hand::new(sleep_until(soon));
                    assert!(hand.poll_with(&waker).is_pending());
                    // The timer has the last one.
                    drop(catch_unwind(AssertUnwindSafe(|| drop(waker))));
                    hand
                });
                sleep_until(soon).await;
                for hand in &mut angry {
                    assert!(hand.poll().is_ready());
                }
            });
            task.wait().expect("the panics end where they began");
            rt.block_on(rest(NEAR));
        });
    }
}

/// A waker that panics when it is dropped does so at whoever cancels, and the timer is gone all the same.
#[test]
fn cancelling_drops_the_waker_last() {
    let (in_wake, woken) = (false, AtomicUsize::new(0));
    let waker = Waker::from(Arc::new(Angry { in_wake, woken }));
    let mut hand = Hand::new(rest(FAR));
    assert!(hand.poll_with(&waker).is_pending());
    drop(waker);
    assert!(catch_unwind(AssertUnwindSafe(|| drop(hand))).is_err());
    let mut other = parked(rest(FAR));
    assert!(other.poll().is_pending());
    // Another waker takes the place of one that panics when it is dropped.
    let (in_wake, woken) = (false, AtomicUsize::new(0));
    let waker = Waker::from(Arc::new(Angry { in_wake, woken }));
    assert!(other.poll_with(&waker).is_pending());
    drop(waker);
    assert!(catch_unwind(AssertUnwindSafe(|| other.poll())).is_err());
    assert!(other.poll().is_pending());
    drop(other);
}
