//! Parked threads: who waits is counted, and what it is sent is added up. In statics, so that a thread need not hold
//! a reference to them.

use std::sync::atomic::{AtomicU64, Ordering};

/// After so many spawns or wake-ups who makes them gives way: a queue of a million runnable threads is not what is
/// weighed.
pub const AT_ONCE: u64 = 1_000;

static THREADS: AtomicU64 = AtomicU64::new(0);
static PARKED: AtomicU64 = AtomicU64::new(0);
static WOKEN: AtomicU64 = AtomicU64::new(0);
static SUM: AtomicU64 = AtomicU64::new(0);

/// There will be so many threads.
pub fn expect(threads: u64) {
    THREADS.store(threads, Ordering::Release);
}

/// A thread is about to wait; whether it is the last one.
pub fn parks() -> bool {
    PARKED.fetch_add(1, Ordering::AcqRel) + 1 == THREADS.load(Ordering::Relaxed)
}

/// A thread was sent this; whether it is the last one.
pub fn woke(number: u64) -> bool {
    SUM.fetch_add(number, Ordering::AcqRel);
    WOKEN.fetch_add(1, Ordering::AcqRel) + 1 == THREADS.load(Ordering::Relaxed)
}

/// What all were sent together.
pub fn sum() -> u64 {
    SUM.load(Ordering::Acquire)
}
