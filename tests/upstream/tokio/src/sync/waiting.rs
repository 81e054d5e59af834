//! Waiting in a thread, and for an end.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::pin;
use std::task::Poll;

use gossamer::Wait;

/// `.wait()`, whose refusal inside a task is put in tokio's words.
pub(super) fn block<F: Future>(operation: F) -> F::Output {
    let waited = catch_unwind(AssertUnwindSafe(|| operation.wait()));
    waited.unwrap_or_else(|panic| match panic.downcast_ref::<String>() {
        Some(text) if text.starts_with("wait() was called inside a task") => {
            panic!("Cannot block the current thread from within a runtime. {text}")
        }
        _ => resume_unwind(panic),
    })
}

/// An operation's output; `None` if something else comes before that.
pub(super) async fn unless_comes<F: Future>(
    other: impl Future<Output = ()>,
    operation: F,
) -> Option<F::Output> {
    let (mut operation, mut other) = (pin!(operation), pin!(other));
    poll_fn(|cx| match other.as_mut().poll(cx) {
        Poll::Ready(()) => Poll::Ready(None),
        Poll::Pending => operation.as_mut().poll(cx).map(Some),
    })
    .await
}
