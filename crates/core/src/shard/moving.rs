//! How a task gets from one shard to another, within one pool.
//!
//! The workers of a pool run one shard each, so a wake by the worker that has the task is plain memory. Tasks
//! move in three ways:
//!
//! * *stolen*: of what is runnable, a worker keeps one task to itself and the rest in the shard's *steal queue*,
//!   under a lock; a worker that has nothing to do takes half of it ([`ShardGuard::steal`]), whatever the owner is
//!   doing;
//! * *taken*: a worker takes new tasks out of the pool's injector, a shard that nobody runs
//!   ([`ShardGuard::take_from`]);
//! * *pulled*: a worker that wakes a task of an idle worker acquires that one's shard for a moment and takes the
//!   task along ([`pull`]). So a wake stays local, and nobody is woken for it.
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

use core::ptr::NonNull;
use core::task::Waker;

use super::guard::add_to_list;
use super::{Closed, FREE, Shard, ShardGuard};
use crate::context;
use crate::header::ref_count::QUEUED;
use crate::header::{Header, ScheduledTask, TaskQueue, TaskRef, ref_dec};
use crate::platform::atomic::{Ordering, fence};
use crate::platform::light_fence;
use crate::waiter::Deferred;

impl Shard {
    /// The pool it belongs to, or zero.
    #[inline]
    pub fn pool(&self) -> u32 {
        // Relaxed: never changes while the shard has tasks.
        self.pool.load(Ordering::Relaxed)
    }

    /// Has `waker`, if any, called by each push that finds no parked runner. Whoever has parked as the runner is
    /// forgotten.
    pub fn set_fallback_waker(&self, waker: Option<Waker>) {
        let before = {
            let mut inbox = self.inbox.lock();
            let fallback_waker = core::mem::replace(&mut inbox.fallback_waker, waker);
            (fallback_waker, inbox.parked.take())
        };
        drop(before);
    }

    /// How many tasks wait in the inbox.
    pub fn waiting(&self) -> usize {
        self.inbox.lock().tasks.len()
    }

    /// How many tasks are in the steal queue: a hint.
    #[inline]
    pub fn steal_len(&self) -> usize {
        // Relaxed: who acts on it takes the lock; who parks has a fence before (see `push_stealable`).
        self.steal_len.load(Ordering::Relaxed)
    }

    /// Puts a runnable task into the steal queue. Who then looks whether another worker is idle will see it, or
    /// be seen by it: a worker that becomes idle says so, has a (heavy) fence, and looks at the queues.
    ///
    /// # Safety
    /// The current thread runs this shard, where the task lives.
    pub unsafe fn push_stealable(&self, task: ScheduledTask) {
        {
            let mut queue = self.steal_queue.lock();
            queue.push(task);
            // Relaxed: see `steal_len`.
            self.steal_len.store(queue.len(), Ordering::Relaxed);
        }
        if !crate::mutant!("steal_queue_without_fence") {
            light_fence(); // pairs with the heavy one of a worker that becomes idle
        }
    }

    /// Takes a task out of the steal queue: the newest of those that are new, mostly, else the oldest.
    pub fn pop_stealable(&self) -> Option<ScheduledTask> {
        let mut queue = self.steal_queue.lock();
        let Some(task) = queue.pop() else {
            return queue.over.pop_front();
        };
        // Relaxed: see `steal_len`.
        self.steal_len.store(queue.len(), Ordering::Relaxed);
        Some(task)
    }

    /// Puts a task into the steal queue, which has others, and takes the next one out.
    ///
    /// # Safety
    /// As [`Shard::push_stealable`].
    pub unsafe fn exchange_stealable(&self, task: ScheduledTask) -> Option<ScheduledTask> {
        let mut queue = self.steal_queue.lock();
        queue.push(task);
        let next = queue.pop();
        // Relaxed: see `steal_len`. Who becomes idle has seen the others.
        self.steal_len.store(queue.len(), Ordering::Relaxed);
        next
    }

    /// Calls `with` while nobody else touches the list of the shard's tasks.
    #[inline]
    pub fn with_list<R>(&self, with: impl FnOnce() -> R) -> R {
        let _locked = (self.pool() != 0).then(|| self.list.lock());
        with()
    }

    /// Puts a task that is new here on the list.
    ///
    /// # Safety
    /// The current thread runs this shard, where the task lives, and the task is alive.
    #[cold]
    pub unsafe fn list(&self, task: NonNull<Header>) {
        // SAFETY: alive, as the caller says.
        let task: TaskRef<'_> = unsafe { TaskRef::new(task) };
        // SAFETY: on the runner of the task's shard.
        unsafe { add_to_list(task) };
    }

    /// Moves the count of one task here, where we run, from another shard.
    fn count_moved(&self, from: &Shard) {
        self.runner.count_task(1);
        from.task_left_elsewhere();
    }
}

impl ShardGuard {
    /// The first part of receiving a task in a pool; `true` if there is more to do, and then nobody else moves it.
    ///
    /// # Safety
    /// The caller owns the task's `QUEUED` hold.
    pub(super) unsafe fn receive_in_pool(&self, task: NonNull<Header>) -> bool {
        let queue = self.shard().steal_queue.lock();
        // SAFETY: `QUEUED` keeps the task alive.
        let header = unsafe { task.as_ref() };
        let state = header.look();
        if state.shard() != self.shard().index() {
            drop(queue);
            if crate::mutant!("inbox_drops_moved") {
                // SAFETY: the reference is ours.
                unsafe { ref_dec(task, QUEUED) };
                return false;
            }
            // SAFETY: the reference is ours.
            unsafe { forward(task) };
            return false;
        }
        if !state.is_scheduled() || state.is_done() {
            return true;
        }
        // It may be taken as soon as the lock is given up, polled, and freed. Whoever takes it sees what the waker
        // did, and `CANCEL`.
        let _cancelled_or_not = header.refs.drain();
        false
    }

    /// Takes up to `most` tasks that wait at a shard nobody runs, and schedules them here.
    ///
    /// # Returns
    /// How many were looked at.
    ///
    /// # Safety
    /// Nobody ever runs `injector`, which is of this shard's pool.
    pub unsafe fn take_from(&self, injector: &Shard, most: usize) -> usize {
        let mut taken = 0;
        while taken < most {
            let task = {
                let mut inbox = injector.inbox.lock();
                let task = inbox.tasks.pop_front();
                if inbox.tasks.is_empty() {
                    // Relaxed: a hint, kept under the lock.
                    injector.pending.store(false, Ordering::Relaxed);
                }
                task
            };
            let Some(task) = task else {
                break;
            };
            taken += 1;
            // SAFETY: `QUEUED` keeps the task alive.
            let header = unsafe { task.as_ref() };
            if header.state().shard() == injector.index() {
                // Nobody runs the injector, and the task is new, so it is ours now.
                self.shard().count_moved(injector);
                header.move_to(self.shard().index());
            }
            // SAFETY: the inbox's reference is ours.
            context::with(|context| unsafe { self.receive(context, task) });
        }
        taken
    }

    /// Takes what came for the tasks of another shard, which nobody runs, and makes them runnable there: in its
    /// steal queue. `false` if somebody runs it after all.
    pub fn drain_for(&self, other: &'static Shard) -> bool {
        assert!(self.shard().pool() != 0 && self.shard().pool() == other.pool());
        // One with tasks that stay with their thread has a worker again.
        let visit = other.visit();
        let Some(visit) = visit.filter(|visit| visit.shard().runner.pinned() == 0) else {
            return false;
        };
        visit.drain();
        context::with(|context| {
            // SAFETY: inside, as no poll goes on.
            while let Some(task) = unsafe { context.take_woken() } {
                // SAFETY: we run its shard.
                unsafe { other.push_stealable(task) };
            }
        });
        true
    }

    /// Takes half of another worker's steal queue, at most `most` tasks, and hands each to `take`.
    ///
    /// # Returns
    /// How many were taken.
    pub fn steal(&self, from: &Shard, most: usize, mut take: impl FnMut(ScheduledTask)) -> usize {
        assert!(self.shard().pool() != 0 && self.shard().pool() == from.pool());
        let stolen = TaskQueue::new();
        let mut count = 0;
        {
            let mut queue = from.steal_queue.lock();
            for _ in 0..queue.len().div_ceil(2).min(most) {
                let Some(task) = queue.pop_for_thief() else {
                    break;
                };
                if task.header().state().is_done() {
                    queue.over.push_back(task);
                    continue;
                }
                let is_new = task.header().state().is_new();
                if !is_new {
                    // SAFETY: not finished, so on the list.
                    from.with_list(|| unsafe { from.runner.owned.remove(task.task()) });
                }
                if !is_new && crate::mutant!("thief_gives_back") {
                    task.header().move_to(self.shard().index());
                    task.header().move_to(from.index());
                    queue.push(task);
                    break;
                }
                self.shard().count_moved(from);
                task.header().move_to(self.shard().index());
                stolen.push_back(task);
                count += 1;
            }
            // Relaxed: see `steal_len`.
            from.steal_len.store(queue.len(), Ordering::Relaxed);
        }
        fence(Ordering::SeqCst); // pairs with the fence of a wake that finds its task scheduled
        while let Some(task) = stolen.pop_front() {
            take(task);
        }
        count
    }
}

/// Pushes a task that has moved into the inbox of where it lives now; releases one that is over. No locks are held.
///
/// # Safety
/// The caller owns the task's `QUEUED` hold.
#[cold]
pub(super) unsafe fn forward(task: NonNull<Header>) {
    // SAFETY: `QUEUED` keeps the task alive.
    let shard = unsafe { task.as_ref() }.look().shard();
    if shard == context::NOWHERE {
        // SAFETY: the reference is ours.
        return unsafe { ref_dec(task, QUEUED) };
    }
    // SAFETY: the reference is ours, and goes with the task.
    match unsafe { Shard::at(shard).push(task) } {
        Ok(Some(runner)) => Deferred::new(runner).run(),
        Ok(None) => {}
        // SAFETY: the reference stayed ours.
        Err(Closed) => unsafe { ref_dec(task, QUEUED) },
    }
}

/// Wakes a parked task of an idle worker here, if the current thread is another worker of its pool; `false` if
/// not, and then nothing was done. This thread runs a shard, and the task's is not that one, but was `there` a moment
/// ago.
pub(crate) fn pull(task: TaskRef<'_>, there: &'static Shard) -> bool {
    context::with(|context| {
        // One whose shard is open is stuck, and the task had better go elsewhere.
        if context.is_open() {
            return false;
        }
        let here = Shard::at(context.shard());
        if here.pool() == 0 || here.runner.closing.get() {
            return false;
        }
        if context.publishes() {
            // The idle worker had better run it itself.
            here.note_published();
            return false;
        }
        // Relaxed: a hint, to leave the guard of a busy worker alone.
        let busy = there.acquired.load(Ordering::Relaxed) != FREE || task.state().is_new();
        if there.pool() != here.pool() || busy {
            return false;
        }
        let Some(visit) = there.try_visit() else {
            return false;
        };
        let state = task.look();
        let moves = there.pool() == here.pool()
            && state.shard() == there.index()
            && !state.is_new()
            && (!state.is_pinned() || crate::mutant!("pinned_is_pulled"))
            && !state.ignores_wake()
            && !there.runner.closing.get();
        if moves {
            // SAFETY: we run its shard; not finished, so on the list.
            there.with_list(|| unsafe { there.runner.owned.remove(task.pointer()) });
            task.move_to(here.index());
        }
        drop(visit);
        if moves {
            here.count_moved(there);
            let wake = |context: &_| {
                // SAFETY: it lives here now, in no list.
                unsafe { add_to_list(task) };
                // SAFETY: the runner is inside.
                unsafe { context::wake_inside(context, task) }
            };
            context.inside(task, wake);
        }
        moves
    })
}
