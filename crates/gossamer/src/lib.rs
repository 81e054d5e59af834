//! Lightweight threads in which the threading model is a value.
//!
//! A [`Runtime`] is built after the arguments are parsed; tasks, and the OS threads that wait for
//! them, share one set of primitives. Every blocking operation is a future: `.await` it in a task,
//! [`.wait()`](Wait::wait) for it in a thread.
//!
//! ```
//! use std::sync::Arc;
//! use gossamer::{Model, Runtime, Wait, sync::MVar};
//!
//! let rt = Runtime::builder().model(Model::Single).build()?;
//! let reply = Arc::new(MVar::<i32>::empty());
//! let asked = reply.clone();
//! let task = rt.spawn(async move { asked.take().await + 1 });
//! reply.put(41).wait();
//! assert_eq!(task.wait()?, 42);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Dropping an unfinished operation has no effect: no value is lost, and no wake-up. [`cancellation`] has a table of what
//! that means for each operation that is dropped, times out, loses in a [`select!`], or ends with its task.
//!
//! [`#[gossamer::main]`](macro@main) and [`#[gossamer::test]`](macro@test) write the first line for a program and
//! for a test.
#![forbid(unsafe_code)]

mod blocking;
mod handle;
mod macros;
mod model;
mod naming;
mod resize;
mod runtime;
mod shared;
mod threads;
mod yielding;

pub use gossamer_channel::select;
pub use gossamer_core::wait::Wait;
pub use gossamer_fiber::Fibers;
pub use gossamer_sched::{
    Hold, Idle, LocalScope, Metrics, Reason, Runnable, Scheduler, SpawnError, Stopped, Stuck, Tasks,
};
pub use gossamer_structure::{
    AcquirePermit, AsyncScope, CancelOnDrop, CancellationToken, ConcurrencyLimit,
    ConcurrencyPermit, JoinSet, LimitedHandle, LimitedSpawn, RunScope, RunUntilCancelled, Scope,
    ScopedHandle, TaskLocal, WaitForCancel, task_local,
};
pub use gossamer_task::{JoinError, JoinHandle};
pub use gossamer_time::TimeoutExt;

pub use self::blocking::{Blocking, blocking};
pub use self::handle::Handle;
pub use self::macros::{main, protocol, select, test};
pub use self::model::{Model, ParseModelError};
pub use self::naming::{TaskBuilder, task_name};
pub use self::resize::Resize;
pub use self::runtime::{Builder, Runtime};
pub use self::threads::{spawn_thread, try_spawn_thread};
pub use self::yielding::{YieldNow, yield_now};

/// The parts of a [`JoinSet`]: its operations, and the numbers of its tasks.
pub mod join_set {
    pub use gossamer_structure::{Id, JoinNext, JoinNextWithId, Shutdown};
}

#[doc = include_str!("../../../docs/CANCELLATION.md")]
pub mod cancellation {}

/// Primitives for any thread.
pub mod sync {
    pub use gossamer_sync::sync::*;
}

/// Waiting for time: [`sleep`](time::sleep()), [`timeout`](time::timeout()), [`interval`](time::interval()).
///
/// ```
/// use std::time::Duration;
/// use gossamer::{Runtime, TimeoutExt, Wait, sync::MVar, time};
///
/// let rt = Runtime::builder().build()?;
/// let mvar = MVar::<i32>::empty();
/// let late = rt.block_on(async {
///     time::sleep(Duration::from_millis(1)).await;
///     mvar.take().timeout(Duration::from_millis(1)).await
/// });
/// assert_eq!(late, Err(time::Elapsed));
/// assert!(mvar.take().timeout(Duration::from_millis(1)).wait().is_err());
/// # Ok::<(), std::io::Error>(())
/// ```
pub mod time {
    pub use gossamer_time::{
        Elapsed, Interval, MissedTickBehavior, Sleep, Tick, Timeout, TimeoutExt, interval,
        interval_at, now, sleep, sleep_until, timeout, timeout_at,
    };
}

/// Primitives for one thread: no atomics, `!Send`.
pub mod local {
    pub use gossamer_channel::local as channel;
    pub use gossamer_sync::local::*;
}

/// The primitives, generic over their lock policy, and their operations.
pub mod raw {
    pub use gossamer_channel::raw as channel;
    pub use gossamer_core::policy::{Local, LockPolicy, Shared};
    pub use gossamer_sync::raw::*;
}

/// Channels.
pub mod channel {
    pub use gossamer_channel::{
        Closed, PortSet, Receiver, SendError, Sender, SharedSender, TryRecvError, TrySendError,
        UniqueSender, bounded, broadcast, join_pattern, oneshot, pipe, port_set, rendezvous, spsc,
        unbounded, watch,
    };
}
