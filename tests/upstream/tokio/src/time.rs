//! Time, which cannot be stopped here.

use std::time::Instant;

pub use std::time::Duration;

/// Who advances a clock that goes on waits for so long.
pub use gossamer::time::sleep as advance;
pub use gossamer::time::{sleep, timeout};

/// Ticks at once, and then every `period`.
pub fn interval(period: Duration) -> gossamer::time::Interval {
    gossamer::time::interval_at(Instant::now(), period)
}

/// Nothing.
pub fn pause() {}

/// Nothing.
pub fn resume() {}
