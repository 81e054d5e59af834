//! The waiting operation: a future that attempts its action, parks, and resumes when it is woken.

use core::fmt;
use core::marker::PhantomData;
use core::panic::Location;
use core::pin::Pin;
use core::ptr::NonNull;
use core::task::{Context, Poll, Waker};

use super::{Action, Waitable};
use crate::context;
use crate::waiter::{Could, Kind, Node, PollWaker, RawWakerParts, State};

/// Where the operation stands, as its owner knows it without the lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Not polled yet.
    Fresh,
    /// Past its scheduling point, and not in its queue.
    Begun,
    /// In its queue, or woken.
    Queued,
    /// Complete, or given up.
    Done,
}

/// The part of an operation that the object sees.
#[repr(C)]
struct Waiter<A> {
    node: Node,
    action: A,
}

/// The action of the operation that a node belongs to.
///
/// # Safety
/// The node is that of an [`Operation`] whose action is an `A`, or begins as an `A` does, and alive: as long as the
/// result is used, the lock of its object is held.
#[inline(always)]
pub unsafe fn action_of<'n, A>(node: NonNull<Node>) -> &'n A {
    // SAFETY: the node is the first field of a `Waiter` and points at all of it (`Operation::node`); the caller vouches
    // for the type.
    unsafe { &(*node.cast::<Waiter<A>>().as_ptr()).action }
}

/// One operation on an object.
#[repr(C)]
pub struct Operation<'a, O: Waitable, A: Action<O>> {
    phase: Phase,
    waiter: Waiter<A>,
    _object: PhantomData<&'a O>,
}

// SAFETY: the node is touched under the object's lock only, which is atomic if the object is `Sync`, and owns its
// waker.
unsafe impl<O: Waitable + Sync, A: Action<O> + Send> Send for Operation<'_, O, A> {}
// SAFETY: `&Operation` gives out the object and constants only.
unsafe impl<O: Waitable + Sync, A: Action<O>> Sync for Operation<'_, O, A> {}

impl<'a, O: Waitable, A: Action<O>> Operation<'a, O, A> {
    /// What dumps and simulations ask about the operation.
    pub const KIND: &'static Kind = &Kind {
        name: A::NAME,
        could_complete: Self::could_complete,
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

    /// What it does.
    #[inline(always)]
    pub fn action(self: Pin<&mut Self>) -> &A {
        // SAFETY: nothing is moved out.
        unsafe { &self.get_unchecked_mut().waiter.action }
    }

    /// What it does.
    ///
    /// # Safety
    /// The operation is not in its queue, or the object's lock is held.
    #[inline(always)]
    pub unsafe fn action_mut(&mut self) -> &mut A {
        &mut self.waiter.action
    }

    /// Where it was called.
    pub fn location(&self) -> &'static Location<'static> {
        self.waiter.node.location()
    }

    /// Whether it waits in its queue, or has been woken and not polled since.
    pub fn is_queued(&self) -> bool {
        self.phase == Phase::Queued
    }

    /// Where it stands.
    #[inline(always)]
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// For an object that polls its operations itself where that is simple.
    ///
    /// # Safety
    /// It is [`Phase::Done`] if and only if the action has taken effect, and [`Phase::Queued`] if the object has the
    /// node.
    #[inline(always)]
    pub unsafe fn set_phase(&mut self, phase: Phase) {
        self.phase = phase;
    }

    /// The node.
    #[inline(always)]
    pub fn node(&self) -> NonNull<Node> {
        // The whole waiter, so that the pointer reaches the action too.
        NonNull::from_ref(&self.waiter).cast()
    }

    /// Begins anew, with an action that `change` made of the last one. The operation is complete.
    ///
    /// # Panics
    /// It is not.
    pub fn restart(self: Pin<&mut Self>, change: impl FnOnce(&mut A)) {
        // SAFETY: nothing is moved out.
        let this = unsafe { self.get_unchecked_mut() };
        assert_eq!(this.phase, Phase::Done, "its node may be in a queue");
        this.phase = Phase::Fresh;
        change(&mut this.waiter.action);
    }

    /// Attempts the action, and parks if it cannot take effect.
    ///
    /// # Panics
    /// The operation is complete.
    #[inline(always)]
    pub fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<A::Output> {
        // SAFETY: nothing is moved out; the node stays where it is.
        let this = unsafe { self.get_unchecked_mut() };
        let object = this.object();
        if A::PREPARES {
            this.waiter.action.prepare(object);
        }
        let mut locked = None;
        if this.phase == Phase::Fresh {
            if A::has_to_yield() {
                this.phase = Phase::Begun;
                context::yield_to_others(RawWakerParts::new(cx.waker()));
                return Poll::Pending;
            }
            match this.waiter.action.try_quickly(object) {
                Ok(output) => {
                    this.phase = Phase::Done;
                    return Poll::Ready(output);
                }
                Err(Some(bits)) if A::INLINE => {
                    // SAFETY: pinned; under the lock.
                    return unsafe {
                        match PollWaker::of_ours(cx.waker()) {
                            Some(mut waker) => this.park(&mut waker, bits),
                            None => this.poll_foreign(cx.waker(), Some(bits)),
                        }
                    };
                }
                Err(bits) => locked = bits,
            }
        }
        // SAFETY: pinned.
        unsafe {
            if A::INLINE {
                this.poll_slowly(cx.waker(), locked)
            } else {
                this.poll_out_of_line(RawWakerParts::new(cx.waker()), locked)
            }
        }
    }

    /// As [`Operation::poll_slowly`].
    ///
    /// # Safety
    /// The operation is pinned.
    #[inline(never)]
    pub unsafe fn poll_out_of_line(
        &mut self,
        waker: RawWakerParts<'_>,
        locked: Option<u32>,
    ) -> Poll<A::Output> {
        // SAFETY: passed on to the caller.
        waker.with(|waker| unsafe { self.poll_slowly(waker, locked) })
    }

    /// With these bits under the lock, or without the lock.
    ///
    /// # Safety
    /// The operation is pinned.
    #[inline(always)]
    unsafe fn poll_slowly(&mut self, waker: &Waker, locked: Option<u32>) -> Poll<A::Output> {
        if let Some(mut waker) = PollWaker::of_ours(waker) {
            // SAFETY: passed on to the caller.
            return unsafe { self.poll_locked(&mut waker, locked) };
        }
        // SAFETY: passed on to the caller.
        unsafe { self.poll_foreign(waker, locked) }
    }

    /// The same for a foreign waker: its clone is made, and dropped if it is not used, without the lock.
    ///
    /// # Safety
    /// As [`Operation::poll_slowly`].
    #[cold]
    #[inline(never)]
    unsafe fn poll_foreign(&mut self, waker: &Waker, locked: Option<u32>) -> Poll<A::Output> {
        if let Some(bits) = locked {
            self.object().unlock(bits);
        }
        let mut waker = PollWaker::new(waker);
        waker.prepare();
        // SAFETY: passed on to the caller.
        unsafe { self.poll_locked(&mut waker, None) }
    }

    /// # Safety
    /// The operation is pinned; the waker is ready.
    #[inline(always)]
    unsafe fn poll_locked(
        &mut self,
        waker: &mut PollWaker<'_>,
        locked: Option<u32>,
    ) -> Poll<A::Output> {
        if self.phase == Phase::Queued {
            // SAFETY: passed on to the caller.
            return unsafe { self.poll_queued(waker) };
        }
        assert!(
            self.phase != Phase::Done,
            "{} was polled after it was complete",
            A::NAME
        );
        let object = self.object();
        let bits = locked.unwrap_or_else(|| object.lock());
        // SAFETY: under the lock; the action has not taken effect.
        match unsafe { self.waiter.action.attempt(object, bits) } {
            Ok(output) => {
                self.phase = Phase::Done;
                Poll::Ready(output)
            }
            // SAFETY: passed on to the caller; under the lock.
            Err(bits) => unsafe { self.park(waker, bits) },
        }
    }

    /// # Safety
    /// The operation is pinned, and has begun; under the lock, with these bits; the waker is ready.
    #[inline(always)]
    unsafe fn park(&mut self, waker: &mut PollWaker<'_>, bits: u32) -> Poll<A::Output> {
        let object = self.object();
        // SAFETY: under the lock, and pinned: the node stays until the drop or its turn has taken it out. One that
        // waits before all others finds nothing reserved for another one.
        let bits = unsafe {
            let bits = self.waiter.action.park(object, bits);
            let (queue, node) = (A::queue(object), self.node());
            if A::WAITS_FIRST {
                queue.park_first(node, Self::KIND, waker, O::THREAD_BOUND);
            } else {
                queue.park(node, Self::KIND, waker, O::THREAD_BOUND);
            }
            bits
        };
        self.phase = Phase::Queued;
        if A::wakes_when_parked(object) {
            object.wake_ready(bits);
        } else {
            object.unlock(bits);
        }
        Poll::Pending
    }

    /// # Safety
    /// The operation is pinned, and in its queue or woken; the waker is ready.
    #[inline(always)]
    unsafe fn poll_queued(&mut self, waker: &mut PollWaker<'_>) -> Poll<A::Output> {
        let (object, node) = (self.object(), self.node());
        let queue = A::queue(object);
        let bits = object.lock();
        // SAFETY: under the lock; the node has been parked.
        let state = unsafe { self.waiter.node.state() };
        if state == State::Notified {
            // SAFETY: under the lock, and in this queue. A notified node has no waker to drop.
            core::mem::forget(unsafe { queue.unlink(node) });
        } else if state != State::Released {
            // SAFETY: under the lock, and in this queue.
            let replaced = unsafe { queue.renew(node, waker, O::THREAD_BOUND) };
            object.unlock(bits);
            drop(replaced);
            return Poll::Pending;
        }
        // Also if the action panics.
        self.phase = Phase::Done;
        // SAFETY: under the lock; it has not taken effect, and was woken.
        match unsafe { self.waiter.action.resume(object, bits, state) } {
            Ok(output) => Poll::Ready(output),
            // SAFETY: passed on to the caller; under the lock.
            Err(bits) => unsafe { self.wait_again(waker, bits) },
        }
    }

    /// Waits before all others, having been woken for nothing.
    ///
    /// # Safety
    /// As [`Operation::poll_queued`]; under the lock, with these bits, and out of the queue.
    #[cold]
    #[inline(never)]
    unsafe fn wait_again(&mut self, waker: &mut PollWaker<'_>, bits: u32) -> Poll<A::Output> {
        let object = self.object();
        let (queue, node) = (A::queue(object), self.node());
        // SAFETY: as in `park`; it was the first, so nothing is reserved for the next one.
        unsafe {
            if crate::mutant!("woken_parks_last") {
                queue.park(node, Self::KIND, waker, O::THREAD_BOUND);
            } else {
                queue.park_first(node, Self::KIND, waker, O::THREAD_BOUND);
            }
        }
        self.phase = Phase::Queued;
        object.wake_ready(bits);
        Poll::Pending
    }

    /// Gives the operation up: what it was promised is given back, and others are woken.
    ///
    /// # Returns
    /// What `take` makes of the action, which is not [abandoned](Action::abandon), and of the state in which the
    /// operation left its queue; `None` if it was complete.
    pub fn withdraw<R>(self: Pin<&mut Self>, take: impl FnOnce(&mut A, State) -> R) -> Option<R> {
        // SAFETY: nothing is moved out; the node is out of its queue when this returns.
        let this = unsafe { self.get_unchecked_mut() };
        // The drop of the waker is user code, and comes last.
        let (state, _waker) = match core::mem::replace(&mut this.phase, Phase::Done) {
            Phase::Done => return None,
            Phase::Queued => this.leave_queue(),
            Phase::Fresh | Phase::Begun => (State::Idle, None),
        };
        Some(take(&mut this.waiter.action, state))
    }

    #[cold]
    #[inline(never)]
    fn leave_queue(&mut self) -> (State, Option<Waker>) {
        let object = self.object();
        let mut bits = object.lock();
        // SAFETY: under the lock; the node has been parked, and is in this queue unless it was released.
        let state = unsafe { self.waiter.node.state() };
        let waker = match state {
            State::Released => None,
            // SAFETY: as above.
            _ => unsafe { A::queue(object).unlink(self.node()) },
        };
        if state == State::Parked || !crate::mutant!("cancel_keeps_promise") {
            // SAFETY: under the lock, and no longer in the queue.
            bits = unsafe { self.waiter.action.cancel(object, bits, state) };
        }
        if crate::mutant!("cancel_wakes_nobody") {
            object.unlock(bits);
        } else {
            object.wake_ready(bits);
        }
        (state, waker)
    }

    /// # Safety
    /// See [`Kind::could_complete`].
    unsafe fn could_complete(node: NonNull<Node>) -> Could {
        // SAFETY: the node is alive, and so is its object; the kind says which type it is.
        let object = unsafe { &*node.as_ref().object().cast::<O>() };
        let bits = object.lock();
        // SAFETY: under the lock; the node has been parked, and is that of an operation whose action is an `A`.
        let could = unsafe {
            if matches!(node.as_ref().state(), State::Notified | State::Released) {
                Could::Yes
            } else if A::queue(object).first() == Some(node) {
                action_of::<A>(node).could_complete(object, bits)
            } else {
                Could::No
            }
        };
        object.unlock(bits);
        could
    }
}

impl<O: Waitable, A: Action<O>> Drop for Operation<'_, O, A> {
    #[inline(always)]
    fn drop(&mut self) {
        if self.phase == Phase::Queued {
            // The drop of the waker is user code, and comes last.
            let (state, _waker) = self.leave_queue();
            self.waiter.action.abandon(state);
        } else if self.phase != Phase::Done {
            self.waiter.action.abandon(State::Idle);
        }
    }
}

impl<O: Waitable, A: Action<O>> fmt::Debug for Operation<'_, O, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {} ({:?})", A::NAME, self.location(), self.phase)
    }
}
