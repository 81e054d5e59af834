//! A waiting operation: one for all primitives that are a [`Line`].

use core::cell::Cell;
use core::fmt;
use core::marker::PhantomData;
use core::panic::Location;
use core::pin::Pin;
use core::ptr::NonNull;
use core::task::{Context, Poll, Waker};

use gossamer_core::context;
use gossamer_core::policy::Policy;
use gossamer_core::waiter::{Could, Kept, Kind, Node, Parts, State};

use super::{Line, Next, Rules};

/// Where the operation stands, as its owner knows it without the lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Not polled yet.
    Fresh,
    /// Past its scheduling point, and not in line.
    Begun,
    /// In line: parked, notified or released.
    InLine,
    /// Complete, or given up.
    Done,
}

/// How an operation came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    /// It did not wait.
    AtOnce,
    /// It waited in line.
    FromLine,
}

/// The part of an operation that its line sees.
#[repr(C)]
struct Waiter {
    node: Node,
    /// Touched under the lock while the node is parked.
    wants: Cell<usize>,
}

/// The number of the operation that a node belongs to.
///
/// # Safety
/// Under the lock of the line in which the node is.
#[inline(always)]
pub(super) unsafe fn wants_of(node: NonNull<Node>) -> usize {
    // SAFETY: all nodes in a `Line` are the first field of a `Waiter`, and alive as long as the lock is held.
    unsafe { node.cast::<Waiter>().as_ref() }.wants.get()
}

/// Changes it.
///
/// # Safety
/// As [`wants_of`].
pub(super) unsafe fn set_wants_of(node: NonNull<Node>, wants: usize) {
    // SAFETY: as in `wants_of`.
    unsafe { node.cast::<Waiter>().as_ref() }.wants.set(wants);
}

/// An operation that waits in a [`Line`]; `WHAT` is its name's number in the rules.
pub(crate) struct Waiting<'a, P: Policy, R: Rules, const WHAT: usize = 0> {
    waiter: Waiter,
    phase: Phase,
    _line: PhantomData<&'a Line<P, R>>,
}

// SAFETY: the node is touched under the line's atomic lock only, and owns its waker.
unsafe impl<P: Policy, R: Rules, const WHAT: usize> Send for Waiting<'_, P, R, WHAT> where
    P::Word: Sync
{
}
// SAFETY: `&Waiting` gives access to nothing.
unsafe impl<P: Policy, R: Rules, const WHAT: usize> Sync for Waiting<'_, P, R, WHAT> where
    P::Word: Sync
{
}

impl<'a, P: Policy, R: Rules, const WHAT: usize> Waiting<'a, P, R, WHAT> {
    const KIND: &'static Kind = &Kind {
        name: R::NAMES[WHAT],
        could_complete: Self::could_complete,
    };

    #[inline(always)]
    pub(crate) fn new(
        line: &'a Line<P, R>,
        wants: usize,
        location: &'static Location<'static>,
    ) -> Self {
        Self {
            waiter: Waiter {
                node: Node::new(core::ptr::from_ref(line).cast(), location),
                wants: Cell::new(wants),
            },
            phase: Phase::Fresh,
            _line: PhantomData,
        }
    }

    #[inline(always)]
    fn line(&self) -> &'a Line<P, R> {
        // SAFETY: made from a `&'a Line<P, R>` in `new`.
        unsafe { &*self.waiter.node.object().cast() }
    }

    #[inline(always)]
    fn node(&self) -> NonNull<Node> {
        // The whole waiter, so that the pointer reaches its number too.
        NonNull::from_ref(&self.waiter).cast()
    }

    /// Whether it waits in line, or has been released from it without noticing so far.
    pub(crate) fn is_in_line(&self) -> bool {
        self.phase == Phase::InLine
    }

    /// Its number: after its end, what it had then.
    pub(crate) fn wants(&self) -> usize {
        self.waiter.wants.get()
    }

    /// Where it was called.
    pub(crate) fn location(&self) -> &'static Location<'static> {
        self.waiter.node.location()
    }

    /// Waits until the rules let it go.
    #[inline(always)]
    pub(crate) fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<How> {
        // SAFETY: nothing is moved out; the node stays where it is.
        let this = unsafe { self.get_unchecked_mut() };
        if this.phase == Phase::Fresh {
            this.phase = Phase::Begun;
            if context::has_to_give_way() {
                context::give_way(Parts::new(cx.waker()));
                return Poll::Pending;
            }
            if this.line().arrive_quickly(this.wants()) {
                this.phase = Phase::Done;
                return Poll::Ready(How::AtOnce);
            }
        }
        // SAFETY: pinned.
        unsafe { this.poll_slowly(cx.waker()) }
    }

    /// # Safety
    /// The operation is pinned.
    #[inline(never)]
    unsafe fn poll_slowly(&mut self, waker: &Waker) -> Poll<How> {
        let Some(mut waker) = Kept::of_ours(waker) else {
            // Its clone, if it is not used, is dropped after the lock is given up.
            let mut waker = Kept::new(waker);
            // SAFETY: passed on to the caller.
            return unsafe { self.go_or_wait(&mut waker) };
        };
        // SAFETY: passed on to the caller.
        unsafe { self.go_or_wait(&mut waker) }
    }

    /// # Safety
    /// The operation is pinned.
    #[inline(always)]
    unsafe fn go_or_wait(&mut self, waker: &mut Kept<'_>) -> Poll<How> {
        // SAFETY: passed on to the caller.
        unsafe {
            match self.phase {
                Phase::InLine => self.wait_in_line(waker),
                Phase::Done => panic!("{} was polled after it was complete", R::NAMES[WHAT]),
                Phase::Fresh | Phase::Begun => self.begin(waker),
            }
        }
    }

    /// # Safety
    /// The operation is pinned, and not in line.
    unsafe fn begin(&mut self, waker: &mut Kept<'_>) -> Poll<How> {
        let line = self.line();
        let mut bits = line.lock();
        loop {
            if let Some(after) = R::arrive(bits, self.wants()) {
                line.serve(after);
                self.phase = Phase::Done;
                return Poll::Ready(How::AtOnce);
            }
            if waker.is_ready() {
                break;
            }
            line.unlock(bits);
            waker.prepare();
            bits = line.lock();
        }
        let (bits, wants) = R::park(bits, self.wants());
        self.waiter.wants.set(wants);
        // SAFETY: under the lock, and pinned: the node stays until `give_up` or its turn has taken it out.
        unsafe {
            line.list.park(self.node(), Self::KIND, waker, P::STAYS);
        }
        line.unlock(bits);
        self.phase = Phase::InLine;
        Poll::Pending
    }

    /// # Safety
    /// The operation is pinned, and in line.
    unsafe fn wait_in_line(&mut self, waker: &mut Kept<'_>) -> Poll<How> {
        let line = self.line();
        let node = self.node();
        let mut bits = line.lock();
        loop {
            // SAFETY: under the lock; the node has been parked in this line.
            let state = unsafe { self.waiter.node.state() };
            let goes = match state {
                State::Released => {
                    self.phase = Phase::Done;
                    line.unlock(R::accept(bits));
                    return Poll::Ready(How::FromLine);
                }
                State::Notified => R::retry(bits),
                State::Idle | State::Parked => Err(bits),
            };
            if let Ok(after) = goes {
                // SAFETY: under the lock, and in this line.
                let before = unsafe { line.list.unlink(node) };
                self.phase = Phase::Done;
                line.unlock(after);
                drop(before);
                return Poll::Ready(How::FromLine);
            }
            // SAFETY: as above.
            if waker.is_ready() || unsafe { line.list.is_current(node, waker) } {
                if let (State::Notified, Err(after)) = (state, goes) {
                    bits = after;
                    // SAFETY: under the lock; it is notified, and so first.
                    unsafe { line.list.take_notification_back() };
                }
                // SAFETY: as above.
                let before = unsafe { line.list.renew(node, waker, P::STAYS) };
                line.unlock(bits);
                drop(before);
                return Poll::Pending;
            }
            line.unlock(bits);
            waker.prepare();
            bits = line.lock();
        }
    }

    /// Gives the operation up.
    ///
    /// # Returns
    /// Its number, if it had been granted what it wanted and had not noticed; that is given back.
    pub(crate) fn give_up(self: Pin<&mut Self>) -> Option<usize> {
        // SAFETY: nothing is moved out; the node is out of the line when this returns.
        let this = unsafe { self.get_unchecked_mut() };
        this.leave()
    }

    fn leave(&mut self) -> Option<usize> {
        if core::mem::replace(&mut self.phase, Phase::Done) != Phase::InLine {
            return None;
        }
        let line = self.line();
        let bits = line.lock();
        let wants = self.wants();
        // SAFETY: under the lock; the node has been parked in this line.
        let state = unsafe { self.waiter.node.state() };
        if state == State::Released && gossamer_core::mutant!("cancel_keeps_grant") {
            line.unlock(bits);
            return None;
        }
        if state == State::Released {
            line.serve(R::give_back(bits, wants));
            return Some(wants);
        }
        // SAFETY: under the lock, and in this line.
        let waker = unsafe { line.list.unlink(self.node()) };
        let bits = R::leave(bits, wants, state == State::Notified);
        if gossamer_core::mutant!("cancel_serves_nobody") {
            line.unlock(bits);
        } else {
            line.serve(bits);
        }
        drop(waker);
        None
    }

    /// # Safety
    /// See [`Kind::could_complete`].
    unsafe fn could_complete(node: NonNull<Node>) -> Could {
        // SAFETY: the node is alive, and so is its object; the kind says which type it is.
        let line = unsafe { &*node.as_ref().object().cast::<Line<P, R>>() };
        let bits = line.lock();
        // SAFETY: under the lock; the node has been parked in this line.
        let (wants, state) = unsafe { (wants_of(node), node.as_ref().state()) };
        let could = match state {
            State::Released => true,
            State::Notified => R::retry(bits).is_ok(),
            _ => line.list.first() == Some(node) && R::next(bits, wants) != Next::Stay,
        };
        line.unlock(bits);
        could.into()
    }
}

impl<P: Policy, R: Rules, const WHAT: usize> Drop for Waiting<'_, P, R, WHAT> {
    #[inline(always)]
    fn drop(&mut self) {
        if self.phase == Phase::InLine {
            let _given_back = self.leave();
        }
    }
}

impl<P: Policy, R: Rules, const WHAT: usize> fmt::Debug for Waiting<'_, P, R, WHAT> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, location) = (R::NAMES[WHAT], self.location());
        write!(f, "{name} at {location} ({:?})", self.phase)
    }
}
