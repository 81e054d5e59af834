//! Waiting for others, but perhaps not for ever.

use std::time::{Duration, Instant};

use gossamer_core::platform::{Condvar, MutexGuard};

/// Sleeps while `waits` says so, and until the deadline at most; `false` if it still says so then.
pub(crate) fn wait_while<T>(
    condvar: &Condvar,
    mut state: MutexGuard<'_, T>,
    deadline: Option<Instant>,
    waits: impl Fn(&T) -> bool,
) -> bool {
    while waits(&state) {
        state = match deadline.map(|at| at.saturating_duration_since(Instant::now())) {
            None => condvar.wait(state),
            Some(Duration::ZERO) => return false,
            Some(left) => condvar.wait_for(state, left),
        };
    }
    true
}
