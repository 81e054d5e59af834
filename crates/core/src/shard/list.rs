//! How a task comes on the list of its shard, and from one shard to another.

use core::ptr::NonNull;

use super::Shard;
use crate::header::{Header, ScheduledTask, TaskRef, TaskState};

impl Shard {
    /// Puts a task that was spawned here, by the runner, on the list.
    ///
    /// # Safety
    /// The current thread runs this shard, where the task lives, in no list; its state is `state`.
    #[inline]
    pub unsafe fn list_spawned(&self, state: TaskState, task: NonNull<Header>) {
        // SAFETY: on the runner; in no list, as the caller says.
        unsafe { self.runner.list_of(state).push(task) };
    }

    /// Puts a task that is new at its shard on the list there.
    ///
    /// # Safety
    /// The current thread runs that shard, and the task is alive.
    #[cold]
    pub unsafe fn list(task: NonNull<Header>) {
        // SAFETY: alive, as the caller says.
        let task: TaskRef<'_> = unsafe { TaskRef::new(task) };
        // SAFETY: on the runner of the task's shard.
        unsafe { add_to_list(task) };
    }

    /// Moves a task here, which this thread runs, that was in the steal queue of another worker of the same pool, whose
    /// lock is held.
    ///
    /// # Errors
    /// It is over: only its runner may release it.
    pub fn take_scheduled(
        &self,
        task: ScheduledTask,
        there: &Self,
    ) -> Result<ScheduledTask, ScheduledTask> {
        assert!(self.is_run_by_this_thread(), "a task was taken elsewhere");
        let state = task.header().state();
        assert!(
            self.pool() != 0 && self.pool() == there.pool() && state.shard() == there.index,
            "a task was taken that lives elsewhere"
        );
        if state.is_done() {
            return Err(task);
        }
        if crate::mutant!("thief_gives_back") && !state.is_new() {
            // SAFETY: as below.
            unsafe { Header::leave_shard(task.task(), there) };
            // SAFETY: in no list any more.
            unsafe { task.header().move_to(self.index) };
            // SAFETY: in no list any more.
            unsafe { task.header().move_to(there.index) };
            return Err(task);
        }
        // SAFETY: this thread runs this shard, and a task that is scheduled, and in no queue, is whose it is.
        unsafe { self.move_here(task.header(), there) };
        Ok(task)
    }

    /// Moves a task from another shard of the same pool to this one: it leaves the list there, and is new here.
    ///
    /// # Safety
    /// The current thread runs this shard, and stands for the runner of the other one, where the task lives.
    pub(super) unsafe fn move_here(&self, task: TaskRef<'_>, there: &Self) {
        // SAFETY: in place of the runner; on the list, unless it is new.
        unsafe { Header::leave_shard(task.pointer(), there) };
        self.runner.count_task(1);
        there.task_left_elsewhere();
        // SAFETY: in place of the runner; in no list any more.
        unsafe { task.move_to(self.index) };
    }
}

impl TaskRef<'_> {
    /// Schedules a parked task; one that came, or comes, through the inbox is put on its shard's list.
    ///
    /// # Safety
    /// The current thread runs the task's shard, or stands for who does; the task is parked.
    pub unsafe fn schedule_parked(self) -> ScheduledTask {
        // SAFETY: on the runner, or in its place.
        unsafe { add_to_list(self) };
        // SAFETY: on the runner, or in its place; not scheduled, as it is parked.
        unsafe { self.schedule(self.state().with_scheduled()) }
    }
}

/// Puts a task that came, or comes, through the inbox on its shard's list.
///
/// # Safety
/// The current thread runs the task's shard, or stands for who does.
pub(crate) unsafe fn add_to_list(task: TaskRef<'_>) {
    let state = task.state();
    // One that was turned away is still new, but over: it has no future, and perhaps no shard.
    if state.is_new() && !state.is_done() {
        // SAFETY: on the runner; it is put on the list below.
        unsafe { task.set_state(state.without_new()) };
        let shard = Shard::at(state.shard());
        // SAFETY: on the runner; new, so in no list.
        shard.with_list(|| unsafe { shard.runner.list_of(state).push(task.pointer()) });
    }
}
