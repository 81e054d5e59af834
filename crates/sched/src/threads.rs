//! The model 1:1: each task is an OS thread that runs its future.
//!
//! A thread runs a shard of its own with one task in it, and parks while that is pending; so wakes, joins and
//! aborts are those of the other models. The thread ends when its task has ended.

use std::fmt;
use std::io;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use gossamer_core::context;
use gossamer_core::fork::Origin;
use gossamer_core::header::Payload;
use gossamer_core::moment::Moment;
use gossamer_core::parker::Parker;
use gossamer_core::platform::atomic::{AtomicBool, Ordering};
use gossamer_core::platform::{Condvar, Mutex, start_thread};
use gossamer_core::shard::{Shard, ShardGuard};
use gossamer_task::{JoinHandle, call_as, promise, spawn, spawn_nowhere};
use gossamer_time::timers::runner;

use crate::deadline::wait_while;
use crate::environment::Environment;
use crate::fifo::Fifo;
use crate::runnable::Runnable;
use crate::scheduler::{Reason, Scheduler};
use crate::simulated::simulated_threads;
use crate::single::{Ran, acquire_again, hand_over, run, shut_down};
use crate::thread_options::ThreadOptions;

/// Polls between two looks at the timers, and at whether the runtime is shutting down.
const POLLS: u32 = if cfg!(shuttle) { 4 } else { 128 };

/// A runtime of the model 1:1.
pub struct Threads {
    shared: Arc<Shared>,
}

struct Shared {
    threads: ThreadOptions,
    environment: Environment,
    closing: AtomicBool,
    /// The shards of the threads that have not ended.
    shards: Mutex<Vec<&'static Shard>>,
    one_ended: Condvar,
}

/// Nothing was spawned, as `error` says why: no thread or no stack was to be had, say. What was to be run comes back.
pub struct SpawnError<F> {
    /// Why.
    pub error: io::Error,
    /// The future or closure that was to be run.
    pub future: F,
}

gossamer_core::impl_debug_as_display!([F] SpawnError[F]);

impl<F> SpawnError<F> {
    /// With another future, made of this one.
    pub fn map<G>(self, make: impl FnOnce(F) -> G) -> SpawnError<G> {
        SpawnError {
            error: self.error,
            future: make(self.future),
        }
    }
}

impl<F> fmt::Display for SpawnError<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not spawned: {}", self.error)
    }
}

impl<F> std::error::Error for SpawnError<F> {}

impl Threads {
    /// No threads so far; they will be made like this.
    #[must_use]
    pub fn with_options(threads: ThreadOptions) -> Self {
        Self {
            shared: Arc::new(Shared {
                threads,
                environment: Environment::default(),
                closing: AtomicBool::new(false),
                shards: Mutex::new(Vec::new()),
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
                self.refuse(&error, caller);
            }
        }
    }

    /// Panics: there is no thread for a task.
    #[cold]
    #[track_caller]
    pub fn refuse(&self, error: &io::Error, caller: &'static Location<'static>) -> ! {
        let running = self.shared.shards.lock().len();
        panic!(
            "spawn() at {caller}: {error} (beside {running} that run tasks): raise the limit, use try_spawn(), or a model \
             with fewer threads"
        );
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
        match self.shard_here() {
            // The thread does not close the shard before a task has come, and this is the one.
            Ok(Some(shard)) => Ok(spawn(shard, future, caller)),
            Ok(None) => Ok(spawn_nowhere(future, caller)),
            Err(error) => Err(SpawnError { error, future }),
        }
    }

    /// Starts a thread, which runs the shard that is returned, for one task; none, if the runtime is shutting down. The
    /// caller spawns a task there: the thread waits for it.
    ///
    /// # Errors
    /// The system grants no more threads.
    pub fn shard_here(&self) -> io::Result<Option<&'static Shard>> {
        let Some(shard) = Shard::open() else {
            return Err(io::Error::other("65,535 shards are in use"));
        };
        shard.set_threaded();
        {
            let mut shards = self.shared.shards.lock();
            if self.shared.is_closing() {
                drop(shards);
                close_unused(shard);
                return Ok(None);
            }
            shards.push(shard);
        }
        let shared = self.shared.clone();
        let work = move || run_shard(&shared, shard);
        if let Err(error) = self.shared.threads.start("gossamer-task", work) {
            self.shared.forget(shard);
            close_unused(shard);
            return Err(error);
        }
        Ok(Some(shard))
    }

    /// Returns the environment that the runtime's tasks run in.
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
        let shards = self.shared.shards.lock();
        // Release pairs with the acquire in `is_closing`.
        self.shared.closing.store(true, Ordering::Release);
        for shard in shards
            .iter()
            .filter(|_| !gossamer_core::mutant!("threads_not_called"))
        {
            shard.call();
        }
        // Perhaps from inside another runtime that one of our tasks runs.
        let mine = usize::from(shards.iter().any(|shard| shard.is_run_by_this_thread()));
        wait_while(&self.shared.one_ended, shards, deadline, |shards| {
            shards.len() > mine
        })
    }
}

impl Default for Threads {
    fn default() -> Self {
        Self::with_options(ThreadOptions::default())
    }
}

impl Threads {
    /// Ends all threads, unless somebody has called [`shutdown`](Threads::shutdown), who has waited as long as it
    /// wanted. Blocks until `limit`.
    pub fn end(&self, limit: Option<Duration>) {
        if !self.shared.is_closing() {
            self.shutdown(limit);
        }
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.end(None);
    }
}

gossamer_core::impl_debug!([] Threads[], this => running: this.shared.shards.lock().len());

impl Shared {
    fn is_closing(&self) -> bool {
        // Acquire pairs with the release in `shutdown`.
        self.closing.load(Ordering::Acquire)
    }

    fn forget(&self, shard: &Shard) {
        let mut shards = self.shards.lock();
        // One of them: the shard has been given back, and may be in the list again for another thread.
        if let Some(at) = shards
            .iter()
            .position(|other| other.index() == shard.index())
        {
            shards.swap_remove(at);
        }
        drop(shards);
        self.one_ended.notify_all();
    }
}

/// The body of a task's thread: runs the task's shard until no task is left there, or the runtime shuts down.
fn run_shard(shared: &Shared, shard: &'static Shard) {
    let _tasks_of = shared.environment.enter_early();
    // A thread that saw the shard's last use may hold the guard for a moment.
    let guard = acquire_again(shard);
    let mut queue = One::default();
    Parker::with(|parker| {
        while !shared.is_closing() {
            let ran = run(&guard, &mut queue, POLLS, None);
            if runner::serve(shard) || ran != Ran::Idle {
                continue;
            }
            if queue.seen && guard.first_task(false).is_none() {
                break;
            }
            if shard.park(parker.waker()) && !shared.is_closing() {
                parker.look();
                let until = runner::next_deadline(shard);
                parker.park_until(until, &mut || shard.has_pending() || shared.is_closing());
            }
        }
        // Also while the runtime is shutting down, the shard stays open until the task has come: who spawns it counts
        // on that. The end then drops its future. (What comes before may be a late wake of a task that is over, and had the
        // shard before.)
        while !queue.seen && !gossamer_core::mutant!("closed_before_the_task") {
            if guard.drain() {
                context::with(|context| hand_over(context, &mut queue));
                if gossamer_core::mutant!("late_wake_is_the_task") {
                    break;
                }
            } else if shard.park(parker.waker()) {
                parker.park_until(Moment::NEVER, &mut || shard.waiting() > 0);
            }
        }
    });
    end(guard, &mut queue);
    shared.forget(shard);
}

fn end(guard: ShardGuard, queue: &mut One) {
    guard.seal();
    shut_down(&guard, queue);
    runner::end(guard.shard());
    guard.close();
}

/// Closes a shard for which there is no thread.
fn close_unused(shard: &'static Shard) {
    end(acquire_again(shard), &mut One::default());
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

/// Starts an OS thread of this name that runs `work`. It belongs to no runtime: nobody waits for its end but who joins
/// it. In a simulation it is a simulated thread.
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
    let id = handle.id();
    // Shared, so that it can be taken back if no thread takes it.
    let work = Arc::new(Mutex::new(Some((work, promise))));
    let taken = work.clone();
    let body = move |is_panic: &mut dyn FnMut(&Payload) -> bool| {
        let taken = taken.lock().take();
        let Some((work, promise)) = taken else { return };
        call_as(id, || {
            let output = catch_unwind(AssertUnwindSafe(work));
            gossamer_task::locals::end_thread();
            // Else the promise goes, and its handle says that the thread was cancelled.
            if output.as_ref().err().is_none_or(is_panic) {
                promise.keep(output);
            }
        });
    };
    let started = match simulated_threads() {
        Some(threads) => {
            let handle = handle.task().as_ptr().addr();
            threads.start(name, handle, Box::new(body), caller)
        }
        None => start_thread(name, None, move || body(&mut |_| true)),
    };
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
