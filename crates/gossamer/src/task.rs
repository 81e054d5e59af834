//! Tasks, and what else runs beside them: all have the same [`JoinHandle`].
//!
//! | | runs | waits by | for |
//! | --- | --- | --- | --- |
//! | a task: [`Runtime::spawn`], [`spawn`] | a future | `.await` | nearly everything: one allocation each |
//! | a task that is not `Send`: [`spawn_local`] | a future, on the thread of the `block_on` or `main` that it is in | `.await` | what holds an `Rc`, a [`local`](crate::local) channel |
//! | a fiber: [`Runtime::spawn_fiber`] | a closure, on a stack of its own | [`.wait()`](crate::Wait::wait) | code that is not `async`: see [`Fibers`](crate::runtime::Fibers) |
//! | a thread: [`Runtime::spawn_thread`], [`spawn_thread`] | a closure, on an OS thread | [`.wait()`](crate::Wait::wait) | long computations, foreign code that keeps a thread |
//! | a call: [`blocking`], [`spawn_blocking`] | a closure, on a thread of a pool that is kept | as a thread | system calls that block |
//!
//! [`Runtime::spawn`]: crate::Runtime::spawn
//! [`Runtime::spawn_fiber`]: crate::Runtime::spawn_fiber
//! [`Runtime::spawn_thread`]: crate::Runtime::spawn_thread

pub use gossamer_structure::{TaskLocal, task_local};
pub use gossamer_task::{AbortHandle, Id, JoinError, JoinHandle, id, try_id};

pub use crate::blocking::{Blocking, blocking};
pub use crate::naming::{TaskBuilder, task_name};
pub use crate::spawning::{
    spawn, spawn_blocking, spawn_fiber, spawn_local, spawn_local_fiber, try_spawn_local_fiber,
};
pub use crate::threads::{spawn_thread, try_spawn_thread};
pub use crate::yielding::{YieldNow, yield_now};
