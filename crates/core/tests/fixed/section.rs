//! The critical section of these tests: a lock for the whole process, as the feature `std` of `critical-section` has.
//!
//! That feature itself would be everybody's whose tests are built beside these, also theirs who say themselves what a
//! section is. (The example of `Section` runs with it.) This one counts, too, and finds a section inside another.

use std::cell::Cell;

use critical_section::{Impl, RawRestoreState, set_impl};
use gossamer_core::platform::atomic::{AtomicBool, Ordering};
use gossamer_core::platform::thread;

static TAKEN: AtomicBool = AtomicBool::new(false);

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
    static ENTERED: Cell<usize> = const { Cell::new(0) };
}

/// Whether this thread is in a section.
pub(crate) fn is_inside() -> bool {
    INSIDE.get()
}

/// How many sections this thread has entered.
pub(crate) fn entered() -> usize {
    ENTERED.get()
}

struct Lock;

// SAFETY: one thread at a time has `TAKEN`, and sees what the one before it did.
unsafe impl Impl for Lock {
    unsafe fn acquire() -> RawRestoreState {
        assert!(!INSIDE.replace(true), "a section inside a section");
        ENTERED.set(ENTERED.get() + 1);
        // Acquire pairs with the release in `release`.
        while TAKEN.swap(true, Ordering::Acquire) {
            thread::yield_now();
        }
    }

    unsafe fn release(_state: RawRestoreState) {
        // Release pairs with the acquire in `acquire`.
        TAKEN.store(false, Ordering::Release);
        INSIDE.set(false);
    }
}

set_impl!(Lock);
