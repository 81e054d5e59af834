//! Letting operations go on while other locks are held.

use gossamer_core::policy::LockPolicy;
use gossamer_core::waiter::Deferred;

use super::chan::Locked;
use super::handle::Handle;

/// What is left to do when no lock is held: a waker to call, after which others may go.
#[must_use]
pub(crate) struct Unsettled<T, P: LockPolicy>(Option<(Deferred, Handle<T, P>)>);

impl<T, P: LockPolicy> Unsettled<T, P> {
    pub(crate) const NOTHING: Self = Self(None);

    /// Lets those go that can, and gives the lock up; what is to be done without any is left.
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

    /// Does it.
    #[inline(always)]
    pub(crate) fn settle(self) {
        if let Some((deferred, chan)) = self.0 {
            deferred.run();
            chan.locked().settle();
        }
    }
}
