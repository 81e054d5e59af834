//! An operation that may wait inline (see [`waiter`](crate::waiter)), or finds one that does: in its poll
//! ([`Action::WAITS_INLINE`]), or in what is called when that did not take effect at once ([`Action::TRIES_INLINE`]).

use core::hint::cold_path;
use core::pin::Pin;
use core::task::Poll;

use super::action::{Action, ParkInline, Waitable};
use super::operation::{Operation, Phase};
use crate::waiter::{Node, RawWakerParts, WaitList};

impl<O: Waitable, A: Action<O>> Operation<'_, O, A> {
    /// Polls an operation that may wait inline.
    #[inline(always)]
    pub(super) fn poll_inline(
        mut self: Pin<&mut Self>,
        waker: RawWakerParts<'_>,
    ) -> Poll<A::Output> {
        let this = self.as_mut().parts();
        if this.phase == Phase::Fresh {
            if this.yields(|| waker) {
                return Poll::Pending;
            }
            return self.begin_inline(waker);
        }
        if this.phase != Phase::Queued {
            cold_path();
            return self.poll_begun(waker);
        }
        let object = this.object();
        if let Some(output) = this.waiter.action.resume_inline(object) {
            this.phase = Phase::Done;
            return Poll::Ready(output);
        }
        self.poll_out_of_line(waker, None)
    }

    #[inline(always)]
    pub(super) fn begin_inline(
        mut self: Pin<&mut Self>,
        waker: RawWakerParts<'_>,
    ) -> Poll<A::Output> {
        let this = self.as_mut().parts();
        let object = this.object();
        // SAFETY: pinned; an action that waits inline does so where nobody else waits, and at an object that never
        // leaves its thread.
        let park = |beside: &WaitList| unsafe {
            A::queue(object).park_inline(beside, this.node(), Self::KIND, waker, Node::is_noted)
        };
        if A::park_inline(object, park) {
            this.phase = Phase::Queued;
            return Poll::Pending;
        }
        match this.waiter.action.try_quickly(object) {
            Ok(output) => {
                this.phase = Phase::Done;
                Poll::Ready(output)
            }
            Err(locked) => self.poll_out_of_line(waker, locked),
        }
    }

    /// It has not parked so far, and has not asked for the lock.
    ///
    /// What takes more than a few stores is called last: so that saves no registers.
    #[inline(never)]
    pub(super) fn begin_unlocked(
        self: Pin<&mut Self>,
        waker: RawWakerParts<'_>,
    ) -> Poll<A::Output> {
        if !A::TRIES_INLINE {
            self.begin_slowly(waker)
        } else if Node::is_noted() {
            self.begin_noted(waker)
        } else {
            self.try_inline(waker, false)
        }
    }

    #[cold]
    #[inline(never)]
    fn begin_noted(self: Pin<&mut Self>, waker: RawWakerParts<'_>) -> Poll<A::Output> {
        self.try_inline(waker, true)
    }

    #[inline(always)]
    fn try_inline(
        mut self: Pin<&mut Self>,
        waker: RawWakerParts<'_>,
        is_noted: bool,
    ) -> Poll<A::Output> {
        let this = self.as_mut().parts();
        let object = this.object();
        let park = ParkInline {
            queue: A::queue(object),
            node: this.node(),
            kind: Self::KIND,
            waker,
            is_noted,
        };
        match this.waiter.action.try_inline(object, park) {
            Some(polled) => {
                this.phase = match polled {
                    Poll::Ready(_) => Phase::Done,
                    Poll::Pending => Phase::Queued,
                };
                polled
            }
            None => self.begin_last(waker),
        }
    }

    #[inline(never)]
    fn begin_last(self: Pin<&mut Self>, waker: RawWakerParts<'_>) -> Poll<A::Output> {
        self.begin_slowly(waker)
    }
}
