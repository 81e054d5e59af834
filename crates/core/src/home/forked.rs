//! Homes around `fork()`.
//!
//! The child has one thread, the one that forked; the memory is as it was at that moment. So the thread that
//! forks first takes every lock of ours that the child may come to: then none is held for good there, and what the
//! locks guard is whole. In the child it closes the homes whose drivers are not there: those with threads of their
//! own, and those that another thread was driving or visiting. A wake of one of their tasks ends in nothing, and
//! whoever waits for one is told ([`crate::fork`]).
//!
//! No thread holds one of these locks while it waits for another, but the open queue's, after which the list's or the
//! inbox's may come; and here the lists' come after all the open queues'. No user code runs under them, so the thread that
//! forks has none.

use core::cell::RefCell;

use alloc::vec::Vec;

use super::{DRIVEN, FREE, Home, Inbox, homes, moving, table};
use crate::door::atomic::Ordering;
use crate::door::{MutexGuard, around_fork, light_fence, thread_local};
use crate::{aside, fork, policy, timers};

#[cfg(not(loom))]
thread_local! {
    static FROZEN: RefCell<Option<Frozen>> = const { RefCell::new(None) };
}
#[cfg(loom)]
thread_local! {
    static FROZEN: RefCell<Option<Frozen>> = RefCell::new(None);
}

/// All locks, held.
struct Frozen {
    inboxes: Vec<(&'static Home, MutexGuard<'static, Inbox>)>,
    _lists: Vec<MutexGuard<'static, ()>>,
    _open: Vec<MutexGuard<'static, moving::Open>>,
    _sleepers: Vec<MutexGuard<'static, ()>>,
    _aside: Vec<aside::Guard>,
    /// Given back after the sleepers', which that needs.
    timers: Vec<timers::Locked<'static>>,
    other_timers: timers::Frozen,
    _table: MutexGuard<'static, table::Free>,
}

/// Has every fork from now on go through here.
pub(crate) fn watch() {
    let _made = homes();
    #[cfg(not(loom))]
    {
        static WATCHED: std::sync::Once = std::sync::Once::new();
        WATCHED.call_once(|| {
            // What the fences find out at first use is found out now, not while another thread forks.
            light_fence();
            timers::begin();
            around_fork(prepare, parent, child);
        });
    }
    #[cfg(loom)]
    let _ = (
        around_fork,
        light_fence,
        timers::begin,
        prepare,
        parent,
        child,
    );
}

extern "C" fn prepare() {
    if !crate::mutant!("fork_locks_late") {
        hold(Some(Frozen::all()));
    }
}

extern "C" fn parent() {
    drop(hold(None));
}

extern "C" fn child() {
    fork::count();
    let late = || crate::mutant!("fork_locks_late").then(Frozen::all);
    if let Some(frozen) = hold(None).or_else(late) {
        frozen.lose();
        timers::go_on();
    }
}

/// Keeps the locks until the fork is done, and gives those that were kept. A thread that forks so late in its end
/// that it can keep nothing goes without.
fn hold(locks: Option<Frozen>) -> Option<Frozen> {
    FROZEN
        .try_with(|frozen| frozen.replace(locks))
        .ok()
        .flatten()
}

impl Frozen {
    fn all() -> Self {
        let other_timers = timers::freeze();
        let (table, used) = homes().freeze();
        let used: Vec<&'static Home> = used.collect();
        Self {
            _open: used.iter().map(|home| home.open.lock()).collect(),
            _lists: used.iter().map(|home| home.list.lock()).collect(),
            inboxes: used.iter().map(|home| (*home, home.inbox.lock())).collect(),
            other_timers,
            timers: used.iter().map(|home| home.timers.lock()).collect(),
            _sleepers: policy::freeze().collect(),
            _aside: aside::freeze().collect(),
            _table: table,
        }
    }

    /// In the child: closes the homes that nobody will drive.
    fn lose(mut self) {
        for ((home, inbox), timers) in self.inboxes.iter_mut().zip(&mut self.timers) {
            let here = home.is_driven_by_this_thread();
            // Relaxed: the child has one thread.
            let elsewhere = home.claimed.load(Ordering::Relaxed) != FREE && !here;
            if elsewhere || home.is_threaded() || home.driver.is_pinned_elsewhere() {
                home.lost.store(1, Ordering::Relaxed); // Relaxed: as above
                if elsewhere && !crate::mutant!("fork_keeps_visits") {
                    // A visit would be waited for, and its end never comes.
                    home.claimed.store(DRIVEN, Ordering::Relaxed); // Relaxed: as above
                }
                inbox.closed = true;
                // A worker forked, inside a task: after this poll it looks into its inbox, and finds out.
                home.pending.store(here, Ordering::Relaxed); // Relaxed: as above
                if !here && !crate::mutant!("fork_keeps_timers") {
                    timers.abandon();
                }
            }
        }
        self.other_timers.lose();
    }
}

impl Home {
    /// Says that a thread of its runtime drives this home, for one task; before it has any.
    pub fn set_threaded(&self) {
        // Relaxed: a fork comes before or after it, in a thread that has seen the home or has not.
        self.threaded.store(1, Ordering::Relaxed);
    }

    fn is_threaded(&self) -> bool {
        self.pool() != 0 || self.is_one_thread()
    }

    /// Whether its driver is a thread that does nothing but drive it, and what it drives is one task.
    pub(crate) fn is_one_thread(&self) -> bool {
        // Relaxed: as above.
        self.threaded.load(Ordering::Relaxed) != 0
    }

    /// Whether this is a forked child, and who would drive the home is not here.
    #[inline]
    pub fn is_lost(&self) -> bool {
        // Relaxed: written while the child has one thread.
        self.lost.load(Ordering::Relaxed) != 0
    }
}
