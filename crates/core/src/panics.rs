//! Panics that nobody is told of.

use std::any::Any;
use std::boxed::Box;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs what may panic where nobody waits for that: the hook has reported it, and it ends here.
#[inline]
pub fn end(run: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(run)) {
        swallow(payload);
    }
}

/// Drops the payload of a panic that the hook has reported and nobody waits for. Dropping it may panic again: what
/// comes of that is leaked.
pub fn swallow(payload: Box<dyn Any + Send>) {
    if let Err(another) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        core::mem::forget(another);
    }
}
