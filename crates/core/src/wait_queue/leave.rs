//! Leaving a queue without taking effect: an operation that is dropped or withdrawn, and one that lives on, which is what
//! a `select!` that ends does to its branches by reference.

use core::ops::DerefMut;
use core::pin::Pin;
use core::task::Waker;

use super::operation::Phase;
use super::{Action, Locked, Operation, Waitable};
use crate::context;
use crate::waiter::{State, drop_quietly};

/// An operation of ours that a `select!` may have had by reference.
///
/// Such a one lives on after the select. But nobody may ever poll it again, and what it was promised would be kept from
/// everybody else. So it leaves its queue, and passes on what it was promised. Polled again, it begins anew, behind those
/// that wait by then.
pub trait Leave {
    /// Whether it is, or has, a reference. (What a select has by value it drops.)
    const BY_REFERENCE: bool = false;

    /// Leaves the queue, if it waits in one. A panic of a waker that is dropped with that ends here.
    fn leave(self: Pin<&mut Self>);
}

impl<'a, O: Waitable, A: Action<O>> Operation<'a, O, A> {
    /// Gives the operation up: what it was promised is given back, and others are woken.
    ///
    /// The operation's waker is dropped after `take` has run. That drop may panic, so `take` itself puts what must
    /// survive into its place.
    ///
    /// # Returns
    /// The result of `take`, called with the action and with the state in which the operation left its queue; `None` if
    /// the operation was complete. The action is not [abandoned](Action::abandon).
    pub fn withdraw<R>(self: Pin<&mut Self>, take: impl FnOnce(&mut A, State) -> R) -> Option<R> {
        let this = self.parts();
        // The drop of the waker is user code, and comes last.
        let (state, _waker) = match core::mem::replace(&mut this.phase, Phase::Done) {
            Phase::Done => return None,
            phase @ (Phase::Held | Phase::Queued) => this.leave_others(phase),
            Phase::Fresh | Phase::Begun => (State::Idle, None),
        };
        Some(take(&mut this.waiter.action, state))
    }

    /// It leaves its queue, unless it [is done](Action::is_done), and begins anew when it is polled.
    #[cold]
    #[inline(never)]
    fn leave_unless_done(self: Pin<&mut Self>) {
        let this = self.parts();
        if this.phase == Phase::Held {
            this.phase = Phase::Fresh;
            // A panic of its drop would keep other branches from leaving.
            if let Some(waker) = context::simulated::is_dropped(this.node()) {
                drop_quietly(waker);
            }
        }
        if this.phase != Phase::Queued {
            return;
        }
        let (locked, state) = this.lock_queued();
        if A::is_done(this.object(), state) {
            return locked.unlock();
        }
        this.phase = Phase::Begun;
        // A panic of its drop would keep other branches from leaving.
        if let Some(waker) = this.leave_locked(locked, state) {
            drop_quietly(waker);
        }
    }

    /// It leaves its queue, or the operations that a simulation holds back.
    #[cold]
    #[inline(never)]
    fn leave_others(&mut self, phase: Phase) -> (State, Option<Waker>) {
        if phase == Phase::Held {
            return (State::Idle, context::simulated::is_dropped(self.node()));
        }
        let (locked, state) = self.lock_queued();
        (state, self.leave_locked(locked, state))
    }

    #[inline(always)]
    fn lock_queued(&self) -> (Locked<'a, O>, State) {
        // SAFETY: an operation is dropped, or leaves its queue, without the lock.
        let locked = unsafe { Locked::lock(self.object()) };
        // SAFETY: under the lock; the node has been parked.
        (locked, unsafe { self.waiter.node.state() })
    }

    #[inline(always)]
    fn leave_locked(&mut self, mut locked: Locked<'a, O>, state: State) -> Option<Waker> {
        let object = self.object();
        let waker = match state {
            State::Released => None,
            // SAFETY: under the lock; the node was not released, so it is in this queue.
            _ => unsafe { A::queue(object).unlink(self.node()) },
        };
        if state == State::Parked || !crate::mutant!("cancel_keeps_promise") {
            self.waiter.action.cancel(&mut locked, state);
        }
        if crate::mutant!("cancel_wakes_nobody") {
            locked.unlock();
        } else {
            locked.wake_ready();
        }
        waker
    }
}

impl<O: Waitable, A: Action<O>> Drop for Operation<'_, O, A> {
    #[inline(always)]
    fn drop(&mut self) {
        if self.phase >= Phase::Held {
            // The drop of the waker is user code, and comes last.
            let (state, _waker) = self.leave_others(self.phase);
            self.waiter.action.abandon(state);
        } else if self.phase != Phase::Done {
            self.waiter.action.abandon(State::Idle);
        }
    }
}

impl<O: Waitable, A: Action<O>> Leave for Operation<'_, O, A> {
    fn leave(self: Pin<&mut Self>) {
        if !crate::mutant!("reference_stays_queued") {
            self.leave_unless_done();
        }
    }
}

impl<R: DerefMut<Target: Leave>> Leave for Pin<R> {
    const BY_REFERENCE: bool = true;

    fn leave(self: Pin<&mut Self>) {
        self.as_deref_mut().leave();
    }
}

impl<F: Leave + Unpin> Leave for &mut F {
    const BY_REFERENCE: bool = true;

    fn leave(self: Pin<&mut Self>) {
        Pin::new(&mut **self.get_mut()).leave();
    }
}
