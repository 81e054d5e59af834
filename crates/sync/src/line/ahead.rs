//! Lines of which many are changed in turn, by a look at the operating system, before any of those that wait runs.
//!
//! With thousands of sockets, each of these begins with what is in no cache; so each change hints at it.

use gossamer_core::platform::prefetch_around;
use gossamer_core::policy::LockPolicy;
use gossamer_core::wait_queue::Locked;

use super::{Admission, Line, serve};

/// How many bytes of its stack a fiber uses soon, below the operation at which it stands still and from it on: the frames
/// of its next few calls, and that of the function that made this one. With 384 below a fiber gains nothing.
const BEFORE_IT: usize = 640;
const FROM_IT_ON: usize = 256;

impl<P: LockPolicy, R: Admission> Line<P, R> {
    /// Like [`change_if`](Line::change_if), where many lines are changed in turn, and those that wait run when all are:
    /// what is around the first of this one, in its task or on its fiber's stack, is on its way into the caches meanwhile.
    #[inline]
    pub(crate) fn change_ahead(&self, change: impl FnOnce(u32) -> Option<u32>) -> bool {
        // SAFETY: no code of this crate changes a line in a change of it.
        let locked = unsafe { Locked::lock(self) };
        if let Some(first) = locked.object().list.first() {
            prefetch_around(first, BEFORE_IT, FROM_IT_ON);
        }
        match change(locked.bits) {
            Some(bits) => serve(locked.with(bits)),
            None => {
                locked.unlock();
                return false;
            }
        }
        true
    }
}
