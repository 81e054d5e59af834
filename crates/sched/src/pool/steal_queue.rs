//! The steal queue of a pool's shard. Who may touch what is in it, `stealing.rs` tells.

use gossamer_core::header::{ScheduledTask, TaskQueue};

use crate::runnable::{Runnable, Runnables};

/// Runnable tasks of a worker that others may take.
#[derive(Debug, Default)]
pub(super) struct StealQueue {
    tasks: Runnables,
    len: usize,
    /// Tasks that have finished in the queue: only the runner may release them.
    pub(super) over: TaskQueue,
}

impl StealQueue {
    /// How many tasks.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Adds a task, which lives at the queue's shard.
    pub(super) fn push(&mut self, task: ScheduledTask) {
        self.len += 1;
        self.tasks.push(Runnable(task));
    }

    pub(super) fn pop(&mut self) -> Option<ScheduledTask> {
        let task = self.tasks.pop();
        self.len -= usize::from(task.is_some());
        task.map(|task| task.0)
    }

    /// The one that another worker takes first.
    pub(super) fn pop_for_thief(&mut self) -> Option<ScheduledTask> {
        let task = self.tasks.pop_for_thief();
        self.len -= usize::from(task.is_some());
        task.map(|task| task.0)
    }
}
