//! The stackful fiber: a closure on a stack of its own; knows no scheduler.
//!
//! An internal part of `gossamer-rt`: nothing is promised of this crate alone.
//!
//! To its runtime a [`Fiber`] is a future like any other. Polled, it switches to its stack; an operation that it
//! waits for by [`.wait()`](gossamer_core::wait::Wait::wait), and that is not ready, switches back, and the poll
//! is pending. So everything that tasks can do (wake, join, abort, run under any model) works for fibers as it is.

mod contract;
mod ending;
mod fiber;
mod stack;
mod standing;
mod switch;

pub use self::contract::Fibers;
pub use self::ending::before_fibers_end;
pub use self::fiber::Fiber;
