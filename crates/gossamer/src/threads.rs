//! OS threads without any runtime.

use std::panic::Location;

use gossamer_sched::SpawnError;
use gossamer_task::JoinHandle;

/// Starts an OS thread that uses the same primitives as tasks do, by [`.wait()`](crate::Wait::wait); no runtime is
/// needed, and no scheduler is in the program. See [`Runtime::spawn_thread`](crate::Runtime::spawn_thread).
/// In a simulation the thread is simulated: it runs only while it is chosen.
///
/// # Panics
/// The system grants no more threads; see [`try_spawn_thread`].
///
/// # Examples
/// ```
/// use std::sync::Arc;
/// use gossamer::{Wait, sync::MVar};
///
/// let mvar = Arc::new(MVar::empty());
/// let put = mvar.clone();
/// let thread = gossamer::spawn_thread(move || put.put(1).wait());
/// assert_eq!(mvar.take().wait(), 1);
/// thread.wait()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[track_caller]
pub fn spawn_thread<F, T>(work: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    started(try_spawn_thread(work))
}

/// The handle of a thread.
///
/// # Panics
/// It was not started.
#[track_caller]
pub(crate) fn started<T, F>(tried: Result<JoinHandle<T>, SpawnError<F>>) -> JoinHandle<T> {
    match tried {
        Ok(handle) => handle,
        Err(SpawnError { error, .. }) => panic!("spawn_thread(): {error}: raise the limit"),
    }
}

/// As [`spawn_thread`].
///
/// # Errors
/// The system grants no more threads: the closure comes back.
#[track_caller]
pub fn try_spawn_thread<F, T>(work: F) -> Result<JoinHandle<T>, SpawnError<F>>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    try_spawn_named("", work, Location::caller())
}

/// As [`try_spawn_thread`], with a name unless that is empty.
pub(crate) fn try_spawn_named<F, T>(
    name: &str,
    work: F,
    caller: &'static Location<'static>,
) -> Result<JoinHandle<T>, SpawnError<F>>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let name = if name.is_empty() {
        "gossamer-thread"
    } else {
        name
    };
    gossamer_sched::spawn_thread(name, work, caller)
}
