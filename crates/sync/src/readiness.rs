//! `Readiness`: whether something can be tried at the operating system, in one direction: reading from a socket, say.
//!
//! The system tells when it *becomes* ready, once each time ([`Readiness::note`]). An operation tries first; when it has
//! tried in vain it says so ([`Readiness::exhaust`]), and waits until the next event. An event between its try and that word
//! must not be lost. So each event has a number, which the operation reads before it tries ([`Readiness::last`]); its word
//! counts only if there has been no other event since.
//!
//! ```text
//!  29         16 15           2    1      0
//! +-------------+--------------+------+-----+
//! | generation  | last event   |CLOSED|READY|
//! +-------------+--------------+------+-----+
//! ```
//! What the word belongs to may end, and the word be used for something else: that begins a new *generation*, and events
//! that were meant for an earlier one change nothing.

use core::panic::Location;
use core::pin::Pin;

use gossamer_core::policy::LockPolicy;

use crate::constructors::constructors;
use crate::line::{Admission, Enter, Line, Waiting, operation};

/// It may be tried.
const READY: u32 = 1;
/// Nothing more will come: a try ends at once, each time.
const CLOSED: u32 = 2;
const EVENT_ONE: u32 = 4;
const EVENTS: u32 = GENERATION_ONE - EVENT_ONE;
const GENERATION_ONE: u32 = 1 << 16;
const GENERATIONS: u32 = (1 << 30) - GENERATION_ONE;

/// The rules: while it is ready, all that wait go.
pub(crate) struct Trying;

impl Trying {
    /// An event, for things of this generation.
    fn note(bits: u32, generation: u32, closed: bool) -> Option<u32> {
        let is_late =
            bits & GENERATIONS != generation && !gossamer_core::mutant!("late_event_counts");
        (!is_late).then(|| {
            let event = bits.wrapping_add(EVENT_ONE) & EVENTS;
            let closed = if closed { CLOSED } else { 0 };
            bits & !EVENTS | event | READY | closed
        })
    }

    /// All up to this event has been tried in vain.
    fn exhaust(bits: u32, last: u32) -> Option<u32> {
        let is_last = bits & EVENTS == last || gossamer_core::mutant!("event_between_is_lost");
        is_last.then_some(bits & !READY)
    }
}

impl Admission for Trying {
    const NAMES: &'static [&'static str] = &["Readiness::ready"];
    const MAY_KEEP: bool = true;

    fn grant(bits: u32, _: usize) -> Option<u32> {
        (bits & READY != 0).then_some(bits)
    }

    #[inline(always)]
    fn arrive(bits: u32, wants: usize) -> Option<u32> {
        Self::grant(bits, wants)
    }

    fn give_back(bits: u32, _: usize) -> u32 {
        bits
    }
}

/// Whether something can be tried at the operating system.
pub struct Readiness<P: LockPolicy> {
    line: Line<P, Trying>,
}

/// The number of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventNumber(u32);

/// Which of the things that use a [`Readiness`] one after the other; it counts up, and begins anew after 16,384.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Generation(u32);

impl Generation {
    /// As a number.
    #[must_use]
    pub fn get(self) -> u32 {
        self.0 / GENERATION_ONE
    }

    /// The one with this number.
    #[must_use]
    pub fn of(number: u32) -> Self {
        Self(number.wrapping_mul(GENERATION_ONE) & GENERATIONS)
    }
}

constructors! {
    impl[] Readiness<P> {
        /// Nobody has tried so far: ready.
        pub fn new() -> Self {
            Self {
                line: Line::<P, Trying>::new(READY),
            }
        }
    }
    default[] = Self::new();
}

impl<P: LockPolicy> Readiness<P> {
    /// The last event so far, if it may be tried.
    #[inline(always)]
    pub fn last(&self) -> EventNumber {
        EventNumber(self.line.look() & EVENTS)
    }

    /// The generation.
    #[inline]
    pub fn generation(&self) -> Generation {
        Generation(self.line.look() & GENERATIONS)
    }

    /// Something that uses it has ended. What comes next finds it ready.
    pub fn begin_anew(&self) {
        self.line.change(|bits| {
            let generation = (bits & GENERATIONS).wrapping_add(GENERATION_ONE) & GENERATIONS;
            bits & !(GENERATIONS | CLOSED) | generation | READY
        });
    }

    /// The system has told an event: all that wait try again. `closed`: nothing more will come in this direction.
    ///
    /// # Returns
    /// `false`: it was meant for another generation, and nothing was done.
    pub fn note(&self, generation: Generation, closed: bool) -> bool {
        self.line
            .change_ahead(|bits| Trying::note(bits, generation.0, closed))
    }

    /// It was tried in vain after this event.
    #[inline]
    pub fn exhaust(&self, last: EventNumber) {
        self.line.change_if(|bits| Trying::exhaust(bits, last.0));
    }

    /// The system gave, or took, less than it was asked for, after this event: the next try would be in vain, unless
    /// nothing more is to come.
    #[inline]
    pub fn exhaust_early(&self, last: EventNumber) {
        self.line.change_if(|bits| {
            let is_open = bits & CLOSED == 0 || gossamer_core::mutant!("end_is_awaited");
            is_open.then(|| Trying::exhaust(bits, last.0)).flatten()
        });
    }

    /// Whether an operation waits.
    pub fn has_waiters(&self) -> bool {
        self.line.look() & crate::line::HAS_WAITERS != 0
    }

    /// The address by which a dump knows it.
    pub fn object(&self) -> usize {
        core::ptr::from_ref(&self.line).addr()
    }

    /// Waits until it may be tried.
    #[inline(always)]
    pub fn ready(&self, caller: &'static Location<'static>) -> Try<'_, P> {
        Try {
            waiting: Waiting::new(&self.line, Enter::new(0), caller),
        }
    }
}

operation! {
    /// [`Readiness::ready`]. Dropped unfinished, it has no effect.
    Try['a, P: LockPolicy]['a, P] by Trying, 0 => (): |this, _how| ()
}

impl<P: LockPolicy> Try<'_, P> {
    /// Begins to wait anew.
    ///
    /// # Panics
    /// It is not complete.
    #[inline]
    pub fn again(self: Pin<&mut Self>) {
        self.project()
            .waiting
            .restart(|enter| *enter = Enter::new(0));
    }
}

gossamer_core::impl_debug!([P: LockPolicy] Readiness[P], this => is_ready: this.line.look() & READY != 0);

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
