//! Spawning onto the runtime that is there.

use std::panic::Location;
use std::sync::Arc;

use gossamer_fiber::Fiber;
use gossamer_sched::{LocalScope, SpawnError};
use gossamer_task::JoinHandle;

use crate::shared::{Shared, started_fiber};

/// Spawns a task onto the runtime whose task, fiber or blocking call this is, or whose
/// [`block_on`](crate::Runtime::block_on): as [`Runtime::spawn`](crate::Runtime::spawn).
///
/// # Panics
/// Elsewhere: in a thread of one's own, in a future that another library's runtime polls. There a
/// [`Handle`](crate::Handle) spawns. And as [`Runtime::spawn`](crate::Runtime::spawn).
///
/// # Examples
/// ```
/// #[gossamer::main]
/// async fn main() {
///     let task = gossamer::spawn(async { 6 * 7 });
///     assert_eq!(task.await.unwrap(), 42);
/// }
/// ```
#[track_caller]
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    #[cfg(feature = "sim")]
    if let Some(shard) = gossamer_sim::Simulation::current_shard() {
        return gossamer_task::spawn(shard, future, Location::caller());
    }
    current("spawn()").spawn(future, Location::caller())
}

/// Spawns a task that need not be `Send`: it runs on this thread, as does the call of
/// [`block_on`](crate::Runtime::block_on) that this is in, whatever the model. The body of
/// [`#[gossamer::main]`](macro@crate::main) is in one.
///
/// When that call ends, the task is dropped, finished or not.
///
/// # Panics
/// Elsewhere than in the future of a `block_on`, or in a task that was spawned there by this function: other tasks may
/// run on any thread.
///
/// # Examples
/// ```
/// use std::rc::Rc;
/// use gossamer::local::MVar;
///
/// #[gossamer::main]
/// async fn main() {
///     let mvar = Rc::new(MVar::empty());
///     let from = mvar.clone();
///     let task = gossamer::spawn_local(async move { from.take().await + 1 });
///     mvar.put(41).await;
///     assert_eq!(task.await.unwrap(), 42);
/// }
/// ```
#[track_caller]
pub fn spawn_local<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    local_scope("spawn_local()").spawn_local(future)
}

/// Spawns a fiber onto the runtime whose task, fiber or blocking call this is, or whose
/// [`block_on`](crate::Runtime::block_on): as [`Runtime::spawn_fiber`](crate::Runtime::spawn_fiber).
///
/// # Panics
/// As [`spawn`]; as [`Runtime::spawn_fiber`](crate::Runtime::spawn_fiber).
///
/// # Examples
/// ```
/// use gossamer::{Fibers, Runtime, Wait};
///
/// // SAFETY: no code here, nor in the dependencies, waits while it uses a thread-local like a stack, or initialises one.
/// let fibers = unsafe { Fibers::contract() };
/// let rt = Runtime::builder().fibers(fibers).build()?;
/// let outer = rt.spawn_fiber(|| gossamer::spawn_fiber(|| 6 * 7).wait());
/// assert_eq!(outer.wait()??, 42);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[track_caller]
pub fn spawn_fiber<F, T>(body: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    current("spawn_fiber()").spawn_fiber(body, Location::caller())
}

/// Spawns a fiber whose closure need not be `Send`: it runs on this thread, as [`spawn_local`] says of tasks. When the
/// call of [`block_on`](crate::Runtime::block_on) ends that this is in, the fiber unwinds, if it has not ended.
///
/// # Panics
/// As [`spawn_local`]. The runtime was built without [`Fibers`](crate::Fibers), or there is no memory for the stack; see
/// [`try_spawn_local_fiber`].
///
/// # Examples
/// ```
/// use std::rc::Rc;
/// use gossamer::{Fibers, Runtime, Wait, local::MVar};
///
/// // SAFETY: no code here, nor in the dependencies, waits while it uses a thread-local like a stack, or initialises one.
/// let fibers = unsafe { Fibers::contract() };
/// let rt = Runtime::builder().fibers(fibers).build()?;
/// rt.block_on(async {
///     let mvar = Rc::new(MVar::<u32>::empty());
///     let from = mvar.clone();
///     let fiber = gossamer::spawn_local_fiber(move || from.take().wait() + 1);
///     mvar.put(41).await;
///     assert_eq!(fiber.await.unwrap(), 42);
/// });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[track_caller]
pub fn spawn_local_fiber<F, T>(body: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + 'static,
    T: 'static,
{
    started_fiber(try_spawn_local_fiber(body))
}

/// As [`spawn_local_fiber`].
///
/// # Errors
/// The runtime was built without [`Fibers`](crate::Fibers) ([`Unsupported`](std::io::ErrorKind::Unsupported)), or there
/// is no memory for the stack: the closure comes back.
///
/// # Panics
/// As [`spawn_local`].
#[track_caller]
pub fn try_spawn_local_fiber<F, T>(body: F) -> Result<JoinHandle<T>, SpawnError<F>>
where
    F: FnOnce() -> T + 'static,
    T: 'static,
{
    let scope = local_scope("spawn_local_fiber()");
    let fibers = current("spawn_local_fiber()").fibers;
    match Fiber::new(body, fibers, "", Location::caller()) {
        Ok(fiber) => Ok(scope.spawn_local(fiber)),
        Err((error, future)) => Err(SpawnError { error, future }),
    }
}

/// The scope that is there, for the function `what`, which needs one.
///
/// # Panics
/// There is none.
#[track_caller]
fn local_scope(what: &str) -> LocalScope {
    let Some(scope) = LocalScope::current() else {
        panic!(
            "{what} was called where no task is bound to its thread: call it in block_on(), as the body of \
             #[gossamer::main] is, or in a task that was spawned by spawn_local(); other tasks may run on any thread"
        );
    };
    scope
}

/// Spawns a call that blocks onto a thread of the runtime whose task or fiber this is, or whose
/// [`block_on`](crate::Runtime::block_on): as [`Runtime::spawn_blocking`](crate::Runtime::spawn_blocking). (Who waits for
/// the call at once, and need not name it, has [`blocking`](crate::blocking()).)
///
/// # Panics
/// As [`spawn`]; as [`Runtime::spawn_blocking`](crate::Runtime::spawn_blocking).
///
/// # Examples
/// ```
/// #[gossamer::main]
/// async fn main() {
///     let read = gossamer::spawn_blocking(|| std::fs::read_to_string("/proc/self/stat"));
///     assert!(read.await.unwrap().is_ok());
/// }
/// ```
#[track_caller]
pub fn spawn_blocking<F, T>(call: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let shared = current("spawn_blocking()");
    shared.spawn_blocking(call, Location::caller())
}

/// The runtime that is there, for the function `what`, which needs one.
///
/// # Panics
/// There is none.
#[track_caller]
pub(crate) fn current(what: &str) -> Arc<Shared> {
    let Some(shared) = Shared::current() else {
        panic!(
            "{what} was called where no runtime runs: call it in a task, a fiber or block_on(), or spawn by a Runtime or a \
             Handle"
        );
    };
    shared
}
