//! Waiting for time: what users read about it is in the facade, how it is built in [`timers`].
//!
//! An internal part of `gossamer-rt`: nothing is promised of this crate alone.

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
/// assert!(gossamer::time::now() <= gossamer::time::now());
/// ```
#[must_use]
pub fn now() -> Instant {
    timers::here::now().instant().unwrap_or_else(Instant::now)
}
