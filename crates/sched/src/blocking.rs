//! Threads for calls that block: as many as needed up to a limit, gone when they have been idle for a while.

use std::collections::VecDeque;
use std::io;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use gossamer_core::fork::{Origin, end_child};
use gossamer_core::platform::{Condvar, Mutex};
use gossamer_task::{JoinHandle, call_as, promise};

use crate::environment::{Environment, tell_of_panic};
use crate::simulated::simulated_threads;
use crate::thread_options::ThreadOptions;
use crate::threads::spawn_thread;

/// The most threads that run blocking calls at once, unless told otherwise; more calls wait in line.
pub const BLOCKING_MAX: usize = if cfg!(any(loom, shuttle)) { 2 } else { 512 };

/// How long an idle thread waits for another call before it ends, unless told otherwise.
const KEEP_FOR: Duration = Duration::from_secs(10);

/// The usual name of such a thread.
const THREAD_NAME: &str = "gossamer-blocking";

/// The threads for calls that block: how many, for how long, and how they are made.
#[derive(Debug, Clone)]
pub struct BlockingOptions {
    /// The most that run calls at once.
    pub threads_max: usize,
    /// How long an idle one waits for another call.
    pub keep_for: Duration,
    /// Their names and stacks.
    pub threads: ThreadOptions,
    /// The runtime that the calls belong to.
    pub environment: Environment,
}

impl BlockingOptions {
    /// # Errors
    /// No thread may run a call.
    pub fn check(&self) -> io::Result<()> {
        if self.threads_max > 0 {
            return Ok(());
        }
        let text = "0 threads for calls that block: there has to be one";
        Err(io::Error::new(io::ErrorKind::InvalidInput, text))
    }
}

impl Default for BlockingOptions {
    fn default() -> Self {
        Self {
            threads_max: BLOCKING_MAX,
            keep_for: KEEP_FOR,
            threads: ThreadOptions::default(),
            environment: Environment::default(),
        }
    }
}

type Job = Box<dyn FnOnce() + Send>;

/// The threads of one runtime that run blocking calls.
pub struct Blocking {
    shared: Arc<Shared>,
}

struct Shared {
    origin: Origin,
    state: Mutex<State>,
    something_new: Condvar,
    options: BlockingOptions,
}

#[derive(Default)]
struct State {
    line: VecDeque<Job>,
    threads: usize,
    idle: usize,
    closed: bool,
}

impl Blocking {
    /// No threads so far; they will be made like this.
    #[must_use]
    pub fn with_options(options: BlockingOptions) -> Self {
        Self {
            shared: Arc::new(Shared {
                origin: Origin::watched(),
                state: Mutex::default(),
                something_new: Condvar::new(),
                options,
            }),
        }
    }

    /// As [`try_spawn`](Blocking::try_spawn).
    ///
    /// # Panics
    /// There is no thread yet, and the system grants none; or in a forked child.
    #[track_caller]
    pub fn spawn<F, T>(&self, work: F, caller: &'static Location<'static>) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let spawned = self.try_spawn(work, caller);
        spawned.unwrap_or_else(|error| refuse(&error, caller))
    }

    /// Runs `work` on one of the threads, in the order of the calls. In a simulation each call has a simulated thread.
    ///
    /// # Errors
    /// There is no thread yet, and the system grants none: other calls that wait for one are cancelled then.
    ///
    /// # Panics
    /// In a forked child.
    #[track_caller]
    pub fn try_spawn<F, T>(
        &self,
        work: F,
        caller: &'static Location<'static>,
    ) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        self.shared.origin.check("spawn_blocking()");
        if simulated_threads().is_some() && !self.shared.state.lock().closed {
            let environment = self.shared.options.environment.clone();
            let call = move || {
                let _call_of = environment.enter_alone();
                work()
            };
            return spawn_thread(THREAD_NAME, call, caller).map_err(|refused| refused.error);
        }
        let (promise, handle) = promise(caller);
        let id = handle.id();
        let call = move || {
            let output = match gossamer_core::mutant!("blocking_thread_panics") {
                true => Ok(work()),
                false => catch_unwind(AssertUnwindSafe(work)),
            };
            if let Err(payload) = &output {
                tell_of_panic(id, || None, caller, &**payload);
            }
            promise.keep(output);
        };
        let job = Box::new(move || call_as(id, call));
        let starts = {
            let mut state = self.shared.state.lock();
            if state.closed {
                drop(state);
                // The call, and with it its promise: the handle says that it was cancelled.
                drop(job);
                return Ok(handle);
            }
            state.line.push_back(job);
            // Idle threads may be on their way to earlier calls.
            let suffice = match gossamer_core::mutant!("blocking_trusts_the_idle") {
                true => state.idle > 0,
                false => state.idle >= state.line.len(),
            };
            let starts = !suffice && state.threads < self.shared.options.threads_max;
            state.threads += usize::from(starts);
            starts
        };
        self.shared.something_new.notify_all();
        if starts {
            self.start()?;
        }
        Ok(handle)
    }

    fn start(&self) -> io::Result<()> {
        let shared = self.shared.clone();
        let threads = &self.shared.options.threads;
        let started = threads.start(THREAD_NAME, move || shared.work());
        if let Err(error) = started {
            let unowned = self.not_started();
            if !unowned.is_empty() {
                drop(unowned);
                return Err(error);
            }
        }
        Ok(())
    }

    /// A thread is not to be had: gives the calls that have none. With other threads there they only wait longer; but
    /// those may not be to be had either, and then who finds that out last takes them all.
    fn not_started(&self) -> VecDeque<Job> {
        let mut state = self.shared.state.lock();
        state.threads -= 1;
        if state.threads == 0 {
            std::mem::take(&mut state.line)
        } else {
            VecDeque::new()
        }
    }

    /// How many threads there are, idle ones included.
    pub fn threads(&self) -> usize {
        self.shared.state.lock().threads
    }
}

#[cold]
fn refuse(error: &io::Error, caller: &Location<'_>) -> ! {
    panic!("spawn_blocking() at {caller}: no thread to be had: {error}");
}

impl Shared {
    /// Runs calls until there has been none for a while.
    fn work(&self) {
        let _calls_of = self.options.environment.enter_alone();
        let mut state = self.state.lock();
        let mut idle_since = Instant::now();
        loop {
            if let Some(job) = state.line.pop_front() {
                drop(state);
                job();
                if self.origin.is_elsewhere() {
                    end_child("a blocking call called fork(), and returned in the child");
                }
                state = self.state.lock();
                idle_since = Instant::now();
                continue;
            }
            let left = self.options.keep_for.saturating_sub(idle_since.elapsed());
            if left.is_zero() || state.closed {
                state.threads -= 1;
                return;
            }
            state.idle += 1;
            state = self.something_new.wait_for(state, left);
            state.idle -= 1;
        }
    }
}

impl Default for Blocking {
    fn default() -> Self {
        Self::with_options(BlockingOptions::default())
    }
}

impl Drop for Blocking {
    fn drop(&mut self) {
        self.end();
    }
}

impl Blocking {
    /// Calls that have not begun are cancelled, and so are those that come later; those that have run on, and nobody
    /// waits for them here.
    pub fn end(&self) {
        let line = {
            let mut state = self.shared.state.lock();
            state.closed = true;
            std::mem::take(&mut state.line)
        };
        self.shared.something_new.notify_all();
        drop(line);
    }
}

gossamer_core::impl_debug!([] Blocking[], this => threads: this.threads());

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
