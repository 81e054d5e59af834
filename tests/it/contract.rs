//! What the suite promises, once for all of its tests: to have fibers; a waker made by hand; the text of a panic.

use std::any::Any;
use std::panic::resume_unwind;
use std::task::{RawWaker, RawWakerVTable, Waker};

use gossamer::Fibers;
use gossamer_sim::Sim;

// SAFETY: no test, nor anything that the tests use, waits while it uses a thread-local like a stack, or initialises one.
pub(crate) const FIBERS: Fibers = unsafe { Fibers::contract() };

/// Simulations with fibers.
pub(crate) const SIM: Sim = Sim::new().fibers(FIBERS);

/// The text of a panic.
pub(crate) fn panic_text(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<String>().cloned();
    let text = text.or_else(|| payload.downcast_ref::<&str>().map(ToString::to_string));
    text.expect("a panic with a text")
}

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
