//! Who is told of what waits: a simulation, or who calls the roll.

use super::with;

/// The runner looks at parked operations: this thread runs a simulation, with scheduling points or without.
pub(crate) const SIMULATION: u8 = 1;
/// What is polled here says what it waits for.
pub(crate) const ROLL_CALL: u8 = 2;

/// Who takes a lock here is [recorded](crate::recording).
pub(crate) const RECORDS: u8 = 4;

/// Whether who takes a lock here is recorded.
#[inline(always)]
pub fn records() -> bool {
    with(|context| context.watched.get() & RECORDS != 0)
}

/// It is recorded from now on.
pub fn record() {
    with(|context| context.watched.set(context.watched.get() | RECORDS));
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

/// The poll that is about to begin here answers, also if the roll call is over by then; `tell` is told its number.
pub(crate) fn answer_next_poll(tell: impl FnOnce(u16)) {
    with(|context| {
        context.watched.set(context.watched.get() | ROLL_CALL);
        tell(context.turn.get().wrapping_add(1));
    });
}
