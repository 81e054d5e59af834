//! Which timers serve what a thread polls: its home's, its own, or the process's.
//!
//! A home has a pointer to its timers once it has needed some, and so has the context of the thread that drives it, once
//! somebody has asked there. A thread that waits says so in its context; which timers it is to serve in its waits it is
//! told when it registers its first (`waiting.rs`).

use std::ptr::NonNull;

use gossamer_core::context::{self, Context};
use gossamer_core::home::Home;
use gossamer_core::moment::Moment;
use gossamer_core::mutant;

use super::{Timers, alarm, waiting};

impl Timers {
    /// Those of a home, if it has needed any so far.
    #[inline(always)]
    pub(super) fn of(home: &Home) -> Option<&'static Self> {
        // SAFETY: a home's timers, or null.
        unsafe { Self::known(home.timers()) }
    }

    /// The same, made if it has none.
    pub(super) fn made(home: &'static Home) -> &'static Self {
        Self::of(home).unwrap_or_else(|| Self::make(home))
    }

    /// # Safety
    /// A home's timers, or null.
    #[inline(always)]
    unsafe fn known(timers: *const ()) -> Option<&'static Self> {
        // SAFETY: `make` alone gives a home timers; they are of this type, and never freed.
        unsafe { timers.cast::<Self>().as_ref() }
    }

    /// Gives a home its timers, unless another thread just has.
    #[cold]
    #[inline(never)]
    fn make(home: &'static Home) -> &'static Self {
        let _one_at_a_time = waiting::moves();
        let made = Self::of(home).filter(|_| !mutant!("timers_made_twice"));
        made.unwrap_or_else(|| {
            let new: &'static Self = Box::leak(Box::new(Self::new()));
            // SAFETY: never freed, and `known` alone takes them for what they are.
            unsafe { home.set_timers(NonNull::from_ref(new).cast()) };
            new
        })
    }
}

/// The timers of whoever drives this thread.
///
/// # Panics
/// Nobody does, and the system grants no thread for the process's own.
#[inline]
pub(super) fn here() -> &'static Timers {
    driven_here().unwrap_or_else(none_driven_here)
}

/// Those of the home that this thread drives, if it has any.
#[inline]
fn driven_here() -> Option<&'static Timers> {
    // SAFETY: a home's timers, or null.
    unsafe { Timers::known(context::with(Context::timers)) }
}

#[inline(never)]
fn none_driven_here() -> &'static Timers {
    match context::with(|context| (context.waits(), context.home())) {
        (true, _) => waiting::own().unwrap_or_else(alarm::started),
        (false, context::NOWHERE) => alarm::started(),
        (false, home) => Timers::made(Home::at(home)),
    }
}

/// Now, by the clock of whoever drives this thread: virtual in a simulation.
#[inline]
pub fn now() -> Moment {
    let is_virtual = driven_here().and_then(Timers::virtual_now);
    is_virtual.map_or_else(Moment::real_now, Moment::from_nanos)
}
