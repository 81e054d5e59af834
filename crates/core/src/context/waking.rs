//! Waking a task of the home that this thread drives: a few plain stores.

use core::ptr::NonNull;

use super::Context;
use crate::door::atomic::{Ordering, fence};
use crate::header::Header;
use crate::home::Home;

/// Queues a task of the home this thread drives; nothing if it is queued already or finished.
///
/// # Safety
/// The current thread drives the task's home, the task is alive, and it is in no open queue.
#[inline(always)]
pub unsafe fn wake_here(context: &Context, task: NonNull<Header>) {
    // SAFETY: the caller vouches for it.
    let header = unsafe { task.as_ref() };
    if header.place().ignores_wake() {
        return;
    }
    // SAFETY: on the driver; it was not scheduled, so it is in no queue.
    unsafe {
        header.set_place(header.place().with_scheduled());
        context.push_woken(task);
    }
}

/// The same for any task; `false` if this thread does not drive it, and then nothing was done.
///
/// # Safety
/// The task is alive.
#[inline(always)]
pub(crate) unsafe fn wake_if_here(context: &Context, task: NonNull<Header>) -> bool {
    // SAFETY: passed on to the caller.
    unsafe {
        if context.is_out() {
            return wake_from_outside(context, task);
        }
        wake_inside(context, task)
    }
}

/// The same by a driver that is out.
///
/// # Safety
/// The task is alive.
#[inline(never)]
unsafe fn wake_from_outside(context: &Context, task: NonNull<Header>) -> bool {
    // SAFETY: passed on to the caller.
    unsafe { context.inside(task, |context| wake_inside(context, task)) }
}

/// The same by a driver that is inside its home.
///
/// # Safety
/// The task is alive.
#[inline(always)]
pub(crate) unsafe fn wake_inside(context: &Context, task: NonNull<Header>) -> bool {
    // SAFETY: the caller vouches for it.
    let place = unsafe { task.as_ref() }.look();
    if place.home() != context.home() {
        return false;
    }
    if place.ignores_wake() {
        // SAFETY: passed on to the caller.
        return place.is_done() || unsafe { still_scheduled(task, place.home()) };
    }
    if crate::mutant!("wake_lost_in_poll") && context.polling() == Some(task) {
        return true;
    }
    // SAFETY: ours, and not scheduled, so nobody else moves it, and it is in no queue.
    unsafe {
        task.as_ref().set_place(place.with_scheduled());
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
unsafe fn still_scheduled(task: NonNull<Header>, home: u16) -> bool {
    if Home::at(home).pool() == 0 {
        return true;
    }
    if crate::mutant!("scheduled_without_fence") {
        return true;
    }
    fence(Ordering::SeqCst); // pairs with the fence in `Claim::steal`
    // SAFETY: the caller vouches for it.
    unsafe { task.as_ref() }.look().home() == home
}
