//! The workers that have nothing to do: those that sleep, and those that search.
//!
//! A worker *searches* from when it is called, or looks for work before it sleeps, until it has taken something, has
//! found something in its own inbox, or has become idle. As long as one searches, a push calls nobody: the searching one
//! finds the task, or looks once more when it ends its search ([`Idle::end_search`], or `worker::sleep` after a search in
//! vain). So of many pushes in a row one calls, and one worker at a time comes. The monitor calls past a search whose
//! thread does not run ([`Idle::call_past_search`]).

use std::task::Waker;

use gossamer_core::mutant;
use gossamer_core::platform::Mutex;
use gossamer_core::platform::atomic::{AtomicUsize, Ordering, fence};
use gossamer_core::shard::Shard;

/// Idle workers; the one that became idle last is called first, as its caches are the warmest.
#[derive(Debug)]
pub(super) struct Idle {
    sleepers: Mutex<Vec<Sleeper>>,
    /// How many there are. Who acts on it takes the lock, or has a fence, as its writer has before it sleeps.
    count: AtomicUsize,
    /// How many workers search.
    searching: AtomicUsize,
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
            searching: AtomicUsize::new(0),
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

    /// Takes a worker out again; `true` if somebody has called it, so that it searches.
    #[must_use]
    pub(super) fn leave(&self, shard: &Shard) -> bool {
        let gone = {
            let mut sleepers = self.sleepers.lock();
            let mut all = sleepers.iter();
            let at = all.position(|other| other.shard.index() == shard.index());
            let gone = at.map(|at| sleepers.remove(at));
            // Relaxed: a hint, kept under the lock.
            self.count.store(sleepers.len(), Ordering::Relaxed);
            gone
        };
        gone.is_none()
    }

    /// A worker searches, unless another one does.
    #[must_use]
    pub(super) fn try_search(&self) -> bool {
        let one = self
            .searching
            // Relaxed: publishes nothing, and whoever relies on the count has a fence.
            .compare_exchange(0, 1, Ordering::Relaxed, Ordering::Relaxed);
        one.is_ok()
    }

    /// A worker that searched has become idle: it has entered, and has its fence and its last look afterwards.
    pub(super) fn search_in_vain(&self) {
        // Relaxed: the heavy fence of `worker::sleep` orders it before the last look.
        self.searching.fetch_sub(1, Ordering::Relaxed);
    }

    /// A worker that searched has taken something, or has something else to do. `is_more` says whether there is work
    /// left: then the next one is called, as those that have pushed it may have relied on this worker.
    pub(super) fn end_search(&self, is_more: impl FnOnce() -> bool) {
        // Relaxed: the fence orders it before the look.
        let before = self.searching.fetch_sub(1, Ordering::Relaxed);
        if before > 1 {
            return;
        }
        if !mutant!("search_ends_without_fence") {
            fence(Ordering::SeqCst); // pairs with the one in `call_unless_searching`
        }
        if self.len() > 0 && is_more() && !mutant!("search_ends_unseen") {
            self.call_one();
        }
    }

    /// Wakes an idle worker for something that has been pushed, if there is one and no worker searches.
    #[inline(always)]
    pub(super) fn call_for_work(&self) {
        if self.len() > 0 {
            self.call_unless_searching();
        }
    }

    /// The same where the caller's push and the list of idle workers are ordered by their locks alone.
    #[cold]
    #[inline(never)]
    pub(super) fn call_unless_searching(&self) {
        if !mutant!("relies_without_fence") {
            fence(Ordering::SeqCst); // pairs with the one in `end_search`, and with the heavy one in `worker::sleep`
        }
        // Relaxed: the fence orders it after the push.
        if self.searching.load(Ordering::Relaxed) == 0 {
            self.call_one();
        }
    }

    /// Wakes an idle worker if another one searches, whose thread the system may keep from running: meanwhile it keeps
    /// back all calls. For the monitor, when something waits.
    pub(super) fn call_past_search(&self) {
        // Relaxed: a hint. Without a search, whoever pushed what waits has called.
        let searches = self.searching.load(Ordering::Relaxed) > 0;
        if searches && self.len() > 0 && !mutant!("search_holds_calls") {
            self.call_one();
        }
    }

    /// Takes an idle worker out, to be woken by the caller: from now on it searches.
    fn take(&self) -> Option<Sleeper> {
        let mut sleepers = self.sleepers.lock();
        let sleeper = sleepers.pop();
        if sleeper.is_some() {
            // Relaxed: one too many for a moment calls one too few, and that one looks again.
            self.searching.fetch_add(1, Ordering::Relaxed);
        }
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
