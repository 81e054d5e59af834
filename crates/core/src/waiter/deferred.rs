//! The waker to call or to drop once a primitive's lock is released.

use core::task::Waker;

use crate::context::outside_selects;
#[cfg(feature = "std")]
use crate::panics::end;

/// A foreign waker to be called, or one to be dropped: after the primitive's lock is given up.
#[derive(Debug)]
#[must_use]
pub struct Deferred(pub(super) Option<Waker>);

impl Deferred {
    /// Nothing to do.
    pub const NOTHING: Self = Self(None);

    /// One waker to call.
    pub fn new(waker: Waker) -> Self {
        Self(Some(waker))
    }

    /// Whether there is nothing to do.
    #[inline(always)]
    pub fn is_nothing(&self) -> bool {
        self.0.is_none()
    }

    /// Wakes. A foreign waker that panics does not harm the operation: the panic ends here, or without std the process.
    #[inline(always)]
    pub fn run(self) {
        if let Some(waker) = self.0 {
            run_foreign(waker);
        }
    }
}

/// Drops a waker where a panic of that, which is user code, would lose what an operation has just been given: it ends
/// here.
#[cold]
#[inline(never)]
pub(crate) fn drop_quietly(waker: Waker) {
    if crate::mutant!("unused_clone_panics") {
        return drop(waker);
    }
    end(|| drop(waker));
}

#[cold]
#[inline(never)]
fn run_foreign(waker: Waker) {
    // What it polls, no select polls.
    outside_selects(|| end(|| waker.wake()));
}

/// Without std nobody can catch a panic. The operation that it comes through has taken effect and does not say so yet: it
/// must not unwind, and so a second panic ends the process.
#[cfg(not(feature = "std"))]
fn end(run: impl FnOnce()) {
    struct Ends;
    impl Drop for Ends {
        fn drop(&mut self) {
            panic!("a waker panicked, and without std nobody can catch that");
        }
    }
    let ends = Ends;
    run();
    core::mem::forget(ends);
}
