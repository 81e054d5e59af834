//! Evacuation: while a worker is stuck in a poll, other threads make its runnable tasks stealable.
//!
//! A worker that has been in the same poll for long is found by a *monitor*, which [opens](Shard::open_for_evacuation)
//! its shard ([`access_flag`](super::access_flag) tells the protocol). While a shard is open, whatever is runnable there is
//! *evacuated*: the task in the run-next slot, those that the poll has woken so far, and those that are woken from
//! elsewhere and come to the inbox; all go to the shard's steal queue, from which other workers steal. What the poll
//! wakes from then on goes there at once. The task that is being polled stays, and so do fibers that have begun, which
//! stay with their thread. When the poll has ended, the runner takes the lock, closes the shard, and all is as before.
//!
//! The runner's context belongs to another thread than the one that evacuates. It is that thread's memory, and is there
//! as long as it is in the poll; and out of the poll it comes only by the lock.

use alloc::string::String;
use core::panic::Location;
use core::ptr::NonNull;
use core::task::Waker;

use super::guard::add_to_list;
use super::moving::forward;
use super::steal_queue::StealQueue;
use super::{InboxQueue, Shard};
use crate::context::{Context, wake_inside};
use crate::header::ref_count::{Drained, QUEUED};
use crate::header::{Header, ScheduledTask, TaskRef, ref_dec};
use crate::platform::atomic::Ordering;
use crate::platform::light_fence;
use crate::task_locals;
use crate::waiter::Deferred;

/// A poll that somebody is stuck in.
#[derive(Debug, Clone)]
pub struct StuckPoll {
    /// Where its task was spawned.
    pub spawned: &'static Location<'static>,
    /// Name of its task, if it was given one.
    pub name: Option<String>,
}

impl Shard {
    /// Has the runner's polls be watched: [`Shard::open_for_evacuation`] may be called from now on. Before it has any
    /// task.
    pub fn set_monitored(&self) {
        // Relaxed: published with the pool itself.
        self.monitored.store(1, Ordering::Relaxed);
    }

    /// Leaves a mark that the runner takes back between any two polls; `false` if the one before is still there, so
    /// that it has been in one poll since then (or nobody runs).
    pub fn ping_again(&self) -> bool {
        // Relaxed: a hint.
        let acked = self.pinged.swap(1, Ordering::Relaxed) == 0;
        self.ping();
        acked
    }

    /// Nobody runs, and so nobody will acknowledge.
    pub fn forget_ping(&self) {
        self.ack();
    }

    /// The runner looks around: it is between two polls.
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
    /// [evacuate](Shard::evacuate) its tasks: `fallback_waker` is called for those that are woken from elsewhere.
    /// `None` if that is not so (any more).
    pub fn open_for_evacuation(&self, fallback_waker: Waker) -> Option<StuckPoll> {
        let (stuck, before) = {
            let _queue = self.steal_queue.lock();
            if self.access.is_open() || !self.access.open() {
                return None;
            }
            // SAFETY: open, and under the lock, so the runner is in a poll, and stays there.
            let polled = unsafe { self.runner_context() }.and_then(Context::polling);
            // A thread that ends a shard takes its tasks off their list without a lock.
            let polled = polled.filter(|_| self.has_not_acked() && !self.runner.closing.get());
            let Some(polled) = polled else {
                self.access.close();
                return None;
            };
            let stuck = StuckPoll {
                // SAFETY: being polled, so alive; the field never changes.
                spawned: unsafe { polled.as_ref() }.spawned,
                name: task_locals::name_of(polled),
            };
            // While the runner is kept from closing the shard, which takes the fallback waker away.
            (
                stuck,
                self.inbox.lock().fallback_waker.replace(fallback_waker),
            )
        };
        drop(before);
        Some(stuck)
    }

    /// Whether the shard is open for evacuation: a hint.
    pub fn is_open(&self) -> bool {
        self.access.is_open()
    }

    /// The context of the thread that runs.
    ///
    /// # Safety
    /// The shard is open, and its lock held; both as long as the result is used.
    unsafe fn runner_context(&self) -> Option<&Context> {
        // Relaxed: written by the runner before it went out, which the opener has acquired.
        let context = self.run_by.load(Ordering::Relaxed);
        // SAFETY: it is that of a thread in a poll, which outlasts the lock; plain memory, which is the lock holder's
        // while the shard is open.
        NonNull::new(context).map(|context| unsafe { context.as_ref() })
    }

    /// Makes what is runnable at an open shard stealable. By any thread.
    ///
    /// # Returns
    /// How many tasks; none if the shard is not open.
    pub fn evacuate(&self) -> usize {
        if !self.is_open() {
            return 0;
        }
        let mut came = self.take_inbox();
        let mut left = Left::default();
        let evacuated = {
            let mut queue = self.steal_queue.lock();
            let before = queue.len();
            if self.access.is_open() {
                // SAFETY: open, and under the lock.
                if let Some(context) = unsafe { self.runner_context() } {
                    // SAFETY: open, and under the lock; the context is its runner's.
                    unsafe { self.evacuate_woken(context, &mut queue) };
                    while let Some(task) = came.pop_front() {
                        // SAFETY: the inbox's reference on the task is ours; the lock stands for the runner.
                        unsafe { self.evacuate_queued(context, task, &mut queue, &mut left) };
                    }
                }
            }
            // Relaxed: see `steal_len`.
            self.steal_len.store(queue.len(), Ordering::Relaxed);
            queue.len() - before
        };
        light_fence(); // pairs with the heavy one of a worker that becomes idle
        while let Some(task) = came.pop_front() {
            // The runner is back.
            left.stay.push_back(task);
        }
        self.put_back(left.stay);
        while let Some(task) = left.moved.pop_front() {
            // SAFETY: the reference is ours.
            unsafe { forward(task) };
        }
        while let Some(task) = left.gone.pop_front() {
            // SAFETY: the reference is ours.
            unsafe { ref_dec(task, QUEUED) };
        }
        evacuated
    }

    fn take_inbox(&self) -> InboxQueue {
        let mut inbox = self.inbox.lock();
        if inbox.tasks.is_empty() {
            return InboxQueue::default();
        }
        inbox.tasks.take()
    }

    /// Puts back what only the runner can receive, or what it will: it looks after this poll.
    fn put_back(&self, mut tasks: InboxQueue) {
        while let Some(task) = tasks.pop_front() {
            let pushed = self.push_quietly(task);
            if !pushed {
                // SAFETY: the reference is ours, and the shard has ended.
                unsafe { ref_dec(task, QUEUED) };
            }
        }
    }

    fn push_quietly(&self, task: NonNull<Header>) -> bool {
        let parked = {
            let mut inbox = self.inbox.lock();
            if inbox.closed {
                return false;
            }
            inbox.tasks.push_back(task);
            // Release pairs with the acquire in `has_pending`, though the lock alone would do.
            self.pending.store(true, Ordering::Release);
            // The runner may have retired meanwhile, and somebody else keeps its shard. As long as it is open, who
            // closes it looks here afterwards.
            let parked = inbox.parked.take();
            let is_kept = !self.access.is_open() && !crate::mutant!("put_back_calls_nobody");
            parked.or_else(|| inbox.fallback_waker.clone().filter(|_| is_kept))
        };
        if let Some(runner) = parked {
            Deferred::new(runner).run();
        }
        true
    }

    /// The tasks that the runner keeps to itself.
    ///
    /// # Safety
    /// The shard is open and its lock held; the context is its runner's.
    unsafe fn evacuate_woken(&self, context: &Context, queue: &mut StealQueue) {
        self.access.touch();
        if crate::mutant!("woken_stay") {
            return;
        }
        let polled = context.polling();
        if let Some(task) = self.runner.slot.take() {
            if task.header().state().is_pinned() {
                let _none = self.runner.slot.replace(task);
            } else {
                queue.push(task);
            }
        }
        let stay = crate::header::TaskQueue::new();
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
    /// As [`Shard::evacuate_woken`]; the caller owns the task's `QUEUED` hold.
    unsafe fn evacuate_queued(
        &self,
        context: &Context,
        task: NonNull<Header>,
        queue: &mut StealQueue,
        left: &mut Left,
    ) {
        // SAFETY: `QUEUED` keeps the task alive.
        let header: TaskRef<'_> = unsafe { TaskRef::new(task) };
        let state = header.look();
        if state.shard() != self.index() {
            return left.moved.push_back(task);
        }
        if context.polling() == Some(task) || state.is_pinned() {
            return left.stay.push_back(task);
        }
        if header.refs.drain() == Drained::Gone {
            return left.gone.push_back(task);
        }
        // The worker that takes the task sees what the waker did, and `CANCEL`.
        if !state.ignores_wake() {
            // SAFETY: the lock stands for the runner.
            unsafe { add_to_list(header) };
            // SAFETY: it was not scheduled.
            queue.push(unsafe { header.schedule(header.state().with_scheduled()) });
        }
    }

    /// A wake by the runner, in a poll, while the shard is open; `false` if the task lives elsewhere, and then nothing
    /// was done. The runner has said that it is inside, and goes outside here.
    ///
    /// # Safety
    /// The context is this thread's, and runs this shard.
    #[cold]
    #[inline(never)]
    pub(crate) unsafe fn wake_while_open(&self, context: &Context, task: TaskRef<'_>) -> bool {
        let (woken, shared) = {
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
            let mut shared = false;
            self.access.touch();
            if here && !state.ignores_wake() {
                // SAFETY: the lock stands for the runner; it was not scheduled.
                let woken = unsafe { task.schedule(state.with_scheduled()) };
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
            (here, shared)
        };
        self.access.go_outside();
        if shared {
            self.wake_notify_shard();
        }
        woken
    }

    /// Queues a task that the poll has spawned while the shard is open.
    ///
    /// # Safety
    /// As [`Context::push_woken`]; the context is this thread's, and runs this shard.
    #[cold]
    #[inline(never)]
    pub(crate) unsafe fn push_while_open(&self, context: &Context, task: ScheduledTask) {
        let mut queue = self.steal_queue.lock();
        if self.access.is_open() {
            queue.push(task);
            // Relaxed: see `steal_len`.
            self.steal_len.store(queue.len(), Ordering::Relaxed);
            drop(queue);
            self.access.go_outside();
            self.wake_notify_shard();
        } else {
            drop(queue);
            // SAFETY: the runner is inside, alone, and runs the task's shard.
            unsafe { context.push_woken(task) };
            self.access.go_outside();
        }
    }

    /// The runner is back from a poll, and found its shard open: closes it.
    #[cold]
    #[inline(never)]
    pub(crate) fn close_for_evacuation(&self) {
        let fallback_waker = {
            let _queue = self.steal_queue.lock();
            if !self.access.is_open() {
                return;
            }
            if !crate::mutant!("stays_open") {
                self.access.close();
            }
            self.inbox.lock().fallback_waker.take()
        };
        drop(fallback_waker);
        self.runner.returned.set(true);
        // The run is to end, so that the pool learns of it.
        self.runner.called.set(true);
        self.ping();
    }
}

/// Tasks of the inbox that an evacuating thread leaves to others.
#[derive(Default)]
struct Left {
    /// For the runner.
    stay: InboxQueue,
    /// For those who have them now.
    moved: InboxQueue,
    /// For nobody: to be released.
    gone: InboxQueue,
}
