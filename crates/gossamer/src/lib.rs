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
//! [`#[gossamer::main]`](macro@main) and [`#[gossamer::test]`](macro@test) write the first line for a program and
//! for a test.
#![forbid(unsafe_code)]

mod blocking;
mod macros;
mod model;
mod naming;
mod resize;
mod runtime;
mod shared;
mod spawner;
mod threads;
mod yielding;

pub use gossamer_channel::select;
pub use gossamer_core::wait::Wait;
pub use gossamer_fiber::Fibers;
pub use gossamer_sched::{
    Hold, Idle, LocalScope, Metrics, Reason, Runnable, Scheduler, SpawnError, Stopped, Stuck, Tasks,
};
pub use gossamer_structure::{
    AsyncScope, Bounded, BoundedSpawn, BoundedSpawner, CancelOnDrop, CancelToken, JoinSet, Place,
    RunScope, RunUntilCancelled, Scope, ScopedHandle, TaskLocal, WaitForCancel, WaitForPlace,
    task_local,
};
pub use gossamer_task::{JoinError, JoinHandle};
pub use gossamer_time::Timed;

pub use self::blocking::{Blocking, blocking};
pub use self::macros::{main, protocol, select, test};
pub use self::model::{Model, ParseModelError};
pub use self::naming::{TaskBuilder, task_name};
pub use self::resize::Resize;
pub use self::runtime::{Builder, Runtime};
pub use self::spawner::Spawner;
pub use self::threads::{spawn_thread, try_spawn_thread};
pub use self::yielding::{YieldNow, yield_now};

/// The parts of a [`JoinSet`]: its operations, and the numbers of its tasks.
pub mod join_set {
    pub use gossamer_structure::{Id, Next, NextWithId, Shutdown};
}

/// Primitives for any thread.
pub mod sync {
    pub use gossamer_sync::sync::*;
}

/// Waiting for time: [`sleep`](time::sleep()), [`timeout`](time::timeout()), [`interval`](time::interval()).
///
/// ```
/// use std::time::Duration;
/// use gossamer::{Runtime, Timed, Wait, sync::MVar, time};
///
/// let rt = Runtime::builder().build()?;
/// let place = MVar::<i32>::empty();
/// let late = rt.block_on(async {
///     time::sleep(Duration::from_millis(1)).await;
///     place.take().timeout(Duration::from_millis(1)).await
/// });
/// assert_eq!(late, Err(time::Elapsed));
/// assert!(place.take().timeout(Duration::from_millis(1)).wait().is_err());
/// # Ok::<(), std::io::Error>(())
/// ```
pub mod time {
    pub use gossamer_time::{
        Elapsed, Interval, Missed, Sleep, Tick, Timed, Timeout, deadline, interval, interval_at,
        now, sleep, sleep_until, timeout,
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
    pub use gossamer_core::policy::{Local, Policy, Shared};
    pub use gossamer_sync::raw::*;
}

/// Channels.
pub mod channel {
    pub use gossamer_channel::{
        Closed, PortSet, Receiver, SendError, Sender, SharedSender, TryRecvError, TrySendError,
        UniqueSender, bounded, broadcast, join, oneshot, pipe, port_set, rendezvous, spsc,
        unbounded, watch,
    };
}
