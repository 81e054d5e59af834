//! Claiming a home that somebody else may hold for a moment.

use gossamer_core::door::thread;
use gossamer_core::home::{Claim, Home};

/// Looks at a claimed home before giving up.
const CLAIMS_MAX: u32 = if cfg!(loom) { 1 } else { 1_000 };

/// Claims a home. An operation that outlived its run may hold the claim for a moment, to let go of its
/// task, so this looks more than once before it gives up.
pub(crate) fn claim_patiently(home: &'static Home, points: bool) -> Option<Claim> {
    (0..CLAIMS_MAX).find_map(|_| {
        let claim = home.claim(points);
        if claim.is_none() {
            thread::yield_now();
        }
        claim
    })
}

/// Claims a home that is this thread's. Another may hold the claim for a moment, to take a task along or to let
/// go of one.
pub(crate) fn claim_again(home: &'static Home) -> Claim {
    loop {
        if let Some(claim) = home.claim(false) {
            return claim;
        }
        thread::yield_now();
    }
}
