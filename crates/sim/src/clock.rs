//! Virtual time.

use std::time::Duration;

pub use gossamer_time::Sleep;

use crate::current::current;

/// The virtual time since the start of the current simulation.
///
/// `gossamer::time::now` says the same as an `Instant`.
///
/// # Panics
/// Outside of a simulation.
#[track_caller]
pub fn now() -> Duration {
    current("sim::now()").simulation.now()
}

/// Waits until virtual time has moved on by `duration`, which takes no real time: [`gossamer_time::sleep`], which is
/// virtual in a simulation.
///
/// # Panics
/// Outside of a simulation.
///
/// # Cancellation
/// Dropped, it leaves nothing behind: time does not stop at its deadline.
#[track_caller]
pub fn sleep(duration: Duration) -> Sleep {
    let _inside = current("sim::sleep()");
    gossamer_time::sleep(duration)
}
