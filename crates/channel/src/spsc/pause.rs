//! Looking again before parking.

use gossamer_core::platform::{spin_loop, thread};

/// How often a thread looks before it parks: it waits longer each time, up to a limit, and in the end lets others run.
pub(super) const LOOKS: u32 = if cfg!(any(loom, shuttle)) { 0 } else { 11 };
/// The first of those that lets others run.
const YIELDS: u32 = 7;
/// The processor's pauses before the second look, and the most before one. A side that looks sooner takes the other
/// side's cache lines away for one message. With 1 a stream takes a quarter longer; with 16 a side that has to wait for
/// each message gets it twice as late.
const FIRST_PAUSE: u32 = 8;
const LAST_PAUSE: u32 = 64;

/// Waits a while before the next look.
pub(super) fn pause(looks: u32) {
    if looks < YIELDS {
        for _ in 0..(FIRST_PAUSE << looks).min(LAST_PAUSE) {
            spin_loop();
        }
    } else {
        thread::yield_now();
    }
}
