//! Wakers that panic, or come back to what they wait for, at each place where a primitive calls them.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::task::{Wake, Waker};

pub(crate) use crate::contract::not_cloned;

/// A planned panic: the hook says nothing of it.
pub(crate) fn planned() -> ! {
    resume_unwind(Box::new("planned"))
}

pub(crate) fn is_planned(payload: &(dyn Any + Send)) -> bool {
    payload.downcast_ref::<&str>() == Some(&"planned")
}

/// Runs what panics, as planned.
#[track_caller]
pub(crate) fn fails<R>(body: impl FnOnce() -> R) {
    let caught = catch_unwind(AssertUnwindSafe(|| drop(body())));
    let payload = caught.expect_err("it panics");
    assert_eq!(payload.downcast_ref::<&str>(), Some(&"planned"));
}

/// Runs what may panic, or not: a waker is dropped by whoever is the last to have it.
pub(crate) fn may_fail(body: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(body)) {
        assert_eq!(payload.downcast_ref::<&str>(), Some(&"planned"));
    }
}

/// Panics when it wakes, or when it is dropped for the last time.
struct Bad {
    in_wake: bool,
}

impl Wake for Bad {
    fn wake(self: Arc<Self>) {
        if self.in_wake {
            planned();
        }
    }
}

impl Drop for Bad {
    fn drop(&mut self) {
        if !self.in_wake {
            planned();
        }
    }
}

/// A waker that panics when it wakes.
pub(crate) fn panics_in_wake() -> Waker {
    Waker::from(Arc::new(Bad { in_wake: true }))
}

/// A waker that panics when it is dropped for the last time.
pub(crate) fn panics_in_drop() -> Waker {
    Waker::from(Arc::new(Bad { in_wake: false }))
}

thread_local! {
    /// What a [`Returns`] does.
    static DOES: RefCell<Option<Box<dyn FnMut()>>> = const { RefCell::new(None) };
}

fn come_back() {
    let does = DOES.take();
    if let Some(mut does) = does {
        does();
        DOES.set(Some(does));
    }
}

struct Returns;

impl Wake for Returns {
    fn wake(self: Arc<Self>) {
        come_back();
    }
}

impl Drop for Returns {
    fn drop(&mut self) {
        come_back();
    }
}

/// Runs `body`, in which wakers of [`comes_back`] do this.
pub(crate) fn coming_back(does: impl FnMut() + 'static, body: impl FnOnce()) {
    DOES.set(Some(Box::new(does)));
    body();
    DOES.set(None);
}

/// A waker that does something when it wakes, and when it is dropped for the last time.
pub(crate) fn comes_back() -> Waker {
    Waker::from(Arc::new(Returns))
}
