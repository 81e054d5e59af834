//! How many threads of the process sleep until another one wakes them: when it is worth while to look whether all do.
//!
//! A thread counts from when its permit says that it sleeps for good, and who gives it the permit counts it out. That is a
//! hint: a thread that was just woken may still count. [`Sleepers`](crate::sleepers) look closely.

use std::fs;
use std::sync::Once;

use super::UnmodelledI64;
use super::atomic::Ordering;
use super::in_forked_children;

/// How many sleep.
static ASLEEP: UnmodelledI64 = UnmodelledI64::new(0);
/// How many threads have slept here, and have not ended.
static KNOWN: UnmodelledI64 = UnmodelledI64::new(0);

/// This thread sleeps from now on; whether all that are known do.
#[inline]
pub(super) fn count_in() -> bool {
    // Relaxed: a hint, here and below.
    let asleep = ASLEEP.fetch_add(1, Ordering::Relaxed) + 1;
    asleep == KNOWN.load(Ordering::Relaxed) // Relaxed: as above
}

/// A thread that sleeps has been given its permit.
#[inline]
pub(super) fn count_out() {
    ASLEEP.fetch_sub(1, Ordering::Relaxed); // Relaxed: as above
}

/// Threads that wait for a signal of the system, and wake nobody who would go on by that.
static SERVANTS: UnmodelledI64 = UnmodelledI64::new(0);

/// This thread, for good, waits for a signal of the system, to say something: it does not count among those of the process.
pub fn serve() {
    SERVANTS.fetch_add(1, Ordering::Relaxed); // Relaxed: as above
}

/// This thread is known from now on.
pub fn know() {
    static FORKS: Once = Once::new();
    FORKS.call_once(|| in_forked_children(forget));
    KNOWN.fetch_add(1, Ordering::Relaxed); // Relaxed: as above
}

/// This thread ends; whether all others that are known sleep.
pub fn unknow() -> bool {
    let known = KNOWN.fetch_sub(1, Ordering::Relaxed) - 1; // Relaxed: as above
    known > 0 && ASLEEP.load(Ordering::Relaxed) == known // Relaxed: as above
}

/// How many threads the process has, but those that [serve]. `None`: the system does not say.
pub fn threads_of_process() -> Option<usize> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The 20th field; the second is the process's name in brackets, which may have anything in it.
    let (_, fields) = stat.rsplit_once(')')?;
    let threads: usize = fields.split_whitespace().nth(17)?.parse().ok()?;
    let servants = SERVANTS.load(Ordering::Relaxed); // Relaxed: one that begins just now counts
    threads.checked_sub(servants.try_into().ok()?)
}

/// In a forked child, which has the one thread that runs.
extern "C" fn forget() {
    ASLEEP.store(0, Ordering::Relaxed); // Relaxed: as above
    KNOWN.store(1, Ordering::Relaxed); // Relaxed: as above
    SERVANTS.store(0, Ordering::Relaxed); // Relaxed: as above
}
