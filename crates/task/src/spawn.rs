//! Making a task and giving it to its shard.

use std::panic::Location;
use std::ptr::NonNull;

use gossamer_core::context;
use gossamer_core::header::{Failure, Header, ScheduledTask, TaskState};
use gossamer_core::shard::Shard;

use crate::cell;
use crate::handle::JoinHandle;

/// Makes a task that any thread may run, and queues it at `shard`.
///
/// If the shard is closing, or closed, the future is dropped here and now and the handle says so. (One that has been
/// given back may be another runtime's: then the task is that one's.)
pub fn spawn<F>(
    shard: &'static Shard,
    future: F,
    spawned: &'static Location<'static>,
) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    // SAFETY: the future is `Send`, so any runner may poll it, and `'static`.
    unsafe { start(shard, future, spawned, false) }
}

/// Makes a task of the current local scope of `shard`, and queues it there.
///
/// If the scope is ending, the future is dropped here and now and the handle says so.
///
/// # Safety
/// This thread holds the guard of `shard`, and drops all tasks of the scope before it gives it up.
pub unsafe fn spawn_local<F>(
    shard: &'static Shard,
    future: F,
    spawned: &'static Location<'static>,
) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    // SAFETY: polled and dropped by this thread alone, as the caller vouches.
    unsafe { start(shard, future, spawned, true) }
}

/// Drops the future here and now: there is no shard for it. The handle says that it was cancelled.
pub fn spawn_nowhere<F: Future>(
    future: F,
    spawned: &'static Location<'static>,
) -> JoinHandle<F::Output> {
    let state = TaskState::spawned_elsewhere(context::NOWHERE, false);
    let task = cell::allocate(state, spawned, future);
    // SAFETY: the new task is held by one handle, which is this one, of this type.
    let handle = unsafe { JoinHandle::new(task) };
    // SAFETY: new and in no list.
    unsafe { Header::fail(task, Failure::Cancelled) };
    handle
}

/// Makes the task that a blocking call waits for; it may borrow from the caller.
///
/// # Safety
/// As [`spawn_local`]; and before anything that the future borrows ends, the task has finished and its
/// output has been taken.
pub unsafe fn spawn_root<F: Future>(
    shard: &'static Shard,
    future: F,
    spawned: &'static Location<'static>,
) -> JoinHandle<F::Output> {
    // SAFETY: the future lives as long as the caller says, in a task of this thread.
    unsafe { start(shard, future, spawned, true) }
}

/// # Safety
/// The future may be polled and dropped by whoever runs the shard (for a local task: by this
/// thread until the scope ends), and lives that long.
unsafe fn start<F: Future>(
    shard: &'static Shard,
    future: F,
    spawned: &'static Location<'static>,
    local: bool,
) -> JoinHandle<F::Output> {
    if !shard.task_created() {
        return spawn_nowhere(future, spawned);
    }
    let state = new_state(shard, local);
    let task = cell::allocate(state, spawned, future);
    // SAFETY: the new task is held by one handle, which is made below; it is in no list, and this is its state.
    unsafe { queue(task, state, shard) };
    // SAFETY: as above, of this type.
    unsafe { JoinHandle::new(task) }
}

/// The state of a task that is about to be made at `shard`. (Neither this nor [`queue`] is compiled for each future.)
#[inline]
fn new_state(shard: &Shard, local: bool) -> TaskState {
    let index = shard.index();
    if !context::runs(index) || shard.is_closing() {
        TaskState::spawned_elsewhere(index, local)
    } else if !local && shard.lists_late() {
        TaskState::spawned_unlisted(index)
    } else {
        TaskState::spawned_here(index, local)
    }
}

/// Queues a new task.
///
/// # Safety
/// It was made just now, with this [state](new_state), at this shard; it is held by its join handle, and in no list.
#[inline]
unsafe fn queue(task: NonNull<Header>, state: TaskState, shard: &'static Shard) {
    if state.is_unlisted() {
        // SAFETY: the task is new, scheduled and in no queue.
        let scheduled = unsafe { ScheduledTask::new(task) };
        // SAFETY: this thread runs the shard.
        context::with(|context| unsafe { context.push_new(scheduled) });
    } else {
        // SAFETY: the caller vouches for it.
        unsafe { list_or_send(task, state, shard) };
    }
}

/// # Safety
/// As [`queue`].
#[inline(never)]
unsafe fn list_or_send(task: NonNull<Header>, state: TaskState, shard: &'static Shard) {
    if state.is_scheduled() {
        // SAFETY: this thread runs the shard; the task was made just now.
        unsafe { shard.list_spawned(state, task) };
        // SAFETY: the task is new, scheduled and in no queue.
        let scheduled = unsafe { ScheduledTask::new(task) };
        // SAFETY: this thread runs the shard.
        context::with(|context| unsafe { context.push_new(scheduled) });
    } else if context::runs(shard.index()) {
        // It is closing.
        // SAFETY: new and in no list; we run its shard.
        unsafe { Header::fail(task, Failure::Cancelled) };
    } else {
        // SAFETY: new and in no list; this thread does not run its shard.
        unsafe { Header::send_new(task, shard) };
    }
}
