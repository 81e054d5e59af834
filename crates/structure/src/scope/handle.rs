//! The handle of a scope's child.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use gossamer_core::context::{self, SchedulingPoint};
use gossamer_task::JoinError;

use super::child::Gives;

/// The output of a scope's child, once it has one: a future.
///
/// # Blocking
/// `.await` in a task, `.wait()` in a fiber or thread.
///
/// # Cancellation
/// Dropping it detaches the child from the caller, not from its scope, which waits for it. A panic of the child is then
/// the scope's. What its output, which nobody wants then, panics with when it is dropped ends there.
///
/// # Errors
/// [`JoinError`]: the child panicked (the payload is inside, and is the scope's no more), was aborted, or its runtime
/// ended.
pub struct ScopedHandle<'scope, T> {
    child: Arc<dyn Gives<T> + 'scope>,
    point: SchedulingPoint,
}

impl<'scope, T> ScopedHandle<'scope, T> {
    pub(super) fn new(child: Arc<dyn Gives<T> + 'scope>) -> Self {
        Self {
            child,
            point: SchedulingPoint::new(),
        }
    }

    /// Cancels the child: its future is dropped by the thread that runs it, at its next turn. A thread runs on.
    pub fn abort(&self) {
        self.child.abort();
    }

    /// Whether the output is there, so that waiting will not wait.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.child.is_finished()
    }
}

impl<T> Future for ScopedHandle<'_, T> {
    type Output = Result<T, JoinError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        ready!(self.point.pass(cx.waker()));
        match self.child.take_or_wake(cx.waker()) {
            Some(output) => Poll::Ready(output),
            None => {
                context::waits_still(&raw const *self, "scope::join", false);
                Poll::Pending
            }
        }
    }
}

impl<T> Drop for ScopedHandle<'_, T> {
    fn drop(&mut self) {
        self.child.forget();
    }
}

gossamer_core::impl_debug!([T] ScopedHandle['_, T], this => is_finished: this.is_finished());
