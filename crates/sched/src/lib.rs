//! Schedulers.
//!
//! An internal part of `gossamer-rt`: nothing is promised of this crate alone.
//!
//! * [`Scheduler`]: chooses which runnable task is polled next; bring your own, or take [`Fifo`].
//! * [`Single`]: the model M:1. The thread that waits is the thread that runs the tasks.
//! * [`Pool`]: the model M:N. Worker threads run the tasks.
//! * [`Threads`]: the model 1:1. Each task is an OS thread.
//! * [`Blocking`]: threads for calls that block, beside any model.

mod blocking;
mod deadline;
#[cfg(all(target_os = "linux", not(any(loom, shuttle, gossamer_portable))))]
mod deadlock;
#[cfg(not(any(loom, shuttle)))]
mod dump;
mod environment;
mod fifo;
mod pool;
mod runnable;
mod scheduler;
mod simulated;
mod single;
mod task_panic;
mod thread_options;
mod threads;

pub use self::blocking::{BLOCKING_MAX, Blocking, BlockingOptions};
#[cfg(all(target_os = "linux", not(any(loom, shuttle, gossamer_portable))))]
pub use self::deadlock::{look_for_deadlocks, stop_looking_for_deadlocks};
#[cfg(not(any(loom, shuttle)))]
pub use self::dump::{ListedSocket, dump, list_sockets};
pub use self::environment::{Entered, Environment, current, here, is_polled_by};
pub use self::fifo::Fifo;
pub use self::pool::{HELPERS, Hold, Metrics, Pool, Resize, Stuck, WORKERS_MAX, Watching};
pub use self::runnable::Runnable;
pub use self::scheduler::{Idle, Reason, Scheduler, Tasks, TurnEnd};
pub use self::simulated::{SimulatedThreads, ThreadBody, set_simulated_threads, simulated_threads};
pub use self::single::{LocalScope, Single, SingleRuntime, Stopped, run_blocking};
pub use self::task_panic::{OnPanic, TaskPanic};
pub use self::thread_options::ThreadOptions;
pub use self::threads::{SpawnError, Threads, spawn_thread};
