//! The promise for fibers, for this suite.

use gossamer::Fibers;

// SAFETY: nothing in these tests, or in what they use, keeps a reference into a thread-local across a switch.
#[allow(unsafe_code)]
pub(crate) const FIBERS: Fibers = unsafe { Fibers::contract() };
