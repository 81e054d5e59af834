//! Claiming a home that another thread may drive for a moment.

use gossamer_core::door::{Backoff, thread};
use gossamer_core::home::{Claim, Home};

/// Looks at a home that another thread drives before `block_on` gives up.
const CLAIMS_MAX: u32 = if cfg!(loom) { 1 } else { 1_000 };

/// Claims a home for a blocking call; `None` if another thread drives it. That thread's own call may be just at its end,
/// so this looks more than once.
pub(super) fn claim_patiently(home: &'static Home, points: bool) -> Option<Claim> {
    (0..CLAIMS_MAX).find_map(|_| {
        let claim = home.claim(points);
        if claim.is_none() {
            thread::yield_now();
        }
        claim
    })
}

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
