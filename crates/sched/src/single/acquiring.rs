//! Acquiring a shard that another thread may run for a moment.

use gossamer_core::platform::{Backoff, thread};
use gossamer_core::shard::{Shard, ShardGuard};

/// Looks at a shard that another thread runs before `block_on` gives up.
const ACQUIRES_MAX: u32 = if cfg!(loom) { 1 } else { 1_000 };

/// Acquires a shard for a blocking call; `None` if another thread runs it. That thread's own call may be just at its
/// end, so this looks more than once.
pub(super) fn acquire_patiently(
    shard: &'static Shard,
    scheduling_points: bool,
) -> Option<ShardGuard> {
    (0..ACQUIRES_MAX).find_map(|_| {
        let guard = shard.acquire(scheduling_points);
        if guard.is_none() {
            thread::yield_now();
        }
        guard
    })
}

/// Acquires a shard that is this thread's. Another may run it, to end the tasks of a worker that has left.
pub(crate) fn acquire_again(shard: &'static Shard) -> ShardGuard {
    let mut backoff = Backoff::new();
    loop {
        if let Some(guard) = shard.acquire(false) {
            return guard;
        }
        backoff.wait();
    }
}
