//! The proofs that one may read, or write.

use core::fmt;
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};

use gossamer_core::policy::LockPolicy;

use super::{READS, RwLock, WRITES};

/// A value locked to be read; dropped, also by a panic, it unlocks.
#[must_use = "dropped at once, it unlocks at once"]
pub struct ReadGuard<'a, T, P: LockPolicy> {
    pub(super) lock: &'a RwLock<T, P>,
    /// `Send` and `Sync` as a `&T` is.
    pub(super) _value: PhantomData<&'a T>,
}

/// A value locked to be changed; dropped, also by a panic, it unlocks.
#[must_use = "dropped at once, it unlocks at once"]
pub struct WriteGuard<'a, T, P: LockPolicy> {
    pub(super) lock: &'a RwLock<T, P>,
    /// `Send` and `Sync` as a `&mut T` is.
    pub(super) _value: PhantomData<&'a mut T>,
}

impl<T, P: LockPolicy> Deref for ReadGuard<'_, T, P> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: while somebody reads, nobody writes; borrowed from the guard.
        self.lock.value.with(|value| unsafe { &*value })
    }
}

impl<T, P: LockPolicy> Deref for WriteGuard<'_, T, P> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: the guard is the only one, and borrowed as long as the result.
        self.lock.value.with(|value| unsafe { &*value })
    }
}

impl<T, P: LockPolicy> DerefMut for WriteGuard<'_, T, P> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the guard is the only one, and borrowed for this alone as long as the result.
        self.lock.value.with_mut(|value| unsafe { &mut *value })
    }
}

impl<T, P: LockPolicy> Drop for ReadGuard<'_, T, P> {
    #[inline(always)]
    fn drop(&mut self) {
        self.lock.leave(READS);
    }
}

impl<T, P: LockPolicy> Drop for WriteGuard<'_, T, P> {
    #[inline(always)]
    fn drop(&mut self) {
        self.lock.leave(WRITES);
    }
}

impl<T: fmt::Debug, P: LockPolicy> fmt::Debug for ReadGuard<'_, T, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl<T: fmt::Debug, P: LockPolicy> fmt::Debug for WriteGuard<'_, T, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}
