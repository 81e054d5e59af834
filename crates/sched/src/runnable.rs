//! A task that is to be polled, and queues of such.

use std::cell::Cell;
use std::fmt;
use std::panic::Location;

use gossamer_core::header::{NewTaskStack, ScheduledTask, TaskQueue, TaskRef};
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

/// Runnable tasks, linked through themselves. Allocates nothing.
///
/// Those that were woken, or have yielded, come first in, first out. Of new ones the newest is polled first, so that a
/// tree of tasks is walked in depth and few of them exist at once, and a thief takes the oldest (Blumofe and Leiserson's
/// work stealing, 1999).
#[derive(Debug, Default)]
pub(crate) struct Runnables {
    queue: TaskQueue,
    new_tasks: NewTaskStack,
    /// Polls in a row of new ones.
    new_task_turns: Cell<u32>,
}

/// New tasks that are polled in a row while others wait.
const NEW_TASK_TURNS: u32 = if cfg!(shuttle) { 2 } else { 64 };

impl Runnables {
    pub(crate) const fn new() -> Self {
        Self {
            queue: TaskQueue::new(),
            new_tasks: NewTaskStack::new(),
            new_task_turns: Cell::new(0),
        }
    }

    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty() && self.new_tasks.is_empty()
    }

    #[inline(always)]
    pub(crate) fn push(&self, task: Runnable) {
        if let Err(task) = self.new_tasks.push(task.0) {
            self.queue.push_back(task);
        }
    }

    #[inline(always)]
    pub(crate) fn pop(&self) -> Option<Runnable> {
        let turns = self.new_task_turns.get();
        if turns < NEW_TASK_TURNS
            && let Some(task) = self.new_tasks.pop_newest()
        {
            self.new_task_turns.set(turns + 1);
            return Some(Runnable(task));
        }
        self.new_task_turns.set(0);
        let woken = self.queue.pop_front();
        woken.or_else(|| self.new_tasks.pop_newest()).map(Runnable)
    }

    /// Takes the one out that another worker takes first.
    pub(crate) fn pop_for_thief(&self) -> Option<Runnable> {
        let new = self.new_tasks.pop_oldest();
        new.or_else(|| self.queue.pop_front()).map(Runnable)
    }

    /// Adds a task that has been polled, and takes one out, which may be that.
    #[inline(always)]
    pub(crate) fn exchange(&self, task: Runnable) -> Option<Runnable> {
        if self.new_tasks.is_empty() {
            return Some(Runnable(self.queue.exchange(task.0)));
        }
        self.push(task);
        self.pop()
    }
}
