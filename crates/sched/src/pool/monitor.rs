//! The monitor: a thread that finds workers that are stuck in a poll, and puts spares in their place. Here is what the
//! workers see of it; what it does is in `monitor/look.rs`.
//!
//! A poll that does not end (a computation, `read(2)`, a page fault, a foreign function) holds all tasks of its worker
//! hostage. So every few milliseconds the monitor pings each busy worker; a worker that has not acknowledged by the
//! next look has been in one poll since. When its thread has run or been blocked for 10 ms in that poll (`held.rs`; a
//! preempted thread has not), the monitor opens its shard, and its tasks are evacuated (`evacuating.rs`). If work waits
//! and no worker is idle, the monitor starts a *spare*: a worker with a number above those that were asked for. (Go's
//! sysmon moves the processor away from a stuck thread; here the tasks move.) A worker whose poll has ended closes its
//! shard, and surplus spares retire as after a [`resize`](super::resize). The monitor fires a stuck worker's timers.
//!
//! # Reports
//!
//! A poll is reported at its end, or after `TELL_AFTER`: only the end tells whether the panic hook held it, whose
//! backtrace takes long and is nobody's mistake. The end of the pool waits for polls, perhaps for ever; so the monitor
//! stays until the last worker has left, and then reports a long poll though no other work waits. For each spawn site
//! it reports one poll in ten seconds, and then how many more there were (`report.rs`).
//!
//! # Sleeping
//!
//! When no worker has been busy for a while, the monitor says that it sleeps, issues a (heavy) fence, looks once more
//! whether all are idle, and parks. A worker that becomes busy leaves the list of idle workers, issues a (light) fence,
//! and calls the monitor if it sleeps; a draining one does so once it runs its shard. So the monitor wakes no idle
//! machine.

mod held;
mod look;
mod report;
mod spares;
mod watching;

use std::task::Waker;
use std::time::{Duration, Instant};

use gossamer_core::panics;
use gossamer_core::platform::atomic::{AtomicBool, Ordering};
use gossamer_core::platform::{Condvar, Mutex, ThreadNumber, light_fence, thread};

use super::worker_shard::WorkerShard;
use crate::deadline::wait_while;
pub use held::Hold;
pub use report::Stuck;
use watching::Report;
pub use watching::Watching;

/// No monitor in models: they know no time.
const IS_THERE: bool = !cfg!(any(loom, shuttle));

/// The monitor, as the others see it.
pub(super) struct Monitor {
    /// Whether it sleeps until it is called.
    asleep: AtomicBool,
    thread: Mutex<Thread>,
    ended: Condvar,
    /// The workers' threads, by number.
    workers: Mutex<Vec<Option<ThreadNumber>>>,
    stuck_after: Duration,
    report: Option<Report>,
}

#[derive(Default)]
struct Thread {
    waker: Option<Waker>,
    runs: bool,
    id: Option<thread::ThreadId>,
}

impl Monitor {
    pub(super) fn new(watching: Watching) -> Self {
        Self {
            asleep: AtomicBool::new(false),
            thread: Mutex::default(),
            ended: Condvar::new(),
            workers: Mutex::default(),
            stuck_after: watching.stuck_after,
            report: watching.report,
        }
    }

    /// The worker with this number is the current thread from now on.
    pub(super) fn works_here(&self, number: usize) {
        if IS_THERE {
            let mut workers = self.workers.lock();
            if workers.len() <= number {
                workers.resize(number + 1, None);
            }
            workers[number] = Some(ThreadNumber::current());
        }
    }

    fn thread_of(&self, number: usize) -> Option<ThreadNumber> {
        self.workers.lock().get(number).copied().flatten()
    }

    /// Has the polls of this shard's runner be watched.
    pub(super) fn watches(&self, shard: &WorkerShard) {
        if IS_THERE {
            shard.set_monitored();
        }
    }

    /// Calls the monitor, if it sleeps: a worker is idle no more.
    #[inline]
    pub(super) fn call(&self) {
        if !IS_THERE {
            return;
        }
        light_fence(); // pairs with the heavy one in `sleep`
        // Relaxed: the fences order it.
        if self.asleep.load(Ordering::Relaxed) && !gossamer_core::mutant!("monitor_sleeps_on") {
            self.wake();
        }
    }

    #[cold]
    fn wake(&self) {
        let waker = self.thread.lock().waker.clone();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Wakes the monitor to find that the last worker of a pool that is closing has left, and waits for its end;
    /// `false` if that has not come by the deadline.
    pub(super) fn end(&self, deadline: Option<Instant>) -> bool {
        self.wake();
        let thread = self.thread.lock();
        // In a report it ends when that has.
        let is_here = thread.id == Some(thread::current().id());
        is_here || wait_while(&self.ended, thread, deadline, |thread| thread.runs)
    }

    fn tell(&self, stuck: &Stuck) {
        let tell = || match &self.report {
            Some(report) => report(stuck),
            None => eprintln!("gossamer: warning: {stuck}"),
        };
        panics::end(tell);
    }
}
