//! The atomic lock policy: one word, sleeping threads in a few process-wide buckets.
//!
//! The race to fear: a thread goes to sleep just as the holder leaves. The holder stores the free word, has a
//! light fence, and looks whether anybody sleeps for any lock, and if so, for one of its bucket; the sleeper counts
//! itself in, has a heavy fence, and looks once more whether the lock is held. So the holder sees the sleeper, or the
//! sleeper sees the lock free. A sleeper holds its bucket's mutex from before that until it has fallen asleep, and the
//! holder takes it before it notifies, so the notification comes after the sleep began.

use alloc::sync::Arc;

use super::{BITS, HeldWord, LockPolicy, Word, sealed};
use crate::platform::atomic::{AtomicU32, Ordering};
use crate::platform::{
    Condvar, Mutex, heavy_fence, is_light, light_fence, quick_fence, single_threaded, spin_loop,
};

/// For any thread: `Send` and `Sync`.
#[derive(Debug)]
pub struct Shared;

impl sealed::Sealed for Shared {}

impl LockPolicy for Shared {
    type Word = SharedWord;
    type Counted<T: ?Sized> = Arc<T>;
}

/// The word of [`Shared`].
#[derive(Debug)]
pub struct SharedWord(AtomicU32);

const LOCKED: u32 = 1 << 31;
/// Looks at a held lock before sleeping; a critical section is a few dozen instructions, but for one that moves many
/// messages.
const ROUNDS: u32 = if cfg!(any(loom, shuttle)) { 1 } else { 5 };
/// Before the first look; then twice as many before each, so that who has the word's cache line may do several things
/// in a row.
const FIRST_PAUSE: u32 = if cfg!(any(loom, shuttle)) { 1 } else { 32 };
const BUCKETS: usize = if cfg!(any(loom, shuttle)) { 1 } else { 64 };

/// Where threads sleep for a lock, by its address.
#[derive(Debug, Default)]
struct Bucket {
    asleep: Mutex<()>,
    wake: Condvar,
    /// Number of threads that sleep here, or are about to.
    sleepers: AtomicU32,
}

/// Number of threads that sleep for any lock, or are about to: what an unlock looks at, as nobody does as a rule. (In a
/// forked child perhaps fewer do.) With [`UNSETTLED`].
#[cfg(not(any(loom, shuttle)))]
#[inline(always)]
fn sleepers() -> &'static AtomicU32 {
    /// On a cache line of its own: every unlock reads it, and nothing beside it may be written.
    #[repr(align(128))]
    struct Alone(AtomicU32);
    static SLEEPERS: Alone = Alone(AtomicU32::new(UNSETTLED));
    &SLEEPERS.0
}

/// It is not known so far that the light fence is none, or it is one: so that an unlock need not ask for both. In
/// models there is a fence in either case.
const UNSETTLED: u32 = 1 << 31;

#[cfg(any(loom, shuttle))]
crate::platform::process_global! {
    /// Number of threads that sleep for any lock, or are about to.
    fn sleepers() -> AtomicU32 = AtomicU32::new(0)
}

crate::platform::per_process! {
    fn buckets() -> [Bucket; BUCKETS] = core::array::from_fn(|_| Bucket::default())
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

    /// Takes the lock, if it is free.
    #[inline(always)]
    fn try_lock(&self) -> Option<u32> {
        // Relaxed: only a guess for the exchange.
        let seen = self.0.load(Ordering::Relaxed);
        if seen & LOCKED != 0 {
            return None;
        }
        let locked = seen | LOCKED;
        // Acquire pairs with the release in `give_up`. Relaxed on failure: nothing is read.
        let took = self
            .0
            .compare_exchange_weak(seen, locked, Ordering::Acquire, Ordering::Relaxed);
        took.is_ok().then_some(seen)
    }

    #[inline(always)]
    fn lock_among_threads(&self) -> u32 {
        self.try_lock().unwrap_or_else(|| self.lock_contended())
    }

    /// Also where the process has one thread: that is as quick.
    #[inline(always)]
    fn give_up(&self, bits: u32) {
        // Release pairs with the acquire in `try_lock`. Mutant: releases nothing.
        if crate::mutant!("unlock_unpublished") {
            self.0.store(bits, Ordering::Relaxed);
        } else {
            self.0.store(bits, Ordering::Release);
        }
        quick_fence(); // pairs with the heavy one in `sleep`
        // Relaxed: the fence orders it after the store.
        if sleepers().load(Ordering::Relaxed) != 0 {
            self.wake_sleepers();
        }
    }

    #[cold]
    #[inline(never)]
    fn lock_contended(&self) -> u32 {
        loop {
            for round in 0..ROUNDS {
                for _ in 0..FIRST_PAUSE << round {
                    spin_loop();
                }
                if let Some(bits) = self.try_lock() {
                    return bits;
                }
            }
            self.sleep();
        }
    }

    fn sleep(&self) {
        let bucket = self.bucket();
        let counts = match crate::mutant!("sleeper_counts_for_all_alone") {
            true => [sleepers(); 2],
            false => [&bucket.sleepers, sleepers()],
        };
        let asleep = bucket.asleep.lock();
        for count in counts {
            // Relaxed: the fence orders it before the look at the word.
            count.fetch_add(1, Ordering::Relaxed);
        }
        if !crate::mutant!("sleep_without_fence") {
            heavy_fence();
        }
        // Relaxed: only whether it is held; the content is not read.
        if self.0.load(Ordering::Relaxed) & LOCKED != 0 {
            drop(bucket.wake.wait(asleep));
        }
        for count in counts {
            // Relaxed: one too many costs a look, or a notification.
            count.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Wakes those who sleep for this lock; there may be none.
    #[cold]
    #[inline(never)]
    fn wake_sleepers(&self) {
        if crate::mutant!("unlock_no_notify") {
            return;
        }
        light_fence(); // pairs with the heavy one in `sleep`, also where `quick_fence` does not
        // Relaxed: the fence orders it after the store of the word.
        let count = sleepers().load(Ordering::Relaxed);
        if count & UNSETTLED != 0 && is_light() {
            // Relaxed: who sees it knows that every heavy fence from then on reaches it, as `is_light` said so before.
            sleepers().fetch_and(!UNSETTLED, Ordering::Relaxed);
        }
        if count & !UNSETTLED == 0 {
            return;
        }
        let bucket = self.bucket();
        // Relaxed: as above.
        if bucket.sleepers.load(Ordering::Relaxed) == 0 {
            return;
        }
        if !crate::mutant!("notify_beside_bucket") {
            drop(bucket.asleep.lock());
        }
        bucket.wake.notify_all();
    }

    // One bucket, in models.
    #[cfg_attr(any(loom, shuttle), allow(clippy::modulo_one))]
    fn bucket(&self) -> &'static Bucket {
        &buckets()[(core::ptr::from_ref(self).addr() >> 4) % BUCKETS]
    }
}

impl Word for SharedWord {
    const THREAD_BOUND: bool = false;

    #[inline(always)]
    fn lock(&self) -> HeldWord<'_, Self> {
        let bits = if single_threaded() {
            // Relaxed: this process has one thread, and it cannot get a second one before `unlock`:
            // no user code runs under the lock.
            self.0.load(Ordering::Relaxed)
        } else {
            self.lock_among_threads()
        };
        HeldWord { word: self, bits }
    }

    #[inline(always)]
    fn unlock(HeldWord { word, bits }: HeldWord<'_, Self>) {
        debug_assert_eq!(bits & !BITS, 0, "a primitive used the lock's bits");
        word.give_up(bits);
    }

    #[inline(always)]
    fn lock_to<R>(&self, act: impl FnOnce(u32) -> Option<R>) -> Result<R, HeldWord<'_, Self>> {
        let held = |bits| HeldWord { word: self, bits };
        if single_threaded() {
            // Relaxed: as in `lock`.
            let bits = self.0.load(Ordering::Relaxed);
            return act(bits).ok_or(held(bits));
        }
        let bits = self.lock_among_threads();
        let done = act(bits).ok_or(held(bits))?;
        self.give_up(bits);
        Ok(done)
    }

    #[inline(always)]
    fn try_change(&self, change: impl FnOnce(u32) -> Option<u32>) -> bool {
        // Relaxed: only a guess for the exchange.
        let seen = self.0.load(Ordering::Relaxed);
        if seen & LOCKED != 0 {
            return false;
        }
        let Some(after) = change(seen) else {
            return false;
        };
        debug_assert_eq!(after & !BITS, 0, "a primitive used the lock's bits");
        if single_threaded() {
            // Relaxed: as in `lock`.
            self.0.store(after, Ordering::Relaxed);
            return true;
        }
        if crate::mutant!("change_unpublished") {
            // Acquire pairs with `unlock`, but nothing is released. Relaxed on failure: nothing is read.
            return self
                .0
                .compare_exchange(seen, after, Ordering::Acquire, Ordering::Relaxed)
                .is_ok();
        }
        // AcqRel pairs with `unlock` and with itself: who changes the bits sees what was done before they were left
        // so, and publishes what it did. Relaxed on failure: nothing is read. Nobody sleeps for a lock that is free,
        // so there is nobody to wake.
        self.0
            .compare_exchange(seen, after, Ordering::AcqRel, Ordering::Relaxed)
            .is_ok()
    }

    #[inline(always)]
    fn look(&self) -> u32 {
        // Acquire pairs with the release in `give_up` and `try_change`.
        self.0.load(Ordering::Acquire) & BITS
    }
}
