//! Scopes: children that have all ended when the scope returns.
//!
//! * [`scope()`] blocks, and so its children may borrow. Whatever happens, it does not return, and does not unwind,
//!   before all of them have ended: it is not a future, which could be forgotten while a worker still has its borrow.
//! * [`async_scope`] is a future, and so its children own what they have; dropping it aborts them.
//!
//! # A scope in a fiber
//!
//! A fiber stands still in a scope until the children have ended. If it is to end before (an abort, the end of its
//! runtime), it must not unwind out of the scope so soon, and it cannot stand still any more, as whoever drops it waits
//! for it. So the scope takes its children back (`take_back.rs`): it blocks the thread, and ends them
//! itself, without the runtime that would run them, which may be waiting for this very fiber.
//!
//! A fiber that is not resumed again (its runtime was forgotten, or moved to another thread) stands until its thread
//! ends; so before the thread-locals of a thread go, its fibers' scopes take their children back.

mod child;
mod data;
mod handle;
mod host;
mod owned;
mod take_back;

use std::future::poll_fn;
use std::io;
use std::marker::PhantomData;
use std::mem;
use std::panic::{Location, resume_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use gossamer_core::context::{self, SchedulingPoint};
use gossamer_core::platform::Mutex;
use gossamer_core::wait::{Wait, refuse_inside_task};
use gossamer_fiber::{Fiber, Fibers};
use gossamer_sched::SpawnError;
use gossamer_task::JoinHandle;

use self::child::Cell;
use self::data::{Data, caught};
use self::host::{Child, Serving};

pub use self::child::ScopeTask;
pub use self::handle::ScopedHandle;
pub use self::owned::{AsyncScope, RunScope, async_scope};

/// Runs the children of a scope.
pub trait Spawn: Send + Sync {
    /// Runs a task.
    ///
    /// # Errors
    /// It cannot be run: it comes back.
    fn try_spawn(
        &self,
        task: ScopeTask,
        caller: &'static Location<'static>,
    ) -> Result<JoinHandle<()>, SpawnError<ScopeTask>>;

    /// Returns the program's promise for fibers, or `None` if no fibers may be spawned.
    fn fibers(&self) -> Option<Fibers>;
}

/// Calls `body` with a scope, and returns when it has returned and all children that were spawned there have ended.
/// They may borrow from what surrounds the call. `on` runs them.
///
/// # Blocking
/// In a fiber: it stands still. Else: blocks the thread; if that built `Single` runtimes, their tasks run meanwhile.
///
/// # Cancellation
/// A fiber that is aborted in here ends the children first, and blocks its thread until they have ended: each ends its
/// current poll, and a thread of the scope its closure.
///
/// A child that is a fiber is ended by the thread where it has begun. If its runtime is moved, and dropped on another
/// thread, that is when the fiber's own thread next waits for a scope, or ends; until then this does not return.
///
/// # Panics
/// As `body` does, or else as the first child did whose panic was not joined; in either case after all children have
/// ended. Inside a task's poll, which must not wait.
#[track_caller]
pub fn scope<'env, R>(
    on: &'env dyn Spawn,
    body: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> R,
) -> R {
    refuse_inside_task("scope()", "use async_scope()");
    let data = Arc::new(Data::new());
    let open = context::with(context::Context::is_in_fiber).then(|| take_back::open(data.clone()));
    let scope = Scope {
        data: data.clone(),
        on,
        _scope: PhantomData,
        _env: PhantomData,
    };
    let result = caught(|| body(&scope));
    if gossamer_core::mutant!("scope_unwinds_early") && result.is_err() {
        data.abort_all();
        return result.unwrap_or_else(|payload| resume_unwind(payload));
    }
    // Nothing leaves from here before the children have ended.
    let stays = Stays;
    let mut point = SchedulingPoint::new();
    // A thread that waits for its children ends fibers of its own meanwhile, if it is asked to.
    let serving = open.is_none().then(Serving::begin);
    let all_ended = poll_fn(|cx| {
        if let Some(serving) = &serving {
            serving.serve(cx.waker());
        }
        data.poll_all_ended(cx, &mut point)
    });
    let waited = caught(|| all_ended.wait());
    drop(serving);
    if waited.is_err() {
        data.take_back(None);
    }
    mem::forget(stays);
    match (result, waited) {
        (Ok(result), Ok(())) => {
            data.raise();
            result
        }
        (Err(payload), _) | (Ok(_), Err(payload)) => {
            data.swallow();
            resume_unwind(payload)
        }
    }
}

/// A scope that must not unwind from here.
struct Stays;

impl Drop for Stays {
    fn drop(&mut self) {
        host::abort(format_args!(
            "a scope panicked while children of it were alive that may borrow from what unwinds"
        ));
    }
}

/// Spawns children that may borrow: see [`scope()`].
///
/// # Examples
/// ```
/// use gossamer::{Runtime, Wait};
///
/// let rt = Runtime::builder().build()?;
/// let mut numbers = [1, 2, 3, 4];
/// rt.scope(|scope| {
///     let (left, right) = numbers.split_at_mut(2);
///     scope.spawn(async { left.reverse() });
///     let sum = scope.spawn(async { right.iter().sum::<i32>() });
///     assert_eq!(sum.wait().unwrap(), 7);
/// });
/// assert_eq!(numbers, [2, 1, 3, 4]);
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Scope<'scope, 'env: 'scope> {
    data: Arc<Data>,
    on: &'env dyn Spawn,
    /// Invariant, as std's: or else a shorter `'scope` could be had, and children outlive it.
    _scope: PhantomData<&'scope mut &'scope ()>,
    _env: PhantomData<&'env mut &'env ()>,
}

impl<'scope> Scope<'scope, '_> {
    /// Spawns a task.
    ///
    /// Dropping the handle detaches it from the caller, not from the scope.
    ///
    /// # Panics
    /// The runtime cannot run it: see [`try_spawn`](Scope::try_spawn).
    #[track_caller]
    pub fn spawn<F>(&'scope self, future: F) -> ScopedHandle<'scope, F::Output>
    where
        F: Future + Send + 'scope,
        F::Output: Send + 'scope,
    {
        started("spawn", self.try_spawn(future))
    }

    /// Spawns a task.
    ///
    /// # Errors
    /// The system grants no more threads, under the model 1:1; or in a forked child: the future comes back.
    #[track_caller]
    pub fn try_spawn<F>(
        &'scope self,
        future: F,
    ) -> Result<ScopedHandle<'scope, F::Output>, SpawnError<F>>
    where
        F: Future + Send + 'scope,
        F::Output: Send + 'scope,
    {
        let caller = Location::caller();
        self.start(future, false, |task| self.on.try_spawn(task, caller))
    }

    /// Spawns a fiber.
    ///
    /// # Panics
    /// The runtime has no fibers, or there is no stack or thread to be had; see
    /// [`try_spawn_fiber`](Scope::try_spawn_fiber).
    #[track_caller]
    pub fn spawn_fiber<F, T>(&'scope self, body: F) -> ScopedHandle<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        started("spawn_fiber", self.try_spawn_fiber(body))
    }

    /// Spawns a fiber.
    ///
    /// # Errors
    /// The runtime's builder was given no [`Fibers`]; there is no memory for a stack, or, under the model 1:1, no
    /// thread: the closure comes back.
    #[track_caller]
    pub fn try_spawn_fiber<F, T>(
        &'scope self,
        body: F,
    ) -> Result<ScopedHandle<'scope, T>, SpawnError<F>>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        let caller = Location::caller();
        let fiber = ScopedFiber::new(body, self.on.fibers(), caller, |run| {
            type Run<'a> = Box<dyn FnOnce() + Send + 'a>;
            // SAFETY: only the lifetime changes. The closure goes with the child that the fiber is the future of; and
            // where a stack stays, for its thread to end it, the child is not over, and so `scope` has not returned.
            unsafe { mem::transmute::<Run<'scope>, Run<'static>>(run) }
        })?;
        let started = self.start(fiber, true, |task| self.on.try_spawn(task, caller));
        started.map_err(ScopedFiber::refused)
    }

    /// Starts an OS thread. It cannot be aborted: the scope waits until its closure has returned, whatever happens.
    ///
    /// # Panics
    /// The system grants no more threads; see [`try_spawn_thread`](Scope::try_spawn_thread).
    #[track_caller]
    pub fn spawn_thread<F, T>(&'scope self, work: F) -> ScopedHandle<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        started("spawn_thread", self.try_spawn_thread(work))
    }

    /// Starts an OS thread.
    ///
    /// # Errors
    /// The system grants no more threads: the closure comes back.
    #[track_caller]
    pub fn try_spawn_thread<F, T>(
        &'scope self,
        work: F,
    ) -> Result<ScopedHandle<'scope, T>, SpawnError<F>>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        let caller = Location::caller();
        let started = self.start(Call(Some(work)), false, |task| start_thread(task, caller));
        started.map_err(|refused| refused.map(|call| call.0.expect("it has not been called")))
    }

    fn start<F>(
        &'scope self,
        future: F,
        is_fiber: bool,
        spawn: impl FnOnce(ScopeTask) -> Result<JoinHandle<()>, SpawnError<ScopeTask>>,
    ) -> Result<ScopedHandle<'scope, F::Output>, SpawnError<F>>
    where
        F: Future + Send + 'scope,
        F::Output: Send + 'scope,
    {
        let lengthen = |child| {
            // SAFETY: only the lifetime changes. `scope` returns when every child has been struck off the list of its
            // data, whether it unwinds or not. What is left of a child then, memory without a future or an output, runs
            // no code that knows of the lifetime.
            unsafe { mem::transmute::<Arc<dyn Child + 'scope>, Arc<dyn Child>>(child) }
        };
        start(&self.data, future, is_fiber, lengthen, spawn)
    }
}

/// Makes a child, and has `spawn` run it. `lengthen` gives it the lifetime that tasks have.
fn start<'scope, F>(
    data: &Arc<Data>,
    future: F,
    is_fiber: bool,
    lengthen: impl FnOnce(Arc<dyn Child + 'scope>) -> Arc<dyn Child>,
    spawn: impl FnOnce(ScopeTask) -> Result<JoinHandle<()>, SpawnError<ScopeTask>>,
) -> Result<ScopedHandle<'scope, F::Output>, SpawnError<F>>
where
    F: Future + Send + 'scope,
    F::Output: Send + 'scope,
{
    let Some(at) = data.reserve() else {
        // The scope is being ended, or is over: the child is turned away, in a list of its own.
        let own = Arc::new(Data::new());
        let at = own.reserve().unwrap_or(0);
        let cell = Arc::new(Cell::new(own, at, false, future));
        let _over = cell.end();
        return Ok(ScopedHandle::new(cell));
    };
    let cell = Arc::new(Cell::new(data.clone(), at, is_fiber, future));
    let child = lengthen(cell.clone());
    if !data.put(at, child.clone()) {
        let _over = child.end();
        return Ok(ScopedHandle::new(cell));
    }
    match spawn(ScopeTask::new(child.clone())) {
        Ok(task) => data.set_task(at, &child, task),
        Err(SpawnError {
            error,
            future: task,
        }) => match cell.take_back_future() {
            Some(future) => {
                data.has_ended(at);
                drop(task);
                return Err(SpawnError { error, future });
            }
            // The scope has ended it meanwhile.
            None => drop(task),
        },
    }
    Ok(ScopedHandle::new(cell))
}

fn start_thread(
    task: ScopeTask,
    caller: &'static Location<'static>,
) -> Result<JoinHandle<()>, SpawnError<ScopeTask>> {
    let task = Arc::new(Mutex::new(Some(task)));
    let taken = task.clone();
    let work = move || {
        let task = taken.lock().take();
        if let Some(task) = task {
            task.run();
        }
    };
    let started = gossamer_sched::spawn_thread("gossamer-thread", work, caller);
    let take_back = |_work| task.lock().take().expect("no thread has taken it");
    started.map_err(|refused| refused.map(take_back))
}

/// The handle of a child that was to be started by the function `what`.
///
/// # Panics
/// It was not.
#[track_caller]
fn started<H, F>(what: &str, tried: Result<H, SpawnError<F>>) -> H {
    let error = match tried {
        Ok(handle) => return handle,
        Err(refused) => refused.error,
    };
    if error.kind() == io::ErrorKind::Unsupported {
        panic!("{what}() in a scope: {error}");
    }
    panic!(
        "{what}() in a scope: no thread or stack to be had ({error}): raise the limit, or use try_{what}()"
    )
}

gossamer_core::impl_debug!([] Scope['_, '_]);

/// A closure that is called in the one poll there is, by a thread of its own.
struct Call<F>(Option<F>);

impl<F> Unpin for Call<F> {}

impl<F: FnOnce() -> T, T> Future for Call<F> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<T> {
        let work = self.0.take().expect("it is called once");
        Poll::Ready(work())
    }
}

/// A fiber whose closure may borrow.
struct ScopedFiber<F, T> {
    fiber: Fiber<Box<dyn FnOnce() + Send>, ()>,
    stage: Arc<Mutex<Stage<F, T>>>,
}

/// The stage of a fiber's closure: not begun, begun, or ended with its output.
enum Stage<F, T> {
    New(F),
    Begun,
    Ended(T),
}

impl<F: FnOnce() -> T + Send, T: Send> ScopedFiber<F, T> {
    /// `lengthen` gives the closure the lifetime that fibers have.
    fn new<'a>(
        body: F,
        promised: Option<Fibers>,
        caller: &'static Location<'static>,
        lengthen: impl FnOnce(Box<dyn FnOnce() + Send + 'a>) -> Box<dyn FnOnce() + Send>,
    ) -> Result<Self, SpawnError<F>>
    where
        F: 'a,
        T: 'a,
    {
        take_back::before_threads_end();
        let stage = Arc::new(Mutex::new(Stage::New(body)));
        let own = stage.clone();
        let run = lengthen(Box::new(move || {
            let body = mem::replace(&mut *own.lock(), Stage::Begun);
            if let Stage::New(body) = body {
                let output = body();
                *own.lock() = Stage::Ended(output);
            }
        }));
        match Fiber::new(run, promised, "", caller) {
            Ok(fiber) => Ok(Self { fiber, stage }),
            Err((error, _run)) => Err(SpawnError {
                error,
                future: take_body(&stage),
            }),
        }
    }

    /// It was not spawned: the closure comes back.
    fn refused(refused: SpawnError<Self>) -> SpawnError<F> {
        refused.map(|fiber| take_body(&fiber.stage))
    }
}

fn take_body<F, T>(stage: &Mutex<Stage<F, T>>) -> F {
    match mem::replace(&mut *stage.lock(), Stage::Begun) {
        Stage::New(body) => body,
        Stage::Begun | Stage::Ended(_) => unreachable!("the fiber has not begun"),
    }
}

impl<F, T> Future for ScopedFiber<F, T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        // SAFETY: pinned with its owner, and not moved out of that.
        let fiber = unsafe { self.as_mut().map_unchecked_mut(|this| &mut this.fiber) };
        if fiber.poll(cx).is_pending() {
            return Poll::Pending;
        }
        match mem::replace(&mut *self.stage.lock(), Stage::Begun) {
            Stage::Ended(output) => Poll::Ready(output),
            Stage::New(_) | Stage::Begun => unreachable!("the closure has returned"),
        }
    }
}
