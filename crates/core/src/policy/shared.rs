//! The atomic lock policy: one bit of the word.
//!
//! A critical section is a few dozen instructions without user code. So a thread that finds the lock held looks again
//! after some pauses, and then [gives the processor up](Backoff), as the holder may be waiting for that: unlocking tells
//! nobody.

use alloc::sync::Arc;

use super::{BITS, HeldWord, LockPolicy, Word, sealed};
#[cfg(not(loom))]
use crate::platform::Backoff;
use crate::platform::atomic::{AtomicU32, Ordering};
use crate::platform::{single_threaded, spin_loop};

#[cfg(loom)]
mod modelled;

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
/// Looks at a held lock before the processor is given up; a critical section is a few dozen instructions, but for one
/// that moves many messages.
const ROUNDS: u32 = if cfg!(any(loom, shuttle)) { 1 } else { 5 };
/// Before the first look; then twice as many before each, so that who has the word's cache line may do several things
/// in a row.
const FIRST_PAUSE: u32 = if cfg!(any(loom, shuttle)) { 1 } else { 32 };

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

    /// Exchanges the bits of a free word, or gives the word as it is.
    #[inline(always)]
    fn exchange(&self, before: u32, after: u32) -> Result<u32, u32> {
        debug_assert_eq!(after & !BITS, 0, "a primitive used the lock's bits");
        if crate::mutant!("change_unpublished") {
            // Acquire pairs with `give_up`, but nothing is released. Relaxed on failure: nothing is read.
            return self
                .0
                .compare_exchange(before, after, Ordering::Acquire, Ordering::Relaxed);
        }
        // AcqRel pairs with `give_up` and with itself: who changes the bits sees what was done before they were left
        // so, and publishes what it did. Relaxed on failure: only a guess for the next exchange.
        self.0
            .compare_exchange(before, after, Ordering::AcqRel, Ordering::Relaxed)
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
        #[cfg(loom)]
        modelled::wake_all();
    }

    #[cold]
    #[inline(never)]
    fn lock_contended(&self) -> u32 {
        #[cfg(not(loom))]
        let mut backoff = Backoff::new();
        loop {
            for round in 0..ROUNDS {
                for _ in 0..FIRST_PAUSE << round {
                    spin_loop();
                }
                if let Some(bits) = self.try_lock() {
                    return bits;
                }
            }
            #[cfg(not(loom))]
            backoff.wait();
            #[cfg(loom)]
            // Relaxed: only whether it is held; the content is not read.
            modelled::sleep_while(|| self.0.load(Ordering::Relaxed) & LOCKED != 0);
        }
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
        self.exchange(seen, after).is_ok()
    }

    #[inline(always)]
    fn try_change_from(&self, guess: u32, change: impl Fn(u32) -> Option<u32>) -> bool {
        if single_threaded() {
            // Relaxed: as in `lock`.
            let after = change(self.0.load(Ordering::Relaxed));
            if let Some(after) = after {
                // Relaxed: as in `lock`.
                self.0.store(after, Ordering::Relaxed);
            }
            return after.is_some();
        }
        let Some(after) = change(guess) else {
            return self.try_change(change);
        };
        let Err(seen) = self.exchange(guess, after) else {
            return true;
        };
        let is_free = seen & LOCKED == 0 || crate::mutant!("changes_what_is_locked");
        is_free && change(seen).is_some_and(|after| self.exchange(seen, after).is_ok())
    }

    #[inline(always)]
    fn look(&self) -> u32 {
        // Acquire pairs with the release in `give_up` and `exchange`.
        self.0.load(Ordering::Acquire) & BITS
    }
}
