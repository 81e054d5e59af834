//! Puts an OS thread to sleep until somebody wakes it: a permit that is never lost.
//!
//! A wake sets the permit and then unparks the thread; the thread sleeps only while it finds no
//! permit, and `unpark` before `park` makes the `park` return at once. So a wake at any moment is
//! seen. One parker a thread is kept for use again; a second one is made only while the first is
//! in use (a wait inside a wait).

use core::cell::RefCell;
use core::task::Waker;

use alloc::sync::Arc;
use alloc::task::Wake;

use crate::door::atomic::{AtomicBool, Ordering};
use crate::door::{thread, thread_local};

/// One thread's permit.
#[derive(Debug)]
pub struct Parker {
    permit: Arc<Permit>,
    waker: Waker,
}

#[derive(Debug)]
struct Permit {
    given: AtomicBool,
    thread: thread::Thread,
}

impl Wake for Permit {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // Release pairs with the acquire in `park`: what the waker did before is seen. A read-modify-write,
        // so that of two wakers the one that is overtaken is seen as well.
        if cfg!(mutant = "permit_overtaken") {
            self.given.store(true, Ordering::Release); // pairs with `park`, unless overtaken
        } else {
            self.given.swap(true, Ordering::Release);
        }
        self.thread.unpark();
    }
}

#[cfg(not(loom))]
thread_local! {
    static SPARE: RefCell<Option<Parker>> = const { RefCell::new(None) };
}
#[cfg(loom)]
thread_local! {
    static SPARE: RefCell<Option<Parker>> = RefCell::new(None);
}

impl Parker {
    fn new() -> Self {
        let permit = Arc::new(Permit {
            given: AtomicBool::new(false),
            thread: thread::current(),
        });
        Self {
            waker: Waker::from(permit.clone()),
            permit,
        }
    }

    /// Calls `use_it` with a parker of the current thread.
    pub fn with<R>(use_it: impl FnOnce(&Self) -> R) -> R {
        let parker = SPARE
            .with(|spare| spare.borrow_mut().take())
            .unwrap_or_else(Self::new);
        let result = use_it(&parker);
        SPARE.with(|spare| *spare.borrow_mut() = Some(parker));
        result
    }

    /// Wakes this thread.
    pub fn waker(&self) -> &Waker {
        &self.waker
    }

    /// Sleeps until a wake; returns at once if there was one since the last call.
    pub fn park(&self) {
        // Acquire pairs with the release in `wake_by_ref`.
        while !self.permit.given.swap(false, Ordering::Acquire) {
            thread::park();
        }
    }
}
