//! Waits inside the polls of other waits.

use std::future::poll_fn;
use std::panic::Location;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use gossamer_core::wait::Wait;

use crate::{Fiber, Fibers};

#[derive(Default)]
struct Woken(AtomicU32);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Pending in its first poll.
fn second_time() -> impl Future<Output = ()> {
    let mut polls = 0;
    poll_fn(move |_| {
        polls += 1;
        match polls {
            1 => Poll::Pending,
            _ => Poll::Ready(()),
        }
    })
}

fn poll<F, T>(fiber: Pin<&mut Fiber<F, T>>, waker: Waker) -> Poll<T>
where
    F: FnOnce() -> T + 'static,
    T: 'static,
{
    fiber.poll(&mut Context::from_waker(&waker))
}

#[test]
fn a_poll_keeps_its_waker_while_the_fiber_stands_still_inside() {
    // SAFETY: nothing here uses a thread-local like a stack, nor initialises one.
    let fibers = unsafe { Fibers::contract() };
    let body = || {
        poll_fn(|cx| {
            second_time().wait();
            second_time().wait();
            cx.waker().wake_by_ref();
            Poll::Ready(())
        })
        .wait();
        second_time().wait();
    };
    let fiber = Fiber::new(body, Some(fibers), "", Location::caller());
    let mut fiber = pin!(fiber.map_err(|(error, _)| error).expect("a stack"));
    let [first, second, third] = [(); 3].map(|()| Arc::new(Woken::default()));
    let kept = Arc::downgrade(&first);
    assert!(poll(fiber.as_mut(), first.into()).is_pending());
    assert!(kept.upgrade().is_some(), "the poll goes on, and has it");
    assert!(poll(fiber.as_mut(), second.into()).is_pending());
    let alive = kept.upgrade().expect("the poll goes on, and has it");
    assert_eq!(alive.0.load(Ordering::Relaxed), 0);
    assert!(poll(fiber.as_mut(), third.into()).is_pending());
    assert_eq!(alive.0.load(Ordering::Relaxed), 1);
    drop(alive);
    assert!(kept.upgrade().is_none(), "the poll is over");
    assert!(poll(fiber.as_mut(), Waker::noop().clone()).is_ready());
}
