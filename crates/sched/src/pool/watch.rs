//! One idle worker watches those that are busy, for polls that go on for long (`publishing.rs` tells
//! what then): from when it became idle until no worker is busy. If none watches, a worker that has made 128 polls in a
//! row calls one.

use std::time::{Duration, Instant};

use gossamer_core::moment::Moment;
use gossamer_core::platform::UnmodelledU32;
use gossamer_core::platform::atomic::Ordering;
use gossamer_core::platform::spin_loop;

use super::idle::Idle;
use super::worker_shard::WorkerShard;

/// Between two looks: the shortest, and the longest, after a while without work.
const LOOK_AFTER_MIN: Duration = Duration::from_millis(1);
const LOOK_AFTER_MAX: Duration = Duration::from_millis(10);

/// A worker that has not been between two polls for this long is in a long poll.
const LONG_POLL: Duration = Duration::from_micros(20);

/// Nobody watches; somebody was called to; somebody does.
const NOBODY: u32 = 0;
const CALLED: u32 = 1;
const SOMEBODY: u32 = 2;

/// Says whether an idle worker watches the busy ones, or has been called to.
#[derive(Debug, Default)]
pub(super) struct Watch(UnmodelledU32);

impl Watch {
    /// Calls an idle worker to watch, if none does or is about to. By a worker that is busy; cheap.
    #[inline]
    pub(super) fn call(&self, idle: &Idle) {
        // Relaxed: it decides who watches, and publishes nothing; the same below.
        if idle.len() > 0 && self.0.load(Ordering::Relaxed) == NOBODY {
            // Relaxed: nothing is published, as above.
            self.0.store(CALLED, Ordering::Relaxed);
            idle.call_one();
        }
    }

    /// A worker has become idle: whether it is the one that watches.
    pub(super) fn begin(&self) -> bool {
        let before = self.0.swap(SOMEBODY, Ordering::Relaxed); // Relaxed: see `call`
        before != SOMEBODY
    }

    /// A worker that watched does so no more.
    pub(super) fn end(&self) {
        // Relaxed: see `call`.
        self.0.store(NOBODY, Ordering::Relaxed);
    }

    /// A worker that did not watch is idle no more, perhaps because it was called to watch.
    pub(super) fn was_called(&self) {
        // Relaxed: see `call`.
        if self.0.load(Ordering::Relaxed) == CALLED {
            self.end();
        }
    }
}

/// Sleeps until a wake, or that moment, and meanwhile looks at those that are busy; `false` as soon as nobody is.
/// `others` gives the shards of the pool but for the watcher's own; `park_for` sleeps, and says whether there was a wake.
pub(super) fn watch<I>(
    others: impl Fn() -> I,
    park_for: impl Fn(Duration) -> bool,
    until: Moment,
) -> bool
where
    I: Iterator<Item = &'static WorkerShard>,
{
    let busy = || others().filter(|shard| shard.is_running());
    let mut look_after = LOOK_AFTER_MIN;
    loop {
        let left = until.left().unwrap_or(look_after);
        if left.is_zero() || park_for(look_after.min(left)) {
            return true;
        }
        if busy().next().is_none() {
            return false;
        }
        busy().for_each(|shard| shard.ping());
        // Not asleep: the system would sleep longer.
        let began = Instant::now();
        while began.elapsed() < LONG_POLL {
            spin_loop();
        }
        let in_long_polls = busy().filter(|shard| shard.has_pending());
        in_long_polls.for_each(WorkerShard::want_publishing);
        look_after = (look_after * 2).min(LOOK_AFTER_MAX);
    }
}
