//! What a poll has woken, and the task that has yielded in it, on the way to the scheduler.

use std::ptr::NonNull;

use gossamer_core::context::Context;
use gossamer_core::header::{Header, ScheduledTask};
use gossamer_core::shard::Shard;

use crate::runnable::Runnable;
use crate::scheduler::{Reason, Scheduler};

/// The task the scheduler wants polled next, after it has been given what was woken, and what has yielded.
#[inline(always)]
pub(super) fn next_task<S: Scheduler>(
    context: &Context,
    shard: &Shard,
    scheduler: &mut S,
    yielded: Option<ScheduledTask>,
) -> Option<NonNull<Header>> {
    let only = match yielded {
        // SAFETY: between two polls, so inside.
        None => unsafe { context.take_only_woken() }.map(|task| (task, Reason::Woken)),
        Some(task) if context.has_room() => Some((task, after_yield())),
        Some(_) => {
            hand_over_all(context, scheduler, yielded);
            None
        }
    };
    let runnable = if let Some((task, reason)) = only {
        begin_handing_over(context, scheduler);
        scheduler.push_and_pop(Runnable(task), reason)?
    } else {
        hand_over(context, scheduler);
        scheduler.pop()?
    };
    if !is_of(&runnable, shard) {
        foreign_runnable(runnable);
    }
    Some(runnable.0.task())
}

/// Whether it is a task of this shard.
pub(super) fn is_of(runnable: &Runnable, shard: &Shard) -> bool {
    runnable.header().state().shard() == shard.index()
}

/// Gives the tasks woken meanwhile to the scheduler; `true` if there was one.
#[inline(always)]
pub(crate) fn hand_over<S: Scheduler>(context: &Context, scheduler: &mut S) -> bool {
    context.expect_inside();
    begin_handing_over(context, scheduler);
    let mut any = false;
    // SAFETY: between two polls, so inside.
    while let Some(task) = unsafe { context.take_woken() } {
        scheduler.push(Runnable(task), Reason::Woken);
        any = true;
    }
    any
}

/// [`hand_over`], but for one of the tasks, which is the result if it was there.
#[cold]
fn hand_over_others<S: Scheduler>(
    context: &Context,
    scheduler: &mut S,
    but: NonNull<Header>,
) -> Option<ScheduledTask> {
    begin_handing_over(context, scheduler);
    let mut held = HeldBack(context, None);
    // SAFETY: between two polls, so inside.
    while let Some(task) = unsafe { context.take_woken() } {
        if task.task() == but {
            held.1 = Some(task);
        } else {
            scheduler.push(Runnable(task), Reason::Woken);
        }
    }
    held.1.take()
}

/// [`hand_over`], and behind them the task that has yielded.
#[inline(always)]
pub(super) fn hand_over_all<S: Scheduler>(
    context: &Context,
    scheduler: &mut S,
    yielded: Option<ScheduledTask>,
) {
    let mut last = HeldBack(context, yielded);
    hand_over(context, scheduler);
    if let Some(task) = last.1.take() {
        scheduler.push(Runnable(task), after_yield());
    }
}

/// A task that has yielded, while the scheduler is given others: if it panics, this one is woken instead.
struct HeldBack<'a>(&'a Context, Option<ScheduledTask>);

impl Drop for HeldBack<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        if let Some(task) = self.1.take()
            && !gossamer_core::mutant!("panic_loses_yielded")
        {
            // SAFETY: between two polls, so inside.
            unsafe { self.0.push_back_woken(task) };
        }
    }
}

/// The task that was polled last, which has yielded, to be queued behind what it woke; `None` if another thread has
/// queued it.
///
/// # Safety
/// It is pending, and this thread runs its shard.
#[inline(always)]
pub(super) unsafe fn schedule_yielded<S: Scheduler>(
    context: &Context,
    scheduler: &mut S,
    task: NonNull<Header>,
) -> Option<ScheduledTask> {
    // SAFETY: as the caller says, between two polls.
    match unsafe { context.schedule_yielded(task) } {
        // It was woken here before it yielded.
        None if !gossamer_core::mutant!("woken_cannot_yield") => {
            hand_over_others(context, scheduler, task)
        }
        scheduled => scheduled,
    }
}

/// The poll is over.
#[inline(always)]
fn begin_handing_over<S: Scheduler>(context: &Context, scheduler: &mut S) {
    // SAFETY: between two polls.
    unsafe { context.end_poll() };
    if context.publishes() {
        scheduler.poll_published(context);
    }
}

#[cold]
fn foreign_runnable(runnable: Runnable) -> ! {
    panic!("a scheduler returned a task of another runtime: {runnable:?}");
}

/// Why a task that has yielded is runnable.
#[inline(always)]
fn after_yield() -> Reason {
    if gossamer_core::mutant!("yield_is_wake") {
        Reason::Woken
    } else {
        Reason::Yielded
    }
}
