//! A counted pointer to a channel.

use std::ops::Deref;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::ptr::NonNull;

use gossamer_core::policy::LockPolicy;

use super::chan::{Chan, Locked};

/// A share of a channel; the last one to go frees it.
///
/// The shares are counted under the channel's lock, and the pointer is the channel's address: with an `Arc`, which has
/// its counts before that, each operation takes an instruction more.
pub(crate) struct Handle<T, P: LockPolicy>(NonNull<Chan<T, P>>);

// SAFETY: the channel is shared by the handles, and their count is under its lock.
unsafe impl<T: Send, P: LockPolicy> Send for Handle<T, P> where P::Word: Sync {}
// SAFETY: `&Handle` gives `&Chan`, and another handle, which may be sent.
unsafe impl<T: Send, P: LockPolicy> Sync for Handle<T, P> where P::Word: Sync {}

// No user code runs under the lock, so a panic leaves nothing half done.
impl<T, P: LockPolicy> UnwindSafe for Handle<T, P> {}
impl<T, P: LockPolicy> RefUnwindSafe for Handle<T, P> {}

impl<T, P: LockPolicy> Handle<T, P> {
    /// The two of a new channel, which counts two.
    pub(super) fn pair(chan: Chan<T, P>) -> (Self, Self) {
        let chan = NonNull::from(Box::leak(Box::new(chan)));
        (Self(chan), Self(chan))
    }

    /// Returns one more handle, which it counts. `locked`: the lock of this channel.
    ///
    /// # Panics
    /// It is the lock of another channel.
    pub(super) fn counted(&self, locked: &mut Locked<'_, T, P>) -> Self {
        assert!(std::ptr::eq(&raw const **self, locked.chan()));
        // As `Arc` does: only a program that leaks handles gets here.
        let counted = locked.handles.checked_add(1);
        locked.handles = counted.unwrap_or_else(|| std::process::abort());
        Self(self.0)
    }

    /// The channel, for an operation that owns this handle.
    ///
    /// # Safety
    /// The handle is dropped after the operation's last use of the channel.
    pub(super) unsafe fn outliving<'a>(&self) -> &'a Chan<T, P> {
        // SAFETY: the channel stays where it is until the last handle goes, and the caller keeps this one.
        unsafe { self.0.as_ref() }
    }

    /// True if both are of the same channel.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<T, P: LockPolicy> Deref for Handle<T, P> {
    type Target = Chan<T, P>;

    #[inline(always)]
    fn deref(&self) -> &Chan<T, P> {
        // SAFETY: counted, so it has not been freed.
        unsafe { self.0.as_ref() }
    }
}

impl<T, P: LockPolicy> Drop for Handle<T, P> {
    /// The side has been told before.
    fn drop(&mut self) {
        let mut locked = self.locked();
        locked.handles -= 1;
        let is_last = locked.handles == 0;
        // From here on the last one may free the channel.
        locked.unlock();
        if is_last {
            // SAFETY: made by `Box` in `pair`, and nobody else has a pointer to it: the one before gave the lock up
            // last, and did not touch it afterwards.
            drop(unsafe { Box::from_raw(self.0.as_ptr()) });
        }
    }
}
