//! Without an operating system no thread drives a home, and no simulation runs.

use core::task::{Context, Poll};

/// Operations are scheduling points only in a simulation.
pub fn has_points() -> bool {
    false
}

/// Ready: there is nobody to give way to.
pub fn give_way(_cx: &Context<'_>) -> Poll<()> {
    Poll::Ready(())
}
