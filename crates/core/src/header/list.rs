//! The two intrusive lists a task can be in: one run queue, and its shard's list of owned tasks.
//!
//! Both are plain memory. They belong to the runner; but in a pool thieves take tasks out of the steal queue and the
//! list of owned tasks, and each has a lock there ([`crate::shard`]): who holds it stands for the runner here.

use core::cell::Cell;
use core::ptr::{self, NonNull};

use super::{Header, QueueLink};

/// A first-in first-out queue of scheduled tasks, linked through `next`.
#[derive(Debug)]
pub struct TaskQueue {
    head: Cell<*const Header>,
    tail: Cell<*const Header>,
}

impl TaskQueue {
    /// An empty queue.
    pub const fn new() -> Self {
        Self {
            head: Cell::new(ptr::null()),
            tail: Cell::new(ptr::null()),
        }
    }

    /// Whether no task is queued.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.head.get().is_null()
    }

    /// Appends a task.
    ///
    /// # Safety
    /// On the runner; the task is scheduled and in no queue.
    #[inline(always)]
    pub unsafe fn push_back(&self, task: NonNull<Header>) {
        // SAFETY: scheduled, so alive; the runner may touch `next`.
        unsafe { task.as_ref() }.next.set(QueueLink::NOTHING);
        let tail = self.tail.replace(task.as_ptr());
        if self.head.get().is_null() {
            self.head.set(task.as_ptr());
        } else {
            // SAFETY: the head is not null, so the tail is a queued, hence live, task.
            unsafe { &*tail }.next.set(QueueLink::link(task.as_ptr()));
        }
    }

    /// Takes the first task out.
    #[inline(always)]
    pub fn pop_front(&self) -> Option<NonNull<Header>> {
        let task = NonNull::new(self.head.get().cast_mut())?;
        // SAFETY: queued tasks are alive, and `next` is a link while they are queued.
        self.head.set(unsafe { task.as_ref() }.next.get().as_link());
        Some(task)
    }

    /// Puts back what [`TaskQueue::take`] took out of a queue that is empty again.
    pub(crate) fn restore(&self, all: Self) {
        self.head.set(all.head.get());
        self.tail.set(all.tail.get());
    }

    /// Takes everything out, as another queue.
    pub fn take(&self) -> Self {
        let all = Self {
            head: Cell::new(self.head.get()),
            tail: Cell::new(self.tail.get()),
        };
        self.head.set(ptr::null());
        all
    }
}

impl Default for TaskQueue {
    fn default() -> Self {
        Self::new()
    }
}

/// Runnable tasks that are in no list of their shard's, because they are not yet there for good: linked through the
/// same links as such a list. The newest is taken first by who has it, the oldest by who takes it away.
#[derive(Debug, Default)]
pub(crate) struct NewTaskStack {
    newest: Cell<*const Header>,
    oldest: Cell<*const Header>,
}

impl NewTaskStack {
    /// Adds a task.
    ///
    /// # Safety
    /// The task is alive, and in no list and no queue; the caller has the queue's lock, here and below.
    pub(crate) unsafe fn push(&self, task: NonNull<Header>) {
        let before = self.newest.replace(task.as_ptr());
        // SAFETY: the caller's task is alive.
        let links = &unsafe { task.as_ref() }.owned;
        links.next.set(before);
        links.prev.set(ptr::null());
        if before.is_null() {
            self.oldest.set(task.as_ptr());
        } else {
            // SAFETY: tasks in here are alive.
            unsafe { &*before }.owned.prev.set(task.as_ptr());
        }
    }

    /// Takes the newest task out.
    pub(crate) fn pop_newest(&self) -> Option<NonNull<Header>> {
        let task = NonNull::new(self.newest.get().cast_mut())?;
        // SAFETY: tasks in here are alive.
        let next = unsafe { task.as_ref() }.owned.next.get();
        self.newest.set(next);
        if next.is_null() {
            self.oldest.set(ptr::null());
        } else {
            // SAFETY: as above.
            unsafe { &*next }.owned.prev.set(ptr::null());
        }
        Some(task)
    }

    /// Takes the oldest task out.
    pub(crate) fn pop_oldest(&self) -> Option<NonNull<Header>> {
        let task = NonNull::new(self.oldest.get().cast_mut())?;
        // SAFETY: tasks in here are alive.
        let prev = unsafe { task.as_ref() }.owned.prev.get();
        self.oldest.set(prev);
        if prev.is_null() {
            self.newest.set(ptr::null());
        } else {
            // SAFETY: as above.
            unsafe { &*prev }.owned.next.set(ptr::null());
        }
        Some(task)
    }
}

/// All tasks of a shard whose futures still exist; newest first.
#[derive(Debug)]
pub struct Owned(Cell<*const Header>);

impl Owned {
    /// An empty list.
    pub const fn new() -> Self {
        Self(Cell::new(ptr::null()))
    }

    /// The newest task.
    pub fn first(&self) -> Option<NonNull<Header>> {
        NonNull::new(self.0.get().cast_mut())
    }

    /// The task spawned before `task`.
    ///
    /// # Safety
    /// On the runner; `task` is in this list.
    pub unsafe fn after(task: NonNull<Header>) -> Option<NonNull<Header>> {
        // SAFETY: tasks in the list are alive.
        NonNull::new(unsafe { task.as_ref() }.owned.next.get().cast_mut())
    }

    /// Adds a task.
    ///
    /// # Safety
    /// On the runner; the task is in no such list and leaves it before its memory goes.
    #[inline]
    pub unsafe fn push(&self, task: NonNull<Header>) {
        let first = self.0.replace(task.as_ptr());
        // SAFETY: the caller's task is alive.
        let links = &unsafe { task.as_ref() }.owned;
        links.next.set(first);
        links.prev.set(ptr::null());
        if !first.is_null() {
            // SAFETY: tasks in the list are alive.
            unsafe { &*first }.owned.prev.set(task.as_ptr());
        }
    }

    /// Takes a task out.
    ///
    /// # Safety
    /// On the runner; the task is in this list.
    #[inline]
    pub unsafe fn remove(&self, task: NonNull<Header>) {
        // SAFETY: tasks in the list are alive.
        let links = &unsafe { task.as_ref() }.owned;
        let (next, prev) = (links.next.get(), links.prev.get());
        if prev.is_null() {
            self.0.set(next);
        } else {
            // SAFETY: neighbours are in the list, so alive.
            unsafe { &*prev }.owned.next.set(next);
        }
        if !next.is_null() {
            // SAFETY: neighbours are in the list, so alive.
            unsafe { &*next }.owned.prev.set(prev);
        }
    }
}

impl Default for Owned {
    fn default() -> Self {
        Self::new()
    }
}
