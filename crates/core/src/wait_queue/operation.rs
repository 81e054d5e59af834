//! The waiting operation: a future that attempts its action, parks, and resumes when it is woken.

use core::fmt;
use core::hint::cold_path;
use core::marker::PhantomData;
use core::panic::Location;
use core::pin::Pin;
use core::ptr::NonNull;
use core::task::{Context, Poll};

use super::action::{Action, Locked, Waitable, Waiter, action_of};
use crate::context;
use crate::policy::Word;
use crate::waiter::{Begins, Could, Kind, Node, PollWaker, RawWakerParts, State, WaitList};

/// Where the operation stands, as its owner knows it without the lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    /// Not polled yet.
    Fresh,
    /// Past its scheduling point, and not in its queue.
    Begun,
    /// Complete, or given up.
    Done,
    /// A simulation holds it back. From here on others have its address.
    Held,
    /// In its queue, or woken.
    Queued,
}

/// One operation on an object.
#[repr(C)]
pub struct Operation<'a, O: Waitable, A: Action<O>> {
    pub(super) phase: Phase,
    pub(super) waiter: Waiter<A>,
    _object: PhantomData<&'a O>,
}

// SAFETY: the node is touched under the object's lock only, which is atomic if the object is `Sync`, and owns its
// waker.
unsafe impl<O: Waitable + Sync, A: Action<O> + Send> Send for Operation<'_, O, A> {}
// SAFETY: `&Operation` gives out the object and constants only.
unsafe impl<O: Waitable + Sync, A: Action<O>> Sync for Operation<'_, O, A> {}

impl<'a, O: Waitable, A: Action<O>> Operation<'a, O, A> {
    /// The operation's kind, through which dumps and simulations inspect it.
    pub const KIND: &'static Kind = &Kind {
        name: A::NAME,
        could_complete: Self::could_complete,
        could_begin: Self::could_begin,
    };

    /// An operation that was called at `location`.
    #[inline(always)]
    pub fn new(object: &'a O, action: A, location: &'static Location<'static>) -> Self {
        Self {
            waiter: Waiter {
                node: Node::new(core::ptr::from_ref(object).cast(), location),
                action,
            },
            phase: Phase::Fresh,
            _object: PhantomData,
        }
    }

    /// The object.
    #[inline(always)]
    pub fn object(&self) -> &'a O {
        // SAFETY: made from a `&'a O` in `new`.
        unsafe { &*self.waiter.node.object().cast() }
    }

    /// The operation's action.
    #[inline(always)]
    pub fn action(self: Pin<&mut Self>) -> &A {
        &self.parts().waiter.action
    }

    /// Where it was called.
    pub fn location(&self) -> &'static Location<'static> {
        self.waiter.node.location()
    }

    /// Whether it waits in its queue, or has been woken and not polled since.
    pub fn is_queued(&self) -> bool {
        self.phase == Phase::Queued
    }

    /// The node.
    #[inline(always)]
    pub(super) fn node(&self) -> NonNull<Node> {
        // The whole waiter, so that the pointer reaches the action too.
        NonNull::from_ref(&self.waiter).cast()
    }

    /// Begins anew, with an action that `change` made of the last one. The operation is complete.
    ///
    /// # Panics
    /// It is not.
    pub fn restart(self: Pin<&mut Self>, change: impl FnOnce(&mut A)) {
        let this = self.parts();
        assert_eq!(this.phase, Phase::Done, "its node may be in a queue");
        this.phase = Phase::Fresh;
        change(&mut this.waiter.action);
    }

    /// Gives access to the fields. Only the node is pinned, and no code here moves it.
    #[inline(always)]
    pub(super) fn parts(self: Pin<&mut Self>) -> &mut Self {
        // SAFETY: nothing is moved out; the node stays where it is.
        unsafe { self.get_unchecked_mut() }
    }

    /// Attempts the action, and parks if it cannot take effect.
    ///
    /// # Panics
    /// The operation is complete.
    #[inline(always)]
    pub fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<A::Output> {
        if A::WAITS_INLINE {
            return self.poll_inline(RawWakerParts::new(cx.waker()));
        }
        let this = self.as_mut().parts();
        let object = this.object();
        if A::PREPARES {
            this.waiter.action.prepare(object);
        }
        let waker = RawWakerParts::new(cx.waker());
        if this.phase == Phase::Fresh {
            if A::is_recorded() {
                return self.poll_recorded(waker);
            }
            if this.yields(|| waker) {
                return Poll::Pending;
            }
            match this.waiter.action.try_quickly(object) {
                Ok(output) => {
                    this.phase = Phase::Done;
                    return Poll::Ready(output);
                }
                Err(Some(locked)) if A::INLINE => {
                    return match PollWaker::of_ours(waker) {
                        Some(waker) => self.park(waker, locked),
                        None => self.poll_foreign(waker, Some(locked)),
                    };
                }
                Err(locked) if A::INLINE => return self.poll_slowly(waker, locked),
                Err(Some(locked)) => return self.begin_out_of_line(waker, locked),
                Err(None) => return self.begin_unlocked(waker),
            }
        }
        if !A::INLINE {
            return self.resume_or_go_on(waker);
        }
        if this.phase != Phase::Queued {
            cold_path();
            return self.poll_begun(waker);
        }
        match PollWaker::of_ours(waker) {
            Some(waker) => self.poll_queued(waker, None),
            None => self.poll_foreign(waker, None),
        }
    }

    /// It is fresh, and recorded.
    #[cold]
    #[inline(never)]
    fn poll_recorded(mut self: Pin<&mut Self>, waker: RawWakerParts<'_>) -> Poll<A::Output> {
        let this = self.as_mut().parts();
        if this.yields(|| waker) {
            return Poll::Pending;
        }
        this.phase = Phase::Begun;
        self.poll_begun(waker)
    }

    /// It is not fresh: resumes, in the simple case.
    #[inline(always)]
    pub(super) fn resume_or_go_on(
        mut self: Pin<&mut Self>,
        waker: RawWakerParts<'_>,
    ) -> Poll<A::Output> {
        let this = self.as_mut().parts();
        if this.phase != Phase::Queued {
            return self.poll_begun(waker);
        }
        let object = this.object();
        let Waiter { node, action } = &mut this.waiter;
        // SAFETY: called under the lock; the node has been parked, and is not inline.
        match action.resume_quickly(object, || unsafe { node.state() }) {
            Ok(output) => {
                this.phase = Phase::Done;
                Poll::Ready(output)
            }
            Err(locked) => self.poll_out_of_line(waker, locked),
        }
    }

    /// Whether the task yields before the operation begins.
    #[inline(always)]
    pub(super) fn yields<'w>(&mut self, waker: impl FnOnce() -> RawWakerParts<'w>) -> bool {
        let yields = A::has_to_yield();
        if yields {
            self.phase = Phase::Begun;
            context::yield_to_others(waker());
        }
        yields
    }

    /// After the scheduling point; or it is complete, which is said here.
    #[cold]
    #[inline(never)]
    pub(super) fn poll_begun(self: Pin<&mut Self>, waker: RawWakerParts<'_>) -> Poll<A::Output> {
        let object = self.object();
        let polled = self.poll_begun_unrecorded(waker);
        if A::is_recorded() && polled.is_ready() {
            A::record(object);
        }
        polled
    }

    #[inline(always)]
    fn poll_begun_unrecorded(
        mut self: Pin<&mut Self>,
        waker: RawWakerParts<'_>,
    ) -> Poll<A::Output> {
        let this = self.as_mut().parts();
        // Only now, when it is in memory: a simple operation is in registers, as long as nobody has its address.
        match this.phase {
            Phase::Begun if context::holds_back() => {
                // SAFETY: it is pinned, and borrows its object; its next poll tells, or its end.
                unsafe { context::simulated::hold_back(this.node(), Self::KIND, waker) };
                // Not if the waker's clone has panicked.
                this.phase = Phase::Held;
                return Poll::Pending;
            }
            Phase::Held => {
                if !context::simulated::may_begin(this.node(), waker) {
                    return Poll::Pending;
                }
                this.phase = Phase::Begun;
            }
            _ => {}
        }
        if this.phase == Phase::Begun && A::WAITS_INLINE {
            return self.begin_inline(waker);
        }
        if this.phase != Phase::Begun || !A::TRIES_INLINE {
            return self.poll_out_of_line(waker, None);
        }
        let object = this.object();
        match this.waiter.action.try_quickly(object) {
            Ok(output) => {
                this.phase = Phase::Done;
                Poll::Ready(output)
            }
            Err(Some(locked)) => self.begin_out_of_line(waker, locked),
            Err(None) => self.begin_unlocked(waker),
        }
    }

    /// It has not parked so far.
    #[inline(never)]
    fn begin_out_of_line(
        self: Pin<&mut Self>,
        waker: RawWakerParts<'_>,
        locked: Locked<'a, O>,
    ) -> Poll<A::Output> {
        match PollWaker::of_ours(waker) {
            Some(waker) => self.begin_locked(waker, locked),
            None => self.poll_foreign(waker, Some(locked)),
        }
    }

    /// It has not parked so far, and has not asked for the lock.
    #[inline(always)]
    pub(super) fn begin_slowly(self: Pin<&mut Self>, waker: RawWakerParts<'_>) -> Poll<A::Output> {
        let object = self.object();
        match PollWaker::of_ours(waker) {
            // SAFETY: an operation is polled without the lock.
            Some(waker) => self.begin_locked(waker, unsafe { Locked::lock(object) }),
            None => self.poll_foreign(waker, None),
        }
    }

    /// Goes on under the lock, or without it.
    #[inline(never)]
    pub(super) fn poll_out_of_line(
        self: Pin<&mut Self>,
        waker: RawWakerParts<'_>,
        locked: Option<Locked<'a, O>>,
    ) -> Poll<A::Output> {
        self.poll_slowly(waker, locked)
    }

    #[inline(always)]
    fn poll_slowly(
        self: Pin<&mut Self>,
        waker: RawWakerParts<'_>,
        locked: Option<Locked<'a, O>>,
    ) -> Poll<A::Output> {
        match PollWaker::of_ours(waker) {
            Some(waker) => self.poll_locked(waker, locked),
            None => self.poll_foreign(waker, locked),
        }
    }

    /// Polls with a foreign waker. Clones it without the lock, and drops an unused clone without the lock.
    #[cold]
    #[inline(never)]
    fn poll_foreign(
        self: Pin<&mut Self>,
        waker: RawWakerParts<'_>,
        locked: Option<Locked<'a, O>>,
    ) -> Poll<A::Output> {
        if let Some(locked) = locked {
            locked.unlock();
        }
        self.poll_locked(PollWaker::of_foreign(waker), None)
    }

    #[inline(always)]
    fn poll_locked(
        mut self: Pin<&mut Self>,
        waker: PollWaker<'_>,
        locked: Option<Locked<'a, O>>,
    ) -> Poll<A::Output> {
        let this = self.as_mut().parts();
        if this.phase == Phase::Queued {
            return self.poll_queued(waker, locked);
        }
        assert!(
            this.phase != Phase::Done,
            "{} was polled after it was complete",
            A::NAME
        );
        let object = this.object();
        // SAFETY: an operation is polled without the lock.
        let locked = locked.unwrap_or_else(|| unsafe { Locked::lock(object) });
        self.begin_locked(waker, locked)
    }

    /// It has not parked so far.
    #[inline(always)]
    fn begin_locked(
        mut self: Pin<&mut Self>,
        waker: PollWaker<'_>,
        locked: Locked<'a, O>,
    ) -> Poll<A::Output> {
        let this = self.as_mut().parts();
        match this.waiter.action.attempt(locked) {
            Ok(output) => {
                this.phase = Phase::Done;
                Poll::Ready(output)
            }
            Err(locked) => self.park(waker, locked),
        }
    }

    /// It has begun, and is not in its queue.
    #[inline(always)]
    fn park(
        mut self: Pin<&mut Self>,
        waker: PollWaker<'_>,
        mut locked: Locked<'a, O>,
    ) -> Poll<A::Output> {
        let this = self.as_mut().parts();
        this.waiter.action.park(&mut locked);
        this.enter_queue(waker, A::WAITS_FIRST);
        if A::wakes_when_parked(this.object()) {
            locked.wake_ready();
        } else {
            locked.unlock();
        }
        Poll::Pending
    }

    /// Under the lock, and pinned.
    #[inline(always)]
    fn enter_queue(&mut self, waker: PollWaker<'_>, first: bool) {
        let (queue, node) = (A::queue(self.object()), self.node());
        self.phase = Phase::Queued;
        let park = if first {
            WaitList::park_first
        } else {
            WaitList::park
        };
        // SAFETY: under the lock, and pinned: the node stays until the drop or its turn has taken it out. One that
        // waits before all others finds nothing reserved for another one: it was the first, or no rule reserves then.
        unsafe { park(queue, node, Self::KIND, waker, O::Word::THREAD_BOUND) };
    }

    /// It is in its queue, or woken.
    #[inline(always)]
    fn poll_queued(
        mut self: Pin<&mut Self>,
        waker: PollWaker<'_>,
        locked: Option<Locked<'a, O>>,
    ) -> Poll<A::Output> {
        let this = self.as_mut().parts();
        let (object, node) = (this.object(), this.node());
        let queue = A::queue(object);
        // SAFETY: an operation is polled without the lock.
        let mut locked = locked.unwrap_or_else(|| unsafe { Locked::lock(object) });
        // SAFETY: under the lock; the node has been parked.
        let state = unsafe { this.waiter.node.state() };
        if state == State::Notified {
            // SAFETY: under the lock, and in this queue.
            unsafe { queue.unlink_notified(node) };
        } else if !A::IS_RELEASED || state != State::Released {
            debug_assert!(
                state != State::Released,
                "it says that it is never released"
            );
            // SAFETY: under the lock, and in this queue.
            let replaced = unsafe { queue.renew(node, waker, O::Word::THREAD_BOUND) };
            if this.waiter.action.polled_again(&mut locked) {
                locked.wake_ready();
            } else {
                locked.unlock();
            }
            drop(replaced);
            return Poll::Pending;
        }
        // Also if the action panics.
        this.phase = Phase::Done;
        match this.waiter.action.resume(locked, state) {
            Ok(output) => Poll::Ready(output),
            Err(locked) => self.wait_again(waker, locked),
        }
    }

    /// Waits before all others, having been woken for nothing; it is out of the queue.
    #[cold]
    #[inline(never)]
    fn wait_again(
        self: Pin<&mut Self>,
        waker: PollWaker<'_>,
        locked: Locked<'a, O>,
    ) -> Poll<A::Output> {
        self.parts()
            .enter_queue(waker, !crate::mutant!("woken_parks_last"));
        locked.wake_ready();
        Poll::Pending
    }

    /// # Safety
    /// See [`Kind::could_begin`].
    unsafe fn could_begin(node: NonNull<Node>) -> Begins {
        // SAFETY: the node is alive, as the caller vouches.
        let waiting = unsafe { node.as_ref() };
        // SAFETY: so is its object; the kind says which type it is.
        let object = unsafe { &*waiting.object().cast::<O>() };
        if A::counts_when_waiting(object) {
            return Begins::ToBeNoticed;
        }
        // SAFETY: no lock is held, as the caller vouches.
        let locked = unsafe { Locked::lock(object) };
        // SAFETY: under the lock; the node is that of an operation whose action is an `A`.
        let could = unsafe { action_of::<A>(node) }.could_complete(&locked);
        locked.unlock();
        match could {
            Could::No => Begins::InVain,
            _ => Begins::ToTakeEffect,
        }
    }

    /// # Safety
    /// See [`Kind::could_complete`].
    unsafe fn could_complete(node: NonNull<Node>) -> Could {
        // SAFETY: the node is alive, as the caller vouches.
        let waiting = unsafe { node.as_ref() };
        // SAFETY: so is its object; the kind says which type it is.
        let object = unsafe { &*waiting.object().cast::<O>() };
        // SAFETY: no lock is held, as the caller vouches.
        let locked = unsafe { Locked::lock(object) };
        // SAFETY: under the lock; the node has been parked.
        let state = unsafe { waiting.state() };
        let could = if matches!(state, State::Notified | State::Released) {
            Could::Yes
        } else if A::queue(object).first() == Some(node) {
            // SAFETY: under the lock; the node is that of an operation whose action is an `A`.
            unsafe { action_of::<A>(node) }.could_complete(&locked)
        } else {
            Could::No
        };
        locked.unlock();
        could
    }
}

impl<O: Waitable, A: Action<O>> fmt::Debug for Operation<'_, O, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {} ({:?})", A::NAME, self.location(), self.phase)
    }
}
