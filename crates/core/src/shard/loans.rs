//! Ending the loan of a task that another thread runs: the runner does it.
//!
//! A thread that drops an operation which has outlived its run may find another thread running the task's shard. Under
//! the inbox's lock it notes the loan, if that thread still runs; and under the same lock the runner gives its guard
//! up, when no loan is noted. So each loan that is noted is ended.

use core::ptr::NonNull;

use super::{EndedLoans, RUNNING, Shard, ShardGuard};
use crate::header::Header;
use crate::platform::atomic::Ordering;
use crate::waiter::Node;

impl Shard {
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

impl ShardGuard {
    /// Ends these loans.
    pub(super) fn end_loans(&self, loans: EndedLoans) {
        for (task, node) in loans {
            // SAFETY: the loan keeps the task alive and at this shard, whose guard we have; it is ended once.
            unsafe { Header::end_loan(task, node) };
        }
    }
}
