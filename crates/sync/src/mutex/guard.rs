//! The proof that one has the lock.

use core::fmt;
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};

use gossamer_core::policy::LockPolicy;

use super::Mutex;
use super::admission::{self, Barging, Order};

/// A locked value; dropped, also by a panic, it unlocks.
///
/// It may be held across an `.await`, and one of [`sync`](crate::sync) may be dropped on another thread.
#[must_use = "dropped at once, it unlocks at once"]
pub struct MutexGuard<'a, T, P: LockPolicy, O: Order = Barging> {
    pub(super) mutex: &'a Mutex<T, P, O>,
    /// `Send` and `Sync` as a `&mut T` is.
    pub(super) _value: PhantomData<&'a mut T>,
}

impl<'a, T, P: LockPolicy, O: Order> MutexGuard<'a, T, P, O> {
    /// The mutex it locks.
    pub(crate) fn mutex(&self) -> &'a Mutex<T, P, O> {
        self.mutex
    }
}

impl<T, P: LockPolicy, O: Order> Deref for MutexGuard<'_, T, P, O> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: the guard is the only one, and borrowed as long as the result.
        self.mutex.value.with(|value| unsafe { &*value })
    }
}

impl<T, P: LockPolicy, O: Order> DerefMut for MutexGuard<'_, T, P, O> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the guard is the only one, and borrowed for this alone as long as the result.
        self.mutex.value.with_mut(|value| unsafe { &mut *value })
    }
}

impl<T, P: LockPolicy, O: Order> Drop for MutexGuard<'_, T, P, O> {
    #[inline(always)]
    fn drop(&mut self) {
        let line = &self.mutex.line;
        if !line.try_change(admission::leave_quickly::<O>) {
            line.change(admission::released);
        }
    }
}

impl<T: fmt::Debug, P: LockPolicy, O: Order> fmt::Debug for MutexGuard<'_, T, P, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}
