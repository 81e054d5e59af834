//! The quick way: take and put of one thread while at most one operation waits.
//!
//! Every case is one comparison of the whole word, and a inline waiter is kept without links (see
//! [`gossamer_core::waiter`]). Whatever does not fit goes the general way, which begins by making
//! proper lists of a inline waiter.

use core::hint::cold_path;

use gossamer_core::policy::{LockPolicy, Word};
use gossamer_core::waiter::WaitList;

use super::op::Op;
use super::{FULL, INLINE, MVar, RESERVED, action};

impl<T, P: LockPolicy> MVar<T, P> {
    #[cold]
    pub(super) fn spill_inline(&self, bits: u32) -> u32 {
        let notified = bits & RESERVED != 0;
        let (line, other, kind) = if (bits & FULL != 0) == notified {
            (&self.takers, &self.putters, Op::<T, P, action::Take>::KIND)
        } else {
            (
                &self.putters,
                &self.takers,
                Op::<T, P, action::Put<T>>::KIND,
            )
        };
        // SAFETY: under the lock, and inline; only plain takes and puts wait so.
        unsafe { line.spill_inline(other, kind, notified) };
        bits & !INLINE
    }

    /// A plain take or put that can go while at most one operation waits, in the other line: each case is
    /// one comparison of the whole word. `None`: not such a case, nothing was done.
    ///
    /// # Safety
    /// Under the lock, in state `bits`; returns `Some` without it.
    #[inline(always)]
    pub(super) unsafe fn act_quickly<A: action::MVarAction<T>>(
        &self,
        act: &mut A,
        bits: u32,
    ) -> Option<A::Output> {
        if bits == A::GOES | INLINE {
            let (waiting, going) = self.lines_of::<A>();
            // SAFETY: it may go; the one waiter is in the other line, is promised what comes of it, and was
            // not notified yet: nothing was reserved.
            unsafe {
                let (output, after) = act.act(self, A::GOES);
                let after = after | RESERVED | INLINE;
                if waiting.notify_inline_here() {
                    self.word.unlock(after);
                } else {
                    cold_path();
                    self.notify_inline_elsewhere(waiting, going, after);
                }
                return Some(output);
            }
        }
        if bits == A::GOES {
            // SAFETY: it may go, and nobody waits.
            let (output, after) = unsafe { act.act(self, bits) };
            self.word.unlock(after);
            return Some(output);
        }
        cold_path();
        None
    }

    /// # Safety
    /// As [`WaitList::notify_inline`]; gives the lock up.
    #[cold]
    #[inline(never)]
    unsafe fn notify_inline_elsewhere(&self, waiting: &WaitList, going: &WaitList, bits: u32) {
        // SAFETY: passed on to the caller.
        let deferred = unsafe { waiting.notify_inline(going) };
        self.word.unlock(bits);
        deferred.run();
    }

    /// The other line, and the one in which such an operation waits.
    #[inline(always)]
    pub(super) fn lines_of<A: action::MVarAction<T>>(&self) -> (&WaitList, &WaitList) {
        match A::LINE {
            action::Line::Putters => (&self.takers, &self.putters),
            action::Line::Takers | action::Line::BeforeTakers => (&self.putters, &self.takers),
        }
    }
}
