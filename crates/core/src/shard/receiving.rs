//! The right to run a shard: receiving what others have sent, and giving the guard up.

use core::ptr::NonNull;

use super::inbox_queue::InboxQueue;
use super::{Shard, ShardGuard};
use crate::context::{self, Context};
use crate::header::ref_count::{Drained, QUEUED};
use crate::header::{Header, ref_dec};
use crate::platform::atomic::Ordering;

impl ShardGuard {
    /// Whoever parked as this shard's runner before us is woken when we stop, not by a push.
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
        self.shard.ack();
        self.publish_if_wanted();
        self.empty_inbox(false)
    }

    /// Closes the inbox for good: wakes of this shard's tasks end in nothing from now on, and tasks
    /// spawned from elsewhere are turned away there. What is in it now is drained.
    pub fn seal(&self) {
        self.shard.runner.closing.set(true);
        self.empty_inbox(true);
    }

    pub(super) fn empty_inbox(&self, close: bool) -> bool {
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
            tasks = InboxQueue::new();
        }
        let any = !tasks.is_empty();
        context::with(|context| {
            while let Some(task) = tasks.pop_front() {
                // SAFETY: the inbox's reference on the task is ours, and we run its shard.
                unsafe { self.receive(context, task) };
            }
        });
        if tasks.has_buffer() {
            self.shard.inbox.lock().tasks.give_buffer(tasks);
        }
        any
    }

    /// # Safety
    /// The caller owns the task's `QUEUED` hold.
    pub(super) unsafe fn receive(&self, context: &Context, task: NonNull<Header>) {
        // SAFETY: passed on to the caller.
        if self.shard.pool() != 0 && !unsafe { self.receive_in_pool(task) } {
            return;
        }
        // SAFETY: `QUEUED` keeps the task alive.
        let what = unsafe { task.as_ref() }.refs.drain();
        if what == Drained::Gone {
            // SAFETY: the reference is ours.
            unsafe { ref_dec(task, QUEUED) };
            return;
        }
        // SAFETY: we run its shard, and `ALIVE` keeps it now that `QUEUED` is cleared.
        unsafe {
            add_to_list(task);
            if what == Drained::Cancel && self.shard.pool() == 0 {
                cancel_here(context, task);
            } else {
                context::wake_here(context, task);
            }
        }
    }
}

/// Has a task of the shard this thread runs dropped at its next turn, instead of polled.
///
/// # Safety
/// The current thread runs the task's shard, and the task is alive.
pub unsafe fn cancel_here(context: &Context, task: NonNull<Header>) {
    // SAFETY: the caller vouches for it.
    unsafe {
        // It may still be on its way through the inbox.
        add_to_list(task);
        task.as_ref()
            .set_state(task.as_ref().state().with_cancelled());
        context::wake_here(context, task);
    }
}

/// Puts a task that came, or comes, through the inbox on its shard's list.
///
/// # Safety
/// The current thread runs the task's shard, and the task is alive.
pub(super) unsafe fn add_to_list(task: NonNull<Header>) {
    // SAFETY: the caller vouches for it.
    let header = unsafe { task.as_ref() };
    let state = header.state();
    // One that was turned away is still new, but over: it has no future, and perhaps no shard.
    if state.is_new() && !state.is_done() {
        header.set_state(state.without_new());
        let shard = Shard::at(state.shard());
        // SAFETY: on the runner; new, so in no list.
        shard.with_list(|| unsafe { shard.runner.list_of(state).push(task) });
    }
}
