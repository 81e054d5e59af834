//! A task that is to be polled, and queues of such.

use std::fmt;
use std::panic::Location;
use std::ptr::NonNull;

use gossamer_core::header::{Header, TaskQueue};
use gossamer_core::shard::{Shard, ShardGuard};

/// A task that is to be polled. There is one for each time a task was scheduled.
#[derive(PartialEq, Eq)]
#[must_use = "a runnable that is dropped is a lost wake-up"]
pub struct Runnable(NonNull<Header>);

// SAFETY: outside the runner only the header's immutable fields are read.
unsafe impl Send for Runnable {}
// SAFETY: as above.
unsafe impl Sync for Runnable {}

impl Runnable {
    /// # Safety
    /// The task is scheduled, in no queue, and this is the one runnable for it.
    #[inline(always)]
    pub(crate) unsafe fn new(task: NonNull<Header>) -> Self {
        Self(task)
    }

    /// The header. A runnable keeps its task's memory.
    #[inline(always)]
    pub(crate) fn task(&self) -> NonNull<Header> {
        self.0
    }

    /// The header, for reading what any thread may read.
    #[inline(always)]
    pub(crate) fn header(&self) -> &Header {
        // SAFETY: a scheduled task is alive, and stays so until its runnable is polled, which takes the runnable.
        unsafe { self.0.as_ref() }
    }

    /// The next task of a shard's steal queue.
    #[inline(always)]
    pub(crate) fn pop_stealable(shard: &Shard) -> Option<Self> {
        // SAFETY: scheduled, and taken out of the one queue it was in.
        shard.pop_stealable().map(|task| unsafe { Self::new(task) })
    }

    /// Takes half of another shard's steal queue, but at most so many, and gives each to `take`.
    ///
    /// # Returns
    /// How many.
    pub(crate) fn steal(
        guard: &ShardGuard,
        from: &Shard,
        most: usize,
        mut take: impl FnMut(Self),
    ) -> usize {
        guard.steal(from, most, |task| {
            // SAFETY: scheduled, and taken out of the one queue it was in.
            take(unsafe { Self::new(task) });
        })
    }

    /// Where the task was spawned.
    pub fn spawned_at(&self) -> &'static Location<'static> {
        self.header().spawned
    }

    /// A number that no other living task has.
    pub fn id(&self) -> usize {
        self.0.as_ptr().addr()
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

// SAFETY: the queue's links are the runnables' that are in it, each of which is `Send`.
unsafe impl Send for Runnables {}

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
        // SAFETY: this was the one runnable of a scheduled task, which so is in no queue; the links of such a task
        // belong to its runnable.
        unsafe { self.0.push_back(task.task()) };
    }

    #[inline(always)]
    pub(crate) fn pop_front(&self) -> Option<Runnable> {
        // SAFETY: queued by `push_back`, whose runnable is this one again.
        self.0
            .pop_front()
            .map(|task| unsafe { Runnable::new(task) })
    }
}
