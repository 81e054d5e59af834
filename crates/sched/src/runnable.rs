//! A task that is to be polled, and queues of such.

use std::fmt;
use std::panic::Location;

use gossamer_core::header::{ScheduledTask, TaskQueue, TaskRef};
use gossamer_task::Id;

/// A task that is to be polled. There is one for each time a task was scheduled.
#[derive(PartialEq, Eq)]
#[must_use = "a runnable that is dropped is a lost wake-up"]
pub struct Runnable(pub(crate) ScheduledTask);

impl Runnable {
    /// The header, for reading what any thread may read.
    #[inline(always)]
    pub(crate) fn header(&self) -> TaskRef<'_> {
        self.0.header()
    }

    /// Where the task was spawned.
    pub fn spawned_at(&self) -> &'static Location<'static> {
        self.header().spawned
    }

    /// Whether its task has ended, and the runnable only frees it.
    #[doc(hidden)]
    pub fn is_over(&self) -> bool {
        self.header().state().is_done()
    }

    /// Which task it is.
    pub fn id(&self) -> Id {
        Id::of(self.0.task())
    }
}

impl fmt::Debug for Runnable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Runnable({})", self.spawned_at())
    }
}

/// Runnable tasks, first in, first out, linked through themselves. Allocates nothing.
#[derive(Debug, Default)]
pub(crate) struct Runnables(TaskQueue);

impl Runnables {
    pub(crate) const fn new() -> Self {
        Self(TaskQueue::new())
    }

    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    #[inline(always)]
    pub(crate) fn push_back(&self, task: Runnable) {
        self.0.push_back(task.0);
    }

    /// Appends a task, and takes the first one out, which may be that.
    #[inline(always)]
    pub(crate) fn exchange(&self, task: Runnable) -> Runnable {
        Runnable(self.0.exchange(task.0))
    }

    #[inline(always)]
    pub(crate) fn pop_front(&self) -> Option<Runnable> {
        self.0.pop_front().map(Runnable)
    }
}
