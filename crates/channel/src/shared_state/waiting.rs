//! A waiting operation on a [`SharedState`].

use std::cell::Cell;
use std::fmt;
use std::panic::Location;
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context, Poll, ready};

use gossamer_core::policy::LockPolicy;
use gossamer_core::wait_queue::{Action, Operation, Waitable, action_of};
use gossamer_core::waiter::{Could, Node, State, WaitList};

use super::{Content, SharedState};

/// Waiting with a number, which is not changed while the operation is queued; `WHAT` is its name's number.
#[repr(transparent)]
struct Turn<const WHAT: usize>(Cell<u64>);

/// The number of the operation that a node belongs to.
///
/// # Safety
/// Under the lock of the hub in whose line the node is.
#[inline(always)]
pub(super) unsafe fn wants_of(node: NonNull<Node>) -> u64 {
    // SAFETY: all actions in a hub are a number; the caller vouches for the rest.
    unsafe { action_of::<Cell<u64>>(node) }.get()
}

// SAFETY: a hub has one queue, and all actions in it are a number.
unsafe impl<S: Content, P: LockPolicy, const WHAT: usize> Action<SharedState<S, P>> for Turn<WHAT> {
    type Output = ();
    const NAME: &'static str = S::NAMES[WHAT];

    fn queue(shared_state: &SharedState<S, P>) -> &WaitList {
        &shared_state.line
    }

    #[inline(always)]
    unsafe fn attempt(&mut self, shared_state: &SharedState<S, P>, bits: u32) -> Result<(), u32> {
        // SAFETY: under the lock.
        let content = unsafe { shared_state.content() };
        if !content.goes(self.0.get()) {
            return Err(bits);
        }
        content.go();
        shared_state.unlock(bits);
        Ok(())
    }

    #[inline(always)]
    unsafe fn resume(
        &mut self,
        shared_state: &SharedState<S, P>,
        bits: u32,
        _: State,
    ) -> Result<(), u32> {
        shared_state.unlock(bits);
        Ok(())
    }

    unsafe fn cancel(&mut self, shared_state: &SharedState<S, P>, bits: u32, state: State) -> u32 {
        if state == State::Released {
            // SAFETY: under the lock.
            unsafe { shared_state.content() }.give_back();
        }
        bits
    }

    unsafe fn could_complete(&self, shared_state: &SharedState<S, P>, _: u32) -> Could {
        // SAFETY: under the lock.
        unsafe { shared_state.content() }.goes(self.0.get()).into()
    }
}

/// Waits until there is something for its number; `WHAT` is its name's number.
pub(crate) struct Waiting<'a, S: Content, P: LockPolicy, const WHAT: usize = 0>(
    Operation<'a, SharedState<S, P>, Turn<WHAT>>,
);

impl<'a, S: Content, P: LockPolicy, const WHAT: usize> Waiting<'a, S, P, WHAT> {
    #[inline(always)]
    pub(crate) fn new(
        shared_state: &'a SharedState<S, P>,
        wants: u64,
        location: &'static Location<'static>,
    ) -> Self {
        Self(Operation::new(
            shared_state,
            Turn(Cell::new(wants)),
            location,
        ))
    }

    #[inline(always)]
    pub(crate) fn shared_state(&self) -> &'a SharedState<S, P> {
        self.0.object()
    }

    fn operation(self: Pin<&mut Self>) -> Pin<&mut Operation<'a, SharedState<S, P>, Turn<WHAT>>> {
        // SAFETY: the operation is pinned as its owner is.
        unsafe { self.map_unchecked_mut(|this| &mut this.0) }
    }

    /// Its number.
    pub(crate) fn wants(self: Pin<&mut Self>) -> u64 {
        self.operation().action().0.get()
    }

    /// Waits once more, with this number, as an operation that begins anew. It is complete.
    pub(crate) fn wait_again(self: Pin<&mut Self>, wants: u64) {
        self.operation().restart(|turn| turn.0.set(wants));
    }

    /// Waits until it may go, and does `act` then, under the lock.
    ///
    /// # Safety
    /// As [`SharedState::look`].
    #[inline(always)]
    pub(crate) unsafe fn poll<R>(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        act: impl FnOnce(&mut S) -> R,
    ) -> Poll<R> {
        let shared_state = self.shared_state();
        ready!(self.operation().poll(cx));
        // What there was for the operation is still there: it has the only mutable borrow of its end. (In between, a
        // clone of a foreign waker may have been dropped, which is user code.)
        // SAFETY: passed on to the caller.
        Poll::Ready(unsafe { shared_state.look(act) })
    }
}

impl<S: Content, P: LockPolicy, const WHAT: usize> fmt::Debug for Waiting<'_, S, P, WHAT> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
