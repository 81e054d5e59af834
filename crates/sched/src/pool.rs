//! The model M:N: tasks run on a number of workers, each a thread that runs a shard of its own.
//!
//! A worker keeps the task that runs next to itself; its other runnable tasks are in its shard's steal queue, from which
//! idle workers take half. Tasks that are spawned from outside wait in the *injector*. The protocols, the races that
//! they fear and why nothing is lost are in `pool/README.md`.

mod evacuating;
mod idle;
mod monitor;
mod publishing;
mod queue;
mod resize;
mod shared;
mod starting;
mod steal_queue;
mod stealing;
mod watch;
mod worker;
mod worker_shard;
mod workers;

use std::io;
use std::num::NonZeroUsize;
use std::panic::Location;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gossamer_core::context;
use gossamer_core::platform::atomic::Ordering;
use gossamer_core::shard::Shard;
use gossamer_task::{JoinHandle, spawn};

use crate::environment::Environment;
use crate::fifo::Fifo;
use crate::single::{acquire_again, shut_down};
use crate::thread_options::ThreadOptions;
pub use monitor::{Hold, Stuck, Watching};
pub use resize::Resize;
use shared::Shared;
use worker_shard::WorkerShard;
pub use workers::WORKERS_MAX;

/// Where tasks that help to compute are spawned. The monitor frees what their polls hold up, and tells nobody: they are
/// meant to be long.
pub const HELPERS: &Location<'static> = Location::caller();

/// A runtime of the model M:N.
pub struct Pool {
    shared: Arc<Shared>,
}

/// The state of a [`Pool`] at one moment, and the counts of its work so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metrics {
    /// Workers of those that were asked for.
    pub workers: usize,
    /// Workers that there are to be, after a resize.
    pub target: usize,
    /// Workers that stand in for those that are stuck in a poll; at most twice as many as were asked for (and no more
    /// than 1,024 threads in all).
    pub spares: usize,
    /// Workers that are surplus, after a resize or as spares that nobody needs any more, and have not left yet.
    pub leaving: usize,
    /// Of all these, idle at this moment.
    pub idle: usize,
    /// Threads that are surplus, and stay as long as fibers that began there.
    pub draining: usize,
    /// Tasks spawned from outside that no worker has taken yet.
    pub injected: usize,
    /// Tasks that are runnable, and that another worker could take. (Each worker has one more at most, to itself, and
    /// fibers that have begun.)
    pub queued: usize,
    /// Tasks that have not ended.
    pub tasks: u64,
    /// Sockets, and other descriptors, that have waited here first and are open: the system tells this pool of them.
    pub sockets: usize,
    /// Times a task was polled. A worker adds its polls up after each turn, of at most 128.
    pub polls: u64,
    /// Times a worker parked.
    pub parks: u64,
    /// Tasks that a worker has taken out of another's queue.
    pub stolen: u64,
    /// Polls that a worker was stuck in while work, or the end of the pool, waited, counted when they have ended, or
    /// gone on for five seconds; those that were ended by a panic are left out.
    pub stuck: u64,
}

impl Pool {
    /// Starts a pool.
    ///
    /// # Errors
    /// More than [`WORKERS_MAX`] workers; the system grants no more threads; or 65,535 shards are in use. What had
    /// been started has ended then.
    pub fn new(workers: NonZeroUsize) -> io::Result<Self> {
        Self::with_options(workers, Watching::new(), ThreadOptions::default())
    }

    /// Like [`Pool::new`], but `watching` says when a worker counts as stuck in a poll, and who is told, and `threads`
    /// how its threads are made.
    ///
    /// # Errors
    /// As [`Pool::new`]; or a time that makes no sense.
    pub fn with_options(
        workers: NonZeroUsize,
        watching: Watching,
        threads: ThreadOptions,
    ) -> io::Result<Self> {
        watching.check()?;
        let workers = workers.get();
        if workers > WORKERS_MAX {
            let text = format!("{workers} workers: a pool has 1 to {WORKERS_MAX}");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        let pool = Self {
            shared: Shared::new(workers, watching, threads)?,
        };
        pool.shared.start()?;
        pool.shared.start_monitor()?;
        Ok(pool)
    }

    /// Spawns a task [here](Pool::shard_here).
    pub fn spawn<F>(&self, future: F, caller: &'static Location<'static>) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        spawn(self.shard_here(), future, caller)
    }

    /// Where a task goes that is spawned here: to the current worker, if this is one of the pool's, else into the
    /// injector.
    pub fn shard_here(&self) -> &'static Shard {
        let here = context::with(context::Context::shard);
        if here != context::NOWHERE && Shard::at(here).pool() == self.shared.id {
            Shard::at(here)
        } else {
            self.shared.injector
        }
    }

    /// Spawns a task that helps to compute into the injector, whoever calls: it is for a worker that has nothing to do.
    pub fn spawn_helper<F>(&self, helper: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        spawn(self.shared.injector, helper, HELPERS)
    }

    /// How many workers were asked for; one if the pool ends.
    pub fn target(&self) -> usize {
        match self.shared.is_closing() {
            true => 1,
            false => self.shared.workers.figures().asked,
        }
    }

    /// Returns the pool's state and counts. The figures are read one by one, and need not belong together.
    pub fn metrics(&self) -> Metrics {
        let shared = &self.shared;
        let workers = shared.workers.figures();
        Metrics {
            workers: workers.workers,
            target: workers.asked,
            spares: workers.spares,
            leaving: workers.leaving,
            idle: shared.idle.len(),
            draining: workers.draining,
            injected: shared.injector.waiting(),
            queued: shared.shards().map(WorkerShard::steal_len).sum(),
            tasks: shared
                .shards()
                .map(|worker| worker.shard)
                .chain([shared.injector])
                .map(Shard::tasks)
                .sum(),
            sockets: shared.environment.poller().sockets(),
            polls: shared.shards().map(|shard| shard.polls()).sum(),
            // Relaxed: statistics.
            parks: shared.counts.parks.load(Ordering::Relaxed),
            stolen: shared.counts.stolen.load(Ordering::Relaxed), // Relaxed: as above
            stuck: shared.counts.stuck.load(Ordering::Relaxed),   // Relaxed: as above
        }
    }

    /// Ends the pool: no task is polled again once its current poll has ended, and all futures are dropped.
    ///
    /// # Blocking
    /// Until all workers have ended (but not the one that calls), or until `limit`; they end later then.
    ///
    /// # Returns
    /// Whether all workers have ended.
    pub fn shutdown(&self, limit: Option<Duration>) -> bool {
        let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
        // SeqCst is not needed: the locks of `idle` and the injector order this; Release pairs with the acquire in
        // `is_closing`.
        if !self.shared.closing.swap(true, Ordering::AcqRel) {
            self.close_injector();
        }
        // No worker starts from here on; the wait below covers those that have started.
        self.shared.workers.close();
        self.shared.idle.call_all();
        self.shared.shards().for_each(|shard| shard.call());
        // Perhaps from inside another runtime that one of our tasks runs.
        let is_worker = self
            .shared
            .shards()
            .any(|shard| shard.is_run_by_this_thread());
        let all_ended = self
            .shared
            .workers
            .wait_until_left(usize::from(is_worker), deadline);
        self.shared.end_unowned(all_ended);
        // As long as a worker is left, be it this thread, the monitor watches it.
        all_ended && (is_worker || self.shared.monitor.end(deadline))
    }

    /// Returns the environment that the pool's tasks run in.
    pub fn environment(&self) -> &Environment {
        &self.shared.environment
    }

    /// Ends the pool, unless [`shutdown`](Pool::shutdown) was called; blocks until `limit` as that does.
    pub fn end(&self, limit: Option<Duration>) {
        if !self.shared.is_closing() {
            self.shutdown(limit);
        }
    }

    /// Drops the futures that no worker has taken, on this thread.
    fn close_injector(&self) {
        let guard = acquire_again(self.shared.injector);
        guard.seal();
        shut_down(&guard, &mut Fifo::new());
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.end(None);
    }
}

gossamer_core::impl_debug!([] Pool[], this => workers: this.shared.workers.figures().count());

#[cfg(all(test, loom))]
mod tests;
