//! A wait, as the context of its thread knows it: the thread serves timers of its own meanwhile.

use core::cell::Cell;
use core::ptr;
use core::task::Waker;

use crate::context::{self, Serves};
use crate::moment::{Moment, OwnTimers};
use crate::mutant;
use crate::platform::thread_local;

thread_local! {
    static OWN: Cell<Option<&'static dyn OwnTimers>> = const { Cell::new(None) };
}

/// Says which timers this thread serves when it waits. (Nothing, where a model's thread has no thread-locals any more.)
pub fn set_own_timers(timers: Option<&'static dyn OwnTimers>) {
    let _gone = OWN.try_with(|own| own.set(timers));
}

/// A thread waits, and serves its own timers, as long as this lives.
#[derive(Debug)]
pub(super) struct Waiting {
    before: Serves,
    /// Data pointer of the waker that wakes the thread; null until [`Waiting::woken_by`] sets it.
    parker: Cell<*const ()>,
}

impl Waiting {
    #[inline(always)]
    pub(super) fn begin() -> Self {
        Self {
            before: context::with(|context| context.set_serves(Serves::WAITING)),
            parker: Cell::new(ptr::null()),
        }
    }

    /// Says what wakes the thread.
    pub(super) fn woken_by(&self, waker: &Waker) {
        self.parker.set(waker.data());
    }

    /// Whether this is no wait inside a wait.
    pub(super) fn is_outermost(&self) -> bool {
        !self.before.waits
    }

    /// Ends it, if that takes nothing but to say so.
    #[inline(always)]
    pub(super) fn ends_quickly(&self) -> bool {
        let is_quick = self.before == Serves::RUNNER && Self::own().is_none();
        if is_quick && !mutant!("wait_ends_unsaid") {
            context::with(|context| context.set_serves(Serves::RUNNER));
        }
        is_quick
    }

    #[inline(never)]
    fn rests(&self, own: &'static dyn OwnTimers) {
        own.rest(&|waker| waker.data() == self.parker.get());
    }

    #[inline(always)]
    fn own() -> Option<&'static dyn OwnTimers> {
        OWN.try_with(Cell::get).ok().flatten()
    }

    /// Fires what is due of this thread's timers; `true` if something was.
    pub(super) fn serve(&self) -> bool {
        Self::own().is_some_and(OwnTimers::serve)
    }

    /// When to look again.
    pub(super) fn next_deadline(&self) -> Moment {
        Self::own().map_or(Moment::NEVER, OwnTimers::next_deadline)
    }
}

impl Drop for Waiting {
    #[inline(always)]
    fn drop(&mut self) {
        context::with(|context| context.set_serves(self.before));
        if let Some(own) = Self::own().filter(|_| self.is_outermost()) {
            self.rests(own);
        }
    }
}
