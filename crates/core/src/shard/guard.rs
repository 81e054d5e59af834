//! The right to run a shard: how a thread gets it, receives what others have sent, and gives it up.
//!
//! # Waiting to run
//!
//! The owner of a runtime that waits while another thread runs announces itself ([`Shard::wait_to_run`]) and
//! then tries to acquire once more; a guard that ends is first given up and then looks for the announcement. So
//! one of the two sees the other, and work that the runner leaves behind is run by the owner.
//!
//! # Visiting
//!
//! A thread that only has to touch a task (to end a loan, or to take the task along), or the timers, *visits* the
//! shard: it holds the guard for a short time and runs no user code. A thread that wants to run waits until a visit is
//! over, so a visit never looks like another runner; and nobody ever waits for the end of a visit by a waker.
//!
//! # Loans
//!
//! A thread that drops an operation which has outlived its run may find another thread running the task's shard. Under
//! the inbox's lock it notes the loan, if that thread still runs; and under the same lock the runner gives its guard
//! up, when no loan is noted. So each loan that is noted is ended.

use core::ptr::NonNull;
use core::task::Waker;

use super::inbox::{EndedLoans, InboxQueue};
use super::list::add_to_list;
use super::sending::forward;
use super::{FREE, OPEN, RUNNING, Runner, Shard, VISITED};
use crate::context::{self, Context, Entered};
use crate::header::{Description, Header, Queued, ScheduledTask, TaskRef};
use crate::platform::Backoff;
use crate::platform::atomic::Ordering;
use crate::waiter::{Deferred, Node};

/// The right to run a shard, and the context that says so.
#[derive(Debug)]
#[must_use]
pub struct ShardGuard {
    pub(super) shard: &'static Shard,
    /// Dropped (restored) before the guard is given up, in `drop`.
    entered: Option<Entered>,
    /// Nobody waits for the end of a visit by a waker.
    visits: bool,
}

impl Shard {
    /// Begins to run this shard on the current thread; `None` if another thread does, or this one
    /// already. Waits while another thread visits.
    pub fn acquire(&'static self, scheduling_points: bool) -> Option<ShardGuard> {
        self.acquire_as(RUNNING)
            .then(|| self.enter(scheduling_points, false))
    }

    /// Begins a visit of this shard, whose plain memory the current thread may touch until it drops the result;
    /// `None` if another thread runs, or this one already. Waits while another thread visits.
    ///
    /// No user code may run meanwhile: other threads wait.
    pub fn visit(&'static self) -> Option<ShardGuard> {
        self.acquire_as(VISITED).then(|| self.enter(false, true))
    }

    /// Like [`Shard::visit`], but returns `None` also if another thread visits.
    pub fn try_visit(&'static self) -> Option<ShardGuard> {
        self.try_acquire_as(VISITED)
            .is_ok()
            .then(|| self.enter(false, true))
    }

    /// Takes the guard, once no other thread visits; `false` if one runs.
    fn acquire_as(&self, how: u8) -> bool {
        let mut backoff = Backoff::new();
        loop {
            match self.try_acquire_as(how) {
                Ok(_) => return true,
                Err(VISITED) if !crate::mutant!("visit_is_a_runner") => backoff.wait(),
                Err(_) => return false,
            }
        }
    }

    /// Takes the guard if nobody has it.
    fn try_acquire_as(&self, how: u8) -> Result<u8, u8> {
        // Acquire pairs with the release in `ShardGuard::drop`: what the last runner did is seen. Relaxed on failure:
        // nothing is read.
        self.acquired
            .compare_exchange(FREE, how, Ordering::Acquire, Ordering::Relaxed)
    }

    fn enter(&'static self, scheduling_points: bool, visits: bool) -> ShardGuard {
        // Relaxed: written before the shard had tasks.
        let watched = self.watched.load(Ordering::Relaxed);
        let access = self.pool_hooks().and_then(|hooks| hooks.access_flag());
        // SAFETY: acquired just now; the result restores the context when it goes.
        let entered = unsafe { context::enter(self.index, scheduling_points, watched, access) };
        // Relaxed: only this thread compares it with its own address.
        self.run_by.store(context::address(), Ordering::Relaxed);
        ShardGuard {
            shard: self,
            entered: Some(entered),
            visits,
        }
    }

    /// Has `waker` called when the one who runs now stops. Then try to acquire once more: it may have
    /// stopped just before.
    pub fn wait_to_run(&self, waker: &Waker) {
        let before = self.inbox.lock().waiting.replace(waker.clone());
        drop(before);
    }

    /// Has the runner end a loan; `false` if no thread runs, and then nothing was done.
    ///
    /// # Safety
    /// The task lives here and is loaned to this node. The loan is not the caller's any more, unless the result is
    /// `false`.
    pub(crate) unsafe fn defer_end_loan(&self, task: NonNull<Header>, node: NonNull<Node>) -> bool {
        let mut inbox = self.inbox.lock();
        // Relaxed: a runner gives its guard up under the lock.
        let is_running = self.acquired.load(Ordering::Relaxed) == RUNNING;
        if is_running && !crate::mutant!("loan_forgotten") {
            inbox.loans.push((task, node));
            // Relaxed: a hint, kept under the lock.
            self.pending.store(true, Ordering::Relaxed);
        }
        is_running
    }
}

impl Runner {
    /// Takes the task out of the run-next slot.
    #[inline(always)]
    pub fn take_slot(&self) -> Option<ScheduledTask> {
        self.slot.take()
    }

    /// Whether there is one.
    #[inline(always)]
    pub fn has_slot(&self) -> bool {
        !self.slot.is_empty()
    }

    /// Puts a task into the run-next slot; gives the one that was there.
    ///
    /// # Safety
    /// The task lives here.
    #[inline(always)]
    pub unsafe fn put_slot(&self, task: ScheduledTask) -> Option<ScheduledTask> {
        self.slot.replace(task)
    }
}

impl ShardGuard {
    /// The shard being run.
    #[inline(always)]
    pub fn shard(&self) -> &'static Shard {
        self.shard
    }

    /// Returns the memory that only the runner touches.
    #[inline(always)]
    pub fn runner(&self) -> &Runner {
        &self.shard.runner
    }

    /// Ends the shard's use; it is given back once its last task has left. The runner has called
    /// [`ShardGuard::seal`] and finished every task, and the shard has no timers any more.
    pub fn close(self) {
        let shard = self.shard;
        let balance = shard.runner.take_task_count() - OPEN;
        drop(self);
        shard.count_late(balance);
    }

    /// Goes on to run the shard after a visit.
    pub fn upgrade(mut self) -> Self {
        // Relaxed: a thread that waits for the visit's end reads nothing but this.
        self.shard.acquired.store(RUNNING, Ordering::Relaxed);
        self.visits = false;
        self
    }

    /// Ends these loans.
    pub(super) fn end_loans(&self, loans: EndedLoans) {
        for (task, node) in loans {
            // SAFETY: the loan keeps the task alive and at this shard, whose guard we have; it is ended once.
            unsafe { Header::end_loan(task, node) };
        }
    }

    /// Gives the guard up.
    ///
    /// # Returns
    /// Of a closed shard, how many tasks have come and left: nobody else will look at the runner's count.
    fn give_up(&mut self) -> i64 {
        if !context::runs(self.shard.index) {
            given_up_out_of_order();
        }
        self.entered = None;
        let late = if self.shard.is_closing() {
            self.shard.runner.take_task_count()
        } else {
            0
        };
        // Relaxed: see `is_run_by_this_thread`.
        self.shard
            .run_by
            .store(core::ptr::null_mut(), Ordering::Relaxed);
        // Release pairs with the acquire in `Shard::try_acquire_as`.
        self.shard.acquired.store(FREE, Ordering::Release);
        late
    }
}

impl ShardGuard {
    /// A thread that has parked as this shard's runner is woken from now on when this runner stops, not by a push.
    pub fn displace(&self) {
        let mut inbox = self.shard.inbox.lock();
        let before = match inbox.parked.take() {
            Some(parked) if crate::mutant!("displaced_and_forgotten") => Some(parked),
            Some(parked) => inbox.waiting.replace(parked),
            None => None,
        };
        drop(inbox);
        drop(before);
    }

    /// Moves what is in the inbox to the context's woken tasks; `true` if there was anything.
    #[cold]
    pub fn drain(&self) -> bool {
        self.empty_inbox(false)
    }

    /// Closes the inbox for good: wakes of this shard's tasks end in nothing from now on, and tasks
    /// spawned from elsewhere are turned away there. What is in it now is drained.
    pub fn seal(&self) {
        // Relaxed: for this thread, or who has the guard later.
        self.shard.runner.closing.store(1, Ordering::Relaxed);
        self.empty_inbox(true);
    }

    /// Opens the shard again after a [seal](ShardGuard::seal); `false`: some of its tasks have not left, and it stays closed.
    #[must_use]
    pub fn open_anew(&self) -> bool {
        // Acquire pairs with `task_left_elsewhere`.
        let tasks = self.shard.tasks.load(Ordering::Acquire) + self.shard.runner.tasks();
        if tasks == OPEN {
            self.shard.begin_anew();
        }
        tasks == OPEN
    }

    fn empty_inbox(&self, close: bool) -> bool {
        self.expect_no_poll();
        let (mut tasks, loans, parked, fallback_waker) = {
            let mut inbox = self.shard.inbox.lock();
            inbox.closed |= close;
            // Relaxed: a hint, kept under the lock.
            self.shard.pending.store(false, Ordering::Relaxed);
            let fallback_waker = if close {
                inbox.fallback_waker.take()
            } else {
                None
            };
            if core::mem::take(&mut inbox.called) {
                self.shard.runner.called.set(true);
            }
            let loans = core::mem::take(&mut inbox.loans);
            (
                inbox.tasks.take(),
                loans,
                inbox.parked.take(),
                fallback_waker,
            )
        };
        drop((parked, fallback_waker));
        self.end_loans(loans);
        if crate::mutant!("drain_drops_second") {
            tasks.forget_rest();
        }
        if close && crate::mutant!("seal_forgets_inbox") {
            tasks = InboxQueue::default();
        }
        let any = !tasks.is_empty();
        context::with(|context| {
            while let Some(task) = tasks.pop_front() {
                self.receive(context, task);
            }
        });
        if tasks.has_buffer() {
            self.shard.inbox.lock().tasks.give_buffer(tasks);
        }
        any
    }

    /// Acts on a task that was sent here.
    pub(super) fn receive(&self, context: &Context, task: Queued) {
        let task = match self.shard.pool_hooks() {
            None => Some(task),
            Some(hooks) => hooks.receive(task),
        };
        let Some(task) = task else {
            return;
        };
        // A wake that read the task's shard before it moved. (Where others may move it now, the hook has looked.)
        let has_moved = task.task().look().shard() != self.shard.index;
        if has_moved && !crate::mutant!("late_wake_is_received") {
            return forward(task);
        }
        // SAFETY: on the runner.
        if let Ok((received, cancels)) = unsafe { task.receive() } {
            let cancels = cancels && self.shard.pool() == 0;
            // SAFETY: we run its shard.
            unsafe { schedule(context, received, cancels) };
        }
    }

    /// Moves a parked task from here to another shard, which this thread runs too; `false` if it is not parked here (any
    /// more), or stays with its thread, and then nothing was done.
    pub fn give_parked(&self, task: TaskRef<'_>, to: &Shard) -> bool {
        assert!(to.is_run_by_this_thread(), "a task was given elsewhere");
        let state = task.look();
        let moves = to.pool() != 0
            && to.pool() == self.shard.pool()
            && !state.is_local()
            && state.shard() == self.shard.index
            && !state.is_new()
            && (!state.is_pinned() || crate::mutant!("pinned_is_pulled"))
            && !state.ignores_wake()
            && !self.shard.is_closing();
        if moves {
            // SAFETY: this thread runs both, the one where the task lives as a visitor.
            unsafe { to.move_here(task, self.shard) };
        }
        moves
    }

    /// Takes the next task out that was woken while this thread polled nothing.
    pub fn take_woken(&self) -> Option<ScheduledTask> {
        self.expect_no_poll();
        // SAFETY: the runner, and in no poll; nobody opens the shard of one who is in none.
        context::with(|context| unsafe { context.take_woken() })
    }

    /// Makes sure that the guard is the innermost that this thread has, and that no task is being polled.
    ///
    /// # Panics
    /// It is not so.
    pub fn expect_no_poll(&self) {
        let is_between =
            |context: &Context| context.shard() == self.shard.index && !context.is_polling();
        assert!(
            context::with(is_between),
            "the runner's work was asked for in a poll, or elsewhere"
        );
    }

    /// The newest task of the shard; or else of its local scope, if that is what is asked for.
    pub fn first_task(&self, is_local: bool) -> Option<NonNull<Header>> {
        let runner = &self.shard.runner;
        let list = if is_local {
            &runner.owned_local
        } else {
            &runner.owned
        };
        self.shard.with_list(|| list.first())
    }

    /// Describes each task: those of the local scope first, the newest first. For a shard of no pool.
    pub fn describe(&self, mut look: impl FnMut(&Description<'_>)) {
        assert_eq!(
            self.shard.pool(),
            0,
            "thieves touch the list of a pool's shard"
        );
        self.shard.runner.owned_local.describe(&mut look);
        self.shard.runner.owned.describe(look);
    }

    /// Takes up to `most` tasks that were sent to a shard nobody runs, and schedules them here.
    ///
    /// # Returns
    /// How many were looked at.
    ///
    /// # Safety
    /// Nobody ever runs `injector`, which is of this shard's pool.
    pub unsafe fn take_from(&self, injector: &Shard, most: usize) -> usize {
        for taken in 0..most {
            let Some(task) = injector.pop_queued() else {
                return taken;
            };
            if task.task().state().shard() == injector.index() {
                // SAFETY: nobody runs the injector, and the task is new, so it is ours now.
                unsafe { self.shard.move_here(task.task(), injector) };
            }
            context::with(|context| self.receive(context, task));
        }
        most
    }
}

/// The context would say that this thread runs a shard whose guard is gone.
#[cold]
fn given_up_out_of_order() -> ! {
    std::eprintln!("gossamer: a shard's guard was given up before one that was taken later");
    std::process::abort();
}

impl Drop for ShardGuard {
    fn drop(&mut self) {
        let (late, waiting) = if self.visits {
            (self.give_up(), None)
        } else {
            loop {
                let mut inbox = self.shard.inbox.lock();
                let loans = core::mem::take(&mut inbox.loans);
                if loans.is_empty() {
                    // Under the lock: who announces later finds the guard free when it tries once more, and who
                    // announced before is found here.
                    break (self.give_up(), inbox.waiting.take());
                }
                drop(inbox);
                self.end_loans(loans);
            }
        };
        if late != 0 {
            self.shard.count_late(late);
        }
        if let Some(waker) = waiting.filter(|_| !crate::mutant!("guard_drops_silently")) {
            Deferred::new(waker).run();
        }
    }
}

/// Has the runner drop the future of a task of its shard at the task's next turn, instead of polling it.
///
/// # Safety
/// The current thread runs the task's shard, and the task is in no steal queue.
pub(crate) unsafe fn cancel_here(context: &Context, task: TaskRef<'_>) {
    // SAFETY: on the runner; in no steal queue, as the caller says.
    unsafe { schedule(context, task, true) };
}

/// Wakes a task of the shard that this thread runs, or cancels it; the task may still be on its way through the inbox.
///
/// # Safety
/// The current thread runs the task's shard, and the task is in no steal queue.
unsafe fn schedule(context: &Context, task: TaskRef<'_>, cancels: bool) {
    // A new one that is scheduled may be in a new-task stack, whose links are the list's, and is listed after its first
    // poll.
    if !task.state().is_scheduled() || crate::mutant!("abort_lists_new") {
        // SAFETY: on the runner, as the caller says.
        unsafe { add_to_list(task) };
    }
    if cancels {
        // SAFETY: on the runner; it is scheduled below.
        unsafe { task.set_state(task.state().with_cancelled()) };
    }
    // SAFETY: on the runner; in no steal queue, as the caller says.
    unsafe { context::wake_here(context, task) };
}
