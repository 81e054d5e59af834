//! What the suite promises, once for all of its tests: to have fibers, and a waker made by hand.

use std::panic::resume_unwind;
use std::task::{RawWaker, RawWakerVTable, Waker};

use gossamer::Fibers;
use gossamer_sim::Sim;

// SAFETY: no test, nor anything that the tests use, waits while it uses a thread-local like a stack, or initialises one.
pub(crate) const FIBERS: Fibers = unsafe { Fibers::contract() };

/// Simulations with fibers.
pub(crate) const SIM: Sim = Sim::new().fibers(FIBERS);

/// A waker that panics when it is cloned, with `"planned"`, and does nothing else.
pub(crate) fn not_cloned() -> Waker {
    static TABLE: RawWakerVTable = RawWakerVTable::new(
        |_| resume_unwind(Box::new("planned")),
        |_| {},
        |_| {},
        |_| {},
    );
    // SAFETY: the functions of the table use no pointer, and any thread may call them as often as it likes.
    unsafe { Waker::from_raw(RawWaker::new(std::ptr::null(), &TABLE)) }
}
