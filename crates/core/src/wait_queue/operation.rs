//! The waiting operation: a future that attempts its action, parks, and resumes when it is woken.

use core::fmt;
use core::marker::PhantomData;
use core::panic::Location;
use core::pin::Pin;
use core::ptr::NonNull;
use core::task::{Context, Poll, Waker};

use super::Waitable;
use crate::context;
use crate::waiter::{Could, Kept, Kind, Node, Parts, State, WaitList};

/// Where the operation stands, as its owner knows it without the lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Not polled yet.
    Fresh,
    /// Past its scheduling point, and not in its queue.
    Begun,
    /// In its queue, or woken.
    Queued,
    /// Complete, or given up.
    Done,
}

/// What an operation does when its turn comes.
///
/// Except for [`prepare`](Action::prepare) and [`abandon`](Action::abandon), everything runs under the object's lock or
/// takes it, and runs no user code under it.
///
/// # Safety
/// [`queue`](Action::queue) gives the same queue of the same object each time, and only operations whose actions begin
/// as this one does (see [`action_of`]) are in it.
pub unsafe trait Action<O: Waitable> {
    /// What the operation gives.
    type Output;
    /// What dumps call the operation.
    const NAME: &'static str;
    /// Whether it waits before all others, not behind them.
    const WAITS_FIRST: bool = false;

    /// The queue in which it waits.
    fn queue(object: &O) -> &WaitList;

    /// Whether the task yields at this operation (see [`context::has_to_give_way`]).
    #[inline(always)]
    fn has_to_yield() -> bool {
        context::has_to_give_way()
    }

    /// Whether others may go on because this one has begun to wait.
    #[inline(always)]
    fn wakes_when_parked(_object: &O) -> bool {
        false
    }

    /// Allocates what the action needs. Not under the lock.
    #[inline(always)]
    fn prepare(&mut self, _object: &O) {}

    /// Takes effect in the simple case, before all else.
    ///
    /// # Errors
    /// It did not. `Some`: the lock is held, and these are the bits.
    #[inline(always)]
    fn try_quickly(&mut self, _object: &O) -> Result<Self::Output, Option<u32>> {
        Err(None)
    }

    /// Takes effect if it can at once; then it wakes the waiters that can go on because of it, and releases the lock.
    ///
    /// # Errors
    /// It cannot. The lock is held, and these are the bits.
    ///
    /// # Safety
    /// Under the lock, with these bits; the action has not taken effect.
    unsafe fn attempt(&mut self, object: &O, bits: u32) -> Result<Self::Output, u32>;

    /// The operation is about to park.
    ///
    /// # Returns
    /// The bits.
    ///
    /// # Safety
    /// Under the lock.
    #[inline(always)]
    unsafe fn park(&mut self, _object: &O, bits: u32) -> u32 {
        bits
    }

    /// The operation was woken with something reserved or granted, and has left its queue: as [`Action::attempt`]. If it
    /// has to wait again, it waits before all others.
    ///
    /// # Errors
    /// As [`Action::attempt`].
    ///
    /// # Safety
    /// As [`Action::attempt`]; and the operation was woken.
    unsafe fn resume(&mut self, object: &O, bits: u32, state: State) -> Result<Self::Output, u32>;

    /// The operation has left its queue without taking effect; it gives back what it was promised. Afterwards the
    /// waiters that can go on are woken.
    ///
    /// # Returns
    /// The bits.
    ///
    /// # Safety
    /// Under the lock. The operation was parked or woken, as `state` says.
    unsafe fn cancel(&mut self, object: &O, bits: u32, state: State) -> u32;

    /// The operation ends without its output: drops what it still has, which is user code. `state`: how it left its
    /// queue.
    #[inline(always)]
    fn abandon(&mut self, _state: State) {}

    /// Whether the first waiter of the queue, which was not woken, could go on now.
    ///
    /// # Safety
    /// Under the lock; the operation is parked.
    unsafe fn could_complete(&self, object: &O, bits: u32) -> Could;
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
pub struct Operation<'a, O: Waitable, A: Action<O>> {
    waiter: Waiter<A>,
    phase: Phase,
    _object: PhantomData<&'a O>,
}

// SAFETY: the node is touched under the object's lock only, which is atomic if the object is `Sync`, and owns its waker.
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
    pub fn action(self: Pin<&mut Self>) -> &mut A {
        // SAFETY: actions are not pinned.
        unsafe { &mut self.get_unchecked_mut().waiter.action }
    }

    /// Where it was called.
    pub fn location(&self) -> &'static Location<'static> {
        self.waiter.node.location()
    }

    /// Whether it waits in its queue, or has been woken and not polled since.
    pub fn is_queued(&self) -> bool {
        self.phase == Phase::Queued
    }

    #[inline(always)]
    fn node(&self) -> NonNull<Node> {
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
        this.waiter.action.prepare(object);
        let mut locked = None;
        if this.phase == Phase::Fresh {
            if A::has_to_yield() {
                this.phase = Phase::Begun;
                context::give_way(Parts::new(cx.waker()));
                return Poll::Pending;
            }
            match this.waiter.action.try_quickly(object) {
                Ok(output) => {
                    this.phase = Phase::Done;
                    return Poll::Ready(output);
                }
                Err(bits) => locked = bits,
            }
        }
        // SAFETY: pinned.
        unsafe { this.poll_slowly(cx.waker(), locked) }
    }

    /// With these bits under the lock, or without the lock.
    ///
    /// # Safety
    /// The operation is pinned.
    #[inline(never)]
    unsafe fn poll_slowly(&mut self, waker: &Waker, locked: Option<u32>) -> Poll<A::Output> {
        if let Some(mut waker) = Kept::of_ours(waker) {
            // SAFETY: passed on to the caller.
            return unsafe { self.poll_locked(&mut waker, locked) };
        }
        if let Some(bits) = locked {
            self.object().unlock(bits);
        }
        // The clone is made, and dropped if it is not used, without the lock.
        let mut waker = Kept::new(waker);
        waker.prepare();
        // SAFETY: passed on to the caller.
        unsafe { self.poll_locked(&mut waker, None) }
    }

    /// # Safety
    /// The operation is pinned; the waker is ready.
    #[inline(always)]
    unsafe fn poll_locked(&mut self, waker: &mut Kept<'_>, locked: Option<u32>) -> Poll<A::Output> {
        let before = self.phase;
        assert!(
            before != Phase::Done,
            "{} was polled after it was complete",
            A::NAME
        );
        let (object, node) = (self.object(), self.node());
        let queue = A::queue(object);
        let bits = locked.unwrap_or_else(|| object.lock());
        let mut state = State::Idle;
        if before == Phase::Queued {
            // SAFETY: under the lock; the node has been parked.
            state = unsafe { self.waiter.node.state() };
            if state == State::Parked {
                // SAFETY: as above, and in this queue.
                let replaced = unsafe { queue.renew(node, waker, O::THREAD_BOUND) };
                object.unlock(bits);
                drop(replaced);
                return Poll::Pending;
            }
            if state == State::Notified {
                // SAFETY: under the lock, and in this queue. A notified node has no waker to drop.
                let _none = unsafe { queue.unlink(node) };
            }
        }
        // Also if the action panics.
        self.phase = Phase::Done;
        let is_resumed = before == Phase::Queued;
        // SAFETY: under the lock; it has not taken effect, or it would be complete.
        let attempted = unsafe {
            if is_resumed {
                self.waiter.action.resume(object, bits, state)
            } else {
                self.waiter.action.attempt(object, bits)
            }
        };
        let mut bits = match attempted {
            Ok(output) => return Poll::Ready(output),
            Err(bits) => bits,
        };
        // SAFETY: under the lock, and pinned: the node stays until `drop` or its turn has taken it out. What is first
        // and waits again, or before all others, finds nothing reserved for another one.
        unsafe {
            if !is_resumed {
                bits = self.waiter.action.park(object, bits);
            }
            if A::WAITS_FIRST || is_resumed && !crate::mutant!("woken_parks_last") {
                queue.park_first(node, Self::KIND, waker, O::THREAD_BOUND);
            } else {
                queue.park(node, Self::KIND, waker, O::THREAD_BOUND);
            }
        }
        self.phase = Phase::Queued;
        if is_resumed || A::wakes_when_parked(object) {
            object.wake_ready(bits);
        } else {
            object.unlock(bits);
        }
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
        this.end(take)
    }

    #[inline(always)]
    fn end<R>(&mut self, take: impl FnOnce(&mut A, State) -> R) -> Option<R> {
        // The drop of the waker is user code, and comes last.
        let (state, _waker) = match core::mem::replace(&mut self.phase, Phase::Done) {
            Phase::Queued => self.leave_queue(),
            Phase::Fresh | Phase::Begun => (State::Idle, None),
            Phase::Done => return None,
        };
        Some(take(&mut self.waiter.action, state))
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
        let _ended = self.end(|action, state| action.abandon(state));
    }
}

impl<O: Waitable, A: Action<O>> fmt::Debug for Operation<'_, O, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {} ({:?})", A::NAME, self.location(), self.phase)
    }
}
