//! Claiming a home that another thread may drive for a moment.

use gossamer_core::door::Backoff;
use gossamer_core::home::{Claim, Home};

/// Claims a home that is this thread's. Another may drive it, to end the tasks of a worker that has left.
pub(crate) fn claim_again(home: &'static Home) -> Claim {
    let mut backoff = Backoff::new();
    loop {
        if let Some(claim) = home.claim(false) {
            return claim;
        }
        backoff.wait();
    }
}
