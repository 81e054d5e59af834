//! A waker in one pointer, for words of which a waker is only one of the contents.
//!
//! It is one of our tasks (a counted reference on its header, or, on one thread, a loan: tagged) or, for a foreign
//! executor or an OS thread, a boxed [`Waker`]. Both are aligned to eight bytes. The lowest bit of the pointer is the
//! word's own, and zero here; so is the third one, if nothing is loaned.

use core::ptr::NonNull;
use core::task::Waker;

use alloc::boxed::Box;

use super::{Deferred, Node, RawWakerParts, drop_quietly};
use crate::header::Header;
use crate::waker;

/// A foreign waker. Aligned so that the tags are zero, also where a pointer has four bytes.
#[repr(align(8))]
struct Foreign(Waker);

const _: () = assert!(align_of::<Header>() >= 8);

/// Tag of a pointer to one of our own headers.
const TASK: usize = 2;
/// The task is loaned; the pointer has no reference.
const LOANED: usize = 4;

/// The task that a tagged pointer is to.
fn task(packed: *mut ()) -> *mut Header {
    packed.map_addr(|at| at & !(TASK | LOANED)).cast()
}

/// Packs a waker of ours if that costs next to nothing: loaned, if it may be, or with a reference.
///
/// # Safety
/// With `may_loan`, what comes of it never leaves this thread, and is [woken](wake) or [dropped](let_go) in the end.
#[inline(always)]
pub unsafe fn pack_quickly(waker: &Waker, may_loan: bool) -> Option<*mut ()> {
    if !may_loan {
        return (!is_foreign(waker)).then(|| pack(waker));
    }
    let is_loaned = waker::loan_quickly(RawWakerParts::new(waker));
    is_loaned.then(|| {
        let task = waker.data().cast::<()>().cast_mut();
        task.map_addr(|at| at | TASK | LOANED)
    })
}

/// Packs a waker of the poll that goes on. A foreign one is cloned, which is user code.
#[inline(always)]
pub fn pack(waker: &Waker) -> *mut () {
    match waker::task_of(waker) {
        Some(task) => {
            core::mem::forget(waker::clone_ref(waker));
            task.pointer()
                .as_ptr()
                .cast::<()>()
                .map_addr(|at| at | TASK)
        }
        None => Box::into_raw(Box::new(Foreign(waker.clone()))).cast(),
    }
}

/// Puts a foreign waker into the box of one: waiting anew allocates nothing.
///
/// # Safety
/// The caller owns `packed`, which [is a box](is_boxed), and gives it up.
pub unsafe fn repack(packed: *mut (), waker: &Waker) -> *mut () {
    // SAFETY: a box, and the caller's.
    let mut boxed = unsafe { Box::from_raw(packed.cast::<Foreign>()) };
    if !boxed.0.will_wake(waker) {
        // Its drop is user code; a panic there must not end an operation that has just begun to wait.
        drop_quietly(core::mem::replace(&mut boxed.0, waker.clone()));
    }
    Box::into_raw(boxed).cast()
}

/// Whether it would wake what `waker` wakes. For a foreign waker: not known.
#[inline(always)]
pub fn same(packed: *mut (), waker: &Waker) -> bool {
    packed.addr() & TASK != 0
        && waker::task_of(waker).is_some_and(|ours| ours.pointer().as_ptr() == task(packed))
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
/// The caller owns `packed`, which is null or a result of [`pack`], and gives it up. Nothing is loaned.
#[inline(always)]
pub unsafe fn unpack(packed: *mut ()) -> Option<Waker> {
    if packed.addr() & TASK == 0 {
        let boxed = NonNull::new(packed.cast::<Foreign>())?;
        // SAFETY: made by `Box::into_raw`, and owned by the caller.
        return Some(unsafe { Box::from_raw(boxed.as_ptr()) }.0);
    }
    let task = NonNull::new(task(packed))?;
    // SAFETY: the hold that `pack` took goes over to the waker.
    Some(unsafe { waker::from_ref(task) })
}

/// Wakes. No lock is held; a foreign waker that panics does not harm the operation that calls.
///
/// # Safety
/// The caller owns `packed`, which is null, or of [`pack`] or [`pack_quickly`], and gives it up; a loaned one on the
/// thread that it was loaned on.
#[inline(always)]
pub unsafe fn wake(packed: *mut ()) {
    if packed.addr() & LOANED != 0 {
        // SAFETY: it is loaned, and the caller gives it up on the thread of the loan.
        unsafe { wake_loaned(packed) };
    } else if packed.addr() & TASK != 0 {
        // SAFETY: it is a counted reference, not a loan; the caller owns it and gives it up.
        let runner = unsafe { unpack(packed) }.and_then(waker::wake_owned);
        if let Some(runner) = runner {
            Deferred::new(runner).run();
        }
    } else if !packed.is_null() {
        // SAFETY: it is a box; the caller owns it and gives it up.
        Deferred(unsafe { unpack(packed) }).run();
    }
}

/// # Safety
/// As [`wake`], and loaned.
#[inline(always)]
unsafe fn wake_loaned(packed: *mut ()) {
    // SAFETY: the loan keeps the task alive.
    if !unsafe { waker::wake_loaned_here(task(packed).cast_const().cast()) } {
        // SAFETY: it is loaned, and the caller gives it up.
        unsafe { wake_loaned_slowly(packed) };
    }
}

/// # Safety
/// As [`wake_loaned`].
#[cold]
#[inline(never)]
unsafe fn wake_loaned_slowly(packed: *mut ()) {
    let data = task(packed).cast_const().cast();
    // SAFETY: the caller owns the loan and gives it up; no node names it, so the one given here is none.
    if let Some(runner) = unsafe { waker::wake_loaned(data, NonNull::<Node>::dangling()) } {
        Deferred::new(runner).run();
    }
}

/// Drops the waker.
///
/// # Safety
/// As [`wake`].
pub unsafe fn let_go(packed: *mut ()) {
    if packed.addr() & LOANED != 0 {
        let data = task(packed).cast_const().cast();
        // SAFETY: the caller owns the loan and gives it up; no node names it, so the one given here is none.
        unsafe { waker::end_loan(data, NonNull::<Node>::dangling()) };
    // SAFETY: it is null or not loaned; the caller owns it and gives it up.
    } else if let Some(waker) = unsafe { unpack(packed) } {
        match waker::task_of(&waker) {
            Some(_) => waker::let_go(waker),
            // Its drop is user code; a panic there must not lose what has just come.
            None => drop_quietly(waker),
        }
    }
}
