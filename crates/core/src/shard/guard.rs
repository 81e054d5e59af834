//! The right to run a shard: how a thread gets it, and gives it up.
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

use core::task::Waker;

use super::{FREE, OPEN, RUNNING, Shard, VISITED};
use crate::context::{self, Entered};
use crate::platform::Backoff;
use crate::platform::atomic::Ordering;
use crate::waiter::Deferred;

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

    /// The same, but `None` also if another thread visits.
    pub(super) fn try_visit(&'static self) -> Option<ShardGuard> {
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
        // Relaxed: as above.
        let access = (self.monitored.load(Ordering::Relaxed) != 0).then_some(&self.access);
        // SAFETY: acquired just now; the result restores the context when it goes.
        let entered = unsafe { context::enter(self.index, scheduling_points, watched, access) };
        // Relaxed: only this thread compares it with its own address.
        self.run_by.store(context::address(), Ordering::Relaxed);
        let guard = ShardGuard {
            shard: self,
            entered: Some(entered),
            visits,
        };
        guard.publish_again();
        guard
    }

    /// Has `waker` called when the one who runs now stops. Then try to acquire once more: it may have
    /// stopped just before.
    pub fn wait_to_run(&self, waker: &Waker) {
        let before = self.inbox.lock().waiting.replace(waker.clone());
        drop(before);
    }

    /// Ends the shard's use; it is given back once its last task has left. The runner has called
    /// [`ShardGuard::seal`] and finished every task, and the shard has no timers any more.
    pub fn close(&'static self, guard: ShardGuard) {
        let balance = self.runner.take_task_count() - OPEN;
        drop(guard);
        self.count_late(balance);
    }
}

impl ShardGuard {
    /// The shard being run.
    #[inline(always)]
    pub fn shard(&self) -> &'static Shard {
        self.shard
    }

    /// Goes on to run the shard after a visit.
    pub fn upgrade(mut self) -> Self {
        // Relaxed: a thread that waits for the visit's end reads nothing but this.
        self.shard.acquired.store(RUNNING, Ordering::Relaxed);
        self.visits = false;
        self
    }

    /// Gives the guard up.
    ///
    /// # Returns
    /// Of a closed shard, how many tasks have come and left: nobody else will look at the runner's count.
    fn give_up(&mut self) -> i64 {
        self.entered = None;
        let late = if self.shard.runner.closing.get() {
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
