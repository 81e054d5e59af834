//! The model M:N: tasks run on a number of workers, each a thread that runs a shard of its own.
//!
//! # Whose is a task
//!
//! A task lives at one worker's shard, and wakes by that worker are plain memory, as in
//! [`Single`](crate::Single). Of what is runnable a worker keeps one task to itself, in the run-next slot; the
//! others are in the shard's steal queue, under a lock, from which idle workers take half: first new tasks, the oldest
//! first, whereas the worker itself polls the newest first, and so walks a tree of tasks in depth. A worker that wakes
//! a task of an idle worker takes it over ([`gossamer_core::shard`]), so a chain of wake-ups stays on one worker,
//! touches no queue, and the others sleep on. Tasks spawned from outside wait in the *injector*, from which a worker
//! takes its share when it has nothing to do, and after each 128 polls.
//!
//! # Going idle
//!
//! A worker with nothing to do (1) gives up the guard of its shard, so that others may take its tasks along,
//! (2) looks at inbox, injector and queues for about 20 µs, (3) announces itself among the idle, (4) announces at its
//! inbox that it parks, and (5) looks at all of it once more, and at whether it is to end or retire, and parks if
//! there is nothing. Whoever pushes into the injector does so first and then calls one of the idle; both lists are
//! under locks, so either the worker sees the push, or the pusher finds the worker. A push into the inbox finds the
//! announcement of (4). Between a push into a steal queue and the look for idle workers there is a fence, and one
//! after (3) (a light and a heavy one, which interrupts the other workers: so not before (2)).
//!
//! One of the idle *watches*, from when it became idle until nobody is busy (and anew when a worker has made 128 polls
//! in a row): every few milliseconds it looks for workers in a long poll, and has them publish what they wake from then
//! on (`watch.rs`, and `shard/publishing.rs` of `core`).
//!
//! # Resizing
//!
//! Workers have numbers, and so have their shards, which stay as long as the pool. Growing starts threads for the
//! numbers that have none. A worker whose number is surplus retires between two polls: it leaves its runnable
//! tasks in the shard's steal queue, from which the others steal, and its parked ones where they are: a worker that
//! wakes one takes it along; a wake from outside ends in the shard's inbox and calls an idle worker, which looks
//! after it. So nothing is moved that is not woken, and nothing is stranded.
//!
//! Its timers go to the first worker, who never retires.
//!
//! A task that stays with its thread (a fiber that has begun) is in no steal queue. A worker that is surplus and has
//! such tasks *drains*: it is no worker any more, but goes on running them, and nothing else; what else becomes
//! runnable there it puts into the steal queue, for the others.
//!
//! # Stuck workers
//!
//! A worker may be held in one poll by whatever its task does. A thread of the pool's own, the monitor, finds it, has
//! others evacuate its tasks, and starts spares (`monitor.rs`).
//!
//! # The end
//!
//! Shutting down seals the injector, has nobody started any more, calls everybody, and waits. Each worker seals its
//! inbox, drops the futures of its tasks, and ends. Before that it closes its queue, so that nothing is stolen
//! meanwhile.

mod ending;
mod idle;
mod monitor;
mod queue;
mod resize;
mod watch;
mod worker;
mod workers;

use std::fmt;
use std::io;
use std::num::NonZeroUsize;
use std::panic::Location;
use std::sync::{Arc, OnceLock, Weak};
use std::task::{Wake, Waker};
use std::time::{Duration, Instant};

use gossamer_core::context;
use gossamer_core::platform::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use gossamer_core::platform::{UnmodelledU32, start_thread};
use gossamer_core::shard::Shard;
use gossamer_task::{JoinHandle, spawn};
use gossamer_time::timers::runner;

use crate::environment::Environment;
use crate::fifo::Fifo;
use crate::scheduler::{Reason, Runnable, Scheduler};
use crate::single::{acquire_again, shut_down};
use idle::Idle;
use monitor::Monitor;
pub use monitor::{Hold, Stuck, Watching};
pub use resize::Resize;
use watch::Watch;
use workers::{Started, Workers};

/// The most workers a pool can have. In models a few.
pub const WORKERS_MAX: usize = if cfg!(any(loom, shuttle)) { 3 } else { 1024 };

/// A runtime of the model M:N.
pub struct Pool {
    shared: Arc<Shared>,
}

/// What the workers of a pool share.
struct Shared {
    environment: Environment,
    id: u32,
    /// Where tasks spawned from outside wait; nobody runs it.
    injector: &'static Shard,
    idle: Idle,
    watch: Watch,
    monitor: Monitor,
    closing: AtomicBool,
    /// Where tasks live, by the numbers of the workers there have ever been.
    shards: Box<[OnceLock<&'static Shard>]>,
    /// One more than the highest number that has a shard.
    opened: AtomicUsize,
    workers: Workers,
    counts: Counts,
}

/// What the workers have done since the pool was built.
#[derive(Debug, Default)]
struct Counts {
    parks: AtomicU64,
    stolen: AtomicU64,
    stuck: AtomicU64,
}

/// What a [`Pool`] is doing and has done.
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
        Self::with_watching(workers, Watching::new())
    }

    /// The same, with a say in when a worker is taken to be stuck in a poll, and in who is told.
    ///
    /// # Errors
    /// As [`Pool::new`]; or a time that makes no sense.
    pub fn with_watching(workers: NonZeroUsize, watching: Watching) -> io::Result<Self> {
        watching.check()?;
        let workers = workers.get();
        if workers > WORKERS_MAX {
            let text = format!("{workers} workers: a pool has 1 to {WORKERS_MAX}");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        let pool = Self {
            shared: Shared::new(workers, watching)?,
        };
        pool.shared.start()?;
        Monitor::start(&pool.shared)?;
        Ok(pool)
    }

    /// Spawns a task: onto the current worker, if this is one of the pool's, else into the injector.
    pub fn spawn<F>(&self, future: F, caller: &'static Location<'static>) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let here = context::with(context::Context::shard);
        let shard = if here != context::NOWHERE && Shard::at(here).pool() == self.shared.id {
            Shard::at(here)
        } else {
            self.shared.injector
        };
        // SAFETY: a shard that is run here is open; the injector is closed by `shutdown`, which turns tasks away.
        unsafe { spawn(shard, future, caller) }
    }

    /// What the pool is doing and has done. A moment's look: the figures need not belong together.
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
            queued: shared.shards().map(Shard::steal_len).sum(),
            tasks: shared
                .shards()
                .chain([shared.injector])
                .map(Shard::tasks)
                .sum(),
            polls: shared.shards().map(|shard| shard.runner.polls()).sum(),
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
        // Who has been started by now is waited for.
        self.shared.workers.close();
        self.shared.idle.call_all();
        self.shared.shards().for_each(Shard::call);
        // Perhaps from inside another runtime that one of our tasks runs.
        let is_worker = self.shared.shards().any(Shard::is_run_by_this_thread);
        let all_ended = self
            .shared
            .workers
            .wait_until_left(usize::from(is_worker), deadline);
        self.shared.end_unowned(all_ended);
        // As long as a worker is left, be it this thread, the monitor watches it.
        all_ended && (is_worker || self.shared.monitor.end(deadline))
    }

    /// Drops the futures that no worker has taken, on this thread.
    fn close_injector(&self) {
        let guard = acquire_again(self.shared.injector);
        guard.seal();
        shut_down(&guard, &mut Fifo::new());
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool")
            .field("workers", &self.shared.workers.count())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared")
            .field("workers", &self.workers.count())
            .finish_non_exhaustive()
    }
}

impl Shared {
    /// The injector, and no worker yet.
    fn new(workers: usize, watching: Watching) -> io::Result<Arc<Self>> {
        static POOLS: UnmodelledU32 = UnmodelledU32::new(0);
        // Relaxed: any number that no other living pool has. Zero is no pool.
        let id = POOLS.fetch_add(1, Ordering::Relaxed).wrapping_add(1).max(1);
        let injector = open_shard(id)?;
        let shared = Arc::new(Self {
            environment: Environment::default(),
            id,
            injector,
            idle: Idle::new(),
            watch: Watch::default(),
            monitor: Monitor::new(watching),
            closing: AtomicBool::new(false),
            shards: (0..WORKERS_MAX).map(|_| OnceLock::new()).collect(),
            opened: AtomicUsize::new(0),
            workers: Workers::new(workers),
            counts: Counts::default(),
        });
        injector.set_fallback_waker(Some(shared.caller()));
        Ok(shared)
    }

    fn is_closing(&self) -> bool {
        // Acquire pairs with the swap in `shutdown`.
        self.closing.load(Ordering::Acquire)
    }

    /// The shards of all workers there have ever been, by number.
    fn numbered_shards(&self) -> impl Iterator<Item = (usize, &'static Shard)> {
        // Acquire pairs with the `fetch_max` in `start_worker`.
        let opened = &self.shards[..self.opened.load(Ordering::Acquire)];
        let numbered = opened.iter().enumerate();
        numbered.filter_map(|(number, shard)| Some((number, *shard.get()?)))
    }

    /// The shards of all workers there have ever been.
    fn shards(&self) -> impl Iterator<Item = &'static Shard> {
        self.numbered_shards().map(|(_, shard)| shard)
    }

    /// Whether an idle worker could steal something, or look after a shard without a worker.
    fn has_work_elsewhere(&self) -> bool {
        // Until somebody has retired, nobody looks after shards without a worker (nor is there anything at them).
        let any_unowned = self.workers.has_retired();
        self.numbered_shards().any(|(number, shard)| {
            shard.steal_len() > 0
                || any_unowned && shard.has_pending() && self.workers.is_free(number)
        })
    }

    /// Calls an idle worker whenever it is woken.
    fn caller(self: &Arc<Self>) -> Waker {
        Waker::from(Arc::new(CallOne(Arc::downgrade(self))))
    }

    /// Starts the workers that are missing.
    ///
    /// # Errors
    /// One could not be started. Those that there are go on, and the target is what there is.
    fn start(self: &Arc<Self>) -> io::Result<()> {
        while let Some(started) = self.workers.start() {
            if let Err((number, error)) = self.take_on(started) {
                self.workers.give_up_starting();
                // Perhaps for what came to that shard meanwhile, and perhaps somebody is surplus now.
                self.call_surplus();
                let count = self.workers.count();
                let text =
                    format!("worker {number} could not be started, there are {count}: {error}");
                return Err(io::Error::new(error.kind(), text));
            }
        }
        Ok(())
    }

    /// Starts a thread for whom the workers has got, or calls the one that is still there.
    ///
    /// # Errors
    /// The system grants no thread for the worker with this number, which the workers has not got then.
    fn take_on(self: &Arc<Self>, started: Started) -> Result<(), (usize, io::Error)> {
        match started {
            Started::New(number) => self.start_worker(number).map_err(|error| {
                self.refused(number);
                (number, error)
            }),
            Started::Again(number) => {
                self.shards[number].get().inspect(|shard| shard.call());
                Ok(())
            }
        }
    }

    /// There is no thread for the worker with this number.
    fn refused(&self, number: usize) {
        self.workers.end(number);
        if self.is_closing() && !gossamer_core::mutant!("refused_worker_keeps_tasks") {
            // The thread that shuts the pool down may have left its tasks to the worker.
            self.end_unowned(false);
        }
    }

    /// Whoever is surplus finds out, the idle and those that drain.
    fn call_surplus(&self) {
        self.idle.call_all();
        self.shards().for_each(Shard::call);
    }

    /// The shard of the worker with this number; opened, if it never had one.
    fn shard_for(&self, number: usize) -> io::Result<&'static Shard> {
        if let Some(shard) = self.shards[number].get() {
            return Ok(shard);
        }
        let shard = open_shard(self.id)?;
        shard.set_notify_shard(self.injector);
        self.monitor.watches(shard);
        let shard = *self.shards[number].get_or_init(|| shard);
        // Release pairs with the acquire in `numbered_shards`.
        self.opened.fetch_max(number + 1, Ordering::Release);
        Ok(shard)
    }

    fn start_worker(self: &Arc<Self>, number: usize) -> io::Result<()> {
        let shard = self.shard_for(number)?;
        let shared = self.clone();
        shard.set_fallback_waker(None);
        let name = format!("gossamer-{number}");
        let started = start_thread(&name, move || worker::work(&shared, number, shard));
        if started.is_err() {
            // Tasks of a worker that has retired may wait there.
            shard.set_fallback_waker(Some(self.caller()));
        }
        started
    }

    /// Drops the futures of tasks whose workers have retired. With `all_ended` nobody else runs a shard for
    /// long, unless it is this thread.
    fn end_unowned(&self, all_ended: bool) {
        for (number, shard) in self.numbered_shards() {
            if !self.workers.is_free(number) {
                // It has a thread, which drops its tasks, some of which may have to be dropped there.
                continue;
            }
            let guard = if all_ended && !shard.is_run_by_this_thread() {
                Some(acquire_again(shard))
            } else {
                shard.acquire(false)
            };
            if let Some(guard) = guard {
                let mut left = Fifo::new();
                while let Some(task) = shard.pop_stealable() {
                    // SAFETY: scheduled, taken out of its queue, and we run its shard.
                    left.push(unsafe { Runnable::new(task) }, Reason::Yielded);
                }
                guard.seal();
                shut_down(&guard, &mut left);
            }
        }
    }
}

impl Drop for Shared {
    /// Gives the shards back. Not before the last worker has ended: each looks at all of them, and a shard that is
    /// given back is soon another runtime's.
    fn drop(&mut self) {
        self.end_unowned(false);
        for shard in self.shards().chain([self.injector]) {
            if let Some(guard) = shard.acquire(false) {
                guard.seal();
                runner::end(shard);
                shard.close(guard);
            }
        }
    }
}

/// Calls an idle worker when something was pushed into the injector.
struct CallOne(Weak<Shared>);

impl Wake for CallOne {
    fn wake(self: Arc<Self>) {
        if let Some(shared) = self
            .0
            .upgrade()
            .filter(|_| !gossamer_core::mutant!("injector_calls_nobody"))
        {
            shared.idle.call_one();
        }
    }
}

fn open_shard(pool: u32) -> io::Result<&'static Shard> {
    let shard = Shard::open().ok_or_else(|| {
        io::Error::other("65,535 shards are in use: drop a runtime to build another")
    })?;
    shard.join_pool(pool);
    Ok(shard)
}

#[cfg(all(test, loom))]
mod tests;
