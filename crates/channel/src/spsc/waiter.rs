//! One side in its line: from when it parks until the other side has let it go, or it leaves.

use std::cell::Cell;
use std::marker::PhantomData;
use std::panic::Location;
use std::pin::Pin;
use std::ptr::{self, NonNull};
use std::task::Waker;

use gossamer_core::waiter::{Could, Kind, Node, PollWaker, State, WaitList};

use super::chan::Chan;
use super::flavour::RingPolicy;

/// One of the two handles, as what waits for it sees it.
pub(super) trait End<T, P: RingPolicy> {
    /// The bit that it waits.
    const WAITS: u32;
    /// The bit that the other side is gone.
    const OTHER_GONE: u32;

    fn chan(&self) -> &Chan<T, P>;

    /// Where it waits.
    fn line(chan: &Chan<T, P>) -> &WaitList;

    /// Where the other side runs.
    fn other_at(chan: &Chan<T, P>) -> &P::Position;

    /// Whether an operation could go on.
    fn could_go(chan: &Chan<T, P>) -> bool;
}

/// The name of a waiter in dumps.
pub(super) trait Named {
    const NAME: &'static str;
}

/// A place in the line of `E`, for `W`; dropped, it leaves that.
pub(super) struct Waiter<T, P: RingPolicy, E: End<T, P>, W: Named> {
    node: Node,
    /// In line, or let go.
    is_queued: Cell<bool>,
    _types: PhantomData<(T, P, E, W)>,
}

// SAFETY: the node is touched under the channel's atomic lock only, and owns its waker.
unsafe impl<T: Send, P: RingPolicy, E: End<T, P>, W: Named> Send for Waiter<T, P, E, W> where
    P::Word: Sync
{
}
// SAFETY: `&Waiter` gives out constants, and a flag that changes only by `Pin<&mut Waiter>` or in the drop; the node is
// touched under the channel's atomic lock.
unsafe impl<T: Send, P: RingPolicy, E: End<T, P>, W: Named> Sync for Waiter<T, P, E, W> where
    P::Word: Sync
{
}

impl<T, P: RingPolicy, E: End<T, P>, W: Named> Waiter<T, P, E, W> {
    const KIND: &'static Kind = &Kind {
        name: W::NAME,
        could_complete: Self::could_complete,
    };

    /// Of this end, and not in line.
    ///
    /// # Safety
    /// It is dropped before the end.
    #[inline(always)]
    pub(super) unsafe fn new(end: &E, location: &'static Location<'static>) -> Self {
        Self {
            node: Node::new(ptr::from_ref(end.chan()).cast(), location),
            is_queued: Cell::new(false),
            _types: PhantomData,
        }
    }

    /// Where it was made.
    pub(super) fn location(&self) -> &'static Location<'static> {
        self.node.location()
    }

    /// Whether it is in line, or was let go and has not looked since.
    #[inline(always)]
    pub(super) fn is_queued(&self) -> bool {
        self.is_queued.get()
    }

    fn chan(&self) -> &Chan<T, P> {
        // SAFETY: made from such a reference in `new`, and dropped before its end.
        unsafe { &*self.node.object().cast() }
    }

    /// Gets in line; `false` if there is something to do instead. It is not in line.
    pub(super) fn parks(self: Pin<&mut Self>, waker: &mut PollWaker<'_>) -> bool {
        let this = self.into_ref().get_ref();
        let chan = this.chan();
        assert!(!this.is_queued(), "{} waits twice", W::NAME);
        if !waker.is_ready() {
            waker.prepare();
        }
        let mut held = chan.lock();
        if held.bits & E::OTHER_GONE != 0 {
            held.unlock();
            return false;
        }
        let node = NonNull::from_ref(&this.node);
        // SAFETY: under the lock, and pinned: the node stays until `leave` or its turn has taken it out.
        unsafe { E::line(chan).park(node, Self::KIND, waker, P::THREAD_BOUND) };
        this.is_queued.set(true);
        held.bits |= E::WAITS;
        held.unlock();
        chan.reach(E::other_at(chan));
        // The other side may have gone on without having seen the bit: pairs with the fence after each message.
        !E::could_go(chan)
    }

    /// Whether it goes on waiting, with this waker; if not, it has left the line. It was in line.
    pub(super) fn stays_queued(self: Pin<&mut Self>, waker: &mut PollWaker<'_>) -> bool {
        let this = self.into_ref().get_ref();
        let chan = this.chan();
        assert!(this.is_queued(), "{} does not wait", W::NAME);
        let (line, node) = (E::line(chan), NonNull::from_ref(&this.node));
        loop {
            let held = chan.lock();
            // SAFETY: under the lock; the node has been parked in this line.
            if unsafe { this.node.state() } == State::Released {
                held.unlock();
                this.is_queued.set(false);
                return false;
            }
            if E::could_go(chan) {
                held.unlock();
                // User code, perhaps.
                drop(this.leave());
                return false;
            }
            // SAFETY: under the lock; it is in this line.
            if waker.is_ready() || unsafe { line.is_current(node, waker) } {
                // SAFETY: under the lock; it is in this line.
                let before = unsafe { line.renew(node, waker, P::THREAD_BOUND) };
                held.unlock();
                drop(before);
                return true;
            }
            held.unlock();
            waker.prepare();
        }
    }

    /// Leaves the line; its waker is to be dropped without any lock. It was in line.
    #[cold]
    #[inline(never)]
    fn leave(&self) -> Option<Waker> {
        self.is_queued.set(false);
        let chan = self.chan();
        let line = E::line(chan);
        let mut held = chan.lock();
        let mut waker = None;
        // SAFETY: under the lock; it has been parked.
        if unsafe { self.node.state() } != State::Released {
            // SAFETY: under the lock; parked in this line, and not let go.
            waker = unsafe { line.unlink(NonNull::from_ref(&self.node)) };
            if line.is_empty() {
                held.bits &= !E::WAITS;
            }
        }
        held.unlock();
        waker
    }

    /// # Safety
    /// See [`Kind::could_complete`].
    unsafe fn could_complete(node: NonNull<Node>) -> Could {
        // SAFETY: the node is alive.
        let node = unsafe { node.as_ref() };
        // SAFETY: the object outlives its node; the kind says which type it is.
        let chan = unsafe { &*node.object().cast::<Chan<T, P>>() };
        let held = chan.lock();
        // SAFETY: under the lock; the node has been parked.
        let is_let_go = unsafe { node.state() } == State::Released;
        held.unlock();
        (is_let_go || E::could_go(chan)).into()
    }
}

impl<T, P: RingPolicy, E: End<T, P>, W: Named> Drop for Waiter<T, P, E, W> {
    #[inline(always)]
    fn drop(&mut self) {
        if self.is_queued() {
            // User code, perhaps.
            drop(self.leave());
        }
    }
}
