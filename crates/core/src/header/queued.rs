//! A task on its way to its runner, with the reference that keeps it alive there.

use core::ptr::NonNull;

use super::ref_count::{Drained, QUEUED};
use super::{Header, TaskRef, ref_dec};

/// A task that was woken, aborted or spawned by a thread that does not run it: its `QUEUED` reference, which goes when
/// this is dropped.
#[derive(Debug)]
pub struct Queued(NonNull<Header>);

// SAFETY: a counted reference, tied to no thread; only what any thread may read of the header is read.
unsafe impl Send for Queued {}

impl Queued {
    /// Takes over the reference.
    ///
    /// # Safety
    /// The caller owns the task's `QUEUED` reference, and gives it away.
    #[inline(always)]
    pub const unsafe fn new(task: NonNull<Header>) -> Self {
        Self(task)
    }

    /// The task, for what any thread may read.
    #[inline(always)]
    pub fn task(&self) -> TaskRef<'_> {
        // SAFETY: the reference keeps it alive.
        unsafe { TaskRef::new(self.0) }
    }

    /// The task has come to its runner, who is about to act on it: gives it with whether it is to be cancelled.
    ///
    /// # Errors
    /// It was over long ago; the reference comes back, to be dropped where no lock is held.
    ///
    /// # Safety
    /// On the runner, or in its place; and the task stays alive as long as the result is used.
    #[inline(always)]
    pub unsafe fn receive<'a>(self) -> Result<(TaskRef<'a>, bool), Self> {
        let what = self.task().refs.drain();
        if what == Drained::Gone {
            return Err(self);
        }
        let task = self.0;
        // The reference was given up in `drain`.
        core::mem::forget(self);
        // SAFETY: not gone, so it is the runner's `ALIVE` that keeps it alive now.
        Ok((unsafe { TaskRef::new(task) }, what == Drained::Cancel))
    }

    /// The task is scheduled already: who polls it sees what this reference stood for.
    pub fn acknowledge(self) {
        if self.task().refs.drain() != Drained::Gone {
            // The reference was given up in `drain`.
            core::mem::forget(self);
        }
    }
}

impl Drop for Queued {
    fn drop(&mut self) {
        // SAFETY: the reference is this one's.
        unsafe { ref_dec(self.0, QUEUED) };
    }
}
