//! Lightweight threads in which the threading model is a value.
//!
//! A [`Runtime`] is built after the arguments are parsed; tasks, and the OS threads that wait for
//! them, share one set of primitives. Every blocking operation is a future: `.await` it in a task,
//! [`.wait()`](Wait::wait) for it in a thread.
//!
//! ```
//! use std::sync::Arc;
//! use gossamer::{Runtime, Wait, sync::MVar};
//!
//! let rt = Runtime::new()?;
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
//! The model of this runtime is the default, a pool of one worker for each processor; so it is in
//! [`#[gossamer::main]`](macro@main) and [`#[gossamer::test]`](macro@test), which write the first line for a program and
//! for a test. Another one is a value: `Runtime::builder().model("single".parse()?)`,
//! `#[gossamer::main(model = "threads")]`; see [`Model`].
//!
//! # Where things are
//!
//! | | |
//! | --- | --- |
//! | [`runtime`] | building one: its model, its threads, its metrics, who is told of a panic, or of a poll that is stuck |
//! | [`task`] | what can be spawned, names, values of a task's own, calls that block |
//! | [`channel`] | messages: channels, rings, one-shots, pipes whose protocol the compiler checks, sets of ports, joins |
//! | [`sync`] | locks, cells, semaphores, barriers |
//! | [`time`] | sleeping, time limits, intervals |
//! | [`select!`] | whichever of several operations comes first |
//! | [`par`] | computing in parallel: `join`, `map`, `reduce`, sorting |
//! | [`scope`], [`JoinSet`], [`cancel`], [`limit`] | tasks that belong together: they end, are joined and are cancelled together |
//! | `net` (a feature) | sockets |
//! | `hyper` (a feature) | its traits for sockets, and its timer and executor: HTTP servers, and what is built on hyper |
//! | [`local`] | channels and locks for one thread, without atomics |
//! | [`scheduler`] | bringing an order of one's own |
//! | [`fixed`] | tasks without a heap |
//! | `sim` (a feature) | running a program in every schedule, or in seeded ones, in its tests |
//! | [`raw`] | the types behind [`channel`], [`sync`] and [`local`], for code that is generic over them |
//!
//! # Targets
//!
//! Tested on Linux, x86-64, with glibc, and nowhere else. It compiles for ARM64, for 32-bit x86, with musl, for macOS and for
//! Windows, but nobody has run it there. What is special to the tested target (membarrier, futex, glibc's word on
//! threads, `/proc`, the processor's counter) has a fallback; `RUSTFLAGS="--cfg gossamer_portable"` chooses the fallbacks
//! on Linux too, and so they are tested. Targets without threads, or without atomics of 64 bits, are refused when it is
//! compiled.
#![forbid(unsafe_code)]

mod blocking;
pub mod channel;
mod handle;
#[cfg(feature = "hyper")]
pub mod hyper;
pub mod join_set;
mod macros;
mod model;
mod naming;
pub mod par;
mod resize;
pub mod runtime;
mod shared;
mod spawning;
pub mod sync;
pub mod task;
mod threads;
pub mod time;
mod yielding;

pub use gossamer_channel::select;
pub use gossamer_core::wait::{Wait, foreign};
#[cfg(feature = "experiment")]
#[doc(inline)]
pub use gossamer_experiment as experiment;
pub use gossamer_fiber::Fibers;
#[cfg(feature = "net")]
#[doc(inline)]
pub use gossamer_io as net;
#[cfg(feature = "sim")]
#[doc(inline)]
pub use gossamer_sim as sim;
pub use gossamer_structure::{CancellationToken, task_local};
pub use gossamer_task::{JoinError, JoinHandle};
pub use gossamer_time::TimeoutExt;

pub use self::blocking::blocking;
pub use self::handle::Handle;
#[doc(inline)]
pub use self::join_set::JoinSet;
pub use self::macros::{main, protocol, select, test};
pub use self::model::Model;
#[doc(inline)]
pub use self::runtime::{Builder, Runtime};
pub use self::spawning::{
    spawn, spawn_blocking, spawn_fiber, spawn_local, spawn_local_fiber, try_spawn_local_fiber,
};
pub use self::threads::spawn_thread;
pub use self::yielding::yield_now;

#[doc = include_str!("../CANCELLATION.md")]
pub mod cancellation {}

/// Telling a tree of tasks that they are to stop: [`CancellationToken`].
pub mod cancel {
    pub use gossamer_structure::{
        CancelOnDrop, CancellationToken, RunUntilCancelled, WaitForCancel, WaitForCancelOwned,
    };
}

/// Tasks in static memory, for programs without a heap.
///
/// Their pool has atomic words, for several cores, or with the feature `critical-section` plain ones, for one core: say
/// `Pool<F, TASKS, Section>`.
pub mod fixed {
    pub use gossamer_core::fixed::*;
}

/// At most so many tasks at once; who wants more waits: [`ConcurrencyLimit`](limit::ConcurrencyLimit), and the handle of a
/// runtime that keeps it, from [`Handle::limited`].
pub mod limit {
    pub use gossamer_structure::{
        AcquirePermit, ConcurrencyLimit, ConcurrencyPermit, LimitedHandle, LimitedSpawn,
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

/// Choosing which runnable task is polled next, under [`Model::Single`]: see
/// [`Builder::scheduler`].
pub mod scheduler {
    pub use gossamer_sched::{Idle, Reason, Runnable, Scheduler, Tasks};
}

/// Children that have all ended when their scope ends.
///
/// [`Runtime::scope`] blocks until then, and its children may borrow what is around it; [`Runtime::async_scope`] is awaited,
/// and its children own what they have. Who needs no borrowing, and joins as tasks end, has a [`JoinSet`].
pub mod scope {
    pub use gossamer_structure::{AsyncScope, RunScope, Scope, ScopedHandle};
}
