//! A waiting operation on a [`Hub`].

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context, Poll};

use gossamer_core::context;
use gossamer_core::policy::Policy;
use gossamer_core::waiter::{Could, Kept, Kind, Node, Parts, State};

use super::{Content, Hub};

/// Where the operation stands, as its owner knows it without the lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Not polled yet.
    Fresh,
    /// Past its scheduling point, and not in line.
    Begun,
    /// In line, or let go.
    InLine,
    /// Complete.
    Done,
}

/// The part of an operation that the others see.
#[repr(C)]
struct Waiter {
    node: Node,
    /// Not changed while it is in line.
    wants: Cell<u64>,
}

/// The number of the operation that a node belongs to.
///
/// # Safety
/// Under the lock of the hub in whose line the node is.
#[inline(always)]
pub(super) unsafe fn wants_of(node: NonNull<Node>) -> u64 {
    // SAFETY: all nodes in a hub's line are the first field of a `Waiter`, and alive as long as the lock is held.
    unsafe { node.cast::<Waiter>().as_ref() }.wants.get()
}

/// Waits until there is something for its number; `WHAT` is its name's number.
pub(crate) struct Waiting<'a, S: Content, P: Policy, const WHAT: usize = 0> {
    waiter: Waiter,
    phase: Phase,
    _hub: PhantomData<&'a Hub<S, P>>,
}

// SAFETY: the node is touched under the hub's atomic lock only, and owns its waker.
unsafe impl<S: Content + Send, P: Policy, const WHAT: usize> Send for Waiting<'_, S, P, WHAT> where
    P::Word: Sync
{
}
// SAFETY: `&Waiting` gives access to nothing.
unsafe impl<S: Content + Send, P: Policy, const WHAT: usize> Sync for Waiting<'_, S, P, WHAT> where
    P::Word: Sync
{
}

impl<'a, S: Content, P: Policy, const WHAT: usize> Waiting<'a, S, P, WHAT> {
    const KIND: &'static Kind = &Kind {
        name: S::NAMES[WHAT],
        could_complete: Self::could_complete,
    };

    #[inline(always)]
    pub(crate) fn new(
        hub: &'a Hub<S, P>,
        wants: u64,
        location: &'static Location<'static>,
    ) -> Self {
        Self {
            waiter: Waiter {
                node: Node::new(std::ptr::from_ref(hub).cast(), location),
                wants: Cell::new(wants),
            },
            phase: Phase::Fresh,
            _hub: PhantomData,
        }
    }

    #[inline(always)]
    pub(crate) fn hub(&self) -> &'a Hub<S, P> {
        // SAFETY: made from a `&'a Hub<S, P>` in `new`.
        unsafe { &*self.waiter.node.object().cast() }
    }

    #[inline(always)]
    fn node(&self) -> NonNull<Node> {
        // The whole waiter, so that the pointer reaches its number too.
        NonNull::from_ref(&self.waiter).cast()
    }

    /// Its number.
    pub(crate) fn wants(&self) -> u64 {
        self.waiter.wants.get()
    }

    /// Waits once more, with this number, as an operation that begins anew. It is complete.
    pub(crate) fn wait_again(self: Pin<&mut Self>, wants: u64) {
        // SAFETY: nothing is moved out.
        let this = unsafe { self.get_unchecked_mut() };
        assert_eq!(this.phase, Phase::Done, "its node may be in line");
        this.phase = Phase::Fresh;
        this.waiter.wants.set(wants);
    }

    /// Waits until it may go, and does `act` then, under the lock.
    ///
    /// # Safety
    /// As [`Hub::look`].
    #[inline(always)]
    pub(crate) unsafe fn poll<R>(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        act: impl FnOnce(&mut S) -> R,
    ) -> Poll<R> {
        // SAFETY: nothing is moved out; the node stays where it is.
        let this = unsafe { self.get_unchecked_mut() };
        if this.phase == Phase::Fresh {
            this.phase = Phase::Begun;
            if context::has_to_give_way() {
                context::give_way(Parts::new(cx.waker()));
                return Poll::Pending;
            }
        }
        let Some(mut waker) = Kept::of_ours(cx.waker()) else {
            // A foreign one is dropped, if at all, after the lock is given up.
            let mut waker = Kept::new(cx.waker());
            // SAFETY: pinned; `act` is the caller's.
            return unsafe { this.go_or_wait(&mut waker, act) };
        };
        // SAFETY: pinned; `act` is the caller's.
        unsafe { this.go_or_wait(&mut waker, act) }
    }

    /// # Safety
    /// As [`Waiting::poll`]; and the operation is pinned.
    #[inline(always)]
    unsafe fn go_or_wait<R>(
        &mut self,
        waker: &mut Kept<'_>,
        act: impl FnOnce(&mut S) -> R,
    ) -> Poll<R> {
        let (hub, node) = (self.hub(), self.node());
        let is_in_line = match self.phase {
            Phase::InLine => true,
            Phase::Fresh | Phase::Begun => false,
            Phase::Done => panic!("{} was polled after it was complete", S::NAMES[WHAT]),
        };
        loop {
            // SAFETY: unlocked in each case; no user code in between.
            let content = unsafe { hub.lock() };
            let goes = if is_in_line {
                // SAFETY: under the lock; the node has been parked in this line.
                unsafe { self.waiter.node.state() == State::Released }
            } else {
                let goes = content.goes(self.wants());
                if goes {
                    content.go();
                }
                goes
            };
            if goes {
                self.phase = Phase::Done;
                let done = act(content);
                hub.unlock();
                return Poll::Ready(done);
            }
            // SAFETY: under the lock; pinned, so the node stays until `leave` or its turn has taken it out; asked for
            // its waker only if it is in this line.
            let parked = unsafe {
                if is_in_line && (waker.is_ready() || hub.line.is_current(node, waker)) {
                    Some(hub.line.renew(node, waker, P::STAYS))
                } else if !is_in_line && waker.is_ready() {
                    hub.line.park(node, Self::KIND, waker, P::STAYS);
                    self.phase = Phase::InLine;
                    Some(None)
                } else {
                    None
                }
            };
            hub.unlock();
            if let Some(before) = parked {
                drop(before);
                return Poll::Pending;
            }
            waker.prepare();
        }
    }

    /// # Safety
    /// See [`Kind::could_complete`].
    unsafe fn could_complete(node: NonNull<Node>) -> Could {
        // SAFETY: the node is alive, and so is its object; the kind says which type it is. No user code under the lock.
        unsafe {
            let hub = &*node.as_ref().object().cast::<Hub<S, P>>();
            hub.look(|content| {
                node.as_ref().state() == State::Released
                    || hub.line.first() == Some(node) && content.goes(wants_of(node))
            })
            .into()
        }
    }

    #[cold]
    #[inline(never)]
    fn leave_line(&mut self) {
        let (hub, node) = (self.hub(), self.node());
        // SAFETY: no user code under the lock; the node has been parked in this line.
        let waker = unsafe {
            hub.change(|content| {
                if self.waiter.node.state() == State::Released {
                    content.give_back();
                    return None;
                }
                hub.line.unlink(node)
            })
        };
        drop(waker);
    }
}

impl<S: Content, P: Policy, const WHAT: usize> Drop for Waiting<'_, S, P, WHAT> {
    #[inline(always)]
    fn drop(&mut self) {
        if self.phase == Phase::InLine {
            self.leave_line();
        }
    }
}

impl<S: Content, P: Policy, const WHAT: usize> fmt::Debug for Waiting<'_, S, P, WHAT> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, location) = (S::NAMES[WHAT], self.waiter.node.location());
        write!(f, "{name} at {location} ({:?})", self.phase)
    }
}
