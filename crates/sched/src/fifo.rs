//! The default order: first in, first out, with a bounded run-next slot; and new tasks newest first.
//!
//! The task woken last by a poll runs next, while its data is in the cache: in a chain of wake-ups
//! (a ring, a ping-pong) nothing else is ever touched. Two tasks that wake each other could keep
//! all others waiting, so after `SLOT_TURNS` turns in a row from the slot the queue has a turn.

use crate::runnable::{Runnable, Runnables};
use crate::scheduler::{Reason, Scheduler};

/// Turns in a row that the run-next slot may take while others wait.
pub(crate) const SLOT_TURNS: u32 = 3;

/// First in, first out, with a bounded run-next slot; but of new tasks the newest runs first, so that a tree of tasks is
/// walked in depth. That is so of tasks that a task of the runtime has spawned; those of one thread (`spawn_local`), and
/// those that another thread or runtime has spawned, are first in, first out. The same where another scheduler has this
/// one inside.
///
/// A task with `q` others before it in the queue is polled after at most `4 * 64 * (q + 1)` polls, and a new one with `n`
/// older new ones is in the queue after at most `4 * 4096 * (n + 1)`, however many newer ones come. Allocates nothing.
#[derive(Debug, Default)]
pub struct Fifo {
    slot: Option<Runnable>,
    queue: Runnables,
    turns: u32,
}

impl Fifo {
    /// An empty queue.
    pub const fn new() -> Self {
        Self {
            slot: None,
            queue: Runnables::new(),
            turns: 0,
        }
    }
}

impl Scheduler for Fifo {
    const KEEPS_ALL: bool = true;

    #[inline(always)]
    fn push(&mut self, task: Runnable, reason: Reason) {
        if reason == Reason::Yielded {
            self.queue.push(task);
        } else if let Some(before) = self.slot.replace(task) {
            self.queue.push(before);
        }
    }

    #[inline(always)]
    fn pop(&mut self) -> Option<Runnable> {
        if let Some(task) = self.slot.take() {
            if self.queue.is_empty() {
                return Some(task);
            }
            self.turns += 1;
            if self.turns <= SLOT_TURNS || gossamer_core::mutant!("slot_unbounded") {
                return Some(task);
            }
            self.queue.push(task);
        }
        self.turns = 0;
        self.queue.pop()
    }

    #[inline(always)]
    fn push_and_pop(&mut self, task: Runnable, reason: Reason) -> Option<Runnable> {
        if reason == Reason::Yielded && self.slot.is_none() {
            self.turns = 0;
            return self.queue.exchange(task);
        }
        self.push(task, reason);
        self.pop()
    }

    #[inline(always)]
    fn is_empty(&self) -> bool {
        self.slot.is_none() && self.queue.is_empty()
    }
}
