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
//! A wake asks once, by one look at the task's state (`context::wake_if_here`), before the runner comes inside its
//! shard.
//!
//! * "Elsewhere" stays true: only its runner moves tasks to a shard, and the runner of this one is this thread. (It
//!   takes new ones out of the injector, steals, and pulls.) So such a wake touches nothing of this shard.
//! * "Here" stays true of a task that is not scheduled, unless the shard is open for evacuation; the runner sees that
//!   when it comes inside. One that is scheduled may be stolen: then there is a second look, behind a fence.

use core::mem::ManuallyDrop;
use core::ptr::NonNull;
use core::task::{RawWaker, RawWakerVTable, Waker};

use crate::context::{self, Context};
use crate::header::ref_count::{HANDLE, Queue};
use crate::header::{Header, QueueLink, Queued, RefCount, TaskRef, ref_dec};
use crate::shard::{Shard, cancel_here};
use crate::waiter::{Node, RawWakerParts};

static VTABLE: RawWakerVTable = RawWakerVTable::new(clone, wake, wake_by_ref, drop_waker);

/// The task that `waker` wakes, if it is one of ours.
#[inline(always)]
pub fn task_of(waker: &Waker) -> Option<TaskRef<'_>> {
    // SAFETY: a waker of ours owns a reference, or is loaned to a poll of its task.
    is_ours(waker.vtable()).then(|| unsafe { task_at(waker.data()) })
}

/// The task of a waker of ours.
///
/// # Safety
/// `data` is such a waker's, and its task is alive as long as the result is used.
#[inline(always)]
pub(crate) const unsafe fn task_at<'a>(data: *const ()) -> TaskRef<'a> {
    // SAFETY: our wakers are made from non-null pointers to headers.
    let task = unsafe { NonNull::new_unchecked(data.cast::<Header>().cast_mut()) };
    // SAFETY: the caller vouches for it.
    unsafe { TaskRef::new(task) }
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

/// A waker of ours, from its [data](Waker::data).
///
/// # Safety
/// The caller owns it.
#[inline(always)]
pub(crate) unsafe fn from_data(data: *const ()) -> Waker {
    // SAFETY: the vtable is that of the waker that the data is of, which the caller owns.
    unsafe { Waker::from_raw(RawWaker::new(data, &VTABLE)) }
}

/// A waker that takes over a reference.
///
/// # Safety
/// The caller owns one `HANDLE` reference to the task.
#[inline(always)]
pub unsafe fn from_ref(task: NonNull<Header>) -> Waker {
    // SAFETY: the vtable's functions take the pointer for a held header.
    unsafe { from_data(task.as_ptr().cast_const().cast()) }
}

/// Schedules a task. The result, if any, is the parked runner: wake it after unlocking.
#[inline(always)]
#[must_use]
fn wake_task(task: TaskRef<'_>) -> Option<Waker> {
    if context::with(|context| context::wake_if_here(context, task)) {
        return None;
    }
    wake_elsewhere(task)
}

/// [`wake_task`] for a task that this thread does not run.
#[cold]
#[inline(never)]
fn wake_elsewhere(task: TaskRef<'_>) -> Option<Waker> {
    let there = task.look().shard();
    if there == context::NOWHERE {
        // It is over.
        return None;
    }
    let here = context::with(Context::shard);
    debug_assert!(
        here != there,
        "another thread has moved a task to the shard that this one runs"
    );
    if here != context::NOWHERE
        && context::with(|context| context::take_along(context, task, there))
    {
        return None;
    }
    send(task, Shard::at(there), RefCount::queue)
}

/// Announces a task to its runner, and puts it into the inbox of its shard if it is in none.
#[inline(always)]
fn send(task: TaskRef<'_>, shard: &Shard, announce: fn(&RefCount) -> Queue) -> Option<Waker> {
    let queue = announce(&task.refs);
    if queue == Queue::Already || queue == Queue::Gone && crate::mutant!("late_wake_keeps_ref") {
        return None;
    }
    // SAFETY: `QUEUED` is ours. (Of a task that is gone it is not what keeps it alive here.)
    let queued = unsafe { Queued::new(task.pointer()) };
    if queue == Queue::Push {
        shard.push(queued).unwrap_or(None)
    } else {
        None
    }
}

/// Has a task's future dropped by its runner instead of polled again.
pub fn abort(task: TaskRef<'_>) {
    let shard = task.look().shard();
    if shard == context::NOWHERE {
        // It is over.
        return;
    }
    let there = Shard::at(shard);
    if context::runs(shard) && there.pool() == 0 {
        // SAFETY: this thread runs the task's shard, which is of no pool and so has no steal queue.
        context::with(|context| unsafe { cancel_here(context, task) });
    } else if let Some(runner) = send(task, there, RefCount::queue_cancel) {
        runner.wake();
    }
}

/// Notes, for dumps, that the polled task is about to park on `node`.
#[inline(always)]
pub(crate) fn park_on(waker: RawWakerParts<'_>, node: NonNull<Node>) {
    waker.with(|waker| {
        if let Some(task) = task_of(waker) {
            task.park_on(QueueLink::on_node(node));
        }
    });
}

/// Takes back [`park_on`]: the node is about to go.
pub(crate) fn unpark_from(waker: &Waker, node: NonNull<Node>) {
    if let Some(task) = task_of(waker) {
        task.unpark_from(QueueLink::on_node(node));
    }
}

/// Loans the task that `waker` wakes to a node, which will own no waker and never leaves this thread; `false` if that
/// cannot be. A loan that nobody ends keeps the task's memory for good.
#[inline(always)]
pub(crate) fn loan(waker: RawWakerParts<'_>) -> bool {
    let loan = |task: TaskRef<'_>| context::with(|context| task.loan(context));
    waker.with(|waker| task_of(waker).is_some_and(loan))
}

/// Like [`loan`], but only where that costs nothing: for a running local task that is loaned to nobody.
#[inline(always)]
pub(crate) fn loan_quickly(waker: RawWakerParts<'_>) -> bool {
    is_ours(waker.vtable()) && {
        // SAFETY: these are the parts of a waker that is borrowed.
        let task: TaskRef<'_> = unsafe { task_at(waker.data()) };
        context::with(|context| task.loan_quickly(context))
    }
}

/// Ends a loan without waking.
///
/// # Safety
/// `data` is that of the loaned task's waker; the loan has not been ended.
pub(crate) unsafe fn end_loan(data: *const (), node: NonNull<Node>) {
    // SAFETY: the loan keeps the task alive.
    let task: TaskRef<'_> = unsafe { task_at(data) };
    if context::runs(task.state().shard()) {
        // SAFETY: this thread runs the task, and the loan is the caller's.
        unsafe { Header::end_loan(task.pointer(), node) };
    } else {
        // SAFETY: the loan is the caller's.
        unsafe { end_loan_outside(task, node) };
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
unsafe fn end_loan_outside(task: TaskRef<'_>, node: NonNull<Node>) {
    // The loan keeps the task at its shard.
    let shard = Shard::at(task.state().shard());
    loop {
        let is_runner = shard.is_run_by_this_thread();
        let visit = if is_runner { None } else { shard.visit() };
        if is_runner || visit.is_some() {
            // SAFETY: this thread runs the task, or nobody else touches the shard's plain memory during the visit.
            return unsafe { Header::end_loan(task.pointer(), node) };
        }
        shard.node_leaves_elsewhere(&task);
        // SAFETY: the loan is ours, and not touched afterwards.
        if unsafe { shard.defer_end_loan(task.pointer(), node) } {
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
    // SAFETY: the loan keeps the task alive.
    let task: TaskRef<'_> = unsafe { task_at(data) };
    // SAFETY: the loan is the caller's.
    context::with(|context| unsafe { task.wake_loaned_quickly(context) })
}

/// Ends a loan and schedules the task.
///
/// # Safety
/// As [`end_loan`].
#[inline(always)]
pub(crate) unsafe fn wake_loaned(data: *const (), node: NonNull<Node>) -> Option<Waker> {
    // SAFETY: the loan keeps the task alive.
    let task: TaskRef<'_> = unsafe { task_at(data) };
    // SAFETY: the loan is the caller's.
    if context::with(|context| unsafe { task.wake_loaned_quickly(context) }) {
        return None;
    }
    // SAFETY: the loan is still the caller's.
    unsafe { wake_loaned_slowly(task, node) }
}

/// # Safety
/// As [`end_loan`].
#[cold]
#[inline(never)]
unsafe fn wake_loaned_slowly(task: TaskRef<'_>, node: NonNull<Node>) -> Option<Waker> {
    // SAFETY: the loan is the caller's.
    if context::with(|context| unsafe { task.wake_loaned(node, context) }) {
        return None;
    }
    let runner = wake_elsewhere(task);
    // SAFETY: the loan is still there to be ended.
    unsafe { end_loan_outside(task, node) };
    runner
}

/// Schedules the task of one of our own wakers and releases the waker.
///
/// # Returns
/// The parked runner, to be woken after unlocking.
#[inline(always)]
pub fn wake_owned(waker: Waker) -> Option<Waker> {
    let task = task_of(&waker)?;
    // SAFETY: the waker's reference is given up, unless nothing was done.
    if context::with(|context| unsafe { task.wake_owned_quickly(context) }) {
        core::mem::forget(waker);
        return None;
    }
    wake_owned_slowly(waker)
}

/// [`wake_owned`] where it is more than a few stores. (Called last: who calls it saves no registers for it.)
#[inline(never)]
fn wake_owned_slowly(waker: Waker) -> Option<Waker> {
    let task = task_of(&waker)?;
    // SAFETY: the waker's reference is given up, unless nothing was done.
    if context::with(|context| unsafe { task.wake_owned(context) }) {
        core::mem::forget(waker);
        return None;
    }
    let runner = wake_elsewhere(task);
    drop(waker);
    runner
}

/// A waker that owns a reference, like `waker`; for one of ours cheaper than a clone, and no user code.
#[inline(always)]
pub fn clone_ref(waker: &Waker) -> Waker {
    match task_of(waker) {
        Some(task) => {
            context::with(|context| task.take_ref(context));
            // SAFETY: the reference was just taken.
            unsafe { from_ref(task.pointer()) }
        }
        None => waker.clone(),
    }
}

/// Drops a waker that owns a reference; for one of ours cheaper than its drop.
#[inline(always)]
pub fn let_go(waker: Waker) {
    let stored = task_of(&waker).is_some_and(|task| {
        // SAFETY: the waker's reference is given up, unless nothing was done.
        context::with(|context| unsafe { task.cache_ref(context) })
    });
    if stored {
        core::mem::forget(waker);
    }
}

/// Wakes the task of a waker, which is most probably the one that is being polled: it yields.
#[inline(always)]
pub fn wake_to_yield(waker: &Waker) {
    let yields = |task: TaskRef<'_>| context::with(|context| context.yields(task.pointer()));
    if !task_of(waker).is_some_and(yields) {
        waker.wake_by_ref();
    }
}

/// # Safety
/// `data` is a held header.
unsafe fn clone(data: *const ()) -> RawWaker {
    // SAFETY: the waker being cloned holds the header.
    let task: TaskRef<'_> = unsafe { task_at(data) };
    task.refs.ref_inc();
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
    // SAFETY: held by the waker.
    let task: TaskRef<'_> = unsafe { task_at(data) };
    if context::with(|context| context.yields(task.pointer())) {
        return;
    }
    if let Some(runner) = wake_task(task) {
        runner.wake();
    }
}

/// # Safety
/// `data` is a held header, and the reference is ours.
unsafe fn drop_waker(data: *const ()) {
    // SAFETY: held until the reference is given up.
    let task: TaskRef<'_> = unsafe { task_at(data) };
    // SAFETY: the reference is ours.
    unsafe { ref_dec(task.pointer(), HANDLE) };
}
