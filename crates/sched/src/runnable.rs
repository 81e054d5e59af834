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
///
/// # Bounds
/// The queue has every 64th turn, also while there are new tasks: a task with `q` others before it in the queue is taken
/// out after at most `64 * (q + 1)` turns. In every 4,096th turn the oldest new task goes to the end of the queue: one
/// with `n` older new ones is there after at most `4096 * (n + 1)` turns, however many newer ones come.
#[derive(Debug, Default)]
pub(crate) struct Runnables {
    queue: TaskQueue,
    new_tasks: NewTaskStack,
    /// Turns in which there were new tasks. Wraps around.
    turns: Cell<u32>,
}

/// Among so many turns the queue has one.
const QUEUE_TURN: u32 = if cfg!(shuttle) { 2 } else { 64 };

/// Among so many turns the oldest new task is queued in one. (Seldom: each time a tree grows in breadth as well.)
const OLDEST_TURN: u32 = if cfg!(shuttle) { 4 } else { 4_096 };

// A turn of the second kind is one of the first, and both come at the same distance when the count wraps around.
const _: () = assert!(OLDEST_TURN.is_multiple_of(QUEUE_TURN) && OLDEST_TURN.is_power_of_two());

impl Runnables {
    pub(crate) const fn new() -> Self {
        Self {
            queue: TaskQueue::new(),
            new_tasks: NewTaskStack::new(),
            turns: Cell::new(0),
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
        if self.new_tasks.is_empty() {
            return self.queue.pop_front().map(Runnable);
        }
        let turn = self.turns.get().wrapping_add(1);
        self.turns.set(turn);
        let woken = if turn.is_multiple_of(QUEUE_TURN) {
            self.queue_turn(turn)
        } else {
            None
        };
        woken.or_else(|| self.new_tasks.pop_newest()).map(Runnable)
    }

    /// The turn of the queue, although there are new tasks.
    #[cold]
    fn queue_turn(&self, turn: u32) -> Option<ScheduledTask> {
        if turn.is_multiple_of(OLDEST_TURN)
            && !gossamer_core::mutant!("oldest_new_starves")
            && let Some(oldest) = self.new_tasks.pop_oldest()
        {
            self.queue.push_back(oldest);
        }
        self.queue.pop_front()
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
