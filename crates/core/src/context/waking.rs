//! Waking a task of the shard that this thread runs: a few plain stores.

use core::ptr::NonNull;

use super::{Context, MANY};
use crate::header::{Header, TaskState};
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
            // SAFETY: passed on to the caller.
            unsafe { self.push_another(task) };
        }
    }

    /// # Safety
    /// As [`Context::push_woken`].
    #[cold]
    unsafe fn push_another(&self, task: NonNull<Header>) {
        if self.publishes.get() {
            // SAFETY: passed on to the caller.
            return unsafe { self.publish(task) };
        }
        let one = self.woken_one.replace(MANY);
        if let Some(first) =
            NonNull::new(one.cast_mut()).filter(|first| first.as_ptr() != MANY.cast_mut())
        {
            // SAFETY: scheduled, and in no queue so far.
            unsafe { self.woken_many.push_back(first) };
        }
        // SAFETY: passed on to the caller.
        unsafe { self.woken_many.push_back(task) };
    }

    /// # Safety
    /// As [`Context::push_woken`].
    unsafe fn publish(&self, task: NonNull<Header>) {
        let shard = Shard::at(self.shard());
        // SAFETY: passed on to the caller; the task that is being polled stays.
        unsafe {
            let stays = !self.is_polling() || self.polling() == Some(task);
            if stays || !shard.publish(task) {
                self.woken_many.push_back(task);
            }
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
        let first = NonNull::new(one.cast_mut()).filter(|_| one != MANY);
        // SAFETY: scheduled, and in no queue so far.
        unsafe {
            if let Some(first) = first {
                self.woken_many.push_back(first);
            }
            self.woken_many.push_back(task);
        }
    }
}

/// Queues a task of the shard this thread runs; nothing if it is queued already or finished.
///
/// # Safety
/// The current thread runs the task's shard, the task is alive, and it is in no steal queue.
#[inline(always)]
pub unsafe fn wake_here(context: &Context, task: NonNull<Header>) {
    // SAFETY: the caller vouches for it.
    let header = unsafe { task.as_ref() };
    if header.state().ignores_wake() {
        return;
    }
    // SAFETY: on the runner; it was not scheduled, so it is in no queue.
    unsafe {
        header.set_state(header.state().with_scheduled());
        context.push_woken(task);
    }
}

/// The same for a task that the caller has [seen here](crate::waker), so; `false` if another worker has stolen it since,
/// and then nothing was done.
///
/// # Safety
/// The task is alive.
#[inline(always)]
pub(crate) unsafe fn wake_seen_here(
    context: &Context,
    task: NonNull<Header>,
    seen: TaskState,
) -> bool {
    // SAFETY: alive, and seen here.
    unsafe {
        if context.is_outside() {
            return wake_from_outside(context, task, seen);
        }
        wake_seen(context, task, seen)
    }
}

/// The same by a runner that is out, of a task that it has seen here.
///
/// # Safety
/// The task is alive.
#[inline(never)]
unsafe fn wake_from_outside(context: &Context, task: NonNull<Header>, seen: TaskState) -> bool {
    // SAFETY: the caller's task, which was here before the runner came inside, and so is not being moved since.
    unsafe { context.inside(task, |context| wake_seen(context, task, seen)) }
}

/// The same by a runner that is inside its shard.
///
/// # Safety
/// The task is alive.
#[inline(always)]
pub(crate) unsafe fn wake_inside(context: &Context, task: NonNull<Header>) -> bool {
    // SAFETY: the caller vouches for it.
    let state = unsafe { task.as_ref() }.look();
    // SAFETY: alive, and seen here.
    state.shard() == context.shard() && unsafe { wake_seen(context, task, state) }
}

/// The same of a task that was seen here, so; the shard has not been open since.
///
/// # Safety
/// The task is alive.
#[inline(always)]
pub(crate) unsafe fn wake_seen(context: &Context, task: NonNull<Header>, seen: TaskState) -> bool {
    if seen.ignores_wake() {
        // SAFETY: alive.
        return seen.is_done() || unsafe { still_scheduled(task, seen.shard()) };
    }
    if crate::mutant!("wake_lost_in_poll") && context.polling() == Some(task) {
        return true;
    }
    // SAFETY: ours, and not scheduled, so nobody else moves it, and it is in no queue.
    unsafe {
        task.as_ref().set_state(seen.with_scheduled());
        context.push_woken(task);
    }
    true
}

/// A wake found its task scheduled here. In a pool another worker may be taking it at this moment, and poll it
/// before it sees what the waker did: so a fence, and a second look.
///
/// # Safety
/// The task is alive.
#[cold]
unsafe fn still_scheduled(task: NonNull<Header>, shard: u16) -> bool {
    if Shard::at(shard).pool() == 0 {
        return true;
    }
    if crate::mutant!("scheduled_without_fence") {
        return true;
    }
    fence(Ordering::SeqCst); // pairs with the fence in `ShardGuard::steal`
    // SAFETY: the caller vouches for it.
    unsafe { task.as_ref() }.look().shard() == shard
}
