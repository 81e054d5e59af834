//! Which timers serve what a thread polls: its shard's, its own, or the process's.
//!
//! A shard has a pointer to its timers once it has needed some, and so has the context of the thread that runs it, once
//! somebody has asked there. A thread that waits says so in its context; which timers it is to serve in its waits it is
//! told when it registers its first (`waiting.rs`).

use gossamer_core::context;
use gossamer_core::moment::Moment;
use gossamer_core::shard::Shard;

use super::{Timers, alarm, waiting};

impl Timers {
    /// The shard's timers, made if it has none.
    pub(super) fn made(shard: &'static Shard) -> &'static Self {
        Self::of(shard).unwrap_or_else(|| Self::make(shard))
    }
}

/// The timers of whoever runs this thread.
///
/// # Panics
/// Nobody does, and the system grants no thread for the process's own.
#[inline]
pub(super) fn here() -> &'static Timers {
    Timers::run_here().unwrap_or_else(none_run_here)
}

#[inline(never)]
fn none_run_here() -> &'static Timers {
    match context::with(|context| (context.waits(), context.shard())) {
        (true, _) => waiting::own().unwrap_or_else(alarm::started),
        (false, context::NOWHERE) => alarm::started(),
        (false, shard) => Timers::made(Shard::at(shard)),
    }
}

/// Now, by the clock of whoever runs this thread: virtual in a simulation.
#[inline]
pub(crate) fn now() -> Moment {
    let is_virtual = Timers::run_here().and_then(Timers::virtual_now);
    is_virtual.map_or_else(Moment::real_now, Moment::from_nanos)
}
