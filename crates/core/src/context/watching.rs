//! Who is told of what waits: a simulation, or who calls the roll.

use super::{RECORDS, with};

/// The runner looks at parked operations: this thread runs a simulation, with scheduling points or without.
pub(crate) const SIMULATION: u8 = 1;
/// What is polled here says what it waits for.
pub(crate) const ROLL_CALL: u8 = 2;

/// Whether who takes a lock here is recorded.
#[inline(always)]
pub fn records() -> bool {
    with(|context| context.watched.get() & RECORDS != 0)
}

/// It is recorded from now on.
pub(crate) fn record() {
    with(|context| {
        let watched = context.watched.replace(context.watched.get() | RECORDS);
        if watched & RECORDS == 0 {
            // Threads that have run no tasks have counted no polls: their stamps would be alike.
            let apart = (core::ptr::from_ref(context).addr() >> 6) as u16;
            context.turn.set(context.turn.get().wrapping_add(apart | 1));
        }
    });
}

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
