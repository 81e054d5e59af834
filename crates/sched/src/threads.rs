//! The model 1:1: each task is an OS thread that drives its future.
//!
//! A thread drives a home of its own with one task in it, and parks while that is pending; so wakes, joins and
//! aborts are those of the other models. The thread ends when its task has ended.

use std::fmt;
use std::io;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use gossamer_core::context;
use gossamer_core::door::atomic::{AtomicBool, Ordering};
use gossamer_core::door::{Condvar, Mutex, start_thread};
use gossamer_core::fork::Origin;
use gossamer_core::home::{Claim, Home};
use gossamer_core::moment::Moment;
use gossamer_core::parker::Parker;
use gossamer_task::{JoinHandle, promise, spawn, spawn_nowhere};
use gossamer_time::timers::driver;

use crate::environment::Environment;
use crate::fifo::Fifo;
use crate::scheduler::{Reason, Runnable, Scheduler};
use crate::single::{Ran, claim_again, hand_over, run, shut_down};

/// Polls between two looks at the timers, and at whether the runtime is shutting down.
const POLLS: u32 = if cfg!(shuttle) { 4 } else { 128 };

/// A runtime of the model 1:1.
pub struct Threads {
    shared: Arc<Shared>,
}

struct Shared {
    environment: Environment,
    closing: AtomicBool,
    /// The homes of the threads that have not ended.
    homes: Mutex<Vec<&'static Home>>,
    one_ended: Condvar,
}

/// Nothing was spawned, as `error` says why: no thread or no stack was to be had, say. What was to be run comes back.
pub struct SpawnError<F> {
    /// Why.
    pub error: io::Error,
    /// What was to be run: a future, or a closure.
    pub future: F,
}

impl<F> fmt::Debug for SpawnError<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SpawnError")
            .field("error", &self.error)
            .finish_non_exhaustive()
    }
}

impl<F> fmt::Display for SpawnError<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not spawned: {}", self.error)
    }
}

impl<F> std::error::Error for SpawnError<F> {}

impl Threads {
    /// No threads so far.
    #[must_use]
    pub fn new() -> Self {
        Self {
            shared: Arc::new(Shared {
                environment: Environment::default(),
                closing: AtomicBool::new(false),
                homes: Mutex::new(Vec::new()),
                one_ended: Condvar::new(),
            }),
        }
    }

    /// Starts a thread that runs `future`.
    ///
    /// # Panics
    /// The system grants no more threads.
    #[track_caller]
    pub fn spawn<F>(&self, future: F, caller: &'static Location<'static>) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        match self.try_spawn(future, caller) {
            Ok(handle) => handle,
            Err(SpawnError { error, future }) => {
                drop(future);
                let running = self.shared.homes.lock().len();
                panic!(
                    "spawn() at {caller}: {error} (beside {running} that run tasks): raise the limit, use try_spawn(), \
                     or a model with fewer threads"
                );
            }
        }
    }

    /// Starts a thread that runs `future`.
    ///
    /// # Errors
    /// The system grants no more threads: the future comes back.
    pub fn try_spawn<F>(
        &self,
        future: F,
        caller: &'static Location<'static>,
    ) -> Result<JoinHandle<F::Output>, SpawnError<F>>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let Some(home) = Home::open() else {
            let error = io::Error::other("65,535 homes are in use");
            return Err(SpawnError { error, future });
        };
        home.set_threaded();
        {
            let mut homes = self.shared.homes.lock();
            if self.shared.is_closing() {
                drop(homes);
                close_unused(home);
                return Ok(spawn_nowhere(future, caller));
            }
            homes.push(home);
        }
        let shared = self.shared.clone();
        let started = start_thread("gossamer-task", move || drive(&shared, home));
        match started {
            // SAFETY: the thread does not close the home before a task has come, and this is the one.
            Ok(()) => Ok(unsafe { spawn(home, future, caller) }),
            Err(error) => {
                self.shared.forget(home);
                close_unused(home);
                Err(SpawnError { error, future })
            }
        }
    }

    /// What its tasks find around them.
    pub fn environment(&self) -> &Environment {
        &self.shared.environment
    }

    /// Drops the futures of all tasks, each on its thread, once its current poll has ended.
    ///
    /// # Blocking
    /// Until all threads have ended (but not the one that calls), or until `limit`; they end later then.
    ///
    /// # Returns
    /// Whether all threads have ended.
    pub fn shutdown(&self, limit: Option<Duration>) -> bool {
        let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
        let mut homes = self.shared.homes.lock();
        // Release pairs with the acquire in `is_closing`.
        self.shared.closing.store(true, Ordering::Release);
        for home in homes
            .iter()
            .filter(|_| !gossamer_core::mutant!("threads_not_called"))
        {
            home.call();
        }
        // Perhaps from inside another runtime that one of our tasks drives.
        let mine = usize::from(homes.iter().any(|home| home.is_driven_by_this_thread()));
        while homes.len() > mine {
            match deadline.map(|deadline| deadline.saturating_duration_since(Instant::now())) {
                None => homes = self.shared.one_ended.wait(homes),
                Some(Duration::ZERO) => return false,
                Some(left) => homes = self.shared.one_ended.wait_for(homes, left),
            }
        }
        true
    }
}

impl Default for Threads {
    fn default() -> Self {
        Self::new()
    }
}

impl Threads {
    /// Ends all threads, unless somebody has called [`shutdown`](Threads::shutdown), who has waited as long as it
    /// wanted.
    pub fn end(&self) {
        if !self.shared.is_closing() {
            self.shutdown(None);
        }
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.end();
    }
}

impl fmt::Debug for Threads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Threads")
            .field("running", &self.shared.homes.lock().len())
            .finish_non_exhaustive()
    }
}

impl Shared {
    fn is_closing(&self) -> bool {
        // Acquire pairs with the release in `shutdown`.
        self.closing.load(Ordering::Acquire)
    }

    fn forget(&self, home: &Home) {
        let mut homes = self.homes.lock();
        // One of them: the home has been given back, and may be in the list again for another thread.
        if let Some(at) = homes.iter().position(|other| other.index() == home.index()) {
            homes.swap_remove(at);
        }
        drop(homes);
        self.one_ended.notify_all();
    }
}

/// What a task's thread does.
fn drive(shared: &Shared, home: &'static Home) {
    let _tasks_of = shared.environment.enter_early();
    // A thread that saw the home's last use may hold the claim for a moment.
    let claim = claim_again(home);
    let mut queue = One::default();
    Parker::with(|parker| {
        while !shared.is_closing() {
            let ran = run(&claim, &mut queue, POLLS, None);
            if driver::serve(home) || ran != Ran::Idle {
                continue;
            }
            if queue.seen && home.driver.owned.first().is_none() {
                break;
            }
            if home.park(parker.waker()) && !shared.is_closing() {
                let until = driver::next_deadline(home);
                parker.park_until(until, || home.has_pending() || shared.is_closing());
            }
        }
        // Also while the runtime is shutting down, the home stays open until the task has come: `try_spawn` counts on
        // it. The end then drops its future. (What comes before may be a late wake of a task that is over, and had the
        // home before.)
        while !queue.seen && !gossamer_core::mutant!("closed_before_the_task") {
            if claim.drain() {
                context::with(|context| hand_over(context, &mut queue));
                if gossamer_core::mutant!("late_wake_is_the_task") {
                    break;
                }
            } else if home.park(parker.waker()) {
                parker.park_until(Moment::NEVER, || home.waiting() > 0);
            }
        }
    });
    end(claim, &mut queue);
    shared.forget(home);
}

fn end(claim: Claim, queue: &mut One) {
    claim.seal();
    shut_down(&claim, queue);
    driver::end(claim.home());
    claim.home().close(claim);
}

/// Closes a home for which there is no thread.
fn close_unused(home: &'static Home) {
    end(claim_again(home), &mut One::default());
}

/// A queue that remembers whether there ever was a task.
#[derive(Default)]
struct One {
    fifo: Fifo,
    seen: bool,
}

impl Scheduler for One {
    fn push(&mut self, task: Runnable, reason: Reason) {
        self.seen = true;
        self.fifo.push(task, reason);
    }

    fn pop(&mut self) -> Option<Runnable> {
        self.fifo.pop()
    }
}

/// Starts an OS thread of this name that runs `work`. It belongs to no runtime: nobody waits for its end but who joins it.
///
/// # Errors
/// The system grants no more threads: `work` comes back.
pub fn spawn_thread<F, T>(
    name: &str,
    work: F,
    caller: &'static Location<'static>,
) -> Result<JoinHandle<T>, SpawnError<F>>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    // The handle is refused in a forked child.
    let _from_now_on = Origin::watched();
    let (promise, handle) = promise(caller);
    // Shared, so that it can be taken back if no thread takes it.
    let work = Arc::new(Mutex::new(Some((work, promise))));
    let taken = work.clone();
    let started = start_thread(name, move || {
        let taken = taken.lock().take();
        if let Some((work, promise)) = taken {
            let output = catch_unwind(AssertUnwindSafe(work));
            gossamer_core::aside::end_thread();
            promise.keep(output);
        }
    });
    match started {
        Ok(()) => Ok(handle),
        Err(error) => {
            let Some((work, promise)) = work.lock().take() else {
                unreachable!("no thread has taken it");
            };
            drop(promise);
            Err(SpawnError {
                error,
                future: work,
            })
        }
    }
}
