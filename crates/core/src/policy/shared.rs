//! The atomic lock policy: one word, sleeping threads in a few process-wide buckets.
//!
//! The race to fear: a thread goes to sleep just as the holder leaves. The sleeper sets `CONTENDED`
//! while it holds its bucket's mutex and gives that up only by falling asleep; the holder, when its
//! exchange finds `CONTENDED`, takes the bucket's mutex before it notifies. So the notification
//! comes after the sleep began, or the sleeper saw the lock free.

use super::{BITS, Policy, Word};
use crate::door::atomic::{AtomicU32, Ordering};
use crate::door::{Condvar, Mutex, process_global, single_threaded, spin_loop};

/// For any thread: `Send` and `Sync`.
#[derive(Debug)]
pub struct Shared;

impl Policy for Shared {
    type Word = SharedWord;
    const STAYS: bool = false;
}

/// The word of [`Shared`].
#[derive(Debug)]
pub struct SharedWord(AtomicU32);

const LOCKED: u32 = 1 << 31;
const CONTENDED: u32 = 1 << 30;
/// Looks at a held lock before sleeping; a critical section is a few dozen instructions.
const SPINS: u32 = if cfg!(loom) { 1 } else { 100 };
const BUCKETS: usize = if cfg!(loom) { 1 } else { 64 };

#[derive(Debug)]
struct Bucket {
    asleep: Mutex<()>,
    wake: Condvar,
}

process_global! {
    /// Where threads sleep for a lock, by its address.
    fn buckets() -> [Bucket; BUCKETS] =
        core::array::from_fn(|_| Bucket { asleep: Mutex::new(()), wake: Condvar::new() })
}

impl SharedWord {
    /// A free word with the primitive's bits.
    #[cfg(not(loom))]
    pub const fn new(bits: u32) -> Self {
        Self(AtomicU32::new(bits))
    }

    /// A free word with the primitive's bits.
    #[cfg(loom)]
    pub fn new(bits: u32) -> Self {
        Self(AtomicU32::new(bits))
    }

    #[inline(always)]
    fn try_lock(&self) -> Result<u32, u32> {
        // Relaxed: only a guess for the exchange.
        let seen = self.0.load(Ordering::Relaxed);
        if seen & LOCKED != 0 {
            return Err(seen);
        }
        // Acquire pairs with the release in `unlock`. Relaxed on failure: nothing is read.
        let locked = seen | LOCKED;
        self.0
            .compare_exchange_weak(seen, locked, Ordering::Acquire, Ordering::Relaxed)
    }

    #[cold]
    #[inline(never)]
    fn lock_contended(&self) -> u32 {
        loop {
            for _ in 0..SPINS {
                if let Ok(bits) = self.try_lock() {
                    return bits & BITS;
                }
                spin_loop();
            }
            self.sleep();
        }
    }

    fn sleep(&self) {
        let bucket = self.bucket();
        let asleep = bucket.asleep.lock();
        // Relaxed: the bucket's mutex orders sleepers and wakers; the lock's content is not read.
        let seen = self.0.load(Ordering::Relaxed);
        if seen & LOCKED == 0 {
            return;
        }
        // Relaxed: as above; pairs with the swap in `unlock` by being in the same word.
        let marked = seen | CONTENDED;
        let mark = self
            .0
            .compare_exchange(seen, marked, Ordering::Relaxed, Ordering::Relaxed);
        if mark.is_ok() {
            drop(bucket.wake.wait(asleep));
        }
    }

    #[cold]
    #[inline(never)]
    fn wake_sleepers(&self) {
        if cfg!(mutant = "unlock_no_notify") {
            return;
        }
        let bucket = self.bucket();
        if !cfg!(mutant = "notify_beside_bucket") {
            drop(bucket.asleep.lock());
        }
        bucket.wake.notify_all();
    }

    // One bucket, under loom.
    #[cfg_attr(loom, allow(clippy::modulo_one))]
    fn bucket(&self) -> &'static Bucket {
        let at = core::ptr::from_ref(self).addr();
        &buckets()[(at >> 4) % BUCKETS]
    }
}

impl Word for SharedWord {
    #[inline(always)]
    fn lock(&self) -> u32 {
        if single_threaded() {
            // Relaxed: this process has one thread, and it cannot get a second one before `unlock`:
            // no user code runs under the lock.
            return self.0.load(Ordering::Relaxed) & BITS;
        }
        match self.try_lock() {
            Ok(bits) => bits & BITS,
            Err(_) => self.lock_contended(),
        }
    }

    #[inline(always)]
    fn unlock(&self, bits: u32) {
        debug_assert_eq!(bits & !BITS, 0, "a primitive used the lock's bits");
        if single_threaded() {
            // Relaxed: as in `lock`.
            self.0.store(bits, Ordering::Relaxed);
            return;
        }
        // Release pairs with the acquire in `try_lock`. Planted bug: releases nothing.
        let before = if cfg!(mutant = "unlock_unpublished") {
            self.0.swap(bits, Ordering::Relaxed)
        } else {
            self.0.swap(bits, Ordering::Release)
        };
        if before & CONTENDED != 0 {
            self.wake_sleepers();
        }
    }
}
