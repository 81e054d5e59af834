//! Waking a task of the shard that this thread runs: a few plain stores.

use super::{Context, MANY};
use crate::header::{ScheduledTask, TaskRef, TaskState};
use crate::platform::atomic::{Ordering, fence};
use crate::shard::Shard;

impl Context {
    /// Schedules a task, whose state becomes `state`, and notes it.
    ///
    /// # Safety
    /// The current thread runs the task's shard; the task was not scheduled.
    #[inline(always)]
    pub(crate) unsafe fn schedule(&self, task: TaskRef<'_>, state: TaskState) {
        // SAFETY: on the runner; it was not scheduled, as the caller says.
        let task = unsafe { task.schedule(state) };
        // SAFETY: on the runner.
        unsafe { self.push_woken(task) };
    }

    /// Like [`Context::schedule`], for the only woken task.
    ///
    /// # Safety
    /// As [`Context::schedule`], and there [is room](Context::has_room).
    #[inline(always)]
    pub(crate) unsafe fn schedule_only(&self, task: TaskRef<'_>, state: TaskState) {
        // SAFETY: on the runner; it was not scheduled, as the caller says.
        let task = unsafe { task.schedule(state) };
        self.woken_one.set(task.task().as_ptr());
    }

    /// Notes a woken task.
    ///
    /// # Safety
    /// The current thread runs the task's shard.
    #[inline(always)]
    pub unsafe fn push_woken(&self, task: ScheduledTask) {
        if self.woken_one.get().is_null() {
            self.woken_one.set(task.task().as_ptr());
        } else {
            // SAFETY: on the runner, as the caller says.
            unsafe { self.push_another(task) };
        }
    }

    /// # Safety
    /// As [`Context::push_woken`].
    #[cold]
    unsafe fn push_another(&self, task: ScheduledTask) {
        let publishes =
            self.publishes.get() && self.is_polling() && self.polling() != Some(task.task());
        let hooks = publishes.then(|| Shard::at(self.shard()).pool_hooks());
        let task = match hooks.flatten() {
            Some(hooks) => hooks.publish(task),
            None => Some(task),
        };
        if let Some(task) = task {
            // SAFETY: run here, as the caller says.
            unsafe { self.push_back_woken(task) };
        }
    }

    /// Notes a woken task behind the others, and publishes it to nobody.
    ///
    /// # Safety
    /// As [`Context::push_woken`].
    pub unsafe fn push_back_woken(&self, task: ScheduledTask) {
        if self.woken_one.get().is_null() {
            self.woken_one.set(task.task().as_ptr());
            return;
        }
        // SAFETY: the caller vouches for it.
        if let Some(first) = unsafe { self.take_only_woken() } {
            self.woken_many.push_back(first);
        }
        self.woken_one.set(MANY);
        self.woken_many.push_back(task);
    }
}

/// Queues a task of the shard this thread runs; nothing if it is queued already or finished.
///
/// # Safety
/// The current thread runs the task's shard, and the task is in no steal queue.
#[inline(always)]
pub(crate) unsafe fn wake_here(context: &Context, task: TaskRef<'_>) {
    let state = task.state();
    if !state.ignores_wake() {
        // SAFETY: on the runner; it was not scheduled.
        unsafe { context.schedule(task, state.with_scheduled()) };
    }
}

/// Like [`wake_here`], for any task. Returns `false`, having done nothing, if this thread does not run it. One look
/// decides ([`crate::waker`] says why).
#[inline(always)]
pub(crate) fn wake_if_here(context: &Context, task: TaskRef<'_>) -> bool {
    if context.is_outside() {
        return wake_from_outside(context, task);
    }
    // SAFETY: a runner that is not outside is inside.
    unsafe { wake_inside(context, task) }
}

/// `wake_if_here` by a runner that is outside: it comes inside only for a task that is here.
#[inline(never)]
fn wake_from_outside(context: &Context, task: TaskRef<'_>) -> bool {
    let seen = task.look();
    // SAFETY: inside, and seen here since the shard was last open: `inside` knows that.
    let wake = |context: &Context| unsafe { wake_seen(context, task, seen) };
    seen.shard() == context.shard() && context.inside(task, wake)
}

/// `wake_if_here` by a runner that is inside its shard.
///
/// # Safety
/// The runner is inside its shard.
#[inline(always)]
pub unsafe fn wake_inside(context: &Context, task: TaskRef<'_>) -> bool {
    let seen = task.look();
    // SAFETY: inside, as the caller says, and seen here just now.
    seen.shard() == context.shard() && unsafe { wake_seen(context, task, seen) }
}

/// [`wake_inside`] for a task whose state was read before: it was here, and its state was `seen`.
///
/// # Safety
/// The runner is inside its shard, which has not been open since the task was seen.
#[inline(always)]
pub(crate) unsafe fn wake_seen(context: &Context, task: TaskRef<'_>, seen: TaskState) -> bool {
    if seen.ignores_wake() {
        return seen.is_done() || still_scheduled(task, seen.shard());
    }
    // SAFETY: ours, and was not scheduled, so nobody else moves it.
    unsafe { context.schedule(task, seen.with_scheduled()) };
    true
}

/// A wake found its task scheduled here. In a pool another worker may be taking it at this moment, and poll it
/// before it sees what the waker did: so a fence, and a second look.
#[cold]
fn still_scheduled(task: TaskRef<'_>, shard: u16) -> bool {
    if Shard::at(shard).pool() == 0 {
        return true;
    }
    if crate::mutant!("scheduled_without_fence") {
        return true;
    }
    fence(Ordering::SeqCst); // pairs with the fence of a thief, in `sched`'s `pool/stealing.rs`
    task.look().shard() == shard
}
