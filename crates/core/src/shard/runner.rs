//! The memory of a shard that only its runner touches.

use core::cell::{Cell, RefCell};

use alloc::sync::Arc;

use crate::header::{Owned, RunNextSlot, TaskState};
use crate::platform::atomic::{AtomicBool, Ordering};
use crate::platform::thread::{self, ThreadId};
use crate::platform::{UnmodelledI64, UnmodelledU32, UnmodelledU64};

/// Plain memory of whoever holds the shard's guard: on cache lines of its own, as others look at the shard's queues
/// while the runner writes here.
#[derive(Debug, Default)]
#[repr(align(64))]
pub struct Runner {
    /// Tasks that any thread may run. In a pool thieves touch the list too: see [`with_list`](super::Shard::with_list).
    pub(crate) owned: Owned,
    /// Tasks of the current local scope.
    pub(crate) owned_local: Owned,
    /// Not zero: new tasks are turned away, because the runtime is shutting down.
    pub(super) closing: UnmodelledU32,
    /// Whether somebody wants the runner to look around: the pool ends, say, or shrinks; or a poll has used up what its
    /// operations may take.
    pub called: Cell<bool>,
    /// The run-next slot of a pool's worker: a runnable task that nobody else touches, unless the shard is open.
    pub(crate) slot: RunNextSlot,
    /// Tasks made and freed by the runner; others may look.
    tasks: UnmodelledI64,
    /// Polls by runners of this shard; others may look.
    polls: UnmodelledU64,
    /// Panics that its runners have caught; others may look.
    panics: UnmodelledU64,
    /// Tasks that stay with one thread, which is the one that runs, and which that is, or was last.
    pub(super) pinned: Cell<usize>,
    pub(super) pinned_to: RefCell<Option<Arc<ThreadBound>>>,
}

impl Runner {
    /// The runner has made (1) or freed (-1) a task.
    #[inline(always)]
    pub(crate) fn count_task(&self, more: i64) {
        // Relaxed: only the runner writes it, and others only want to know about how many there are.
        let tasks = self.tasks.load(Ordering::Relaxed) + more;
        self.tasks.store(tasks, Ordering::Relaxed); // Relaxed: as above
    }

    /// Returns the runner's count of tasks, and resets it to zero.
    pub(super) fn take_task_count(&self) -> i64 {
        let tasks = self.tasks();
        self.tasks.store(0, Ordering::Relaxed); // Relaxed: as above
        tasks
    }

    pub(super) fn tasks(&self) -> i64 {
        // Relaxed: as above.
        self.tasks.load(Ordering::Relaxed)
    }

    /// Adds to the polls that there have been.
    pub fn count_polls(&self, more: u64) {
        // Relaxed: as for the tasks.
        let polls = self.polls.load(Ordering::Relaxed) + more;
        self.polls.store(polls, Ordering::Relaxed); // Relaxed: as above
    }

    /// How many polls there have been here, about.
    pub(crate) fn polls(&self) -> u64 {
        // Relaxed: as for the tasks.
        self.polls.load(Ordering::Relaxed)
    }

    /// The runner has caught a panic, be it in the midst of a poll: until then it may have been busy reporting it.
    #[cold]
    pub fn count_panic(&self) {
        // Relaxed: as for the tasks.
        let panics = self.panics.load(Ordering::Relaxed) + 1;
        self.panics.store(panics, Ordering::Relaxed); // Relaxed: as above
    }

    /// How many panics there have been here, of all runtimes whose shard this was.
    pub(crate) fn panics(&self) -> u64 {
        // Relaxed: as for the tasks; whoever takes one more or less into account reports once too often, or not.
        self.panics.load(Ordering::Relaxed)
    }

    /// How many tasks stay with the thread that polled them first.
    pub fn pinned(&self) -> usize {
        self.pinned.get()
    }

    /// Whether there are tasks that stay with another thread, so that this one must not run.
    pub fn is_pinned_elsewhere(&self) -> bool {
        self.is_pinned_to(|thread| !thread.is_here() && !thread.has_ended())
    }

    /// Whether there are tasks that stay with a thread that has ended.
    pub(super) fn is_left(&self) -> bool {
        self.is_pinned_to(ThreadBound::has_ended)
    }

    fn is_pinned_to(&self, such: impl FnOnce(&ThreadBound) -> bool) -> bool {
        self.pinned.get() > 0 && self.pinned_to.borrow().as_deref().is_some_and(such)
    }

    /// The shard is another runtime's.
    pub(super) fn begin_anew(&self) {
        self.closing.store(0, Ordering::Relaxed); // Relaxed: nobody looks at a shard that is free
        self.called.set(false);
        self.pinned.set(0);
        *self.pinned_to.borrow_mut() = None;
        // Relaxed: nobody looks at a shard that is free.
        self.polls.store(0, Ordering::Relaxed);
    }

    pub(crate) fn unpin_one(&self) {
        self.pinned.set(self.pinned.get() - 1);
    }

    /// The list that such a task belongs to.
    #[inline]
    pub(crate) fn list_of(&self, state: TaskState) -> &Owned {
        if state.is_local() {
            &self.owned_local
        } else {
            &self.owned
        }
    }
}

/// A thread with which tasks stay, as others know it.
#[derive(Debug)]
pub(super) struct ThreadBound {
    thread: ThreadId,
    pub(super) ended: AtomicBool,
}

impl ThreadBound {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self {
            thread: thread::current().id(),
            ended: AtomicBool::new(false),
        })
    }

    pub(super) fn is_here(&self) -> bool {
        self.thread == thread::current().id()
    }

    /// Whether the thread has ended, and so has ended its fibers.
    pub(super) fn has_ended(&self) -> bool {
        // Acquire: what it has done to them; pairs with the store in `thread_ends`.
        self.ended.load(Ordering::Acquire)
    }
}
