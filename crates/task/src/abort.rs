//! Ending a task without waiting for its output.

use std::task::Waker;

use gossamer_core::fork::Origin;
use gossamer_core::header::TaskRef;
use gossamer_core::waker;

use crate::id::Id;

/// Aborts a task: from [`JoinHandle::abort_handle`](crate::JoinHandle::abort_handle), or from a
/// `JoinSet`. It cannot wait for the task, and does not keep it from running on.
///
/// # Examples
/// ```
/// #[gossamer::main]
/// async fn main() {
///     let task = gossamer::spawn(std::future::pending::<()>());
///     let abort = task.abort_handle();
///     gossamer::spawn(async move { abort.abort() });
///     assert!(task.await.unwrap_err().is_cancelled());
/// }
/// ```
#[derive(Clone)]
pub struct AbortHandle {
    /// The task's own: it has a reference.
    waker: Waker,
    origin: Origin,
}

impl AbortHandle {
    /// For the task that this wakes, which was spawned there.
    pub(crate) fn new(waker: Waker, origin: Origin) -> Self {
        Self { waker, origin }
    }

    fn task(&self) -> TaskRef<'_> {
        waker::task_of(&self.waker).expect("the waker of a task of ours")
    }

    /// As [`JoinHandle::abort`](crate::JoinHandle::abort).
    pub fn abort(&self) {
        if !self.origin.is_elsewhere() {
            waker::abort(self.task());
        }
    }

    /// Whether the task has ended.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.task().is_finished()
    }

    /// Which task it is.
    #[must_use]
    pub fn id(&self) -> Id {
        Id::of(self.task().pointer())
    }
}

gossamer_core::impl_debug!([] AbortHandle[], this => id: this.id(), is_finished: this.is_finished());
