//! Waiting for time: [`sleep`], [`timeout`], [`interval`].
//!
//! A timer is a node inside the operation that waits, so no memory is allocated for it (but for the wheel of its
//! runtime or thread, once). It registers with whoever runs the thread that polls it: a runtime, or a thread that
//! waits by `.wait()`; and if there is nobody, because a foreign executor polls it, with a thread of the process that
//! is started for that. To that thread also go the timers of operations that another future wraps in a waker of its
//! own, as `FuturesUnordered` does, when the wait or the `block_on` has ended in which they were polled. See
//! [`timers`].
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

mod interval;
mod sleep;
mod timeout;
pub mod timers;

use std::time::Instant;

pub use self::interval::{Interval, MissedTickBehavior, Tick, interval, interval_at};
pub use self::sleep::{Sleep, sleep, sleep_until};
pub use self::timeout::{Elapsed, Timeout, TimeoutExt, timeout, timeout_at};

/// Returns the current time: virtual in a simulation, else that of [`Instant::now`].
///
/// # Examples
/// ```
/// assert!(gossamer_time::now() <= gossamer_time::now());
/// ```
#[must_use]
pub fn now() -> Instant {
    timers::here::now().instant().unwrap_or_else(Instant::now)
}
