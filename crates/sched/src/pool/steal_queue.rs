//! The steal queue of a pool's shard. Who may touch what is in it, `stealing.rs` tells.

use gossamer_core::header::{NewTaskStack, ScheduledTask, TaskQueue};

/// Runnable tasks of a worker that others may take.
#[derive(Debug, Default)]
pub(super) struct StealQueue {
    /// Tasks that were woken or yielded, in order.
    queue: TaskQueue,
    /// New tasks: the newest is polled first, so that a tree of tasks is walked in depth and few of them exist at
    /// once (Blumofe and Leiserson's work stealing, 1999), and the oldest is stolen first.
    new_tasks: NewTaskStack,
    /// Polls in a row of new ones.
    new_task_turns: u32,
    /// In both.
    len: usize,
    /// Tasks that have finished in the queue: only the runner may release them.
    pub(super) over: TaskQueue,
}

/// New tasks that are polled in a row while others wait.
const NEW_TASK_TURNS: u32 = if cfg!(shuttle) { 2 } else { 64 };

impl StealQueue {
    /// How many tasks.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Adds a task, which lives at the queue's shard.
    pub(super) fn push(&mut self, task: ScheduledTask) {
        self.len += 1;
        if let Err(task) = self.new_tasks.push(task) {
            self.queue.push_back(task);
        }
    }

    pub(super) fn pop(&mut self) -> Option<ScheduledTask> {
        let mut task = None;
        if self.new_task_turns < NEW_TASK_TURNS {
            task = self.new_tasks.pop_newest();
            self.new_task_turns += u32::from(task.is_some());
        }
        if task.is_none() {
            self.new_task_turns = 0;
            task = self
                .queue
                .pop_front()
                .or_else(|| self.new_tasks.pop_newest());
        }
        self.len -= usize::from(task.is_some());
        task
    }

    /// The one that another worker takes first.
    pub(super) fn pop_for_thief(&mut self) -> Option<ScheduledTask> {
        let task = self
            .new_tasks
            .pop_oldest()
            .or_else(|| self.queue.pop_front());
        self.len -= usize::from(task.is_some());
        task
    }
}
