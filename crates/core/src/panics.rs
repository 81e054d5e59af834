//! Panics that nobody is told of.

use std::any::Any;
use std::boxed::Box;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::context::{self, Context};
use crate::shard::Shard;

/// Notes that the current thread has caught a panic. The hook that reports one may take long (a backtrace takes tens of
/// milliseconds at first): what held the runner up was that, and no task.
#[cold]
pub fn note() {
    let shard = context::with(Context::shard);
    if shard != context::NOWHERE {
        Shard::at(shard).runner.count_panic();
    }
}

/// Runs what may panic: once. Unlike the standard library's function it is not compiled for each closure, and there is a
/// closure for each task and operation.
///
/// # Errors
/// It has panicked: the payload.
#[inline]
pub fn caught(run: &mut dyn FnMut()) -> Result<(), Box<dyn Any + Send>> {
    catch_unwind(AssertUnwindSafe(run))
}

/// Runs what may panic where nobody waits for that: the hook has reported it, and it ends here.
#[inline]
pub fn end(run: impl FnOnce()) {
    let mut run = Some(run);
    let ran = caught(&mut || {
        if let Some(run) = run.take() {
            run();
        }
    });
    if let Err(payload) = ran {
        swallow(payload);
    }
}

/// Drops the payload of a panic that the hook has reported and nobody waits for. Dropping it may panic again: what
/// comes of that is leaked.
pub fn swallow(payload: Box<dyn Any + Send>) {
    note();
    if let Err(another) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        core::mem::forget(another);
    }
}
