//! Schedulers.
//!
//! * [`Scheduler`]: chooses which runnable task is polled next; bring your own, or take [`Fifo`].
//! * [`Single`]: the model M:1. The thread that waits is the thread that runs the tasks.

mod fifo;
mod scheduler;
mod single;

pub use self::fifo::Fifo;
pub use self::scheduler::{Idle, Reason, Runnable, Scheduler, Tasks};
pub use self::single::{Drives, LocalScope, Single, Stopped, run_blocking, spawn_on};
