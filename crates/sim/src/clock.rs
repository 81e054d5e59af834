//! Virtual time.

use std::time::Duration;

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
