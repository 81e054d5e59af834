//! Waking a task of the shard that this thread runs: a few plain stores.

use core::ptr::NonNull;

use super::{Context, MANY};
use crate::header::{Header, TaskRef, TaskState};
use crate::platform::atomic::{Ordering, fence};
use crate::shard::Shard;

impl Context {
    /// Notes a woken task.
    ///
    /// # Safety
    /// The current thread runs the task's shard; the task is scheduled and in no queue.
    #[inline(always)]
    pub unsafe fn push_woken(&self, task: NonNull<Header>) {
        if self.woken_one.get().is_null() {
            self.woken_one.set(task.as_ptr());
        } else {
            // SAFETY: the caller's task; it is noted once.
            unsafe { self.push_another(task) };
        }
    }

    /// # Safety
    /// As [`Context::push_woken`].
    #[cold]
    unsafe fn push_another(&self, task: NonNull<Header>) {
        let stays = !self.publishes.get() || !self.is_polling() || self.polling() == Some(task);
        // SAFETY: scheduled, in no queue, and run here, as the caller says.
        if stays || !unsafe { Shard::at(self.shard()).publish(task) } {
            // SAFETY: the same, and published to nobody.
            unsafe { self.push_back_woken(task) };
        }
    }

    /// Notes a woken task behind the others, and publishes it to nobody.
    ///
    /// # Safety
    /// As [`Context::push_woken`].
    pub(crate) unsafe fn push_back_woken(&self, task: NonNull<Header>) {
        let one = self.woken_one.get();
        if one.is_null() {
            self.woken_one.set(task.as_ptr());
            return;
        }
        self.woken_one.set(MANY);
        if let Some(first) = NonNull::new(one.cast_mut()).filter(|_| one != MANY) {
            // SAFETY: scheduled, and in no queue so far.
            unsafe { self.woken_many.push_back(first) };
        }
        // SAFETY: the caller's task: scheduled, and in no queue.
        unsafe { self.woken_many.push_back(task) };
    }
}

/// Queues a task of the shard this thread runs; nothing if it is queued already or finished.
///
/// # Safety
/// The current thread runs the task's shard, the task is alive, and it is in no steal queue.
#[inline(always)]
pub unsafe fn wake_here(context: &Context, task: NonNull<Header>) {
    // SAFETY: the caller vouches for it.
    let task: TaskRef<'_> = unsafe { TaskRef::new(task) };
    let state = task.state();
    if state.ignores_wake() {
        return;
    }
    task.set_state(state.with_scheduled());
    // SAFETY: on the runner; it was not scheduled, so it is in no queue.
    unsafe { context.push_woken(task.pointer()) };
}

/// The same for any task; `false` if this thread does not run it, and then nothing was done. One look decides
/// ([`crate::waker`] says why).
#[inline(always)]
pub(crate) fn wake_if_here(context: &Context, task: TaskRef<'_>) -> bool {
    if context.is_outside() {
        return wake_from_outside(context, task);
    }
    // SAFETY: a runner that is not outside is inside.
    unsafe { wake_inside(context, task) }
}

/// The same by a runner that is out: it comes inside only for a task that is here.
#[inline(never)]
fn wake_from_outside(context: &Context, task: TaskRef<'_>) -> bool {
    let seen = task.look();
    // SAFETY: inside, and seen here since the shard was last open: `inside` knows that.
    let wake = |context: &Context| unsafe { wake_seen(context, task, seen) };
    seen.shard() == context.shard() && context.inside(task, wake)
}

/// The same by a runner that is inside its shard.
///
/// # Safety
/// It is.
#[inline(always)]
pub(crate) unsafe fn wake_inside(context: &Context, task: TaskRef<'_>) -> bool {
    let seen = task.look();
    // SAFETY: inside, as the caller says, and seen here just now.
    seen.shard() == context.shard() && unsafe { wake_seen(context, task, seen) }
}

/// The same of a task that was seen here, so.
///
/// # Safety
/// The runner is inside its shard, which has not been open since the task was seen.
#[inline(always)]
pub(crate) unsafe fn wake_seen(context: &Context, task: TaskRef<'_>, seen: TaskState) -> bool {
    if seen.ignores_wake() {
        return seen.is_done() || still_scheduled(task, seen.shard());
    }
    if crate::mutant!("wake_lost_in_poll") && context.polling() == Some(task.pointer()) {
        return true;
    }
    task.set_state(seen.with_scheduled());
    // SAFETY: ours, and was not scheduled, so nobody else moves it, and it is in no queue.
    unsafe { context.push_woken(task.pointer()) };
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
    fence(Ordering::SeqCst); // pairs with the fence in `ShardGuard::steal`
    task.look().shard() == shard
}
