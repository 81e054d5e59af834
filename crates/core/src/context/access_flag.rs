//! Where the runner of a shard stands: in code of its own, or in a poll, where it may be stuck.
//!
//! Outside of polls the runner is *inside*: it has the shard's plain memory to itself. In a poll it is *outside*, and
//! comes inside for each wake only. Somebody who finds it in the same poll for long may *open* the shard: then, as long
//! as it is open, its plain memory belongs to whoever holds the lock of the steal queue, the runner included.
//!
//! The runner is in a hurry and the opener is not, so the fences are asymmetric: the runner says that it is inside and
//! then looks whether the shard is open; the opener says that it is open, has the heavy fence, and looks whether the
//! runner is inside; if so, it takes its word back. At least one of the two sees the other. The opener holds the lock
//! meanwhile, so a runner that finds the shard open waits until that is decided.

use core::hint::cold_path;

use crate::platform::atomic::{AtomicU32, Ordering};
use crate::platform::{heavy_fence, is_light, light_fence, quick_fence};

const OUTSIDE: u32 = 0;
const INSIDE: u32 = 1;

/// The shard is open.
const OPEN: u32 = 1;
/// The light fence is a fence here, so that the runner cannot do without it: always set, or never. (Then the quick way of
/// [`AccessFlag::while_inside`] is never taken.)
const FENCED: u32 = 2;

/// The two words, on a cache line of their own: one is written twice in each poll. Of a shard whose runner may be found
/// stuck; the code that opens it is the pool's (crate `sched`, `pool/evacuating.rs`).
#[derive(Debug)]
#[repr(align(64))]
pub struct AccessFlag {
    /// Written by the runner alone.
    inside: AtomicU32,
    /// [`OPEN`] is written under the lock of the steal queue.
    open: AtomicU32,
    /// Stands for the shard's plain memory, so that loom sees who touches it.
    #[cfg(loom)]
    plain: crate::platform::UnsafeCell<()>,
}

// SAFETY: `plain` holds nothing, and loom itself finds out whether two threads touch it at once.
#[cfg(loom)]
unsafe impl Sync for AccessFlag {}

impl Default for AccessFlag {
    /// Inside, and not open.
    fn default() -> Self {
        Self {
            inside: AtomicU32::new(INSIDE),
            open: AtomicU32::new(if is_light() { 0 } else { FENCED }),
            #[cfg(loom)]
            plain: crate::platform::UnsafeCell::new(()),
        }
    }
}

impl AccessFlag {
    /// The shard's plain memory is touched: tells loom.
    #[inline(always)]
    pub fn touch(&self) {
        #[cfg(loom)]
        self.plain.with_mut(|_| ());
    }

    /// Whether the runner, which asks, is inside.
    #[inline(always)]
    pub fn is_inside(&self) -> bool {
        // Relaxed: it reads its own word.
        self.inside.load(Ordering::Relaxed) == INSIDE
    }

    /// The runner goes outside.
    #[inline(always)]
    pub fn go_outside(&self) {
        // Release pairs with the acquire in `open`: who opens sees what the runner did inside.
        self.inside.store(OUTSIDE, Ordering::Release);
    }

    /// The runner goes inside; `false` if the shard is open, and then its plain memory is not the runner's alone.
    #[inline(always)]
    #[must_use]
    pub(crate) fn go_inside(&self) -> bool {
        let alone = self.comes_alone() || self.is_alone();
        if alone {
            self.touch();
        }
        alone
    }

    /// The runner says that it is inside. `false` if the shard is open, or may be.
    #[inline(always)]
    fn comes_alone(&self) -> bool {
        // Relaxed: the fence orders it before the look.
        self.inside.store(INSIDE, Ordering::Relaxed);
        if !crate::mutant!("inside_without_fence") {
            quick_fence(); // pairs with the heavy one in `open`
        }
        // Relaxed: if it is open, the lock tells the rest.
        self.open.load(Ordering::Relaxed) == 0
    }

    /// Calls `act` while the runner is inside, which then stands where it stood. `false` if `may` says so there, or if the
    /// shard is open, or may be: then nothing was done.
    #[inline(always)]
    pub(crate) fn while_inside(&self, may: impl FnOnce() -> bool, act: impl FnOnce()) -> bool {
        // Relaxed: it reads its own word.
        let stood = self.inside.load(Ordering::Relaxed);
        let alone = self.comes_alone() || crate::mutant!("quick_wake_in_open_shard");
        let acts = alone && {
            self.touch();
            may()
        };
        if acts {
            act();
            // Release pairs with the acquire in `open`: who opens sees what the runner did inside.
            self.inside.store(stood, Ordering::Release);
            return true;
        }
        cold_path();
        // Release: as above.
        self.inside.store(stood, Ordering::Release);
        false
    }

    /// Looks again, with a fence if there has been none.
    #[cold]
    fn is_alone(&self) -> bool {
        light_fence(); // pairs with the heavy one in `open`
        !self.is_open()
    }

    /// Opens the shard, unless its runner is inside. Under the lock.
    #[must_use]
    pub fn open(&self) -> bool {
        // Relaxed: the fence orders it before the look.
        self.open.fetch_or(OPEN, Ordering::Relaxed);
        heavy_fence(); // pairs with the quick one in `comes_alone`, or the light one in `is_alone`
        // Acquire pairs with the releases in `go_outside` and `while_inside`.
        if self.inside.load(Ordering::Acquire) == OUTSIDE || crate::mutant!("opens_on_the_runner") {
            return true;
        }
        self.close();
        false
    }

    /// Whether the shard is open: the word is good under the lock, and else a hint.
    pub fn is_open(&self) -> bool {
        // Relaxed: changed under the lock.
        self.open.load(Ordering::Relaxed) & OPEN != 0
    }

    /// Under the lock.
    pub fn close(&self) {
        // Relaxed: as above.
        self.open.fetch_and(!OPEN, Ordering::Relaxed);
    }
}
