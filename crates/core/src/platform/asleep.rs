//! How many threads of the process sleep until another one wakes them: when it is worth while to look whether all do.
//!
//! A thread counts from when its permit says that it sleeps for good, and who gives it the permit counts it out. That is a
//! hint: a thread that was just woken may still count. [`Sleepers`](crate::sleepers) look closely.

use std::fs;
use std::sync::Once;

use super::UnmodelledI64;
use super::atomic::{Ordering, fence};
use super::in_forked_children;

/// How many sleep.
static ASLEEP: UnmodelledI64 = UnmodelledI64::new(0);
/// How many threads have slept here, and have not ended.
static KNOWN: UnmodelledI64 = UnmodelledI64::new(0);

/// This thread sleeps from now on; whether all that are known do.
#[inline]
pub(super) fn count_in() -> bool {
    // SeqCst, here and in `unknow`: of two that do one and look at the other, one sees both.
    let asleep = ASLEEP.fetch_add(1, Ordering::SeqCst) + 1; // pairs with the load in `unknow`
    asleep >= KNOWN.load(Ordering::SeqCst) // pairs with the change in `unknow`
}

/// A thread that sleeps has been given its permit.
#[inline]
pub(super) fn count_out() {
    ASLEEP.fetch_sub(1, Ordering::Relaxed); // Relaxed: a hint
}

/// Threads that wait for a signal of the system, and wake nobody who would go on by that.
static SERVANTS: UnmodelledI64 = UnmodelledI64::new(0);

/// This thread, for good, waits for a signal of the system, to say something: it does not count among those of the process.
pub fn serve() {
    watch_forks();
    SERVANTS.fetch_add(1, Ordering::Relaxed); // Relaxed: as above
}

fn watch_forks() {
    static FORKS: Once = Once::new();
    FORKS.call_once(|| in_forked_children(forget));
}

/// This thread is known from now on.
pub fn know() {
    watch_forks();
    KNOWN.fetch_add(1, Ordering::Relaxed); // Relaxed: as above
}

/// This thread ends; whether all others that are known sleep.
pub fn unknow() -> bool {
    let known = KNOWN.fetch_sub(1, Ordering::SeqCst) - 1; // pairs with the load in `count_in`
    known > 0 && ASLEEP.load(Ordering::SeqCst) >= known // pairs with the change in `count_in`
}

/// Whether one that is known does not sleep. Whoever falls asleep last finds that it is the last.
pub fn any_is_awake() -> bool {
    let asleep = ASLEEP.load(Ordering::SeqCst); // pairs with the change in `count_in`
    asleep < KNOWN.load(Ordering::SeqCst) // pairs with the change in `unknow`
}

/// How many threads the process has, but those that [serve]. `None`: the system does not say.
pub fn threads_of_process() -> Option<usize> {
    // Relaxed: before the others are counted, so that one that begins to serve meanwhile counts.
    let servants = SERVANTS.load(Ordering::Relaxed);
    // The reads of who sleeps come before and after this one.
    fence(Ordering::SeqCst); // pairs with nothing: it keeps the order of loads
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The 20th field; the second is the process's name in brackets, which may have anything in it.
    let (_, fields) = stat.rsplit_once(')')?;
    let threads: usize = fields.split_whitespace().nth(17)?.parse().ok()?;
    fence(Ordering::SeqCst); // pairs with nothing: as above
    threads.checked_sub(servants.try_into().ok()?)
}

/// Whether the process has handlers for signals that come from outside: then what they do is not known.
pub fn catches_signals() -> bool {
    let Ok(status) = fs::read_to_string("/proc/self/status") else {
        return true;
    };
    let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let Some(Ok(caught)) = mask.map(|mask| u64::from_str_radix(mask.trim(), 16)) else {
        return true;
    };
    // Those of a fault, of `abort`, and of the C library's own.
    const OWN: [u32; 8] = [4, 5, 6, 7, 8, 11, 32, 33];
    let mut own: u64 = OWN.iter().map(|signal| 1 << (signal - 1)).sum();
    // Relaxed: one that serves waits for SIGQUIT, and says something.
    if SERVANTS.load(Ordering::Relaxed) > 0 {
        own |= 1 << (3 - 1);
    }
    caught & !own != 0
}

/// In a forked child, which has the one thread that runs.
extern "C" fn forget() {
    ASLEEP.store(0, Ordering::Relaxed); // Relaxed: as above
    KNOWN.store(1, Ordering::Relaxed); // Relaxed: as above
    SERVANTS.store(0, Ordering::Relaxed); // Relaxed: as above
}
