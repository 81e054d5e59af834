//! Evacuation: while a worker is stuck in a poll, other threads make its runnable tasks stealable.
//!
//! A worker that has been in the same poll for long is found by a *monitor*, which
//! [opens](WorkerShard::open_for_evacuation) its shard ([`AccessFlag`](gossamer_core::context::AccessFlag) tells the
//! protocol). While a shard is open, whatever is runnable there is *evacuated*: the task in the run-next slot, those
//! that the poll has woken so far, and those that are woken from elsewhere and come to the inbox; all go to the shard's
//! steal queue, from which other workers steal. What the poll wakes from then on goes there at once. The task that is being polled stays, and so do fibers that have begun, which
//! stay with their thread. When the poll has ended, the runner takes the lock, closes the shard, and all is as before.
//!
//! The runner's context belongs to another thread than the one that evacuates. It is that thread's memory, and is there
//! as long as it is in the poll; and out of the poll it comes only by the lock.

use std::panic::Location;
use std::task::Waker;

use gossamer_core::context::{Context, wake_inside};
use gossamer_core::header::{Queued, ScheduledTask, TaskQueue, TaskRef};
use gossamer_core::mutant;
use gossamer_core::platform::atomic::Ordering;
use gossamer_core::platform::light_fence;
use gossamer_core::shard::forward;
use gossamer_task::locals;

use super::steal_queue::StealQueue;
use super::worker_shard::WorkerShard;

/// A poll that somebody is stuck in.
#[derive(Debug, Clone)]
pub(super) struct StuckPoll {
    /// Where its task was spawned.
    pub(super) spawned: &'static Location<'static>,
    /// Name of its task, if it was given one.
    pub(super) name: Option<String>,
}

impl WorkerShard {
    /// Leaves a mark that the runner takes back between any two polls; `false` if the one before is still there, so
    /// that it has been in one poll since then (or nobody runs).
    pub(super) fn ping_again(&self) -> bool {
        // Relaxed: a hint.
        let acked = self.pinged.swap(1, Ordering::Relaxed) == 0;
        self.ping();
        acked
    }

    /// The runner looks around: it is between two polls; or nobody runs, and so nobody will.
    #[inline]
    pub(super) fn ack(&self) {
        // Relaxed: a hint.
        self.pinged.store(0, Ordering::Relaxed);
    }

    fn has_not_acked(&self) -> bool {
        // Relaxed: a hint.
        self.pinged.load(Ordering::Relaxed) != 0
    }

    /// Opens the shard, whose runner is in a poll and has not acknowledged, so that others can
    /// [evacuate](WorkerShard::evacuate) its tasks: `fallback_waker` is called for those that are woken from elsewhere.
    /// `None` if that is not so (any more).
    pub(super) fn open_for_evacuation(&self, fallback_waker: Waker) -> Option<StuckPoll> {
        let (stuck, before) = {
            let _queue = self.steal_queue.lock();
            if self.access.is_open() || !self.access.open() {
                return None;
            }
            // SAFETY: open, and under the lock.
            let context = unsafe { self.runner_context() };
            // A thread that ends a shard takes its tasks off their list without a lock.
            let polled = context
                .filter(|_| self.has_not_acked() && !self.is_closing())
                .and_then(Context::polling);
            let Some(polled) = polled else {
                self.access.close();
                return None;
            };
            let stuck = StuckPoll {
                // SAFETY: being polled, so alive; the field never changes.
                spawned: unsafe { polled.as_ref() }.spawned,
                name: locals::name_of(polled),
            };
            // While the runner is kept from closing the shard, which takes the fallback waker away.
            (stuck, self.replace_fallback_waker(Some(fallback_waker)))
        };
        drop(before);
        Some(stuck)
    }

    /// Whether the shard is open for evacuation: a hint.
    pub(super) fn is_open(&self) -> bool {
        self.access.is_open()
    }

    /// Makes what is runnable at an open shard stealable. By any thread.
    ///
    /// # Returns
    /// How many tasks; none if the shard is not open.
    pub(super) fn evacuate(&self) -> usize {
        if !self.is_open() {
            return 0;
        }
        let mut came = self.take_queued();
        let mut left = Left::default();
        let evacuated = {
            let mut queue = self.steal_queue.lock();
            let before = queue.len();
            if self.access.is_open() {
                // SAFETY: open, and under the lock.
                if let Some(context) = unsafe { self.runner_context() } {
                    // SAFETY: open, and under the lock; the context is its runner's.
                    unsafe { self.evacuate_woken(context, &mut queue) };
                    for task in came.by_ref() {
                        // SAFETY: the lock stands for the runner.
                        unsafe { self.evacuate_queued(context, task, &mut queue, &mut left) };
                    }
                }
            }
            // Relaxed: see `steal_len`.
            self.steal_len.store(queue.len(), Ordering::Relaxed);
            queue.len() - before
        };
        light_fence(); // pairs with the heavy one of a worker that becomes idle
        for task in came {
            // The runner is back.
            left.stay.push(task);
        }
        for task in left.stay {
            // The runner may have retired meanwhile, and somebody else keeps its shard. As long as it is open, who
            // closes it looks there afterwards.
            let is_kept = || !self.access.is_open() && !mutant!("put_back_calls_nobody");
            self.put_back(task, is_kept);
        }
        for task in left.moved {
            forward(task);
        }
        evacuated
    }

    /// The tasks that the runner keeps to itself.
    ///
    /// # Safety
    /// The shard is open and its lock held; the context is its runner's.
    unsafe fn evacuate_woken(&self, context: &Context, queue: &mut StealQueue) {
        self.access.touch();
        if mutant!("woken_stay") {
            return;
        }
        let polled = context.polling();
        // SAFETY: the lock stands for the runner.
        let runner = unsafe { self.runner() };
        if let Some(task) = runner.take_slot() {
            if task.header().state().is_pinned() {
                // SAFETY: it lives here.
                let _none = unsafe { runner.put_slot(task) };
            } else {
                queue.push(task);
            }
        }
        let stay = TaskQueue::new();
        // SAFETY: the lock stands for the runner.
        while let Some(task) = unsafe { context.take_woken() } {
            if polled == Some(task.task()) || task.header().state().is_pinned() {
                stay.push_back(task);
            } else {
                queue.push(task);
            }
        }
        while let Some(task) = stay.pop_front() {
            // SAFETY: the lock stands for the runner.
            unsafe { context.push_back_woken(task) };
        }
    }

    /// One task that came to the inbox.
    ///
    /// # Safety
    /// As [`WorkerShard::evacuate_woken`].
    unsafe fn evacuate_queued(
        &self,
        context: &Context,
        task: Queued,
        queue: &mut StealQueue,
        left: &mut Left,
    ) {
        let state = task.task().look();
        if state.shard() != self.index() {
            return left.moved.push(task);
        }
        if context.polling() == Some(task.task().pointer()) || state.is_pinned() {
            return left.stay.push(task);
        }
        // SAFETY: the lock stands for the runner. (The worker that takes the task sees what the waker did, and
        // `CANCEL`.)
        match unsafe { task.receive() } {
            Err(gone) => left.gone.push(gone),
            // SAFETY: the lock stands for the runner; it was not scheduled.
            Ok((task, _)) if !state.ignores_wake() => queue.push(unsafe { task.schedule_parked() }),
            Ok(_) => {}
        }
    }

    /// A wake by the runner, in a poll, which has come inside and found the shard open; it goes outside here. `false`
    /// if the task lives elsewhere, and then nothing was done.
    #[cold]
    #[inline(never)]
    pub(super) fn wake_at_open_shard(&self, context: &Context, task: TaskRef<'_>) -> bool {
        self.expect_inside(context);
        let mut shared = false;
        let here = {
            let mut queue = self.steal_queue.lock();
            if !self.access.is_open() {
                drop(queue);
                // SAFETY: inside.
                let woken = unsafe { wake_inside(context, task) };
                self.access.go_outside();
                return woken;
            }
            let state = task.look();
            let here = state.shard() == self.index();
            self.access.touch();
            if here && !state.ignores_wake() {
                // SAFETY: the lock stands for the runner; it was not scheduled.
                let woken = unsafe { task.schedule_parked() };
                shared = context.polling() != Some(task.pointer()) && !state.is_pinned();
                if shared {
                    queue.push(woken);
                } else {
                    // SAFETY: run here.
                    unsafe { context.push_back_woken(woken) };
                }
                // Relaxed: see `steal_len`.
                self.steal_len.store(queue.len(), Ordering::Relaxed);
            }
            here
        };
        self.access.go_outside();
        if shared {
            self.call_one();
        }
        here
    }

    /// The same for a task that the poll has spawned.
    #[cold]
    #[inline(never)]
    pub(super) fn push_at_open_shard(&self, context: &Context, task: ScheduledTask) {
        self.expect_inside(context);
        let mut queue = self.steal_queue.lock();
        if self.access.is_open() {
            queue.push(task);
            // Relaxed: see `steal_len`.
            self.steal_len.store(queue.len(), Ordering::Relaxed);
            drop(queue);
            self.access.go_outside();
            self.call_one();
        } else {
            drop(queue);
            // SAFETY: the runner is inside, alone, and runs the task's shard.
            unsafe { context.push_woken(task) };
            self.access.go_outside();
        }
    }

    /// The runner, which asks with its context, has said that it is inside.
    fn expect_inside(&self, context: &Context) {
        assert!(
            context.shard() == self.index() && self.access.is_inside(),
            "only the runner wakes at an open shard"
        );
    }

    /// The runner is back from a poll, and found its shard open: closes it.
    #[cold]
    #[inline(never)]
    pub(super) fn close_for_evacuation(&self) {
        assert!(self.is_run_by_this_thread(), "closed by another thread");
        let fallback_waker = {
            let _queue = self.steal_queue.lock();
            if !self.access.is_open() {
                return;
            }
            if !mutant!("stays_open") {
                self.access.close();
            }
            self.replace_fallback_waker(None)
        };
        drop(fallback_waker);
        self.returned.store(1, Ordering::Relaxed); // Relaxed: the runner's own
        // SAFETY: on the runner. The run is to end, so that the pool learns of it.
        unsafe { self.runner() }.called.set(true);
        self.ping();
    }
}

/// Tasks of the inbox that an evacuating thread leaves to others.
#[derive(Default)]
struct Left {
    /// For the runner.
    stay: Vec<Queued>,
    /// For those who have them now.
    moved: Vec<Queued>,
    /// For nobody: to be released.
    gone: Vec<Queued>,
}
