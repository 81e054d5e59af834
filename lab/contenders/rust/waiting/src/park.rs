//! Parked threads: who waits is counted, and what it is sent is added up.

use std::sync::atomic::{AtomicU64, Ordering};

/// The counts of all threads; each of them holds a reference.
#[derive(Debug)]
pub struct Park {
    threads: u64,
    parked: AtomicU64,
    woken: AtomicU64,
    sum: AtomicU64,
}

impl Park {
    /// Of so many threads, for as long as the process lives.
    pub fn of(threads: u64) -> &'static Park {
        Box::leak(Box::new(Park {
            threads,
            parked: AtomicU64::new(0),
            woken: AtomicU64::new(0),
            sum: AtomicU64::new(0),
        }))
    }

    /// A thread is about to wait; whether it is the last one.
    pub fn parks(&self) -> bool {
        self.parked.fetch_add(1, Ordering::AcqRel) + 1 == self.threads
    }

    /// A thread was sent this; whether it is the last one.
    pub fn woke(&self, number: u64) -> bool {
        self.sum.fetch_add(number, Ordering::AcqRel);
        self.woken.fetch_add(1, Ordering::AcqRel) + 1 == self.threads
    }

    /// What all were sent together.
    pub fn sum(&self) -> u64 {
        self.sum.load(Ordering::Acquire)
    }
}
