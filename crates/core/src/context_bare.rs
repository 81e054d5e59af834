//! Without an operating system no thread runs a shard, and no simulation runs.

use crate::waiter::RawWakerParts;

/// Operations are scheduling points only in a simulation, and nobody is run here who could be kept waiting.
pub fn must_yield() -> bool {
    false
}

/// Never: there is nobody to yield to.
pub fn must_yield_receiving() -> bool {
    false
}

/// Nobody looks at parked operations.
pub fn is_watched() -> bool {
    false
}

/// Nobody says when a poll begins.
pub fn stamp() -> u16 {
    0
}

/// Never called: there are no scheduling points.
pub fn yield_to_others(_waker: RawWakerParts<'_>) {}

/// There are no selects.
pub(crate) fn outside_selects<R>(run: impl FnOnce() -> R) -> R {
    run()
}

/// No simulation is told anything.
pub mod simulated {
    /// The task that is being polled has locked this.
    pub fn holds<T>(_lock: &T) {}

    /// One that has locked this has unlocked it.
    pub fn lets_go<T>(_lock: &T) {}
}
