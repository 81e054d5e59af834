//! A waiting operation on an `MVar`: park, be promised the place, act; or be dropped on the way.

use core::fmt;
use core::hint::cold_path;
use core::marker::PhantomData;
use core::panic::Location;
use core::pin::Pin;
use core::ptr::NonNull;
use core::task::{Context, Poll, Waker, ready};

use gossamer_core::context;
use gossamer_core::policy::{Policy, Word};
use gossamer_core::waiter::{Could, Kept, Kind, Node, Parts, State, WaitList};

use super::act::{Act, Line};
use super::{BUSY, FULL, LONE, MVar, RESERVED};

/// Where the operation stands, as its owner knows it without the lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Not polled yet.
    Fresh,
    /// Gave way once, at its scheduling point.
    GaveWay,
    /// In a line: parked or notified.
    InLine,
    /// Complete.
    Done,
}

/// One operation.
#[repr(C)]
pub(super) struct Op<'a, T, P: Policy, A: Act<T>> {
    phase: Phase,
    act: A,
    node: Node,
    _mvar: PhantomData<&'a MVar<T, P>>,
}

// SAFETY: the node is touched under the place's atomic lock only, and owns its waker.
unsafe impl<T: Send, P: Policy, A: Act<T> + Send> Send for Op<'_, T, P, A> where P::Word: Sync {}
// SAFETY: `&Op` gives access to nothing.
unsafe impl<T: Send, P: Policy, A: Act<T>> Sync for Op<'_, T, P, A> where P::Word: Sync {}

impl<'a, T, P: Policy, A: Act<T>> Op<'a, T, P, A> {
    pub(super) const KIND: &'static Kind = &Kind {
        name: A::NAME,
        could_complete: Self::could_complete,
    };

    #[inline(always)]
    pub(super) fn new(mvar: &'a MVar<T, P>, act: A, location: &'static Location<'static>) -> Self {
        let node = Node::new(core::ptr::from_ref(mvar).cast(), location);
        Self {
            node,
            act,
            phase: Phase::Fresh,
            _mvar: PhantomData,
        }
    }

    #[inline(always)]
    fn mvar(&self) -> &'a MVar<T, P> {
        // SAFETY: made from a `&'a MVar<T, P>` in `new`.
        unsafe { &*self.node.object().cast() }
    }

    #[inline(always)]
    fn line(&self) -> &'a WaitList {
        self.mvar().lines_of::<A>().1
    }

    /// Polls an operation that acts under the lock.
    #[inline(always)]
    pub(super) fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<A::Output> {
        // SAFETY: nothing is moved out; the node stays where it is.
        let this = unsafe { self.get_unchecked_mut() };
        if P::STAYS && A::IS_PLAIN {
            // SAFETY: pinned.
            return unsafe { this.poll_lone(Parts::new(cx.waker())) };
        }
        // SAFETY: pinned.
        unsafe { this.poll_any(cx.waker()) }
    }

    /// # Safety
    /// The operation is pinned.
    #[inline(always)]
    unsafe fn poll_any(&mut self, waker: &Waker) -> Poll<A::Output> {
        let Some(mut waker) = Kept::of_ours(waker) else {
            // SAFETY: passed on to the caller.
            return unsafe { self.poll_foreign(waker) };
        };
        // SAFETY: passed on to the caller.
        let bits = ready!(unsafe { self.wait_turn(&mut waker) });
        // SAFETY: under the lock, and our turn.
        Poll::Ready(unsafe { self.mvar().act_and_unlock(&mut self.act, bits) })
    }

    /// The same for a foreign waker, which is dropped, if at all, after the lock is given up.
    ///
    /// # Safety
    /// The operation is pinned.
    #[cold]
    #[inline(never)]
    unsafe fn poll_foreign(&mut self, waker: &Waker) -> Poll<A::Output> {
        let mut waker = Kept::new(waker);
        // SAFETY: passed on to the caller.
        let bits = ready!(unsafe { self.wait_turn(&mut waker) });
        // SAFETY: under the lock, and our turn.
        Poll::Ready(unsafe { self.mvar().act_and_unlock(&mut self.act, bits) })
    }

    /// The same, not inlined into the caller's future.
    ///
    /// # Safety
    /// The operation is pinned.
    #[cold]
    #[inline(never)]
    unsafe fn poll_slowly(&mut self, waker: Parts<'_>) -> Poll<A::Output> {
        // SAFETY: passed on to the caller.
        waker.with(|waker| unsafe { self.poll_any(waker) })
    }

    /// Take and put of one thread while at most one operation waits: each case is one comparison of the
    /// whole word. Everything else goes the general way.
    ///
    /// # Safety
    /// The operation is pinned.
    #[inline(always)]
    unsafe fn poll_lone(&mut self, waker: Parts<'_>) -> Poll<A::Output> {
        let mvar = self.mvar();
        if self.phase == Phase::Fresh {
            if context::has_to_give_way() {
                self.phase = Phase::GaveWay;
                context::give_way(waker);
                return Poll::Pending;
            }
            // SAFETY: passed on to the caller.
            return unsafe { self.begin_lone(mvar, waker) };
        }
        if self.phase == Phase::InLine {
            if mvar.word.lock() != A::GOES | RESERVED | LONE {
                // SAFETY: passed on to the caller.
                return unsafe { self.poll_slowly(waker) };
            }
            // SAFETY: under the lock; the one waiter, who is notified, is this one. Its turn.
            let (output, after) = unsafe { self.act.act(mvar, A::GOES) };
            mvar.word.unlock(after);
            self.phase = Phase::Done;
            return Poll::Ready(output);
        }
        cold_path();
        // SAFETY: passed on to the caller.
        unsafe { self.poll_after_way(waker) }
    }

    /// Begins the operation, nothing having been done so far.
    ///
    /// # Safety
    /// The operation is pinned.
    #[inline(always)]
    unsafe fn begin_lone(&mut self, mvar: &MVar<T, P>, waker: Parts<'_>) -> Poll<A::Output> {
        let bits = mvar.word.lock();
        if bits == A::GOES ^ FULL {
            let node = NonNull::from_ref(&self.node);
            let (other, own) = mvar.lines_of::<A>();
            // SAFETY: under the lock; nobody waits; the node is pinned and never leaves this thread.
            if unsafe { own.park_lone(other, node, waker) } {
                if context::is_watched() {
                    cold_path();
                    // SAFETY: just parked, by a task that is lent to it.
                    waker.with(|waker| unsafe { Node::name_lone(node, Self::KIND, waker) });
                }
                mvar.word.unlock(bits | LONE);
                self.phase = Phase::InLine;
                return Poll::Pending;
            }
        // SAFETY: under the lock.
        } else if let Some(output) = unsafe { mvar.act_quickly(&mut self.act, bits) } {
            self.phase = Phase::Done;
            return Poll::Ready(output);
        }
        cold_path();
        // SAFETY: passed on to the caller.
        unsafe { self.poll_slowly(waker) }
    }

    /// The same after the operation's scheduling point, in a simulation; or it is complete, which is said here.
    ///
    /// # Safety
    /// The operation is pinned.
    #[cold]
    #[inline(never)]
    unsafe fn poll_after_way(&mut self, waker: Parts<'_>) -> Poll<A::Output> {
        // SAFETY: passed on to the caller.
        unsafe {
            if self.phase == Phase::GaveWay {
                self.begin_lone(self.mvar(), waker)
            } else {
                self.poll_slowly(waker)
            }
        }
    }

    /// Waits for the operation's turn; returns with the lock held and nothing promised.
    ///
    /// # Safety
    /// The operation is pinned.
    #[inline(always)]
    unsafe fn wait_turn(&mut self, waker: &mut Kept<'_>) -> Poll<u32> {
        if self.phase == Phase::InLine {
            // SAFETY: passed on to the caller.
            return unsafe { self.wait_in_line(waker) };
        }
        if self.phase == Phase::Fresh && context::has_to_give_way() {
            self.phase = Phase::GaveWay;
            context::give_way(Parts::new(waker.waker()));
            return Poll::Pending;
        }
        assert!(
            self.phase != Phase::Done,
            "{} was polled after it was complete",
            A::NAME
        );
        let mvar = self.mvar();
        let mut bits = mvar.lock();
        loop {
            if A::may_go(bits) {
                self.phase = Phase::Done;
                return Poll::Ready(bits);
            }
            if waker.is_ready() {
                break;
            }
            mvar.unlock(bits);
            waker.prepare();
            bits = mvar.lock();
        }
        let node = NonNull::from_ref(&self.node);
        // SAFETY: under the lock, and pinned: the node stays until `drop` or its turn unlinks it. Before
        // all takers, a reader is busy, so the place is promised to nobody in line.
        unsafe {
            if A::LINE == Line::BeforeTakers {
                self.line().park_first(node, Self::KIND, waker, P::STAYS);
            } else {
                self.line().park(node, Self::KIND, waker, P::STAYS);
            }
        }
        mvar.unlock(bits);
        self.phase = Phase::InLine;
        Poll::Pending
    }

    /// # Safety
    /// As [`Op::wait_turn`].
    #[inline(always)]
    unsafe fn wait_in_line(&mut self, waker: &mut Kept<'_>) -> Poll<u32> {
        let mvar = self.mvar();
        let node = NonNull::from_ref(&self.node);
        let mut bits = mvar.lock();
        // SAFETY: under the lock; the node has been parked in this line.
        while unsafe { self.node.state() } != State::Notified {
            // SAFETY: as above.
            if waker.is_ready() || unsafe { self.line().is_current(node, waker) } {
                // SAFETY: as above.
                let before = unsafe { self.line().renew(node, waker, P::STAYS) };
                mvar.unlock(bits);
                drop(before);
                return Poll::Pending;
            }
            mvar.unlock(bits);
            waker.prepare();
            bits = mvar.lock();
        }
        // SAFETY: under the lock, and first in this line. A notified node has no waker to drop.
        let _none = unsafe { self.line().unlink(node) };
        self.phase = Phase::Done;
        Poll::Ready(bits & !RESERVED)
    }

    /// # Safety
    /// See [`Kind::could_complete`].
    unsafe fn could_complete(node: NonNull<Node>) -> Could {
        // SAFETY: the node is alive, and so is its object; the kind says which type it is.
        let (node, mvar) =
            unsafe { (node.as_ref(), &*node.as_ref().object().cast::<MVar<T, P>>()) };
        let bits = mvar.lock();
        // SAFETY: under the lock; the node has been parked.
        let could = unsafe { node.state() } == State::Notified || A::may_go(bits);
        mvar.unlock(bits);
        could.into()
    }

    #[cold]
    #[inline(never)]
    fn leave_line(&mut self) {
        let mvar = self.mvar();
        let node = NonNull::from_ref(&self.node);
        let mut bits = mvar.lock();
        // SAFETY: under the lock; the node has been parked.
        if unsafe { self.node.state() } == State::Notified {
            bits &= !RESERVED;
        }
        // SAFETY: under the lock, and in this line.
        let waker = unsafe { self.line().unlink(node) };
        if gossamer_core::mutant!("mvar_cancel_keeps_mark") {
            mvar.unlock(bits);
            drop(waker);
            return;
        }
        // SAFETY: under the lock.
        let (bits, deferred) = unsafe { mvar.serve_next(bits) };
        mvar.unlock(bits);
        deferred.run();
        drop(waker);
    }
}

impl<T: Clone, P: Policy, A: Act<T>> Op<'_, T, P, A> {
    /// Polls an operation that clones the value, outside the lock.
    pub(super) fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        // SAFETY: nothing is moved out; the node stays where it is.
        let this = unsafe { self.get_unchecked_mut() };
        let mut waker = Kept::new(cx.waker());
        // SAFETY: pinned, as `wait_turn` asks.
        let bits = ready!(unsafe { this.wait_turn(&mut waker) });
        debug_assert_eq!(
            bits & (FULL | RESERVED | BUSY),
            FULL,
            "a reader's turn comes when full"
        );
        Poll::Ready(this.mvar().clone_value(bits))
    }
}

impl<T, P: Policy, A: Act<T>> Drop for Op<'_, T, P, A> {
    #[inline(always)]
    fn drop(&mut self) {
        if self.phase == Phase::Done {
            return;
        }
        if self.phase == Phase::InLine {
            self.leave_line();
        }
        self.act.give_up();
    }
}

impl<T, P: Policy, A: Act<T>> fmt::Debug for Op<'_, T, P, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} at {} ({:?})",
            A::NAME,
            self.node.location(),
            self.phase
        )
    }
}
