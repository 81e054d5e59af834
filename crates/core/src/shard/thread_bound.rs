//! Tasks that stay with the thread that has begun to poll them, and what becomes of them when it ends.
//!
//! A thread that ends has ended its fibers, wherever their tasks are. It marks itself, and calls whoever waits to run
//! one of the shards where tasks have stayed with it; it touches nothing that belongs to a runner. Who runs such a
//! shard next finds the mark, and cancels the tasks ([`ShardGuard::may_run`]).

use core::cell::RefCell;

use alloc::collections::BTreeSet;
use alloc::sync::Arc;

use super::guard::cancel_here;
use super::runner::{Runner, ThreadBound};
use super::{Shard, ShardGuard};
use crate::context::{self, Context};
use crate::fork::Origin;
use crate::header::{Owned, TaskRef};
use crate::platform::atomic::Ordering;
use crate::platform::thread_local;
use crate::waiter::Deferred;

/// This thread's own.
struct Here {
    thread_bound: Arc<ThreadBound>,
    /// In a forked child nobody is told of the parent's shards, whose locks others may have.
    origin: Origin,
    /// Where tasks have stayed with it.
    shards: BTreeSet<u16>,
}

thread_local! {
    static HERE: RefCell<Option<Here>> = const { RefCell::new(None) };
}

impl ThreadBound {
    /// Tasks of this shard stay with the current thread from now on.
    pub(super) fn at(shard: u16) -> Arc<Self> {
        let known = HERE.try_with(|here| {
            let mut here = here.borrow_mut();
            let _parents = here.take_if(|here| here.origin.is_elsewhere());
            let here = here.get_or_insert_with(|| Here {
                thread_bound: Self::new(),
                origin: Origin::here(),
                shards: BTreeSet::new(),
            });
            here.shards.insert(shard);
            here.thread_bound.clone()
        });
        // A thread whose thread-locals are gone says nothing any more.
        known.unwrap_or_else(|_| Self::new())
    }
}

impl Runner {
    /// One more task of this shard, `shard`, stays with the current thread.
    pub(crate) fn pin_one(&self, shard: u16) {
        self.pinned.set(self.pinned.get() + 1);
        let mut pinned_to = self.pinned_to.borrow_mut();
        if !pinned_to.as_ref().is_some_and(|thread| thread.is_here()) {
            *pinned_to = Some(ThreadBound::at(shard));
        }
    }
}

impl TaskRef<'_> {
    /// Has the task stay at its shard, with the thread that runs it now, as a local one does anyway. Only its runner calls
    /// this, inside the task's poll.
    fn pin(self) {
        let state = self.state();
        if !state.is_pinned() && !state.is_local() {
            // SAFETY: on the runner, in the task's poll.
            unsafe { self.set_state(state.with_pinned()) };
            Shard::at(state.shard()).runner.pin_one(state.shard());
        }
    }

    /// Takes back what [`TaskRef::pin`] did; `false` if it did nothing. Only the runner calls this, while the task's
    /// future is there.
    fn unpin(self) -> bool {
        let state = self.state();
        if state.is_pinned() {
            let mut unmarked = state.without_pinned();
            if !crate::mutant!("mark_of_a_call_stays") {
                // A thread that ends has its fibers return from foreign calls outside of any poll.
                unmarked = unmarked.without_foreign();
            }
            // SAFETY: on the runner, while the future is there.
            unsafe { self.set_state(unmarked) };
            Shard::at(state.shard()).runner.unpin_one();
        }
        state.is_pinned()
    }
}

impl Context {
    /// Has the task that is being polled, if one of ours is, stay with the thread that polls it.
    pub fn pin_polled(&self) {
        self.with_polled(|task| task.pin());
    }

    /// The task that is being polled, if one of ours is, begins a foreign call: an abort waits until that
    /// [has returned](Context::foreign_call_returned).
    pub fn foreign_call_begins(&self) {
        // SAFETY: on the runner, in the task's poll.
        self.with_polled(|task| unsafe { task.set_state(task.state().with_foreign()) });
    }

    /// The foreign call of the task that is being polled has returned.
    pub fn foreign_call_returned(&self) {
        // SAFETY: on the runner, in the task's poll.
        self.with_polled(|task| unsafe { task.set_state(task.state().without_foreign()) });
    }

    /// Whether the task that is being polled is to be cancelled.
    #[must_use]
    pub fn is_polled_cancelled(&self) -> bool {
        let is_cancelled =
            |task: TaskRef<'_>| task.state().is_cancelled() || task.refs.wants_cancel();
        self.with_polled(is_cancelled).unwrap_or(false)
    }

    /// The task that is being polled, or dropped, may move again.
    pub fn unpin_polled(&self) {
        self.with_polled(|task| task.unpin());
    }
}

/// The current thread ends, and has ended its fibers: their tasks are cancelled by who runs them next.
pub fn thread_ends() {
    let here = HERE.try_with(|here| here.borrow_mut().take());
    let Some(here) = here.ok().flatten() else {
        return;
    };
    if here.origin.is_elsewhere() {
        return;
    }
    if crate::mutant!("ended_fibers_keep_their_shard") {
        return;
    }
    // Release: pairs with the load in `has_ended`.
    here.thread_bound.ended.store(true, Ordering::Release);
    for shard in here.shards {
        // A thread that announces itself later finds the mark: the lock orders the two.
        let waiting = Shard::at(shard).inbox.lock().waiting.take();
        if let Some(waker) = waiting {
            Deferred::new(waker).run();
        }
    }
}

impl ShardGuard {
    /// Whether this thread may run a shard, of no pool: no task stays with another thread. Those that stay with a
    /// thread that has ended are cancelled.
    pub fn may_run(&self) -> bool {
        let runner = &self.shard.runner;
        if runner.is_pinned_elsewhere() {
            return false;
        }
        if runner.is_left() {
            self.cancel_left();
        }
        true
    }

    #[cold]
    fn cancel_left(&self) {
        debug_assert_eq!(self.shard.pool(), 0, "thieves touch the list");
        let mut next = self.shard.runner.owned.first();
        while let Some(task) = next {
            // SAFETY: on the runner; in this list.
            next = unsafe { Owned::after(task) };
            // SAFETY: tasks in the list are alive.
            let task: TaskRef<'_> = unsafe { TaskRef::new(task) };
            if task.unpin() {
                // SAFETY: on the runner, of no pool.
                context::with(|context| unsafe { cancel_here(context, task) });
            }
        }
    }
}
