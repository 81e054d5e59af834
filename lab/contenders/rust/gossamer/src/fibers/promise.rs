//! The one promise that a program with fibers makes.

use gossamer::Fibers;

// SAFETY: no code here, nor in the dependencies, waits while it uses a thread-local like a stack, or initialises one.
pub(crate) const FIBERS: Fibers = unsafe { Fibers::contract() };
