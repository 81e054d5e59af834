//! The one waker vtable, and how a wake finds the task's shard.
//!
//! A [`Waker`] of one of our tasks is a counted reference on its header. The waker that a poll is given
//! is borrowed: the task is alive while it is polled, so it is made without counting. Wakers are
//! `Send` and `Sync` whatever the future is: a wake from a thread that does not run the task goes
//! through its shard's inbox (or, between workers of a pool, takes the task along), and the future is polled and
//! dropped by the runner alone.
//!
//! # Whose task it is
//!
//! A wake asks once, by one look at the task's state ([`seen_here`]), before the runner comes inside its shard.
//!
//! * "Elsewhere" stays true: only its runner moves tasks to a shard, and the runner of this one is this thread. (It
//!   takes new ones out of the injector, steals, and pulls.) So such a wake touches nothing of this shard.
//! * "Here" stays true of a task that is not scheduled, unless the shard is open for evacuation; the runner sees that
//!   when it comes inside. One that is scheduled may be stolen: then there is a second look, behind a fence.

use core::mem::ManuallyDrop;
use core::ptr::NonNull;
use core::task::{RawWaker, RawWakerVTable, Waker};

use crate::context::{self, Context};
use crate::header::ref_count::{HANDLE, QUEUED, Queue};
use crate::header::{Header, QueueLink, TaskState, ref_dec};
use crate::shard::{Shard, cancel_here, pull};
use crate::waiter::{Node, RawWakerParts};

static VTABLE: RawWakerVTable = RawWakerVTable::new(clone, wake, wake_by_ref, drop_waker);

/// The task that `waker` wakes, if it is one of ours.
#[inline(always)]
pub fn task_of(waker: &Waker) -> Option<NonNull<Header>> {
    if core::ptr::eq(waker.vtable(), &raw const VTABLE) {
        NonNull::new(waker.data().cast::<Header>().cast_mut())
    } else {
        None
    }
}

/// Whether a waker with this vtable is one of ours.
#[inline(always)]
pub(crate) fn is_ours(vtable: &'static RawWakerVTable) -> bool {
    core::ptr::eq(vtable, &raw const VTABLE)
}

/// The waker for one poll, without a hold of its own.
///
/// # Safety
/// The task is alive as long as the result is used; the result is not dropped.
#[inline(always)]
pub unsafe fn borrowed(task: NonNull<Header>) -> ManuallyDrop<Waker> {
    // SAFETY: the vtable's functions match; nothing is dropped, so no reference is needed.
    ManuallyDrop::new(unsafe { from_ref(task) })
}

/// A waker that takes over a reference.
///
/// # Safety
/// The caller owns one `HANDLE` reference to the task.
#[inline(always)]
pub unsafe fn from_ref(task: NonNull<Header>) -> Waker {
    // SAFETY: the vtable's functions take the pointer for a held header.
    unsafe { Waker::from_raw(RawWaker::new(task.as_ptr().cast_const().cast(), &VTABLE)) }
}

/// Schedules a task. The result, if any, is the parked runner: wake it after unlocking.
///
/// # Safety
/// The task is alive during the call (the caller holds it, or the lock of a primitive in which one
/// of its nodes is linked).
#[inline(always)]
#[must_use]
pub unsafe fn wake_task(task: NonNull<Header>) -> Option<Waker> {
    // SAFETY: the caller vouches that the task is alive, here and below.
    let is_woken = context::with(|context| unsafe {
        seen_here(context, task).is_some_and(|seen| context::wake_seen_here(context, task, seen))
    });
    if is_woken {
        return None;
    }
    // SAFETY: alive, and not run here.
    unsafe { wake_elsewhere(task, false) }
}

/// The task's state, if this thread runs its shard.
///
/// # Safety
/// The task is alive.
#[inline(always)]
unsafe fn seen_here(context: &Context, task: NonNull<Header>) -> Option<TaskState> {
    // SAFETY: the caller vouches for it.
    let seen = unsafe { task.as_ref() }.look();
    (seen.shard() == context.shard()).then_some(seen)
}

/// The same for a task that this thread does not run, or has to `cancel`.
///
/// # Safety
/// As [`wake_task`].
#[cold]
#[inline(never)]
unsafe fn wake_elsewhere(task: NonNull<Header>, cancel: bool) -> Option<Waker> {
    // SAFETY: alive.
    let header = unsafe { task.as_ref() };
    // Once queued, the task is the inbox's: what we touch after the push must be ours.
    let shard = header.look().shard();
    if shard == context::NOWHERE {
        // It is over.
        return None;
    }
    let here = context::with(Context::shard);
    debug_assert!(
        cancel || here != shard,
        "another thread has moved a task to the shard that this one runs"
    );
    let shard = Shard::at(shard);
    // SAFETY: alive, and not run here, where another shard is.
    if !cancel && here != context::NOWHERE && unsafe { pull(task, shard) } {
        return None;
    }
    let queue = if cancel {
        header.refs.queue_cancel()
    } else {
        header.refs.queue()
    };
    match queue {
        Queue::Already => None,
        Queue::Push => match shard.push(task) {
            Ok(runner) => runner,
            Err(_) => {
                // SAFETY: the `QUEUED` hold stayed ours.
                unsafe { ref_dec(task, QUEUED) };
                None
            }
        },
        Queue::Gone if crate::mutant!("late_wake_keeps_ref") => None,
        Queue::Gone => {
            // SAFETY: the `QUEUED` hold is ours.
            unsafe { ref_dec(task, QUEUED) };
            None
        }
    }
}

/// Has a task's future dropped by its runner instead of polled again.
///
/// # Safety
/// The task is alive during the call.
pub unsafe fn abort(task: NonNull<Header>) {
    // SAFETY: alive.
    let shard = unsafe { task.as_ref() }.look().shard();
    if shard == context::NOWHERE {
        // It is over.
        return;
    }
    if context::runs(shard) && Shard::at(shard).pool() == 0 {
        // SAFETY: this thread runs the task's shard.
        context::with(|context| unsafe { cancel_here(context, task) });
    // SAFETY: passed on to the caller.
    } else if let Some(runner) = unsafe { wake_elsewhere(task, true) } {
        runner.wake();
    }
}

/// Notes, for dumps, that the polled task is about to park on `node`.
///
/// # Safety
/// If the waker is one of ours, its task is alive.
#[inline(always)]
pub(crate) unsafe fn park_on(waker: &Waker, node: NonNull<Node>) {
    if let Some(task) = task_of(waker) {
        // SAFETY: alive.
        unsafe { Header::park_on(task, QueueLink::on_node(node)) };
    }
}

/// Takes back [`park_on`]: the node is about to go.
///
/// # Safety
/// If the waker is one of ours, its task is alive.
pub(crate) unsafe fn unpark_from(waker: &Waker, node: NonNull<Node>) {
    if let Some(task) = task_of(waker) {
        // SAFETY: alive.
        unsafe { Header::unpark_from(task, QueueLink::on_node(node)) };
    }
}

/// Loans the task that `waker` wakes to a node, which will own no waker; `false` if that cannot be.
///
/// # Safety
/// If the waker is one of ours, its task is alive. The node never leaves this thread.
#[inline(always)]
pub(crate) unsafe fn loan(waker: &Waker) -> bool {
    task_of(waker).is_some_and(|task| {
        // SAFETY: passed on to the caller.
        context::with(|context| unsafe { Header::loan(task, context) })
    })
}

/// The same, only if it costs nothing: a running local task that is loaned to nobody.
///
/// # Safety
/// As [`loan`].
#[inline(always)]
pub(crate) unsafe fn loan_quickly(waker: RawWakerParts<'_>) -> bool {
    is_ours(waker.vtable()) && {
        // SAFETY: our wakers are made from non-null pointers.
        let task = unsafe { NonNull::new_unchecked(waker.data().cast::<Header>().cast_mut()) };
        // SAFETY: passed on to the caller.
        context::with(|context| unsafe { Header::loan_quickly(task, context) })
    }
}

/// Ends a loan without waking.
///
/// # Safety
/// `data` is that of the loaned task's waker; the loan has not been ended.
pub(crate) unsafe fn end_loan(data: *const (), node: NonNull<Node>) {
    // SAFETY: wakers are made from non-null pointers.
    let task = unsafe { NonNull::new_unchecked(data.cast::<Header>().cast_mut()) };
    // SAFETY: the loan keeps the task alive.
    let shard = unsafe { task.as_ref() }.state().shard();
    if context::runs(shard) {
        // SAFETY: this thread runs the task.
        unsafe { Header::end_loan(task, node) };
    } else {
        // SAFETY: passed on to the caller.
        unsafe { take_back_outside(task, node) };
    }
}

/// The operation outlived the run in which it parked, or is dropped inside a runtime inside it. If nobody runs
/// the shard now, we visit it. (The caller may hold the lock of a primitive: a visit runs no user code.) If another
/// thread does (the runtime was moved), it ends the loan; in a simulation, the process ends.
///
/// # Safety
/// As [`end_loan`].
#[cold]
#[inline(never)]
unsafe fn take_back_outside(task: NonNull<Header>, node: NonNull<Node>) {
    // SAFETY: the loan keeps the task alive, and at its shard.
    let header = unsafe { task.as_ref() };
    let shard = Shard::at(header.state().shard());
    loop {
        let is_runner = shard.is_run_by_this_thread();
        let visit = if is_runner { None } else { shard.visit() };
        if is_runner || visit.is_some() {
            // SAFETY: this thread runs the task, or nobody else touches the shard's plain memory during the visit.
            return unsafe { Header::end_loan(task, node) };
        }
        shard.node_leaves_elsewhere(header);
        // SAFETY: the loan is ours, and not touched afterwards.
        if unsafe { shard.defer_end_loan(task, node) } {
            return;
        }
    }
}

/// Ends a loan and schedules the task, if that costs nothing: a parked local task that this thread runs,
/// loaned to nobody else. `false`: nothing was done.
///
/// # Safety
/// As [`end_loan`].
#[inline(always)]
pub(crate) unsafe fn wake_loaned_here(data: *const ()) -> bool {
    // SAFETY: wakers are made from non-null pointers.
    let task = unsafe { NonNull::new_unchecked(data.cast::<Header>().cast_mut()) };
    // SAFETY: passed on to the caller.
    context::with(|context| unsafe { Header::wake_loaned_quickly(task, context) })
}

/// Ends a loan and schedules the task.
///
/// # Safety
/// As [`end_loan`].
#[inline(always)]
pub(crate) unsafe fn wake_loaned(data: *const (), node: NonNull<Node>) -> Option<Waker> {
    // SAFETY: wakers are made from non-null pointers.
    let task = unsafe { NonNull::new_unchecked(data.cast::<Header>().cast_mut()) };
    // SAFETY: passed on to the caller.
    if context::with(|context| unsafe { Header::wake_loaned(task, node, context) }) {
        None
    } else {
        // SAFETY: passed on to the caller.
        unsafe { wake_loaned_elsewhere(task, node) }
    }
}

/// # Safety
/// As [`end_loan`].
#[cold]
#[inline(never)]
unsafe fn wake_loaned_elsewhere(task: NonNull<Header>, node: NonNull<Node>) -> Option<Waker> {
    // SAFETY: the loan keeps the task alive.
    let runner = unsafe { wake_elsewhere(task, false) };
    // SAFETY: the loan is still there to be ended.
    unsafe { take_back_outside(task, node) };
    runner
}

/// Schedules the task of one of our own wakers and releases the waker.
///
/// # Returns
/// The parked runner, to be woken after unlocking.
#[inline(always)]
pub fn wake_owned(waker: Waker) -> Option<Waker> {
    let task = task_of(&waker)?;
    // SAFETY: the waker holds the task.
    let is_woken = context::with(|context| unsafe {
        seen_here(context, task).is_some_and(|seen| Header::wake_owned(task, context, seen))
    });
    if is_woken {
        core::mem::forget(waker);
        return None;
    }
    // SAFETY: as above, and this thread does not run it.
    let runner = unsafe { wake_elsewhere(task, false) };
    drop(waker);
    runner
}

/// A waker that owns a reference, like `waker`; for one of ours cheaper than a clone, and no user code.
#[inline(always)]
pub fn clone_ref(waker: &Waker) -> Waker {
    match task_of(waker) {
        Some(task) => {
            // SAFETY: the waker is of a living task.
            context::with(|context| unsafe { Header::take_ref(task, context) });
            // SAFETY: the reference was just taken.
            unsafe { from_ref(task) }
        }
        None => waker.clone(),
    }
}

/// Drops a waker that owns a reference; for one of ours cheaper than its drop.
#[inline(always)]
pub fn let_go(waker: Waker) {
    let stored = task_of(&waker).is_some_and(|task| {
        // SAFETY: the waker's reference is ours.
        context::with(|context| unsafe { Header::cache_ref(task, context) })
    });
    if stored {
        core::mem::forget(waker);
    }
}

/// # Safety
/// `data` is a held header.
unsafe fn clone(data: *const ()) -> RawWaker {
    // SAFETY: the waker being cloned holds the header.
    unsafe { &*data.cast::<Header>() }.refs.ref_inc();
    RawWaker::new(data, &VTABLE)
}

/// # Safety
/// `data` is a held header, and the reference is ours.
unsafe fn wake(data: *const ()) {
    // SAFETY: held until `drop_waker`.
    unsafe { wake_by_ref(data) };
    // SAFETY: the reference is ours.
    unsafe { drop_waker(data) };
}

/// # Safety
/// `data` is a held header.
unsafe fn wake_by_ref(data: *const ()) {
    // SAFETY: wakers are made from non-null pointers.
    let task = unsafe { NonNull::new_unchecked(data.cast::<Header>().cast_mut()) };
    if context::with(|context| context.wakes_itself(task)) {
        return;
    }
    // SAFETY: held by the waker.
    if let Some(runner) = unsafe { wake_task(task) } {
        runner.wake();
    }
}

/// # Safety
/// `data` is a held header, and the reference is ours.
unsafe fn drop_waker(data: *const ()) {
    // SAFETY: wakers are made from non-null pointers.
    let task = unsafe { NonNull::new_unchecked(data.cast::<Header>().cast_mut()) };
    // SAFETY: the reference is ours.
    unsafe { ref_dec(task, HANDLE) };
}
