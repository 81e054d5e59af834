//! A waker in one pointer, for words of which a waker is only one of the contents.
//!
//! It is one of our tasks (a counted hold on its header, tagged) or, for a foreign executor or an OS thread, a boxed
//! [`Waker`]. The bits 1 and 4 of the pointer are the word's own, and zero here.

use core::ptr::NonNull;
use core::task::Waker;

use alloc::boxed::Box;

use super::Deferred;
use crate::header::Header;
use crate::waker;

/// Tag of a pointer to one of our own headers.
const TASK: usize = 2;

/// Packs a waker of the poll that goes on. A foreign one is cloned, which is user code.
#[inline(always)]
pub fn pack(waker: &Waker) -> *mut () {
    match waker::task_of(waker) {
        Some(task) => {
            core::mem::forget(waker::hold(waker));
            task.as_ptr().cast::<()>().map_addr(|at| at | TASK)
        }
        None => Box::into_raw(Box::new(waker.clone())).cast(),
    }
}

/// Puts a foreign waker into the box of one: waiting anew allocates nothing.
///
/// # Safety
/// The caller owns `packed`, which [is a box](is_boxed), and gives it up.
pub unsafe fn repack(packed: *mut (), waker: &Waker) -> *mut () {
    // SAFETY: a box, and the caller's.
    let mut boxed = unsafe { Box::from_raw(packed.cast::<Waker>()) };
    boxed.as_mut().clone_from(waker);
    Box::into_raw(boxed).cast()
}

/// Whether it would wake what `waker` wakes. For a foreign waker: not known.
#[inline(always)]
pub fn same(packed: *mut (), waker: &Waker) -> bool {
    packed.addr() & TASK != 0
        && waker::task_of(waker).is_some_and(|task| task.as_ptr().addr() == packed.addr() & !TASK)
}

/// Whether it is a foreign waker.
pub fn is_boxed(packed: *mut ()) -> bool {
    !packed.is_null() && packed.addr() & TASK == 0
}

/// Whether `waker` could go into a box.
pub fn is_foreign(waker: &Waker) -> bool {
    waker::task_of(waker).is_none()
}

/// The waker again; `None` if there was none.
///
/// # Safety
/// The caller owns `packed`, which is null or a result of [`pack`], and gives it up.
#[inline(always)]
pub unsafe fn unpack(packed: *mut ()) -> Option<Waker> {
    if packed.addr() & TASK == 0 {
        let boxed = NonNull::new(packed.cast::<Waker>())?;
        // SAFETY: made by `Box::into_raw`, and owned by the caller.
        return Some(*unsafe { Box::from_raw(boxed.as_ptr()) });
    }
    let task = NonNull::new(packed.map_addr(|at| at & !TASK).cast::<Header>())?;
    // SAFETY: the hold that `pack` took goes over to the waker.
    Some(unsafe { waker::from_hold(task) })
}

/// Wakes. No lock is held; a foreign waker that panics does not harm the operation that calls.
///
/// # Safety
/// As [`unpack`].
#[inline(always)]
pub unsafe fn wake(packed: *mut ()) {
    // SAFETY: passed on to the caller.
    let Some(waker) = (unsafe { unpack(packed) }) else {
        return;
    };
    if packed.addr() & TASK == 0 {
        Deferred::new(waker).run();
    } else if let Some(driver) = waker::wake_held(waker) {
        Deferred::new(driver).run();
    }
}

/// Drops the waker.
///
/// # Safety
/// As [`unpack`].
#[inline(always)]
pub unsafe fn let_go(packed: *mut ()) {
    // SAFETY: passed on to the caller.
    if let Some(waker) = unsafe { unpack(packed) } {
        waker::let_go(waker);
    }
}
