//! The timers of threads that wait and drive nothing: each such thread serves its own while it waits.
//!
//! They come from a list, are taken when a thread registers its first timer, and go back when it ends.

use core::cell::Cell;
use core::ptr;
use core::task::Waker;

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::{Kind, Moment, Serves, Timers};
use crate::door::{Mutex, MutexGuard, per_process, thread_local};
use crate::{context, mutant};

per_process! {
    /// Timers that no thread has.
    fn free() -> Mutex<Vec<&'static Timers>> = Mutex::default()
}

per_process! {
    /// Held while timers move.
    fn moving() -> Mutex<()> = Mutex::default()
}

/// Keeps others from moving timers.
pub(super) fn moves() -> MutexGuard<'static, ()> {
    moving().lock()
}

/// This thread's, given back when it ends.
struct Own(Cell<Option<&'static Timers>>);

impl Drop for Own {
    fn drop(&mut self) {
        if let Some(timers) = self.0.take() {
            timers.end();
            free().lock().push(timers);
        }
    }
}

#[cfg(not(loom))]
thread_local! {
    static OWN: Own = const { Own(Cell::new(None)) };
}
#[cfg(loom)]
thread_local! {
    static OWN: Own = Own(Cell::new(None));
}

/// This thread's timers; `None` if the thread is so late in its end that it has none any more.
pub(super) fn own() -> Option<&'static Timers> {
    OWN.try_with(|own| {
        let timers = own.0.get().unwrap_or_else(take);
        own.0.set(Some(timers));
        timers
    })
    .ok()
}

#[cold]
fn take() -> &'static Timers {
    let free = free().lock().pop();
    free.unwrap_or_else(|| Box::leak(Box::new(Timers::of_kind(Kind::Waiting))))
}

impl Serves {
    /// A driver's timers.
    #[inline(always)]
    pub(crate) fn driver(self) -> Option<&'static Timers> {
        match self {
            Serves::Driver(timers) => Some(timers),
            Serves::Waiting => None,
        }
    }
}

/// A thread waits, and serves its own timers, as long as this lives.
#[derive(Debug)]
pub(crate) struct Waiting {
    before: Option<Serves>,
    /// What its waker points at.
    parker: Cell<*const ()>,
}

impl Waiting {
    #[inline(always)]
    pub(crate) fn begin() -> Self {
        let before = context::with(|context| context.set_timers(Some(Serves::Waiting)));
        Self {
            before,
            parker: Cell::new(ptr::null()),
        }
    }

    /// Says what wakes the thread.
    pub(crate) fn woken_by(&self, waker: &Waker) {
        self.parker.set(waker.data());
    }

    /// Whether this is no wait inside a wait.
    pub(crate) fn is_outermost(&self) -> bool {
        !matches!(self.before, Some(Serves::Waiting))
    }

    /// Ends it, if that takes nothing but to say so.
    #[inline(always)]
    pub(crate) fn ends_quickly(&self) -> bool {
        let is_quick = self.before.is_none() && Self::own().is_none();
        if is_quick && !mutant!("wait_ends_unsaid") {
            context::with(|context| context.set_timers(None));
        }
        is_quick
    }

    #[inline(never)]
    fn rests(&self, own: &'static Timers) {
        own.rest(|waker| waker.data() == self.parker.get());
    }

    fn own() -> Option<&'static Timers> {
        OWN.try_with(|own| own.0.get()).ok().flatten()
    }

    /// Fires what is due of this thread's timers; `true` if something was.
    pub(crate) fn serve(&self) -> bool {
        Self::own().is_some_and(Timers::serve)
    }

    /// When to look again.
    pub(crate) fn next_deadline(&self) -> Moment {
        Self::own().map_or(Moment::NEVER, Timers::next_deadline)
    }
}

impl Drop for Waiting {
    #[inline(always)]
    fn drop(&mut self) {
        context::with(|context| context.set_timers(self.before));
        if let Some(own) = Self::own().filter(|_| self.is_outermost()) {
            self.rests(own);
        }
    }
}
