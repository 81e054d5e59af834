//! Runtimes: the threads that run tasks, how many they are, and what is known of them.
//!
//! | model | tasks run | for |
//! | --- | --- | --- |
//! | [`Model::Single`] | on the thread that built the runtime, while it waits or is inside [`Runtime::block_on`] | programs of one thread, tasks that are not `Send` |
//! | [`Model::Pool`] | on so many workers, which take work from each other | the usual case, and the default: one worker for each processor |
//! | [`Model::Threads`] | on an OS thread each | few tasks that compute or block |
//!
//! The model is a value: it may be read from the command line (`"pool:4".parse()`), and a pool's size changes while it runs
//! ([`Runtime::resize`]).

mod builder;
#[cfg(all(feature = "dumps", unix, not(any(loom, shuttle))))]
mod quitting;
mod structured;

use std::mem;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

pub use gossamer_core::dump::{
    Deadlock, Dump, HeldBy, Interest, OpenSocket, Waiter, WaiterKind, WaitsFor,
};
pub use gossamer_fiber::Fibers;
use gossamer_sched::{Environment, Fifo, Single, run_blocking};
pub use gossamer_sched::{Hold, LocalScope, Metrics, SpawnError, Stopped, Stuck, TaskPanic};
use gossamer_task::JoinHandle;

pub use self::builder::Builder;
pub use crate::handle::Handle;
pub use crate::model::{Model, ParseModelError};
pub use crate::resize::Resize;
use crate::shared::{Inner, Shared};

/// Runs tasks.
///
/// `Send` and `Sync`: tasks may be spawned from any thread. Under [`Model::Single`] they run while a
/// thread is inside [`block_on`](Runtime::block_on), or while the thread that built the runtime waits for
/// something; under the other models they run at once, on threads of the runtime. If the thread that built a
/// [`Model::Single`] ends before it, they run in [`block_on`](Runtime::block_on) alone: waiting for the handle of one
/// panics when for ten seconds no thread has called it.
///
/// # Cancellation
/// Dropping the runtime drops every task's future, whatever state the task is in: on the dropping thread under
/// [`Model::Single`], else on the thread where the task lives, and the drop waits until those threads have ended
/// (each ends its current poll first). The tasks of a pool that no worker has taken yet, and those of workers that
/// have retired, are dropped on the dropping thread. The join handles say that the tasks were cancelled. Wakers that
/// fire later do nothing.
///
/// # In a forked child
/// `fork()` copies one thread. If the process had no other, all goes on, in both processes. Else the child refuses what
/// was begun before, and says so: a runtime of any model and its handles panic (`try_spawn` and `resize` give an
/// error), and so does waiting for their tasks and blocking calls, and for threads. Dropping such a runtime leaks it. A
/// new runtime works, and so does `exec`.
///
/// A task, or the future of a `block_on`, that forks must not yield in the child, nor may a scope end there that was
/// open: the child is aborted then, with the same message. It may exec or exit first.
///
/// The caller of `fork`, which is unsafe, promises one thing more: the child uses no primitive, operation or timer that
/// another thread of the parent could use at that moment, not even to drop it. That thread may have had its lock, which
/// stays locked then, or waited at it, with a node on a stack that the child uses anew. Locks of the standard library
/// may stay locked too: one is held while a thread starts or ends, and a child that was forked meanwhile hangs when it
/// starts a thread (seen once in 20,000 forks).
pub struct Runtime {
    shared: Arc<Shared>,
}

impl Runtime {
    /// Spawns a task.
    ///
    /// A task that panics gives its payload to the task or thread that joins it. Other tasks are unharmed.
    ///
    /// # Panics
    /// [In a forked child](Runtime#in-a-forked-child).
    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.shared.spawn(future, Location::caller())
    }

    /// Calls `body` as code of this runtime: [`spawn`](crate::spawn), [`Handle::current`](crate::Handle::current) and
    /// the functions of [`par`](crate::par) use it. It runs no task.
    ///
    /// # Panics
    /// [In a forked child](Runtime#in-a-forked-child). In a fiber of another runtime, which may stand still inside, and in a
    /// simulation.
    ///
    /// # Examples
    /// ```
    /// use gossamer::{Runtime, Wait};
    ///
    /// let rt = Runtime::new()?;
    /// let task = rt.enter(|| gossamer::spawn(async { 1 }));
    /// assert_eq!(task.wait()?, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn enter<R>(&self, body: impl FnOnce() -> R) -> R {
        self.shared.origin.check("enter()");
        self.shared.enter(body)
    }

    /// Returns the counts of a pool's workers, tasks and events, or `None` under the other models.
    ///
    /// # Panics
    /// [In a forked child](Runtime#in-a-forked-child).
    #[track_caller]
    pub fn metrics(&self) -> Option<Metrics> {
        self.shared.origin.check("metrics()");
        match &self.shared.inner {
            Inner::Pool(pool) => Some(pool.metrics()),
            Inner::Single { .. } | Inner::Threads(_) => None,
        }
    }

    /// Changes the number of workers of a [`Model::Pool`] while they work; complete when there are so many. May be
    /// called from inside and outside, at any time.
    ///
    /// A worker that is surplus retires when its current poll has ended; the others take over its tasks.
    ///
    /// # Cancellation
    /// Dropped before its first poll, it changes nothing; later the pool is resized all the same.
    ///
    /// # Errors
    /// No workers, or more than 1,024; the system grants no more threads (the pool keeps those it has); the runtime
    /// is shutting down; another resize came in between; this is a forked child; or the model has no workers
    /// ([`Unsupported`](std::io::ErrorKind::Unsupported)).
    ///
    /// # Examples
    /// ```
    /// use gossamer::{Model, Runtime, Wait};
    ///
    /// let rt = Runtime::builder().model(Model::Pool { workers: 1 }).build()?;
    /// rt.resize(3).wait()?;
    /// assert_eq!(rt.metrics().map(|metrics| metrics.workers), Some(3));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn resize(&self, workers: usize) -> Resize {
        let of_pool = match &self.shared.inner {
            Inner::Pool(pool) => Some(pool.resize(workers)),
            Inner::Single { .. } | Inner::Threads(_) => None,
        };
        Resize::new(of_pool, &self.shared)
    }

    /// Spawns a task, if the system grants a thread for it under [`Model::Threads`]; under the other models as
    /// [`spawn`](Runtime::spawn).
    ///
    /// # Errors
    /// The system grants no more threads; or [in a forked child](Runtime#in-a-forked-child): the future comes back.
    #[track_caller]
    pub fn try_spawn<F>(&self, future: F) -> Result<JoinHandle<F::Output>, SpawnError<F>>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.shared.try_spawn(future, Location::caller())
    }

    /// Starts an OS thread that uses the same primitives as the tasks do, by [`.wait()`](crate::Wait::wait).
    ///
    /// The thread does not end with the runtime, and [`abort`](JoinHandle::abort) does nothing to it. A panic comes
    /// back as an error, with its payload.
    ///
    /// # Panics
    /// The system grants no more threads; see [`try_spawn_thread`](Runtime::try_spawn_thread).
    ///
    /// # Examples
    /// ```
    /// use std::sync::Arc;
    /// use gossamer::{Runtime, Wait, sync::MVar};
    ///
    /// let rt = Runtime::builder().build()?;
    /// let mvar = Arc::new(MVar::empty());
    /// let put = mvar.clone();
    /// let thread = rt.spawn_thread(move || put.put(1).wait());
    /// assert_eq!(mvar.take().wait(), 1);
    /// thread.wait()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn spawn_thread<F, T>(&self, work: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        crate::threads::spawn_thread(work)
    }

    /// As [`spawn_thread`](Runtime::spawn_thread).
    ///
    /// # Errors
    /// The system grants no more threads: the closure comes back.
    #[track_caller]
    pub fn try_spawn_thread<F, T>(&self, work: F) -> Result<JoinHandle<T>, SpawnError<F>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        crate::threads::try_spawn_thread(work)
    }

    /// Spawns a fiber: a closure that runs as a task does, on a stack of its own, and stands still where it waits.
    ///
    /// Wherever it calls [`.wait()`](crate::Wait::wait), in whatever function, its worker runs others meanwhile (but
    /// not in a destructor while it unwinds). Its stack has 256 KiB of addresses unless [told otherwise](Fibers::stack_size), of which what is used
    /// costs memory.
    ///
    /// A fiber stays with the thread it began on: a worker with fibers outlasts a [`resize`](Runtime::resize) (it runs
    /// nothing else then), and under [`Model::Single`] only that thread can run the runtime while the fiber lives. If
    /// such a runtime is dropped on another thread, which says so, or forgotten, the fiber stands still until its own
    /// thread ends.
    ///
    /// # Cancellation
    /// [`abort`](JoinHandle::abort) and the end of the runtime have the fiber unwind out of the wait it is in, and out
    /// of every later one, so destructors run. A destructor that waits meanwhile blocks its thread, for good if it
    /// waits for something that this thread runs. A closure that catches every unwinding, and waits again, never ends.
    /// A thread that ends, also the main thread at the end of the process, has the fibers unwind that stand still on
    /// it, and waits for that: what they have loaned may go with the thread. Their handles then say that they were
    /// cancelled, or what they panicked with, as soon as somebody runs the runtime, which any thread may again.
    /// Frames of C code must not be unwound: a fiber whose callbacks wait makes the call by [`foreign`](crate::foreign).
    ///
    /// # C code
    /// C's error number, `errno`, is each fiber's own: a wait leaves it as it was, whatever others do while the fiber
    /// stands still, and whatever the future sets. The mask of blocked signals is not (it would cost a system call at
    /// each switch): what a fiber blocks is blocked for all that its thread runs.
    ///
    /// # Panics
    /// The builder was given no [`Fibers`](Builder::fibers); there is no memory for the stack, or no thread; see
    /// [`try_spawn_fiber`](Runtime::try_spawn_fiber). A panic of the closure comes back as an error when the fiber is
    /// joined.
    ///
    /// # Examples
    /// ```
    /// use std::sync::Arc;
    /// use gossamer::{Fibers, Model, Runtime, Wait, sync::MVar};
    ///
    /// // SAFETY: no code here, nor in the dependencies, waits while it uses a thread-local like a stack, or initialises one.
    /// let fibers = unsafe { Fibers::contract() };
    /// let rt = Runtime::builder().model(Model::Pool { workers: 2 }).fibers(fibers).build()?;
    /// let mvar = Arc::new(MVar::empty());
    /// let from = mvar.clone();
    /// let fiber = rt.spawn_fiber(move || [1, 2, 3].map(|_| from.take().wait()));
    /// for value in 0..3 {
    ///     mvar.put(value).wait();
    /// }
    /// assert_eq!(fiber.wait()?, [0, 1, 2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn spawn_fiber<F, T>(&self, body: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        self.shared.spawn_fiber(body, Location::caller())
    }

    /// As [`spawn_fiber`](Runtime::spawn_fiber).
    ///
    /// # Errors
    /// The builder was given no [`Fibers`](Builder::fibers) ([`Unsupported`](std::io::ErrorKind::Unsupported)); there is no
    /// memory for the stack, or, under [`Model::Threads`], no thread: the closure comes back.
    #[track_caller]
    pub fn try_spawn_fiber<F, T>(&self, body: F) -> Result<JoinHandle<T>, SpawnError<F>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        self.shared.try_spawn_fiber(body, Location::caller())
    }

    /// Runs a call that blocks on a thread for such calls: started when none is idle, at most 512 at once (more
    /// calls wait in line), gone after ten idle seconds, unless the [builder](Builder::max_blocking_threads) says otherwise.
    ///
    /// # Cancellation
    /// Dropping the handle detaches; [`abort`](JoinHandle::abort) does nothing. When the runtime is dropped, calls
    /// that have not begun are cancelled, and those that have run on by themselves.
    ///
    /// # Panics
    /// There is no such thread yet, and the system grants none; or
    /// [in a forked child](Runtime#in-a-forked-child).
    ///
    /// # Examples
    /// ```
    /// use gossamer::{Runtime, Wait};
    ///
    /// let rt = Runtime::builder().build()?;
    /// let read = rt.spawn_blocking(|| std::fs::read_to_string("/proc/self/stat").map(|text| text.len()));
    /// assert!(read.wait()?? > 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn spawn_blocking<F, T>(&self, work: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        self.shared.spawn_blocking(work, Location::caller())
    }

    /// Ends the runtime as dropping it does, but waits at most `limit` for its threads; they end later then.
    ///
    /// # Returns
    /// Whether all its threads have ended; [in a forked child](Runtime#in-a-forked-child) there are none.
    ///
    /// # Blocking
    /// Until the threads have ended their current polls, or `limit`.
    pub fn shutdown_timeout(self, limit: Duration) -> bool {
        if self.shared.origin.is_elsewhere() {
            return true;
        }
        match &self.shared.inner {
            Inner::Pool(pool) => pool.shutdown(Some(limit)),
            Inner::Threads(threads) => threads.shutdown(Some(limit)),
            Inner::Single { .. } => true,
        }
    }

    /// Says of every task and fiber of the process, and of its threads that call [`.wait()`](crate::Wait::wait), what it
    /// waits for: for a program that hangs. Nobody notes anything before, so being found here costs a wait nothing. (Since
    /// when it waits, and who holds a lock, is known where [`record_waits`](Builder::record_waits) was asked for.) Those who
    /// wait for each other in a circle are named as a suspected deadlock: while others run, it is not proven.
    ///
    /// All of them are polled once more for that, and answer. One whose future is foreign, or that is in the midst of a
    /// poll, does not say what it waits for; nor does a thread that waits with a limit of time, or in a `block_on` (its
    /// future counts as a task). Tasks that have not been polled so far are not there.
    ///
    /// Sockets of `gossamer::net` are listed, all that the process has opened: what they are waited for, their addresses and
    /// their age. One that was opened since those that wait were asked is listed, but nobody is said to wait for it.
    ///
    /// # Blocking
    /// Some milliseconds, or up to 100 while a thread of a runtime is in a poll ([`Dump::unheard`]); and some microseconds for
    /// each socket, of which the system is asked. Called by a task, that is its own thread too: call it from another thread, or
    /// by [`spawn_blocking`](Runtime::spawn_blocking).
    ///
    /// # Examples
    /// ```
    /// use std::sync::Arc;
    /// use gossamer::{Runtime, sync::MVar};
    ///
    /// let rt = Runtime::new()?;
    /// let place = Arc::new(MVar::<u32>::empty());
    /// let task = rt.task().name("waits").spawn(async move { place.take().await });
    /// // It may not have come so far.
    /// while !rt.dump().to_string().contains("`waits`, spawned at") {}
    /// # drop(task);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[cfg(not(any(loom, shuttle)))]
    pub fn dump(&self) -> Dump {
        gossamer_sched::dump()
    }

    /// Runs tasks until `future`, which may borrow and need not be `Send`, is complete.
    ///
    /// # Blocking
    /// Blocks the calling thread, and parks it while nothing is runnable.
    ///
    /// # Panics
    /// As the future does. Inside a task, or while another thread runs this runtime: with a message
    /// that says so. [In a forked child](Runtime#in-a-forked-child). If the
    /// runtime's own scheduler stops ([`Idle::Stop`](crate::scheduler::Idle::Stop)). In a deadlock, with what everybody
    /// waits for: see [`try_block_on`](Runtime::try_block_on).
    #[track_caller]
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.block_on_local(|_| future)
    }

    /// As [`block_on`](Runtime::block_on), which gives an error where that panics because nobody is left to go on.
    ///
    /// # Errors
    /// A deadlock ([`Stopped::Deadlock`]), with what every task and thread waits for: every thread of the process sleeps in
    /// Gossamer's waits, for good, so that no code runs that could wake one. (Known on Linux, some 50 ms later: never while
    /// a thread of the process does anything else, as it may be about to wake one, or a timer runs, or the process has
    /// handlers for signals; and up to ten seconds later if the last other thread has just ended, or a thread for calls that
    /// block is idle.) The runtime's own scheduler stopped. The future has been dropped.
    ///
    /// One thread is told, the main thread if it can be; if none can, as all of them wait by something else than a
    /// `block_on` or [`.wait()`](crate::Wait::wait), the process is aborted, with the report.
    /// [`without_deadlock_reports`](Builder::without_deadlock_reports) turns all this off.
    ///
    /// # Blocking
    /// # Panics
    /// As [`block_on`](Runtime::block_on).
    ///
    /// # Examples
    /// ```no_run
    /// use gossamer::{Runtime, channel, runtime::Stopped};
    ///
    /// let rt = Runtime::new()?;
    /// let never = rt.try_block_on(async {
    ///     let (tx, rx) = channel::bounded::<u32>(1);
    ///     let received = rx.recv().await;
    ///     drop(tx);
    ///     received
    /// });
    /// match never {
    ///     Err(Stopped::Deadlock(deadlock)) => eprintln!("{deadlock}"),
    ///     other => unreachable!("{other:?}"),
    /// }
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn try_block_on<F: Future>(&self, future: F) -> Result<F::Output, Stopped> {
        self.try_block_on_local(Location::caller(), |_| future)
    }

    /// As [`block_on`](Runtime::block_on), with a scope whose tasks need not be `Send`, for what is spawned before the
    /// future is there; in the future, [`spawn_local`](crate::spawn_local) does so without it.
    ///
    /// The scope's tasks run on the calling thread and are dropped there when the call ends, finished
    /// or not.
    ///
    /// # Blocking
    /// Blocks the calling thread, and parks it while nothing is runnable.
    ///
    /// # Panics
    /// As [`block_on`](Runtime::block_on).
    ///
    /// # Examples
    /// ```
    /// use std::rc::Rc;
    /// use gossamer::{Runtime, local::MVar};
    ///
    /// let rt = Runtime::builder().build()?;
    /// let sum = rt.block_on_local(|scope| {
    ///     let mvar = Rc::new(MVar::empty());
    ///     let task = scope.spawn_local({
    ///         let mvar = mvar.clone();
    ///         async move { mvar.put(20).await }
    ///     });
    ///     async move {
    ///         let value = mvar.take().await;
    ///         task.await.expect("no panic there");
    ///         value + 1
    ///     }
    /// });
    /// assert_eq!(sum, 21);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn block_on_local<F: Future>(&self, make: impl FnOnce(&LocalScope) -> F) -> F::Output {
        let ran = self.try_block_on_local(Location::caller(), make);
        ran.unwrap_or_else(|stopped| panic!("block_on() has no result: {stopped}"))
    }

    #[track_caller]
    fn try_block_on_local<F: Future>(
        &self,
        caller: &'static Location<'static>,
        make: impl FnOnce(&LocalScope) -> F,
    ) -> Result<F::Output, Stopped> {
        self.shared.origin.check("block_on()");
        match &self.shared.inner {
            Inner::Single { runtime, .. } => run_blocking(&**runtime, false, caller, make),
            Inner::Pool(pool) => run_beside(pool.environment(), caller, make),
            Inner::Threads(threads) => run_beside(threads.environment(), caller, make),
        }
    }
}

/// The local tasks live on this thread, in a shard of their own; the pool or the threads run on beside.
#[track_caller]
fn run_beside<F: Future>(
    environment: &Environment,
    caller: &'static Location<'static>,
    make: impl FnOnce(&LocalScope) -> F,
) -> Result<F::Output, Stopped> {
    let _tasks_of = environment.enter();
    match Single::<Fifo>::for_one_call() {
        Ok(single) => run_blocking(&single, false, caller, make),
        Err(error) => panic!("block_on() cannot begin: {error}"),
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        if self.shared.origin.is_elsewhere() {
            // Its threads would be waited for, and what its tasks have is the parent's.
            mem::forget(self.shared.clone());
        } else {
            self.shared.end();
        }
    }
}

gossamer_core::impl_debug!([] Runtime[]);
