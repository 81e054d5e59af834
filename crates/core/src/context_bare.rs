//! Without an operating system no thread drives a home, and no simulation runs.

use crate::waiter::Parts;

/// Operations are scheduling points only in a simulation.
pub fn has_points() -> bool {
    false
}

/// Nobody looks at parked operations.
pub fn is_watched() -> bool {
    false
}

/// Never called: there are no scheduling points.
pub fn give_way(_waker: Parts<'_>) {}
