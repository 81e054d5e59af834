//! A worker's run queue: one task to itself (in its shard's slot), and those that stay with it; the others where idle
//! workers can take them.

use std::sync::Arc;

use gossamer_core::context::Context;
use gossamer_core::shard::{Runner, ShardGuard};

use super::shared::Shared;
use super::worker_shard::WorkerShard;
use crate::fifo::SLOT_TURNS;
use crate::runnable::{Runnable, Runnables};
use crate::scheduler::{Reason, Scheduler};

/// The most tasks taken from the injector at once.
pub(super) const TAKE_MAX: usize = if cfg!(any(loom, shuttle)) { 2 } else { 64 };

/// The tasks that a worker will poll.
pub(super) struct Queue {
    shared: Arc<Shared>,
    pub(super) shard: &'static WorkerShard,
    turns: u32,
    /// Tasks that stay with this worker's thread.
    pinned: Runnables,
    /// Whether the next one comes from there, if the steal queue has one too.
    pinned_next: bool,
    /// Whether the worker is surplus, and only runs those.
    drains: bool,
    /// Instead of the steal queue, when the worker ends.
    closed: Option<Runnables>,
}

/// Takes this worker's share of what waits in the injector; `false` if there was nothing.
pub(super) fn take_share(shared: &Shared, guard: &ShardGuard) -> bool {
    if !shared.injector.has_pending() {
        return false;
    }
    let waiting = shared.injector.waiting();
    let share = waiting.div_ceil(shared.workers.target()).clamp(1, TAKE_MAX);
    // SAFETY: the pool's own injector, which no worker acquires.
    unsafe { guard.take_from(shared.injector, share) > 0 }
}

impl Queue {
    pub(super) fn new(shared: Arc<Shared>, shard: &'static WorkerShard) -> Self {
        Self {
            shared,
            shard,
            turns: 0,
            pinned: Runnables::new(),
            pinned_next: false,
            drains: false,
            closed: None,
        }
    }

    /// Nobody takes a task from here any more.
    pub(super) fn close(&mut self) {
        let queue = Runnables::new();
        while let Some(task) = self.pop_stealable() {
            queue.push(task);
        }
        self.closed = Some(queue);
    }

    /// From now on the worker runs only tasks that stay with it, or everything again.
    pub(super) fn begin_drain(&mut self, drains: bool) {
        self.drains = drains;
        if drains {
            self.leave();
        }
    }

    pub(super) fn drains(&self) -> bool {
        self.drains
    }

    /// Leaves the task in the slot to the other workers, unless it stays with this one.
    pub(super) fn leave(&mut self) {
        if gossamer_core::mutant!("retire_keeps_slot") {
            return;
        }
        if let Some(task) = self.take_slot() {
            self.push_back(task);
        }
    }

    #[inline(always)]
    fn runner(&self) -> &Runner {
        // SAFETY: a worker's queue is its own, and it runs the shard when it uses it.
        unsafe { self.shard.runner() }
    }

    /// The run-next slot is the shard's, where it can be evacuated while this worker is stuck in a poll.
    #[inline(always)]
    fn take_slot(&self) -> Option<Runnable> {
        self.runner().take_slot().map(Runnable)
    }

    #[inline(always)]
    fn pop_stealable(&self) -> Option<Runnable> {
        self.shard.pop_stealable().map(Runnable)
    }

    #[inline(always)]
    fn has_slot(&self) -> bool {
        self.runner().has_slot()
    }

    /// Whether a task that has yielded has nobody to let pass. Where others could take it, an idle worker would, and
    /// all that it works with would go to and fro with it.
    fn is_alone(&self) -> bool {
        self.shard.steal_len() == 0
            && self.pinned.is_empty()
            && !self.has_slot()
            && self.closed.is_none()
    }

    /// Whether all there is is in the slot and in the steal queue, and may be polled here.
    #[inline(always)]
    fn has_no_others(&self) -> bool {
        self.pinned.is_empty() && !self.drains && self.closed.is_none()
    }

    fn push_back(&self, task: Runnable) {
        if task.header().state().is_pinned() && !gossamer_core::mutant!("pinned_is_stolen") {
            return self.pinned.push(task);
        }
        if let Some(closed) = &self.closed {
            return closed.push(task);
        }
        self.shard.push_stealable(task.0);
        let several =
            self.has_slot() || self.drains || !self.pinned.is_empty() || self.shard.steal_len() > 1;
        if several && !gossamer_core::mutant!("surplus_calls_nobody") {
            self.shared.idle.call_for_work();
        }
    }

    fn pop_front(&mut self) -> Option<Runnable> {
        self.pinned_next = !self.pinned_next;
        let pinned = if self.pinned_next || self.drains {
            self.pinned.pop()
        } else {
            None
        };
        let open = || match &self.closed {
            Some(closed) => closed.pop(),
            None if self.drains => None,
            None => self.pop_stealable(),
        };
        pinned.or_else(open).or_else(|| self.pinned.pop())
    }
}

impl Scheduler for Queue {
    const IS_MONITORED: bool = true;

    #[inline(always)]
    fn between_polls(&mut self, context: &Context) {
        self.shard.ack();
        self.shard.publish_if_wanted(context);
    }

    fn poll_published(&mut self, context: &Context) {
        self.shard.settle_publishing(context);
    }

    #[inline(always)]
    fn push(&mut self, task: Runnable, reason: Reason) {
        if self.drains || (reason == Reason::Yielded && !self.is_alone()) {
            self.push_back(task);
            return;
        }
        let before = self.take_slot();
        // SAFETY: a runnable of this shard.
        let _none = unsafe { self.runner().put_slot(task.0) };
        if let Some(before) = before {
            self.push_back(before);
        } else if self.shard.steal_len() > 0 {
            // The task in the steal queue called nobody: it was alone when it was put there.
            self.shared.idle.call_for_work();
        }
    }

    #[inline(always)]
    fn pop(&mut self) -> Option<Runnable> {
        if let Some(task) = self.take_slot() {
            if self.shard.steal_len() == 0 && self.pinned.is_empty() {
                return Some(task);
            }
            self.turns += 1;
            if self.turns <= SLOT_TURNS {
                return Some(task);
            }
            self.push_back(task);
        }
        self.turns = 0;
        self.pop_front()
    }

    /// A task that yields to those in the steal queue goes there as the next one comes: under one lock.
    #[inline(always)]
    fn push_and_pop(&mut self, task: Runnable, reason: Reason) -> Option<Runnable> {
        let is_pinned = task.header().state().is_pinned();
        let only_stealable = self.shard.steal_len() > 0 && !self.has_slot() && self.has_no_others();
        if reason != Reason::Yielded || is_pinned || !only_stealable {
            self.push(task, reason);
            return self.pop();
        }
        self.turns = 0;
        let next = self.shard.exchange_stealable(task.0);
        if self.shard.steal_len() > 0 {
            self.shared.idle.call_for_work();
        }
        next.map(Runnable)
    }

    #[inline(always)]
    fn is_empty(&self) -> bool {
        !self.has_slot() && self.shard.steal_len() == 0 && self.has_no_others()
    }
}
