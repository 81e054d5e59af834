//! The model M:N: tasks run on a number of workers, each a thread that drives a home of its own.
//!
//! # Whose is a task
//!
//! A task lives at one worker's home, and wakes by that worker are plain memory, as in
//! [`Single`](crate::Single). Of what is runnable a worker keeps one task to itself, in the run-next slot; the
//! others are in the home's open queue, under a lock, from which idle workers take half. A worker that wakes a
//! task of an idle worker takes it over ([`gossamer_core::home`]), so a chain of wake-ups stays on one worker,
//! touches no queue, and the others sleep on. Tasks spawned from outside wait in the *injector*, from which a
//! worker takes its share when it has nothing to do, and after each 128 polls.
//!
//! # Going idle
//!
//! A worker with nothing to do (1) gives up the claim of its home, so that others may take its tasks along,
//! (2) announces itself among the idle, (3) looks at inbox, injector and queues for about 20 µs, (4) announces at its
//! inbox that it parks, and (5) parks unless the injector has something. Whoever pushes into the injector
//! does so first and then calls one of the idle; both lists are under locks, so either the worker sees the
//! push, or the pusher finds the worker. A push into the inbox finds the announcement of (4). Between a
//! push into an open queue and the look for idle workers there is a fence, and one after (2).
//!
//! # Resizing
//!
//! Workers have numbers, and so have their homes, which stay as long as the pool. Growing starts threads for the
//! numbers that have none. A worker whose number is surplus retires between two polls: it leaves its runnable
//! tasks in the home's open queue, from which the others steal, and its parked ones where they are: a worker that
//! wakes one takes it along; a wake from outside ends in the home's inbox and calls an idle worker, which looks
//! after it. So nothing is moved that is not woken, and nothing is stranded.
//!
//! # The end
//!
//! Shutting down seals the injector, calls everybody, and waits. Each worker seals its inbox, drops the
//! futures of its tasks, and ends. Before that it closes its queue, so that nothing is stolen meanwhile.

mod crew;
mod idle;
mod queue;
mod resize;
mod worker;

use std::fmt;
use std::io;
use std::num::NonZeroUsize;
use std::panic::Location;
use std::sync::{Arc, OnceLock, Weak};
use std::task::{Wake, Waker};
use std::time::{Duration, Instant};

use gossamer_core::context;
use gossamer_core::door::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use gossamer_core::door::thread;
use gossamer_core::home::Home;
use gossamer_task::{JoinHandle, spawn};

use crate::fifo::Fifo;
use crate::scheduler::{Reason, Runnable, Scheduler};
use crate::single::{claim_patiently, shut_down};
use crew::Crew;
use idle::Idle;
pub use resize::Resize;

/// The most workers a pool can have.
pub const WORKERS_MAX: usize = 1024;

/// A runtime of the model M:N.
pub struct Pool {
    shared: Arc<Shared>,
}

/// What the workers of a pool share.
struct Shared {
    id: u32,
    /// Where tasks spawned from outside wait; nobody drives it.
    injector: &'static Home,
    idle: Idle,
    closing: AtomicBool,
    /// Where tasks live, by the numbers of the workers there have ever been.
    homes: Box<[OnceLock<&'static Home>]>,
    crew: Crew,
    counts: Counts,
}

/// What the workers have done since the pool was built.
#[derive(Debug, Default)]
struct Counts {
    parks: AtomicU64,
    stolen: AtomicU64,
}

/// What a [`Pool`] is doing and has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metrics {
    /// Workers.
    pub workers: usize,
    /// Of these, idle at this moment.
    pub idle: usize,
    /// Tasks spawned from outside that no worker has taken yet.
    pub injected: usize,
    /// Times a worker parked.
    pub parks: u64,
    /// Tasks that a worker has taken out of another's queue.
    pub stolen: u64,
}

impl Pool {
    /// Starts a pool.
    ///
    /// # Errors
    /// More than [`WORKERS_MAX`] workers; the system grants no more threads; or 65,535 homes are in use. What had
    /// been started has ended then.
    pub fn new(workers: NonZeroUsize) -> io::Result<Self> {
        let workers = workers.get();
        if workers > WORKERS_MAX {
            let text = format!("{workers} workers: a pool has 1 to {WORKERS_MAX}");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        static POOLS: AtomicU32 = AtomicU32::new(0);
        // Relaxed: any number that no other living pool has. Zero is no pool.
        let id = POOLS.fetch_add(1, Ordering::Relaxed).wrapping_add(1).max(1);
        let injector = open_home(id)?;
        let pool = Self {
            shared: Arc::new(Shared {
                id,
                injector,
                idle: Idle::new(),
                closing: AtomicBool::new(false),
                homes: (0..WORKERS_MAX).map(|_| OnceLock::new()).collect(),
                crew: Crew::new(workers),
                counts: Counts::default(),
            }),
        };
        injector.set_keeper(Some(pool.shared.caller()));
        pool.shared.hire()?;
        Ok(pool)
    }

    /// Spawns a task: onto the current worker, if this is one of the pool's, else into the injector.
    pub fn spawn<F>(&self, future: F, caller: &'static Location<'static>) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let here = context::with(context::Context::home);
        let home = if here != context::NOWHERE && Home::at(here).pool() == self.shared.id {
            Home::at(here)
        } else {
            self.shared.injector
        };
        // SAFETY: a home that is driven here is open; the injector is closed by `shutdown`, which turns tasks away.
        unsafe { spawn(home, future, caller) }
    }

    /// What the pool is doing and has done. A moment's look: the figures need not belong together.
    pub fn metrics(&self) -> Metrics {
        let shared = &self.shared;
        Metrics {
            workers: shared.crew.count(),
            idle: shared.idle.len(),
            injected: shared.injector.waiting(),
            // Relaxed: statistics.
            parks: shared.counts.parks.load(Ordering::Relaxed),
            stolen: shared.counts.stolen.load(Ordering::Relaxed), // Relaxed: as above
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
        let deadline = limit.map(|limit| Instant::now() + limit);
        // SeqCst is not needed: the locks of `idle` and the injector order this; Release pairs with the acquire in
        // `is_closing`.
        if !self.shared.closing.swap(true, Ordering::AcqRel) {
            self.close_injector();
        }
        self.shared.idle.call_all();
        let here = context::with(context::Context::home);
        let is_worker = here != context::NOWHERE && Home::at(here).pool() == self.shared.id;
        let all_ended = self
            .shared
            .crew
            .wait_until_left(usize::from(is_worker), deadline);
        self.shared.end_orphans();
        all_ended
    }

    /// Drops the futures that no worker has taken, on this thread.
    fn close_injector(&self) {
        let Some(claim) = claim_patiently(self.shared.injector, false) else {
            return;
        };
        claim.seal();
        shut_down(&claim, &mut Fifo::new());
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        // Whoever has called `shutdown` has waited as long as it wanted.
        if !self.shared.is_closing() {
            self.shutdown(None);
        }
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool")
            .field("workers", &self.shared.crew.count())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared")
            .field("workers", &self.crew.count())
            .finish_non_exhaustive()
    }
}

impl Shared {
    fn is_closing(&self) -> bool {
        // Acquire pairs with the swap in `shutdown`.
        self.closing.load(Ordering::Acquire)
    }

    /// The homes of all workers there have ever been, by number.
    fn homes(&self) -> impl Iterator<Item = &'static Home> {
        self.homes.iter().map_while(OnceLock::get).copied()
    }

    /// Whether an idle worker could steal something, or look after a home without a worker.
    fn has_work_elsewhere(&self) -> bool {
        self.homes().enumerate().any(|(number, home)| {
            home.open_len() > 0 || home.has_pending() && self.crew.is_surplus(number)
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
    fn hire(self: &Arc<Self>) -> io::Result<()> {
        while let Some(number) = self.crew.hire() {
            if let Err(error) = self.start_worker(number) {
                self.crew.end(number);
                let count = self.crew.count();
                self.crew.set_target(count.max(1));
                let text =
                    format!("worker {number} could not be started, there are {count}: {error}");
                return Err(io::Error::new(error.kind(), text));
            }
        }
        Ok(())
    }

    fn start_worker(self: &Arc<Self>, number: usize) -> io::Result<()> {
        let home = match self.homes[number].get() {
            Some(home) => *home,
            None => {
                let home = open_home(self.id)?;
                *self.homes[number].get_or_init(|| home)
            }
        };
        home.set_keeper(None);
        let shared = self.clone();
        thread::Builder::new()
            .name(format!("gossamer-{number}"))
            .spawn(move || worker::work(&shared, number, home))?;
        Ok(())
    }

    /// Drops the futures of tasks whose workers have retired.
    fn end_orphans(&self) {
        for home in self.homes() {
            if let Some(claim) = home.claim(false) {
                let mut left = Fifo::new();
                while let Some(task) = home.pop_open() {
                    // SAFETY: scheduled, taken out of its queue, and we drive its home.
                    left.push(unsafe { Runnable::new(task) }, Reason::Yielded);
                }
                claim.seal();
                shut_down(&claim, &mut left);
            }
        }
    }
}

impl Drop for Shared {
    /// Gives the homes back. Not before the last worker has ended: each looks at all of them, and a home that is
    /// given back is soon another runtime's.
    fn drop(&mut self) {
        self.end_orphans();
        for home in self.homes().chain([self.injector]) {
            if let Some(claim) = claim_patiently(home, false) {
                claim.seal();
                home.close(claim);
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
            .filter(|_| !cfg!(mutant = "injector_calls_nobody"))
        {
            shared.idle.call_one();
        }
    }
}

fn open_home(pool: u32) -> io::Result<&'static Home> {
    let home = Home::open().ok_or_else(|| {
        io::Error::other("65,535 homes are in use: drop a runtime to build another")
    })?;
    home.join_pool(pool);
    Ok(home)
}
