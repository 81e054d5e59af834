//! Who is told of what waits: a simulation, or who calls the roll.

use super::with;

/// The runner looks at parked operations: this thread runs a simulation, with scheduling points or without.
pub(crate) const SIMULATION: u8 = 1;
/// What is polled here says what it waits for.
pub(crate) const ROLL_CALL: u8 = 2;

/// Whether this thread runs a simulation.
#[inline(always)]
pub fn is_watched() -> bool {
    with(|context| context.watched.get() & SIMULATION != 0)
}

/// Whether somebody is to be told.
#[inline(always)]
pub(crate) fn is_told() -> bool {
    with(|context| context.watched.get() != 0)
}
