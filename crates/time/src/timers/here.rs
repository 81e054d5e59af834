//! Which timers serve what a thread polls: its shard's, its own, or the process's.
//!
//! A shard has a pointer to its timers once it has needed some, and so has the context of the thread that runs it, once
//! somebody has asked there. A thread that waits says so in its context; which timers it is to serve in its waits it is
//! told when it registers its first (`waiting.rs`).

use std::ptr::NonNull;

use gossamer_core::context::{self, Context};
use gossamer_core::moment::Moment;
use gossamer_core::mutant;
use gossamer_core::shard::Shard;

use super::{Timers, alarm, moves, waiting};

impl Timers {
    /// Those of a shard, if it has needed any so far.
    #[inline(always)]
    pub(super) fn of(shard: &Shard) -> Option<&'static Self> {
        // SAFETY: a shard's timers, or null.
        unsafe { Self::known(shard.timers()) }
    }

    /// The shard's timers, made if it has none.
    pub(super) fn made(shard: &'static Shard) -> &'static Self {
        Self::of(shard).unwrap_or_else(|| Self::make(shard))
    }

    /// # Safety
    /// A shard's timers, or null.
    #[inline(always)]
    unsafe fn known(timers: *const ()) -> Option<&'static Self> {
        // SAFETY: `make` alone gives a shard timers; they are of this type, and never freed.
        unsafe { timers.cast::<Self>().as_ref() }
    }

    /// Gives a shard its timers, unless another thread just has.
    #[cold]
    #[inline(never)]
    fn make(shard: &'static Shard) -> &'static Self {
        let _one_at_a_time = moves();
        let made = Self::of(shard).filter(|_| !mutant!("timers_made_twice"));
        made.unwrap_or_else(|| {
            let new: &'static Self = Box::leak(Box::new(Self::new(true, None)));
            // SAFETY: never freed, and `known` alone takes them for what they are.
            unsafe { shard.set_timers(NonNull::from_ref(new).cast()) };
            new
        })
    }
}

/// The timers of whoever runs this thread.
///
/// # Panics
/// Nobody does, and the system grants no thread for the process's own.
#[inline]
pub(super) fn here() -> &'static Timers {
    run_here().unwrap_or_else(none_run_here)
}

/// Those of the shard that this thread runs, if it has any.
#[inline]
fn run_here() -> Option<&'static Timers> {
    // SAFETY: a shard's timers, or null.
    unsafe { Timers::known(context::with(Context::timers)) }
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
    let is_virtual = run_here().and_then(Timers::virtual_now);
    is_virtual.map_or_else(Moment::real_now, Moment::from_nanos)
}
