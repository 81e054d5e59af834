//! Waiting for time: [`sleep`](sleep()), [`timeout`](timeout()), [`interval`](interval()).
//!
//! A timer is a node inside the operation that waits, so no memory is allocated for it (but for the wheel of its
//! runtime or thread, once). It registers with whoever runs the thread that polls it: a runtime, or a thread that
//! waits by `.wait()`; and if there is nobody, because a foreign executor polls it, with a thread of the process that
//! is started for that. To that thread also go the timers of operations that another future wraps in a waker of its
//! own, as `FuturesUnordered` does, when the wait or the `block_on` has ended in which they were polled.
//!
//! # How exact
//!
//! Never early. As late as the runner is: it looks at its timers when it has nothing else to do, and after each 128
//! polls (256 under `Model::Single`; 4,096 there for the first timer, while there are no others).
//!
//! The first timer that a poll sets counts from that moment. So do the others of the same poll, or from a little later:
//! from the sixteenth's, from when another poll sets one, or from the runner's next look, whichever comes first.
//!
//! # How far
//!
//! 583 years after the start of the process; a deadline beyond that counts as then (which only a simulation lives to
//! see), but for [`Duration::MAX`](std::time::Duration::MAX) and whatever else is 584 years or longer: never.
//!
//! # In a simulation
//!
//! Time is virtual: it stands still while anything is runnable, and then moves to the next deadline.
//!
//! # In a forked child
//!
//! New operations work. One that was polled before must not be used there if other threads had timers.
//!
//! # Examples
//! ```
//! use std::time::Duration;
//! use gossamer::{Runtime, TimeoutExt, Wait, sync::MVar, time};
//!
//! let rt = Runtime::builder().build()?;
//! let mvar = MVar::<i32>::empty();
//! let late = rt.block_on(async {
//!     time::sleep(Duration::from_millis(1)).await;
//!     mvar.take().timeout(Duration::from_millis(1)).await
//! });
//! assert_eq!(late, Err(time::Elapsed));
//! assert!(mvar.take().timeout(Duration::from_millis(1)).wait().is_err());
//! # Ok::<(), std::io::Error>(())
//! ```

pub use gossamer_time::{
    Elapsed, Interval, MissedTickBehavior, Sleep, Tick, Timeout, TimeoutExt, interval, interval_at,
    now, sleep, sleep_until, timeout, timeout_at,
};
