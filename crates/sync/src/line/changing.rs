//! Changing what can be had, and serving those that wait for it.

#[cfg(feature = "std")]
use gossamer_core::platform::prefetch_around;
use gossamer_core::policy::LockPolicy;
use gossamer_core::wait_queue::Locked;
use gossamer_core::waiter::WaitList;

use super::{Admission, Line, serve};

/// How many bytes of its stack a fiber uses soon, below the operation at which it stands still and from it on: the frames
/// of its next few calls, and that of the function that made this one. With 384 below a fiber gains nothing.
#[cfg(feature = "std")]
const BEFORE_IT: usize = 640;
#[cfg(feature = "std")]
const FROM_IT_ON: usize = 256;

impl<P: LockPolicy, R: Admission> Line<P, R> {
    /// Changes the bits, if `change` gives others, and serves the line; `false` if not. `change` runs under the lock, and
    /// calls nothing of the line.
    #[inline]
    pub(crate) fn change_if(&self, change: impl FnOnce(u32) -> Option<u32>) -> bool {
        self.look_and_change_if(|_| (), change)
    }

    /// The same, after a look at those that wait, which calls nothing of the line either.
    #[inline(always)]
    fn look_and_change_if(
        &self,
        look: impl FnOnce(&WaitList),
        change: impl FnOnce(u32) -> Option<u32>,
    ) -> bool {
        // SAFETY: no code of this crate changes a line in a change of it, or in a look at its list.
        let locked = unsafe { Locked::lock(self) };
        look(&locked.object().list);
        match change(locked.bits) {
            Some(bits) => serve(locked.with(bits)),
            None => {
                locked.unlock();
                return false;
            }
        }
        true
    }

    /// Changes the bits and serves the line, as [`change_if`](Line::change_if) does.
    #[inline]
    pub(crate) fn change(&self, change: impl FnOnce(u32) -> u32) {
        self.change_if(|bits| Some(change(bits)));
    }

    /// Like [`change_if`](Line::change_if), where many lines are changed in turn, and those that wait run when all are:
    /// what is around the first of this one, in its task or on its fiber's stack, is on its way into the caches meanwhile.
    #[cfg(feature = "std")]
    #[inline]
    pub(crate) fn change_ahead(&self, change: impl FnOnce(u32) -> Option<u32>) -> bool {
        let hint = |waiting: &WaitList| {
            if let Some(first) = waiting.first() {
                prefetch_around(first, BEFORE_IT, FROM_IT_ON);
            }
        };
        self.look_and_change_if(hint, change)
    }
}
