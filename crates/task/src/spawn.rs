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
    let from = SpawnedFrom::here(shard);
    let state = from.state(shard, local);
    let task = cell::allocate(state, spawned, future);
    // SAFETY: the new task is held by one handle, which is this one, of this type.
    let handle = unsafe { JoinHandle::new(task) };
    // SAFETY: the task was made just now, in this state.
    unsafe { from.give(shard, task, state) };
    handle
}

/// Where a task is spawned from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SpawnedFrom {
    /// The thread that runs its shard.
    Runner,
    /// The same, while the shard is closing.
    RunnerThatCloses,
    /// Any other thread.
    Elsewhere,
}

impl SpawnedFrom {
    #[inline]
    fn here(shard: &Shard) -> Self {
        match (context::runs(shard.index()), shard.is_closing()) {
            (true, false) => Self::Runner,
            (true, true) => Self::RunnerThatCloses,
            (false, _) => Self::Elsewhere,
        }
    }

    #[inline]
    fn state(self, shard: &Shard, local: bool) -> TaskState {
        match self {
            Self::Runner if !local && shard.pool() != 0 => {
                TaskState::spawned_in_pool(shard.index())
            }
            Self::Runner => TaskState::spawned_here(shard.index(), local),
            _ => TaskState::spawned_elsewhere(shard.index(), local),
        }
    }

    /// Gives the task to its shard.
    ///
    /// # Safety
    /// The task is new, in this state and in no list; the shard is its own.
    #[inline]
    unsafe fn give(self, shard: &'static Shard, task: NonNull<Header>, state: TaskState) {
        match self {
            Self::Runner => {
                if !state.is_new() {
                    // SAFETY: this thread runs the shard; the task was made just now.
                    unsafe { shard.list_spawned(state, task) };
                }
                // SAFETY: the task is new, scheduled and in no queue.
                let scheduled = unsafe { ScheduledTask::new(task) };
                // SAFETY: this thread runs the shard.
                context::with(|context| unsafe { context.push_new(scheduled) });
            }
            // SAFETY: new and in no list; we run its shard.
            Self::RunnerThatCloses => unsafe { Header::fail(task, Failure::Cancelled) },
            // SAFETY: new and in no list; this thread does not run its shard.
            Self::Elsewhere => unsafe { Header::send_new(task, shard) },
        }
    }
}
