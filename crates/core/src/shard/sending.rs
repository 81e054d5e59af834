//! What threads that do not run a shard send to its runner, through the inbox.
//!
//! The waker sets `QUEUED` in the task's [`RefCount`](crate::header::RefCount) and pushes the task into the inbox. The
//! runner, when it has nothing to do, announces under the inbox's lock that it parks, after it has seen the inbox empty
//! under the same lock; a push finds the announcement and wakes it. So a push comes either before the look (the runner
//! sees the task) or after the announcement (the pusher sees the parked runner). `pending` is a hint that saves the
//! runner the lock.
//!
//! After the push the pusher touches only the shard (never freed) and the waker it took out.

use core::iter;
use core::task::Waker;

use super::Shard;
use super::inbox::Closed;
use crate::context;
use crate::header::Queued;
use crate::platform::atomic::Ordering;
use crate::waiter::Deferred;

impl Shard {
    /// Puts a task into the inbox.
    ///
    /// # Errors
    /// The shard is closed, and the reference is gone.
    ///
    /// # Returns
    /// The parked runner, to be woken after all locks are given up.
    pub fn push(&self, task: Queued) -> Result<Option<Waker>, Closed> {
        self.push_and_call(task, || true)
    }

    /// Puts a task back that a thread other than the runner has taken out, and calls the runner, if it has parked; or
    /// else, if `is_kept` says so under the inbox's lock, whoever looks after the shard. Of a closed shard, the
    /// reference goes.
    pub fn put_back(&self, task: Queued, is_kept: impl FnOnce() -> bool) {
        if let Ok(Some(called)) = self.push_and_call(task, is_kept) {
            Deferred::new(called).run();
        }
    }

    fn push_and_call(
        &self,
        task: Queued,
        falls_back: impl FnOnce() -> bool,
    ) -> Result<Option<Waker>, Closed> {
        let mut inbox = self.inbox.lock();
        if inbox.closed && !crate::mutant!("inbox_never_closed") {
            return Err(Closed);
        }
        inbox.tasks.push_back(task);
        // Release pairs with the acquire in `has_pending`, though the lock alone would do.
        self.pending.store(true, Ordering::Release);
        if crate::mutant!("inbox_no_unpark") {
            return Ok(None);
        }
        let parked = inbox.parked.take();
        let fallback = || inbox.fallback_waker.clone().filter(|_| falls_back());
        Ok(parked.or_else(fallback))
    }

    /// Whether the inbox may have something.
    #[inline(always)]
    pub fn has_pending(&self) -> bool {
        // Relaxed: a hint; who acts on it takes the lock, and who parks looks under the lock.
        self.pending.load(Ordering::Relaxed)
    }

    /// How many tasks wait in the inbox.
    pub fn waiting(&self) -> usize {
        self.inbox.lock().tasks.len()
    }

    /// Takes the first task out of the inbox of a shard that nobody runs.
    pub(super) fn pop_queued(&self) -> Option<Queued> {
        let mut inbox = self.inbox.lock();
        let task = inbox.tasks.pop_front();
        if inbox.tasks.is_empty() {
            // Relaxed: a hint, kept under the lock.
            self.pending.store(false, Ordering::Relaxed);
        }
        task
    }

    /// Takes all tasks out, on a thread other than the runner, which still finds that something may be there.
    pub fn take_queued(&self) -> impl Iterator<Item = Queued> {
        let mut tasks = self.inbox.lock().tasks.take();
        iter::from_fn(move || tasks.pop_front())
    }

    /// Announces that the runner is about to park and wants `waker` called; `false` if the inbox
    /// has something after all, and then nothing was announced.
    pub fn park(&self, waker: &Waker) -> bool {
        let mut inbox = self.inbox.lock();
        if !crate::mutant!("park_no_recheck") && !inbox.tasks.is_empty() {
            return false;
        }
        let before = inbox.parked.replace(waker.clone());
        drop(inbox);
        drop(before);
        true
    }

    /// Has `waker`, if any, called by each push that finds no parked runner. Whoever has parked as the runner is
    /// forgotten.
    pub fn set_fallback_waker(&self, waker: Option<Waker>) {
        let before = {
            let mut inbox = self.inbox.lock();
            (
                core::mem::replace(&mut inbox.fallback_waker, waker),
                inbox.parked.take(),
            )
        };
        drop(before);
    }

    /// Replaces the fallback waker alone, and gives the one before.
    pub fn replace_fallback_waker(&self, waker: Option<Waker>) -> Option<Waker> {
        core::mem::replace(&mut self.inbox.lock().fallback_waker, waker)
    }

    /// Calls who looks after this shard, which nobody runs.
    pub fn call_fallback(&self) {
        let fallback = self.inbox.lock().fallback_waker.clone();
        if let Some(fallback) = fallback {
            Deferred::new(fallback).run();
        }
    }

    /// Calls the runner though nothing was pushed: wakes it, if it has parked or is about to, or ends its
    /// [run](super::Runner::called) after the current poll.
    pub fn call(&self) {
        let parked = {
            let mut inbox = self.inbox.lock();
            inbox.called = true;
            // Relaxed: a hint, kept under the lock.
            self.pending.store(true, Ordering::Relaxed);
            inbox.parked.take()
        };
        if let Some(runner) = parked {
            Deferred::new(runner).run();
        }
    }

    /// [`Shard::call`] by the runner itself, in a poll.
    pub(crate) fn end_run(&self) {
        self.runner.called.set(true);
        self.ping();
    }

    /// Leaves a mark that its runner takes back between any two polls.
    pub fn ping(&self) {
        // Relaxed: a hint. It makes the runner look at the inbox.
        self.pending.store(true, Ordering::Relaxed);
    }
}

/// Sends a task that has moved on to where it lives now; of one that is over, the reference goes. No locks are held.
#[cold]
pub fn forward(task: Queued) {
    let shard = task.task().look().shard();
    if shard == context::NOWHERE {
        return;
    }
    if let Ok(Some(runner)) = Shard::at(shard).push(task) {
        Deferred::new(runner).run();
    }
}
