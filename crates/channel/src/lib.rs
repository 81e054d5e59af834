//! Channels between tasks, fibers and threads.
//!
//! * [`oneshot()`]: one message, once; the smallest there can be.

pub mod oneshot;

pub use self::oneshot::oneshot;
