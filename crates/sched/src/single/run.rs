//! The loop that polls tasks, and the one that ends them.

use std::cell::{RefCell, RefMut};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::{self, NonNull};
use std::task::Poll;

use gossamer_core::context::{self, AccessFlag, Context};
use gossamer_core::fork::end_child;
use gossamer_core::header::{Failure, Header, Payload, Turn};
use gossamer_core::panics;
use gossamer_core::recording;
use gossamer_core::roll_call;
use gossamer_core::shard::{Shard, ShardGuard};
use gossamer_task::Id;
use gossamer_task::locals::name_of;

use super::handing_over::{hand_over, hand_over_all, is_of, next_task, schedule_yielded};
use crate::environment::tell_of_panic;
use crate::scheduler::{Scheduler, TurnEnd};

/// The scheduler of a shard, for whoever holds the guard of that.
pub(super) struct Guarded<S> {
    shard: &'static Shard,
    scheduler: RefCell<S>,
}

// SAFETY: the scheduler is `Send`, and `borrow` gives it only to the holder of the shard's guard, of which there is one,
// which stays on its thread.
unsafe impl<S: Scheduler> Sync for Guarded<S> {}

impl<S: Scheduler> Guarded<S> {
    pub(super) fn new(shard: &'static Shard, scheduler: S) -> Self {
        let scheduler = RefCell::new(scheduler);
        Self { shard, scheduler }
    }

    pub(super) fn shard(&self) -> &'static Shard {
        self.shard
    }

    pub(super) fn get_mut(&mut self) -> &mut S {
        self.scheduler.get_mut()
    }

    /// # Panics
    /// The guard is another shard's, or the scheduler is borrowed.
    pub(super) fn borrow<'a>(&'a self, guard: &'a ShardGuard) -> RefMut<'a, S> {
        let is_its = ptr::eq(guard.shard(), self.shard);
        assert!(is_its, "the guard of another runtime");
        self.scheduler.borrow_mut()
    }
}

/// Why the loop came back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ran {
    /// The root task has finished.
    Root,
    /// Nothing is runnable.
    Idle,
    /// All allowed polls are done, a poll has used up its cooperative budget, or a thread has called.
    Budget,
}

/// Polls tasks until `root` has finished, nothing is runnable, `polls` polls are done, or somebody
/// [calls](Shard::call).
pub(crate) fn run<S: Scheduler>(
    guard: &ShardGuard,
    scheduler: &mut S,
    mut polls: u32,
    root: Option<NonNull<Header>>,
) -> Ran {
    guard.expect_no_poll();
    let root = root.map_or(ptr::null(), |root| root.as_ptr().cast_const());
    loop {
        let ran = catch_unwind(AssertUnwindSafe(|| {
            context::with(|context| match recording::is_on() && !S::IS_SIMULATED {
                false => poll_tasks::<S, false>(context, guard, scheduler, polls, root),
                true => {
                    recording::here();
                    poll_tasks::<S, true>(context, guard, scheduler, polls, root)
                }
            })
        }));
        match ran {
            Ok(ran) => return ran,
            Err(payload) => {
                panics::note();
                context::with(Context::go_inside);
                let failed = fail_polled(guard.shard(), scheduler, payload, root);
                if ptr::eq(failed.as_ptr(), root) {
                    return Ran::Root;
                }
                // A panic is a poll, so that a chain of them comes to an end too.
                polls -= 1;
                if polls == 0 {
                    context::with(|context| hand_over(context, scheduler));
                    return Ran::Budget;
                }
            }
        }
    }
}

/// Gives the panic to the task that was being polled, and returns that task (perhaps freed). Whoever wants to be told of
/// panics is, but for that of the root: its caller has it.
#[cold]
fn fail_polled<S: Scheduler>(
    shard: &Shard,
    scheduler: &mut S,
    payload: Payload,
    root: *const Header,
) -> NonNull<Header> {
    let Some(task) = context::with(Context::polling) else {
        // The scheduler itself panicked, outside any poll.
        resume_unwind(payload);
    };
    scheduler.turn_ended(address(task), TurnEnd::Panicked(&*payload));
    let is_told = !ptr::eq(task.as_ptr(), root) && !gossamer_core::mutant!("nobody_told_of_panics");
    // SAFETY: we run the shard; its poll has panicked, so the future is present.
    unsafe { fail(shard, task, Failure::panicked(payload), is_told) };
    task
}

/// Drops a task's future and publishes the failure.
///
/// # Safety
/// This thread runs the shard, where the task lives and has not finished; no poll goes on.
unsafe fn fail(shard: &Shard, task: NonNull<Header>, failure: Failure, is_told: bool) {
    recording::comes(address(task));
    // The drop counts as part of the poll: nothing may block in it.
    // SAFETY: we run the task's shard; `finish` keeps it until the poll has ended.
    context::with(|context| unsafe { context.begin_poll(task, true) });
    if let Some(access) = context::with(Context::access_flag) {
        // SAFETY: only the future is touched, until it has been dropped.
        context::with(|context| unsafe { context.begin_outside(access) });
    }
    // SAFETY: it has not finished, so it is alive.
    let header = unsafe { task.as_ref() };
    let (vtable, spawned) = (header.vtable, header.spawned);
    if is_told && let Failure::Panicked(payload) = &failure {
        tell_of_panic(Id::of(task), || name_of(task), spawned, &***payload);
    }
    // SAFETY: we run the task's shard, and its future is present.
    unsafe { (vtable.fail)(task, failure) };
    // Its destructors may have taken locks.
    recording::ends(address(task));
    context::with(Context::go_inside);
    // SAFETY: we run the shard, and the failure is stored.
    unsafe { Header::finish_at(task, shard) };
    // SAFETY: it has ended.
    context::with(|context| unsafe { context.end_poll() });
}

/// How a task's turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ended {
    /// Pending.
    Parked,
    /// Pending, and it wants others to run first.
    Yielded,
    /// Ready: the output is stored.
    Ready,
    /// Not polled: its future is to be dropped.
    Cancelled,
    /// Not touched: it had finished before.
    Over,
}

#[inline(always)]
fn poll_tasks<S: Scheduler, const RECORDS: bool>(
    context: &Context,
    guard: &ShardGuard,
    scheduler: &mut S,
    polls: u32,
    root: *const Header,
) -> Ran {
    let mut left = polls;
    let ran = poll_until::<S, RECORDS>(context, guard, scheduler, &mut left, root);
    guard.runner().count_polls(u64::from(polls - left));
    ran
}

#[inline(always)]
fn poll_until<S: Scheduler, const RECORDS: bool>(
    context: &Context,
    guard: &ShardGuard,
    scheduler: &mut S,
    polls: &mut u32,
    root: *const Header,
) -> Ran {
    let (shard, access) = (guard.shard(), access_flag::<S>(context));
    let mut yielded = None;
    while *polls > 0 {
        if shard.has_pending() {
            if shard.is_lost() {
                end_child("a task called fork(), and yielded in the child");
            }
            hand_over_all(context, scheduler, yielded.take());
            scheduler.between_polls(context);
            guard.drain();
            if is_called(guard) {
                break;
            }
        }
        let chained = if yielded.is_none() && is_empty(context, scheduler) {
            follow_chain::<S, RECORDS>(context, shard, access, polls)
        } else {
            None
        };
        let (task, ended) = match chained {
            Some(last) => last,
            None => match next_task(context, shard, scheduler, yielded.take()) {
                Some(task) => {
                    *polls -= 1;
                    // SAFETY: we run its shard, and it was taken out of the one queue it was in.
                    let ended = unsafe { take_turn::<S, RECORDS>(context, access, task) };
                    (task, ended)
                }
                None if shard.has_pending() || scheduler.goes_on() => continue,
                None => return Ran::Idle,
            },
        };
        match ended {
            Ended::Ready => {
                scheduler.turn_ended(address(task), TurnEnd::Returned);
                // SAFETY: its poll has stored the output.
                unsafe { Header::finish_at(task, shard) };
                // SAFETY: it has ended.
                unsafe { context.end_poll() };
            }
            Ended::Cancelled => {
                scheduler.turn_ended(address(task), TurnEnd::Dropped);
                // SAFETY: its turn has begun, and it was not polled.
                unsafe { fail(shard, task, Failure::Cancelled, false) };
            }
            Ended::Parked | Ended::Yielded => {
                scheduler.turn_ended(address(task), TurnEnd::Pending);
                if ended == Ended::Yielded {
                    // SAFETY: pending, and we run its shard.
                    yielded = unsafe { schedule_yielded(context, scheduler, task) };
                }
                continue;
            }
            Ended::Over => continue,
        }
        if ptr::eq(task.as_ptr(), root) {
            hand_over(context, scheduler);
            return Ran::Root;
        }
    }
    hand_over_all(context, scheduler, yielded);
    Ran::Budget
}

/// Whether somebody has called; a roll call is answered.
fn is_called(guard: &ShardGuard) -> bool {
    let is_called = guard.runner().called.take() && !gossamer_core::mutant!("call_unheard");
    if is_called {
        roll_call::answer_call(guard);
    }
    is_called
}

/// Whether the scheduler holds no task. It may be a user's, and wake the task that was polled last.
#[inline(always)]
fn is_empty<S: Scheduler>(context: &Context, scheduler: &S) -> bool {
    if !S::KEEPS_ALL && !S::IS_MONITORED && !gossamer_core::mutant!("poll_never_ends") {
        // SAFETY: between two polls.
        unsafe { context.end_poll() };
    }
    scheduler.is_empty()
}

/// Polls along a chain of wake-ups: as long as the last poll woke one task and no other is runnable, that one
/// needs no queue. The caller has seen that the scheduler is empty, and that there are polls left; nothing is pushed to
/// it here.
///
/// Ends when the last poll woke no task, or several; when a task does not wait afterwards (it has yielded or ended, is to
/// be cancelled, or was over); when the inbox has something; or when the polls are used up. Gives the task whose turn
/// was last, if there was one.
#[inline(always)]
fn follow_chain<S: Scheduler, const RECORDS: bool>(
    context: &Context,
    shard: &Shard,
    access: Option<&AccessFlag>,
    polls: &mut u32,
) -> Option<(NonNull<Header>, Ended)> {
    let mut last = None;
    while *polls > 0
        // SAFETY: between two polls, so inside.
        && let Some(task) = unsafe { context.take_only_woken() }
    {
        let task = task.task();
        *polls -= 1;
        // SAFETY: we run its shard, and it was taken out of the one queue it was in.
        let ended = unsafe { take_turn::<S, RECORDS>(context, access, task) };
        last = Some((task, ended));
        if ended != Ended::Parked || shard.has_pending() {
            break;
        }
    }
    last
}

/// The access flag of the shard that is run, if its polls are watched.
#[inline(always)]
fn access_flag<S: Scheduler>(context: &Context) -> Option<&'static AccessFlag> {
    let access = context.access_flag().filter(|_| S::IS_MONITORED);
    // A model leaves it out where it can.
    assert!(access.is_some() == S::IS_MONITORED || cfg!(any(loom, shuttle)));
    access
}

/// The turn of a task.
///
/// # Safety
/// This thread runs the task's shard, whose access flag this is, and has taken the task out of the one queue it was in.
#[inline(always)]
unsafe fn take_turn<S: Scheduler, const RECORDS: bool>(
    context: &Context,
    access: Option<&AccessFlag>,
    task: NonNull<Header>,
) -> Ended {
    // SAFETY: as the caller says.
    if unsafe { Header::begin_plain_turn(task, S::IS_MONITORED) } {
        // SAFETY: it is to be polled, so the future is present.
        unsafe { poll::<S, RECORDS>(context, access, task) }
    } else {
        // SAFETY: as the caller says.
        unsafe { take_special_turn::<S, RECORDS>(context, access, task) }
    }
}

/// The turn of a task that is polled for the first time at its shard, where new ones are not listed; or to be cancelled,
/// or over.
///
/// # Safety
/// As [`take_turn`].
#[inline(never)]
unsafe fn take_special_turn<S: Scheduler, const RECORDS: bool>(
    context: &Context,
    access: Option<&AccessFlag>,
    task: NonNull<Header>,
) -> Ended {
    // SAFETY: as the caller says.
    match unsafe { Header::begin_turn(task, S::IS_MONITORED) } {
        Turn::Poll => {}
        Turn::Cancel => return Ended::Cancelled,
        Turn::Over => return Ended::Over,
    }
    // SAFETY: its turn has begun, and the future is present.
    let ended = unsafe { poll::<S, RECORDS>(context, access, task) };
    if matches!(ended, Ended::Parked | Ended::Yielded) {
        // SAFETY: pending, so alive; we run its shard.
        unsafe { Shard::list(task) };
    }
    ended
}

/// # Safety
/// This thread runs the task's shard; the task's turn has begun, and its future is present.
#[inline(always)]
unsafe fn poll<S: Scheduler, const RECORDS: bool>(
    context: &Context,
    access: Option<&AccessFlag>,
    task: NonNull<Header>,
) -> Ended {
    if RECORDS && !gossamer_core::mutant!("poll_unmarked") {
        // SAFETY: it has not finished, so it is alive.
        let header = unsafe { task.as_ref() };
        // SAFETY: we run the task's shard, inside, and its turn has begun.
        unsafe { header.mark_polled() };
    }
    // SAFETY: we run the task's shard, and say so when the poll has ended.
    unsafe { context.begin_poll(task, S::IS_SIMULATED) };
    if let Some(access) = access {
        // SAFETY: the shard's; only the future is touched, until its poll has ended.
        unsafe { context.begin_outside(access) };
    }
    // SAFETY: it has not finished, so it is alive.
    let vtable = unsafe { task.as_ref() }.vtable;
    // SAFETY: we run the shard, and the future is present.
    let polled = unsafe { (vtable.poll)(task) };
    if let Some(access) = access {
        // SAFETY: the shard's, as the caller says.
        unsafe { context.end_outside(access) };
    }
    if RECORDS && polled.is_ready() {
        recording::ends(address(task));
    }
    match polled {
        Poll::Ready(()) => Ended::Ready,
        Poll::Pending if context.has_yielded() => Ended::Yielded,
        Poll::Pending => Ended::Parked,
    }
}

/// Where it is in memory.
fn address(task: NonNull<Header>) -> usize {
    task.as_ptr().addr()
}

/// Ends every task: futures are dropped, queues emptied, holds given up. The inbox is closed.
pub(crate) fn shut_down<S: Scheduler>(guard: &ShardGuard, scheduler: &mut S) {
    let shard = guard.shard();
    end_all(guard, true);
    end_all(guard, false);
    loop {
        context::with(|context| hand_over(context, scheduler));
        let Some(runnable) = scheduler.pop() else {
            break;
        };
        if !is_of(&runnable, shard) {
            // Another runtime's, which lost it when our scheduler took it.
            continue;
        }
        // SAFETY: we run the shard; if the task has finished, this releases it.
        let turn = unsafe { Header::begin_turn(runnable.0.task(), S::IS_MONITORED) };
        if turn != Turn::Over && !gossamer_core::mutant!("unlisted_forgotten") {
            // It was on no list, as it had not been polled here.
            // SAFETY: it lives here, and its turn has begun.
            unsafe { fail(shard, runnable.0.task(), Failure::Cancelled, false) };
        }
    }
}

/// Cancels every task of the shard, or of its local scope, also those that dropping a future adds.
pub(super) fn end_all(guard: &ShardGuard, is_local: bool) {
    guard.expect_no_poll();
    while let Some(task) = guard.first_task(is_local) {
        // SAFETY: this thread runs the shard; on its list, so it has not finished.
        unsafe { fail(guard.shard(), task, Failure::Cancelled, false) };
    }
}
