//! Tasks that stay with the thread that has begun to poll them, and what becomes of them when it ends.
//!
//! A thread that ends has ended its fibers, wherever their tasks are. It marks itself, and calls whoever waits to run
//! one of the shards where tasks have stayed with it; it touches nothing that belongs to a runner. Who runs such a
//! shard next finds the mark, and cancels the tasks ([`ShardGuard::may_run`]).

use core::cell::RefCell;

use alloc::collections::BTreeSet;
use alloc::sync::Arc;

use super::{Shard, ShardGuard, cancel_here};
use crate::context;
use crate::fork::Origin;
use crate::header::{Header, Owned};
use crate::platform::atomic::{AtomicBool, Ordering};
use crate::platform::thread::{self, ThreadId};
use crate::platform::thread_local;
use crate::waiter::Deferred;

/// A thread with which tasks stay, as others know it.
#[derive(Debug)]
pub(super) struct ThreadBound {
    thread: ThreadId,
    ended: AtomicBool,
}

/// This thread's own.
struct Here {
    thread_bound: Arc<ThreadBound>,
    /// In a forked child nobody is told of the parent's shards, whose locks others may have.
    origin: Origin,
    /// Where tasks have stayed with it.
    shards: BTreeSet<u16>,
}

#[cfg(not(loom))]
thread_local! {
    static HERE: RefCell<Option<Here>> = const { RefCell::new(None) };
}
#[cfg(loom)]
thread_local! {
    static HERE: RefCell<Option<Here>> = RefCell::new(None);
}

impl ThreadBound {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            thread: thread::current().id(),
            ended: AtomicBool::new(false),
        })
    }

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

    pub(super) fn is_here(&self) -> bool {
        self.thread == thread::current().id()
    }

    /// Whether the thread has ended, and so has ended its fibers.
    pub(super) fn has_ended(&self) -> bool {
        // Acquire: what it has done to them; pairs with the store in `thread_ends`.
        self.ended.load(Ordering::Acquire)
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
        // Who announces itself later finds the mark: the lock comes between.
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
            // SAFETY: on the runner; the tasks in the list are alive, and have their futures.
            unsafe {
                next = Owned::after(task);
                if task.as_ref().state().is_pinned() {
                    Header::unpin(task);
                    context::with(|context| cancel_here(context, task));
                }
            }
        }
    }
}
