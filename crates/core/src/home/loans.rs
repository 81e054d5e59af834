//! Ending the loan of a task that another thread drives: the driver does it.
//!
//! A thread that drops an operation which has outlived its run may find another thread driving the task's home. Under the
//! inbox's lock it notes the loan, if that thread still drives; and under the same lock the driver gives its claim up,
//! when no loan is noted. So each loan that is noted is ended.

use alloc::vec::Vec;
use core::ptr::NonNull;

use super::{Claim, DRIVEN, Home};
use crate::door::atomic::Ordering;
use crate::header::Header;
use crate::waiter::Node;

/// Loans that are over, each with the node that the task was lent to.
pub(super) type Ended = Vec<(NonNull<Header>, NonNull<Node>)>;

impl Home {
    /// Has the driver end a loan; `false` if no thread drives, and then nothing was done.
    ///
    /// # Safety
    /// The task lives here and is lent to this node. The loan is not the caller's any more, unless the result is
    /// `false`.
    pub(crate) unsafe fn leave_loan(&self, task: NonNull<Header>, node: NonNull<Node>) -> bool {
        let mut inbox = self.inbox.lock();
        // Relaxed: a driver gives its claim up under the lock.
        let is_driven = self.claimed.load(Ordering::Relaxed) == DRIVEN;
        if is_driven && !crate::mutant!("loan_forgotten") {
            inbox.loans.push((task, node));
            // Relaxed: a hint, kept under the lock.
            self.pending.store(true, Ordering::Relaxed);
        }
        is_driven
    }
}

impl Claim {
    /// Ends these loans.
    pub(super) fn end_loans(&self, loans: Ended) {
        for (task, node) in loans {
            // SAFETY: the loan keeps the task alive and at this home, whose claim we have; it is ended once.
            unsafe { Header::take_back(task, node) };
        }
    }
}
