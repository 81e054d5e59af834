//! What the suite promises to have fibers, once for all of its tests.

use gossamer::Fibers;
use gossamer_sim::Sim;

// SAFETY: no test, nor anything that the tests use, waits while it uses a thread-local like a stack, or initialises one.
pub(crate) const FIBERS: Fibers = unsafe { Fibers::contract() };

/// Simulations with fibers.
pub(crate) const SIM: Sim = Sim::new().fibers(FIBERS);
