//! How a task gets from one shard to another, within one pool.
//!
//! The workers of a pool run one shard each, so a wake by the worker that has the task is plain memory. Tasks
//! move in three ways:
//!
//! * *stolen*: of what is runnable, a worker keeps one task to itself and the rest in the shard's *steal queue*,
//!   under a lock; a worker that has nothing to do takes half of it ([`WorkerShard::steal`]), whatever the owner is
//!   doing;
//! * *taken*: a worker takes new tasks out of the pool's injector, a shard that nobody runs
//!   ([`ShardGuard::take_from`]);
//! * *pulled*: a worker that wakes a task of an idle worker acquires that one's shard for a moment and takes the
//!   task along ([`WorkerShard::take_from_idle`]). So a wake stays local, and nobody is woken for it.
//!
//! # Who may touch a task in a steal queue
//!
//! It is scheduled, and whoever holds the queue's lock may take it. So its owner, like everybody else, writes
//! neither its `state` nor its `next` as long as it is scheduled and not its own again; a wake has nothing to
//! do, and a cancel sets a bit in `refs`, which is looked at when the turn begins. The list of all tasks of a
//! shard has a lock of its own, in a pool. A task that is new at a shard is put on that list only if it is pending
//! after its first poll there; until then it is in a queue, or being polled, so it is never lost: who ends a shard
//! drops what is on the list and what is in the queues.
//!
//! # The race to fear
//!
//! A thread that wakes a task reads its shard, then acts: as the runner, if the shard is its own; else by
//! pushing into that shard's inbox. The shard may have changed in between.
//!
//! * It read the old shard: the push ends in the inbox of a shard where the task no longer lives. Who drains it
//!   sees so and forwards it. (`QUEUED` keeps the task alive on the way, and others from pushing it too.)
//! * It read its own shard, in the same look as the rest of the word: the task is either not scheduled, and then
//!   nobody else moves it; or scheduled, and then there is nothing to do, unless it is being stolen and polled
//!   at this moment. So there is a fence between what the waker did and a second look at the shard, and one
//!   between the theft and the poll: the waker finds the task gone and goes the other way, or the poll sees
//!   what the waker did.

use gossamer_core::context::Context;
use gossamer_core::header::{Queued, ScheduledTask, TaskQueue, TaskRef};
use gossamer_core::mutant;
use gossamer_core::platform::atomic::{Ordering, fence};
use gossamer_core::platform::light_fence;
use gossamer_core::shard::{Shard, ShardGuard, forward};

use super::worker_shard::WorkerShard;

impl WorkerShard {
    /// How many tasks are in the steal queue: a hint.
    #[inline]
    pub(super) fn steal_len(&self) -> usize {
        // Relaxed: who acts on it takes the lock; who parks has a fence before (see `push_stealable`).
        self.steal_len.load(Ordering::Relaxed)
    }

    /// Puts a runnable task into the steal queue. Who then looks whether another worker is idle will see it, or
    /// be seen by it: a worker that becomes idle says so, has a (heavy) fence, and looks at the queues.
    /// The task lives at this shard.
    pub(super) fn push_stealable(&self, task: ScheduledTask) {
        {
            let mut queue = self.steal_queue.lock();
            queue.push(task);
            // Relaxed: see `steal_len`.
            self.steal_len.store(queue.len(), Ordering::Relaxed);
        }
        if !mutant!("steal_queue_without_fence") {
            light_fence(); // pairs with the heavy one of a worker that becomes idle
        }
    }

    /// Takes a task out of the steal queue: the newest of those that are new, mostly, else the oldest.
    pub(super) fn pop_stealable(&self) -> Option<ScheduledTask> {
        let mut queue = self.steal_queue.lock();
        let Some(task) = queue.pop() else {
            return queue.over.pop_front();
        };
        // Relaxed: see `steal_len`.
        self.steal_len.store(queue.len(), Ordering::Relaxed);
        Some(task)
    }

    /// Puts a task into the steal queue, which has others, and takes the next one out.
    pub(super) fn exchange_stealable(&self, task: ScheduledTask) -> Option<ScheduledTask> {
        let mut queue = self.steal_queue.lock();
        queue.push(task);
        let next = queue.pop();
        // Relaxed: see `steal_len`. Who becomes idle has seen the others.
        self.steal_len.store(queue.len(), Ordering::Relaxed);
        next
    }

    /// The first part of receiving a task that was sent here. It gives the task back if the runner is to go on with it:
    /// then nobody else moves it.
    pub(super) fn receive_unless_stealable(&self, task: Queued) -> Option<Queued> {
        let state = task.task().look();
        if state.shard() == self.index() && state.is_pinned() {
            // It is in no steal queue.
            return Some(task);
        }
        let queue = self.steal_queue.lock();
        let state = task.task().look();
        if state.shard() != self.index() {
            drop(queue);
            if !mutant!("inbox_drops_moved") {
                forward(task);
            }
            return None;
        }
        if !state.is_scheduled() || state.is_done() {
            return Some(task);
        }
        // It may be taken as soon as the lock is given up, polled, and freed. Whoever takes it sees what the waker
        // did, and `CANCEL`.
        task.acknowledge();
        None
    }

    /// Takes what came for the tasks of another shard, which nobody runs, and makes them runnable there: in its
    /// steal queue. `false` if somebody runs it after all.
    pub(super) fn drain_unowned(&self) -> bool {
        // One with tasks that stay with their thread has a worker again.
        let visit = self.shard.visit();
        let Some(visit) = visit.filter(|visit| visit.runner().pinned() == 0) else {
            return false;
        };
        visit.drain();
        while let Some(task) = visit.take_woken() {
            self.push_stealable(task);
        }
        true
    }

    /// Takes half of the steal queue, at most `most` tasks, for the worker whose guard `thief` is, and hands each to
    /// `take`.
    ///
    /// # Returns
    /// How many were taken.
    pub(super) fn steal(
        &self,
        thief: &ShardGuard,
        most: usize,
        mut take: impl FnMut(ScheduledTask),
    ) -> usize {
        let here = thief.shard();
        assert!(here.pool() != 0 && here.pool() == self.pool());
        let stolen = TaskQueue::new();
        let mut count = 0;
        {
            let mut queue = self.steal_queue.lock();
            for _ in 0..queue.len().div_ceil(2).min(most) {
                let Some(task) = queue.pop_for_thief() else {
                    break;
                };
                match here.take_scheduled(task, self) {
                    Ok(task) => {
                        stolen.push_back(task);
                        count += 1;
                    }
                    Err(stays) if mutant!("thief_gives_back") => {
                        queue.push(stays);
                        break;
                    }
                    Err(over) => queue.over.push_back(over),
                }
            }
            // Relaxed: see `steal_len`.
            self.steal_len.store(queue.len(), Ordering::Relaxed);
        }
        fence(Ordering::SeqCst); // pairs with the fence of a wake that finds its task scheduled
        while let Some(task) = stolen.pop_front() {
            take(task);
        }
        count
    }

    /// Moves a parked task of an idle worker, which lived `there` a moment ago, here; `false` if not, and then nothing
    /// was done. This thread runs this shard.
    pub(super) fn take_from_idle(
        &self,
        context: &Context,
        task: TaskRef<'_>,
        there: &'static Shard,
    ) -> bool {
        // One whose shard is open is stuck, and the task had better go elsewhere.
        if self.is_open() || self.is_closing() {
            return false;
        }
        if context.publishes() {
            // The idle worker had better run it itself.
            self.note_published();
            return false;
        }
        let state = task.state();
        let stays = state.is_new() || state.is_pinned() && !mutant!("pinned_is_pulled");
        if stays || there.pool() != self.pool() || !there.is_free() {
            return false;
        }
        let visit = there.try_visit();
        visit.is_some_and(|visit| visit.give_parked(task, self))
    }
}
