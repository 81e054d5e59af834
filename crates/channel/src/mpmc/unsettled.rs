//! Letting operations go on while other locks are held.

use gossamer_core::policy::LockPolicy;
use gossamer_core::waiter::Deferred;

use super::chan::Locked;
use super::handle::Handle;

/// A waker to call as soon as no lock is held. Other operations may go on after it.
#[must_use]
pub(crate) struct Unsettled<T, P: LockPolicy>(Option<(Deferred, Handle<T, P>)>);

impl<T, P: LockPolicy> Unsettled<T, P> {
    pub(crate) const NOTHING: Self = Self(None);

    /// Wakes the operations that can go on, up to the first whose waker must be called without a lock, and releases the
    /// lock.
    #[inline(always)]
    pub(crate) fn new(handle: &Handle<T, P>, mut locked: Locked<'_, T, P>) -> Self {
        locked.shrink();
        let mut waker = None;
        while let Some(deferred) = locked.wake_next() {
            if !deferred.is_nothing() {
                waker = Some((deferred, handle.counted(&mut locked)));
                break;
            }
        }
        locked.unlock();
        Self(waker)
    }

    /// Calls the waker, and wakes the operations behind it.
    #[inline(always)]
    pub(crate) fn settle(self) {
        if let Some((deferred, chan)) = self.0 {
            deferred.run();
            chan.locked().settle();
        }
    }
}
