//! The two intrusive lists a task can be in: one run queue, and its shard's list of owned tasks.
//!
//! Both are plain memory. They belong to the runner; but in a pool thieves take tasks out of the steal queue and the
//! list of owned tasks, and each has a lock there ([`crate::shard`]): who holds it stands for the runner here.

use core::cell::Cell;
use core::ptr::NonNull;

use super::{Header, LinkedTask, QueueLink, TaskRef, TaskState};

/// A task that is scheduled and in no queue, and so alive. There is one for each time a task was scheduled.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a scheduled task that is dropped is a lost wake-up"]
pub struct ScheduledTask(TaskRef<'static>);

// SAFETY: outside the runner only what any thread may read of the header is read.
unsafe impl Send for ScheduledTask {}
// SAFETY: as for sending it.
unsafe impl Sync for ScheduledTask {}

impl ScheduledTask {
    /// Of a pointer to a task.
    ///
    /// # Safety
    /// The task is scheduled and in no queue, and this is its only `ScheduledTask`.
    #[inline(always)]
    pub unsafe fn new(task: NonNull<Header>) -> Self {
        // SAFETY: alive until its turn has begun, which takes this.
        Self(unsafe { TaskRef::new(task) })
    }

    /// The pointer, good for the whole task.
    #[inline(always)]
    pub fn task(&self) -> NonNull<Header> {
        self.0.pointer()
    }

    /// The header, for what any thread may read.
    #[inline(always)]
    pub fn header(&self) -> TaskRef<'_> {
        self.0
    }
}

impl TaskRef<'_> {
    /// Schedules the task: its state becomes `state`.
    ///
    /// # Safety
    /// On the runner; the task was not scheduled.
    #[inline(always)]
    pub(crate) unsafe fn schedule(self, state: TaskState) -> ScheduledTask {
        debug_assert!(state.is_scheduled());
        // SAFETY: on the runner, as the caller says, which queues the result.
        unsafe { self.set_state(state) };
        // SAFETY: scheduled just now, so in no queue.
        unsafe { ScheduledTask::new(self.pointer()) }
    }
}

/// A first-in first-out queue of scheduled tasks, linked through `next`.
#[derive(Debug)]
pub struct TaskQueue {
    head: Cell<LinkedTask>,
    /// The last one; of an empty queue, anything.
    tail: Cell<LinkedTask>,
}

// SAFETY: the links of a scheduled task belong to its `ScheduledTask`, which is `Send` and which the queue has taken.
unsafe impl Send for TaskQueue {}

impl TaskQueue {
    /// An empty queue.
    pub const fn new() -> Self {
        Self {
            head: Cell::new(None),
            tail: Cell::new(None),
        }
    }

    /// Whether no task is queued.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.head.get().is_none()
    }

    /// Appends a task.
    #[inline(always)]
    pub fn push_back(&self, task: ScheduledTask) {
        let task = task.0;
        task.next.set(QueueLink::NOTHING);
        let tail = self.tail.replace(Some(task));
        if self.head.get().is_none() {
            self.head.set(Some(task));
        } else {
            // SAFETY: the queue was not empty, so it had a last one.
            let tail = unsafe { tail.unwrap_unchecked() };
            tail.next.set(QueueLink::link(task));
        }
    }

    /// Takes the first task out.
    #[inline(always)]
    pub fn pop_front(&self) -> Option<ScheduledTask> {
        let task = self.head.get()?;
        // SAFETY: queued so far, and `next` is a link while it is.
        self.head.set(unsafe { task.next.get().as_link() });
        Some(ScheduledTask(task))
    }

    /// Appends a task, and takes the first one out, which may be that.
    #[inline(always)]
    pub fn exchange(&self, task: ScheduledTask) -> ScheduledTask {
        let Some(first) = self.head.get() else {
            return task;
        };
        let task = task.0;
        task.next.set(QueueLink::NOTHING);
        // SAFETY: the queue is not empty, so it has a last one.
        let tail = unsafe { self.tail.replace(Some(task)).unwrap_unchecked() };
        tail.next.set(QueueLink::link(task));
        // SAFETY: queued so far, and `next` is a link while it is.
        self.head.set(unsafe { first.next.get().as_link() });
        ScheduledTask(first)
    }

    /// Puts back what [`TaskQueue::take`] took out of a queue that is empty again.
    pub(crate) fn restore(&self, all: Self) {
        self.head.set(all.head.get());
        self.tail.set(all.tail.get());
    }

    /// Takes everything out, as another queue.
    pub fn take(&self) -> Self {
        Self {
            head: Cell::new(self.head.take()),
            tail: Cell::new(self.tail.get()),
        }
    }
}

impl Default for TaskQueue {
    fn default() -> Self {
        Self::new()
    }
}

/// A run-next slot: the place of one scheduled task.
#[derive(Debug, Default)]
pub(crate) struct RunNextSlot(Cell<LinkedTask>);

impl RunNextSlot {
    /// Whether no task is there.
    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.get().is_none()
    }

    /// Takes the task out.
    #[inline(always)]
    pub(crate) fn take(&self) -> Option<ScheduledTask> {
        self.0.take().map(ScheduledTask)
    }

    /// Puts a task there; gives the one that was.
    #[inline(always)]
    pub(crate) fn replace(&self, task: ScheduledTask) -> Option<ScheduledTask> {
        self.0.replace(Some(task.0)).map(ScheduledTask)
    }
}

/// Runnable tasks that are in no list of their shard's, because they are not yet there for good: linked through the
/// same links as such a list. The newest is taken first by who has it, the oldest by who takes it away.
#[derive(Debug, Default)]
pub struct NewTaskStack {
    newest: Cell<LinkedTask>,
    oldest: Cell<LinkedTask>,
}

// SAFETY: the links of a task that is new and scheduled belong to its `ScheduledTask`, which is `Send` and which the
// stack has taken.
unsafe impl Send for NewTaskStack {}

impl NewTaskStack {
    /// No task.
    pub const fn new() -> Self {
        Self {
            newest: Cell::new(None),
            oldest: Cell::new(None),
        }
    }

    /// Whether no task is there.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.newest.get().is_none()
    }

    /// Adds a new task, which is in no list.
    ///
    /// # Errors
    /// The task is not new: it comes back.
    pub fn push(&self, task: ScheduledTask) -> Result<(), ScheduledTask> {
        if !task.header().state().is_new() {
            return Err(task);
        }
        let task = task.0;
        let before = self.newest.replace(Some(task));
        task.owned.next.set(before);
        task.owned.prev.set(None);
        match before {
            Some(before) => before.owned.prev.set(Some(task)),
            None => self.oldest.set(Some(task)),
        }
        Ok(())
    }

    /// Takes the newest task out.
    pub fn pop_newest(&self) -> Option<ScheduledTask> {
        let task = self.newest.get()?;
        let next = task.owned.next.get();
        self.newest.set(next);
        match next {
            Some(next) => next.owned.prev.set(None),
            None => self.oldest.set(None),
        }
        Some(ScheduledTask(task))
    }

    /// Takes the oldest task out.
    pub fn pop_oldest(&self) -> Option<ScheduledTask> {
        let task = self.oldest.get()?;
        let prev = task.owned.prev.get();
        self.oldest.set(prev);
        match prev {
            Some(prev) => prev.owned.next.set(None),
            None => self.newest.set(None),
        }
        Some(ScheduledTask(task))
    }
}

/// All tasks of a shard whose futures still exist; newest first.
#[derive(Debug, Default)]
pub struct Owned(Cell<LinkedTask>);

impl Owned {
    /// An empty list.
    pub const fn new() -> Self {
        Self(Cell::new(None))
    }

    pub(super) fn newest(&self) -> LinkedTask {
        self.0.get()
    }

    /// The newest task. In a pool: inside `Shard::with_list`, or when no thief can come any more.
    pub(crate) fn first(&self) -> Option<NonNull<Header>> {
        self.0.get().map(TaskRef::pointer)
    }

    /// The task spawned before `task`.
    ///
    /// # Safety
    /// On the runner; `task` is in this list.
    pub unsafe fn after(task: NonNull<Header>) -> Option<NonNull<Header>> {
        // SAFETY: tasks in the list are alive.
        let task = unsafe { TaskRef::new(task) };
        task.owned.next.get().map(TaskRef::pointer)
    }

    /// Adds a task.
    ///
    /// # Safety
    /// On the runner; the task is in no such list and leaves it before its memory goes.
    #[inline]
    pub unsafe fn push(&self, task: NonNull<Header>) {
        // SAFETY: alive until it leaves the list.
        let task = unsafe { TaskRef::new(task) };
        let first = self.0.replace(Some(task));
        task.owned.next.set(first);
        task.owned.prev.set(None);
        if let Some(first) = first {
            first.owned.prev.set(Some(task));
        }
    }

    /// Takes a task out.
    ///
    /// # Safety
    /// On the runner; the task is in this list.
    #[inline]
    pub unsafe fn remove(&self, task: NonNull<Header>) {
        // SAFETY: tasks in the list are alive.
        let task = unsafe { TaskRef::new(task) };
        let (next, prev) = (task.owned.next.get(), task.owned.prev.get());
        match prev {
            Some(prev) => prev.owned.next.set(next),
            None => self.0.set(next),
        }
        if let Some(next) = next {
            next.owned.prev.set(prev);
        }
    }
}
