//! `Event`: something that has happened, or not yet.
//!
//! The bits: `SET`, and the number of the last setting. Whoever waited when the event was set goes, also if the event
//! is reset before it is there: it came under another number.

use core::panic::Location;

use gossamer_core::policy::LockPolicy;

use crate::constructors::constructors;
use crate::line::{Admission, Enter, HAS_WAITERS, Line, Waiting, operation};

/// It has happened.
const SET: u32 = 1;
const SETTING: u32 = HAS_WAITERS - SETTING_ONE;
const SETTING_ONE: u32 = 2;

/// The rules of an event: an operation that waits has the number of the setting before it.
pub(crate) struct Happening;

impl Happening {
    /// It happens, if it has not.
    fn set(bits: u32) -> u32 {
        if bits & SET != 0 {
            return bits;
        }
        let setting = bits.wrapping_add(SETTING_ONE) & SETTING;
        bits & HAS_WAITERS | setting | SET
    }
}

impl Admission for Happening {
    const NAMES: &'static [&'static str] = &["Event::ready"];
    const MAY_KEEP: bool = true;

    const WAITING_COUNTS: bool = true;

    fn grant(bits: u32, wants: usize) -> Option<u32> {
        ((bits & SETTING) as usize != wants).then_some(bits)
    }

    #[inline(always)]
    fn arrive(bits: u32, _: usize) -> Option<u32> {
        (bits & SET != 0).then_some(bits)
    }

    fn park(bits: u32, _: usize) -> (u32, usize) {
        (bits, (bits & SETTING) as usize)
    }

    fn give_back(bits: u32, _: usize) -> u32 {
        bits
    }
}

/// Something that happens; those who wait for it go all together, and those who come later do not wait.
///
/// Use it as [`sync::Event`](crate::sync::Event) or [`local::Event`](crate::local::Event).
///
/// # Blocking
/// [`ready`](Event::ready) is a future: `.await` it in a task, `.wait()` for it in a fiber or a thread.
///
/// # Cancellation
/// Waiting has no effect on the event, nor has giving up.
///
/// # Examples
/// ```
/// use gossamer::Wait;
/// use gossamer::sync::Event;
///
/// let started = Event::new();
/// started.set();
/// started.ready().wait();
/// started.reset();
/// assert!(!started.is_set());
/// ```
#[doc(alias = "Notify")]
pub struct Event<P: LockPolicy> {
    line: Line<P, Happening>,
}

#[cfg(all(not(any(loom, shuttle)), target_pointer_width = "64"))]
const _: () = assert!(size_of::<Event<gossamer_core::policy::Local>>() == 16);

constructors! {
    impl[] Event<P> {
        /// Not set.
        pub fn new() -> Self {
            Self {
                line: Line::<P, Happening>::new(0),
            }
        }
    }
    default[] = Self::new();
}

impl<P: LockPolicy> Event<P> {
    /// Sets the event; all who wait go. Nothing, if it is set.
    pub fn set(&self) {
        self.line.change(Happening::set);
    }

    /// Takes it back: who comes from now on waits. (Who waited when it was set goes.)
    pub fn reset(&self) {
        self.line.change(|bits| bits & !SET);
    }

    /// Whether it is set at this moment. What was done before it was set is seen.
    #[inline]
    pub fn is_set(&self) -> bool {
        self.line.look() & SET != 0
    }

    /// Waits until it is set.
    #[track_caller]
    #[inline(always)]
    pub fn ready(&self) -> Ready<'_, P> {
        Ready {
            waiting: Waiting::new(&self.line, Enter::new(0), Location::caller()),
        }
    }
}

operation! {
    /// [`Event::ready`]. Dropped unfinished, it has no effect.
    Ready['a, P: LockPolicy]['a, P] by Happening, 0 => (): |this, _how| ()
}

gossamer_core::impl_debug!([P: LockPolicy] Event[P], this => is_set: this.is_set());

#[cfg(test)]
mod tests;
