//! The atomic word that says who still needs a task's memory.

use crate::platform::atomic::{AtomicU32, Ordering, fence};
use crate::platform::single_threaded;

/// One word: three flags and a count. The table is in [`super`].
///
/// ```text
///  31                              3   2      1      0
/// +---------------------------------+------+------+-----+
/// |     wakers and join handles     |CANCEL|QUEUED|ALIVE|
/// +---------------------------------+------+------+-----+
/// ```
#[derive(Debug)]
pub struct RefCount(AtomicU32);

/// The runner's reference.
pub const ALIVE: u32 = 1;
/// The inbox's reference.
pub const QUEUED: u32 = 2;
/// Abort was asked for.
const CANCEL: u32 = 4;
/// One waker's or join handle's reference.
pub const HANDLE: u32 = 8;
/// Above this many handles the process is leaking wakers; the count must not wrap.
const HANDLES_MAX: u32 = u32::MAX / 2;

/// Tells a thread that has called [`RefCount::queue`] to wake a task how to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Queue {
    /// The caller now owns the `QUEUED` hold and must push the task into the inbox.
    Push,
    /// Somebody has queued it and the runner has yet to look: it will see what we did.
    Already,
    /// The runner has released the task: the caller owns `QUEUED` and must only release it.
    Gone,
}

/// Tells the runner, which has taken a task out of the inbox, how to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Drained {
    /// To be scheduled.
    Wake,
    /// To be cancelled.
    Cancel,
    /// The runner has released it long ago: only `QUEUED` is left to be released.
    Gone,
}

impl RefCount {
    /// Held by the runner and by one join handle.
    pub fn new() -> Self {
        Self(AtomicU32::new(ALIVE | HANDLE))
    }

    /// One more handle.
    #[inline]
    pub fn ref_inc(&self) {
        let before = if single_threaded() {
            // Relaxed: this process has one thread; nothing comes between load and store.
            let before = self.0.load(Ordering::Relaxed);
            // Relaxed: as above.
            self.0.store(before.wrapping_add(HANDLE), Ordering::Relaxed);
            before
        } else {
            // Relaxed: the caller already has a reference, which orders everything that matters.
            self.0.fetch_add(HANDLE, Ordering::Relaxed)
        };
        if before >= HANDLES_MAX {
            too_many_handles();
        }
    }

    /// Gives up `refs`; `true` if it was the last one, and then everything others did with the task
    /// happened before.
    #[inline]
    pub(super) fn ref_dec(&self, refs: u32) -> bool {
        if single_threaded() {
            // Relaxed: this process has one thread; nothing comes between load and store.
            let left = self.0.load(Ordering::Relaxed) - refs;
            // Relaxed: as above.
            self.0.store(left, Ordering::Relaxed);
            return left & !CANCEL == 0;
        }
        // Release pairs with the fence below in whichever thread comes last.
        let before = self.0.fetch_sub(refs, Ordering::Release);
        if (before - refs) & !CANCEL != 0 {
            return false;
        }
        // Acquire pairs with the releases above: the one who frees sees what others wrote.
        fence(Ordering::Acquire);
        true
    }

    /// Announces a wake from a thread that does not run the task.
    pub fn queue(&self) -> Queue {
        self.announce(QUEUED)
    }

    /// Announces an abort from a thread that does not run the task.
    pub fn queue_cancel(&self) -> Queue {
        self.announce(QUEUED | CANCEL)
    }

    fn announce(&self, bits: u32) -> Queue {
        // AcqRel pairs with `drain`: if the bit is already set, the runner's clearing reads from
        // this write and sees what the waker did before. Mutant: looking first and not
        // writing when the bit is set loses exactly that.
        let before = if crate::mutant!("wake_load_only") {
            let seen = self.0.load(Ordering::Acquire); // pairs with nothing: that is the bug
            if seen & QUEUED == 0 {
                self.0.fetch_or(bits, Ordering::AcqRel)
            } else {
                seen
            }
        } else {
            // AcqRel pairs with the `fetch_and` in `drain`.
            self.0.fetch_or(bits, Ordering::AcqRel)
        };
        if before & QUEUED != 0 {
            Queue::Already
        } else if before & ALIVE == 0 {
            Queue::Gone
        } else {
            Queue::Push
        }
    }

    /// Whether an abort was asked for.
    #[inline(always)]
    pub fn wants_cancel(&self) -> bool {
        // Relaxed: whoever asked has told the runner since, by the inbox and, in a pool, the steal queue's lock.
        self.0.load(Ordering::Relaxed) & CANCEL != 0
    }

    /// The runner has taken the task out of the inbox and is about to act on it.
    pub fn drain(&self) -> Drained {
        // AcqRel pairs with `announce`: what any waker did before it found `QUEUED` set happened
        // before the poll that follows. Without `ALIVE` the bit stays, as the caller's reference.
        let before = self.0.load(Ordering::Acquire); // pairs with `announce`, for `ALIVE` alone
        if before & ALIVE == 0 {
            return Drained::Gone;
        }
        // AcqRel pairs with `announce`; `ALIVE` is ours and cannot go away meanwhile.
        let before = self.0.fetch_and(!QUEUED, Ordering::AcqRel);
        if before & CANCEL != 0 && !crate::mutant!("abort_forgotten") {
            Drained::Cancel
        } else {
            Drained::Wake
        }
    }
}

/// Somebody leaks wakers. Not a panic: this may be under a primitive's lock.
#[cold]
fn too_many_handles() -> ! {
    std::eprintln!(
        "gossamer: more than {} wakers of one task exist",
        HANDLES_MAX / HANDLE
    );
    std::process::abort();
}

impl Default for RefCount {
    fn default() -> Self {
        Self::new()
    }
}
