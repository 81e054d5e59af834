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

mod model;
mod resize;
mod runtime;
mod threads;
mod yielding;

pub use gossamer_core::wait::Wait;
pub use gossamer_macros::{main, test};
pub use gossamer_sched::{
    Idle, LocalScope, Metrics, Reason, Runnable, Scheduler, SpawnError, Stopped, Stuck, Tasks,
};
pub use gossamer_task::{JoinError, JoinHandle};

pub use self::model::{Model, ParseModelError};
pub use self::resize::Resize;
pub use self::runtime::{Builder, Runtime};
pub use self::threads::{spawn_thread, try_spawn_thread};
pub use self::yielding::{YieldNow, yield_now};

/// Primitives for any thread.
pub mod sync {
    pub use gossamer_sync::sync::*;
}

/// Primitives for one thread: no atomics, `!Send`.
pub mod local {
    pub use gossamer_sync::local::*;
}

/// The primitives, generic over their lock policy, and their operations.
pub mod raw {
    pub use gossamer_core::policy::{Local, Policy, Shared};
    pub use gossamer_sync::raw::*;
}

/// Channels.
pub mod channel {
    pub use gossamer_channel::oneshot;
}
