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
//! # The end
//!
//! Shutting down seals the injector, calls everybody, and waits. Each worker seals its inbox, drops the
//! futures of its tasks, and ends. Before that it closes its queue, so that nothing is stolen meanwhile.

mod idle;
mod queue;
mod worker;

use std::fmt;
use std::io;
use std::num::NonZeroUsize;
use std::panic::Location;
use std::sync::Arc;
use std::task::{Wake, Waker};
use std::time::{Duration, Instant};

use gossamer_core::context;
use gossamer_core::door::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use gossamer_core::door::{Condvar, Mutex, thread};
use gossamer_core::home::Home;
use gossamer_task::{JoinHandle, spawn};

use crate::fifo::Fifo;
use crate::single::{claim_patiently, shut_down};
use idle::Idle;

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
    /// Where the workers' tasks live.
    homes: Vec<&'static Home>,
    /// Workers that have not ended.
    running: Mutex<usize>,
    one_ended: Condvar,
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
        let homes = (0..workers)
            .map(|_| open_home(id))
            .collect::<io::Result<_>>()?;
        let pool = Self {
            shared: Arc::new(Shared {
                id,
                injector,
                idle: Idle::new(),
                closing: AtomicBool::new(false),
                homes,
                running: Mutex::new(0),
                one_ended: Condvar::new(),
                counts: Counts::default(),
            }),
        };
        injector.set_keeper(Waker::from(Arc::new(CallOne(pool.shared.clone()))));
        for (number, home) in pool.shared.homes.iter().enumerate() {
            pool.start_worker(number, home)?;
        }
        Ok(pool)
    }

    fn start_worker(&self, number: usize, home: &'static Home) -> io::Result<()> {
        *self.shared.running.lock() += 1;
        let shared = self.shared.clone();
        let started = thread::Builder::new()
            .name(format!("gossamer-{number}"))
            .spawn(move || worker::work(&shared, home));
        if let Err(error) = started {
            *self.shared.running.lock() -= 1;
            let text = format!(
                "worker {number} of {} could not be started: {error}",
                self.shared.homes.len()
            );
            return Err(io::Error::new(error.kind(), text));
        }
        Ok(())
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
            workers: shared.homes.len(),
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
        let mut running = self.shared.running.lock();
        while *running > usize::from(is_worker) {
            match deadline.map(|deadline| deadline.saturating_duration_since(Instant::now())) {
                None => running = self.shared.one_ended.wait(running),
                Some(Duration::ZERO) => return false,
                Some(left) => running = self.shared.one_ended.wait_for(running, left),
            }
        }
        true
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
            .field("workers", &self.shared.homes.len())
            .finish_non_exhaustive()
    }
}

impl Shared {
    fn is_closing(&self) -> bool {
        // Acquire pairs with the swap in `shutdown`.
        self.closing.load(Ordering::Acquire)
    }
}

impl Drop for Shared {
    /// Gives the homes back. Not before the last worker has ended: each looks at all of them, and a home that is
    /// given back is soon another runtime's.
    fn drop(&mut self) {
        for home in self.homes.iter().chain([&self.injector]) {
            if let Some(claim) = claim_patiently(home, false) {
                claim.seal();
                home.close(claim);
            }
        }
    }
}

/// Calls an idle worker when something was pushed into the injector.
struct CallOne(Arc<Shared>);

impl Wake for CallOne {
    fn wake(self: Arc<Self>) {
        self.0.idle.call_one();
    }
}

fn open_home(pool: u32) -> io::Result<&'static Home> {
    let home = Home::open().ok_or_else(|| {
        io::Error::other("65,535 homes are in use: drop a runtime to build another")
    })?;
    home.join_pool(pool);
    Ok(home)
}
