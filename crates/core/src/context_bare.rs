//! Without an operating system no thread drives a home, and no simulation runs.

use crate::waiter::Parts;

/// Operations are scheduling points only in a simulation, and nobody is driven here who could be kept waiting.
pub fn has_to_give_way() -> bool {
    false
}

/// Never: there is nobody to give way to.
pub fn has_to_give_way_receiving() -> bool {
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
pub fn give_way(_waker: Parts<'_>) {}
