//! The workers that have nothing to do.

use std::task::Waker;

use gossamer_core::platform::Mutex;
use gossamer_core::platform::atomic::{AtomicUsize, Ordering};
use gossamer_core::shard::Shard;

/// Idle workers; the one that became idle last is called first, as its caches are the warmest.
#[derive(Debug)]
pub(super) struct Idle {
    sleepers: Mutex<Vec<Sleeper>>,
    /// A hint: how many there are.
    count: AtomicUsize,
}

/// An idle worker.
#[derive(Debug)]
pub(super) struct Sleeper {
    pub(super) shard: &'static Shard,
    pub(super) waker: Waker,
}

impl Idle {
    pub(super) fn new() -> Self {
        Self {
            sleepers: Mutex::new(Vec::new()),
            count: AtomicUsize::new(0),
        }
    }

    /// How many workers are idle.
    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        // Relaxed: a hint; who acts on it takes the lock.
        self.count.load(Ordering::Relaxed)
    }

    pub(super) fn enter(&self, sleeper: Sleeper) {
        let mut sleepers = self.sleepers.lock();
        sleepers.push(sleeper);
        // Relaxed: a hint, kept under the lock.
        self.count.store(sleepers.len(), Ordering::Relaxed);
    }

    /// Takes a worker out again, if nobody has called it.
    pub(super) fn leave(&self, shard: &Shard) {
        let gone = {
            let mut sleepers = self.sleepers.lock();
            let mut all = sleepers.iter();
            let at = all.position(|other| other.shard.index() == shard.index());
            let gone = at.map(|at| sleepers.remove(at));
            // Relaxed: a hint, kept under the lock.
            self.count.store(sleepers.len(), Ordering::Relaxed);
            gone
        };
        drop(gone);
    }

    /// Takes an idle worker out, to be woken by the caller.
    pub(super) fn take(&self) -> Option<Sleeper> {
        let mut sleepers = self.sleepers.lock();
        let sleeper = sleepers.pop();
        // Relaxed: a hint, kept under the lock.
        self.count.store(sleepers.len(), Ordering::Relaxed);
        sleeper
    }

    /// Wakes an idle worker, if there is one.
    pub(super) fn call_one(&self) {
        if let Some(sleeper) = self.take() {
            sleeper.waker.wake();
        }
    }

    /// Wakes all idle workers.
    pub(super) fn call_all(&self) {
        while let Some(sleeper) = self.take() {
            sleeper.waker.wake();
        }
    }
}
