//! A waiting operation: it goes at once, or waits in its side's line until it is let go; or is dropped on the way.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::mem::{self, MaybeUninit};
use std::panic::Location;
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context, Poll, Waker};

use gossamer_core::context;
use gossamer_core::policy::Policy;
use gossamer_core::waiter::{Could, Kept, Kind, Node, Parts, State};

use super::act::{Act, Sends, Try};
use super::buffer;
use super::chan::{Chan, Grant};

/// Where the operation stands, as its owner knows it without the lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Not polled yet.
    Fresh,
    /// Past its scheduling point, and not in line.
    Begun,
    /// In line, or let go.
    InLine,
    /// Complete, or given up.
    Done,
}

/// Written by parking, as the rest of the node is.
pub(super) struct Granted(Cell<MaybeUninit<Grant>>);

impl Granted {
    #[inline(always)]
    pub(super) fn set(&self, grant: Grant) {
        self.0.set(MaybeUninit::new(grant));
    }

    /// # Safety
    /// The operation has been in line.
    #[inline(always)]
    pub(super) unsafe fn get(&self) -> Grant {
        // SAFETY: passed on to the caller.
        unsafe { self.0.get().assume_init() }
    }
}

/// The part of an operation that the other side sees.
#[repr(C)]
pub(super) struct Waiter<A> {
    node: Node,
    /// Under the lock.
    pub(super) grant: Granted,
    pub(super) act: A,
}

/// One operation.
pub(super) struct Op<'a, T, P: Policy, A: Act<T>> {
    waiter: Waiter<A>,
    phase: Phase,
    _chan: PhantomData<&'a Chan<T, P>>,
}

// SAFETY: the node is touched under the channel's atomic lock only, and owns its waker.
unsafe impl<T: Send, P: Policy, A: Act<T> + Send> Send for Op<'_, T, P, A> where P::Word: Sync {}
// SAFETY: `&Op` gives access to nothing.
unsafe impl<T: Send, P: Policy, A: Act<T>> Sync for Op<'_, T, P, A> where P::Word: Sync {}

impl<'a, T, P: Policy, A: Act<T>> Op<'a, T, P, A> {
    const KIND: &'static Kind = &Kind {
        name: A::NAME,
        could_complete: Self::could_complete,
    };

    #[inline(always)]
    pub(super) fn new(chan: &'a Chan<T, P>, act: A, location: &'static Location<'static>) -> Self {
        Self {
            waiter: Waiter {
                node: Node::new(std::ptr::from_ref(chan).cast(), location),
                grant: Granted(Cell::new(MaybeUninit::uninit())),
                act,
            },
            phase: Phase::Fresh,
            _chan: PhantomData,
        }
    }

    #[inline(always)]
    fn chan(&self) -> &'a Chan<T, P> {
        // SAFETY: made from a `&'a Chan<T, P>` in `new`.
        unsafe { &*self.waiter.node.object().cast() }
    }

    #[inline(always)]
    pub(super) fn act(&self) -> &A {
        &self.waiter.act
    }

    #[inline(always)]
    fn node(&self) -> NonNull<Node> {
        // The whole waiter, so that the pointer reaches the rest of it too.
        NonNull::from_ref(&self.waiter).cast()
    }

    #[inline(always)]
    pub(super) fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<A::Output> {
        // SAFETY: nothing is moved out; the node stays where it is.
        let this = unsafe { self.get_unchecked_mut() };
        let mut locked = None;
        let chan = this.chan();
        if A::RECEIVES {
            this.waiter.act.prepare(chan);
        }
        if this.phase == Phase::Fresh {
            let gives_way = if A::SENDS {
                context::has_to_give_way()
            } else {
                context::has_to_give_way_receiving()
            };
            if gives_way {
                this.phase = Phase::Begun;
                context::give_way(Parts::new(cx.waker()));
                return Poll::Pending;
            }
            // SAFETY: not done so far.
            match unsafe { this.waiter.act.quickly(chan) } {
                Ok(output) => {
                    this.phase = Phase::Done;
                    return Poll::Ready(output);
                }
                Err(bits) => locked = Some(bits),
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
        let Some(mut waker) = Kept::of_ours(waker) else {
            // A foreign one is dropped, if at all, after the lock is given up.
            let mut waker = Kept::new(waker);
            // SAFETY: passed on to the caller.
            return unsafe { self.go_or_wait(&mut waker, locked) };
        };
        // SAFETY: passed on to the caller.
        unsafe { self.go_or_wait(&mut waker, locked) }
    }

    /// # Safety
    /// The operation is pinned.
    #[inline(always)]
    unsafe fn go_or_wait(&mut self, waker: &mut Kept<'_>, locked: Option<u32>) -> Poll<A::Output> {
        // SAFETY: passed on to the caller.
        unsafe {
            match self.phase {
                Phase::InLine => self.wait_in_line(waker),
                Phase::Done => panic!("{} was polled after it was complete", A::NAME),
                Phase::Fresh | Phase::Begun => self.begin(waker, locked),
            }
        }
    }

    /// # Safety
    /// The operation is pinned, and not in line.
    #[inline(always)]
    unsafe fn begin(&mut self, waker: &mut Kept<'_>, locked: Option<u32>) -> Poll<A::Output> {
        let chan = self.chan();
        // Memory is given back after the lock is.
        let mut memory = buffer::memory(0);
        let mut bits = locked.unwrap_or_else(|| chan.lock());
        loop {
            // SAFETY: under the lock; not done so far.
            match unsafe { self.waiter.act.attempt(chan, bits) } {
                Try::Done(output) => {
                    self.phase = Phase::Done;
                    // SAFETY: under the lock.
                    unsafe { chan.give_back(&mut memory, A::RECEIVES) };
                    chan.settle(bits);
                    return Poll::Ready(output);
                }
                Try::Wait if waker.is_ready() => break,
                Try::Wait => {
                    chan.unlock(bits);
                    waker.prepare();
                    bits = chan.lock();
                }
                Try::Grow(places) => bits = chan.grow(bits, places, &mut memory),
            }
        }
        self.waiter.grant.set(Grant::Nothing);
        // SAFETY: under the lock, and pinned: the node stays until `drop` or its turn has taken it out.
        unsafe {
            A::waits(chan, true);
            A::line(chan).park(self.node(), Self::KIND, waker, P::STAYS);
        }
        self.phase = Phase::InLine;
        if A::RECEIVES {
            // There is nothing for anybody, or it would have got it.
            chan.unlock(bits);
        } else {
            // One that offers may be what another waits for.
            chan.settle_receiving(bits);
        }
        Poll::Pending
    }

    /// # Safety
    /// The operation is pinned, and in line.
    #[inline(always)]
    unsafe fn wait_in_line(&mut self, waker: &mut Kept<'_>) -> Poll<A::Output> {
        let (chan, node) = (self.chan(), self.node());
        let mut bits = chan.lock();
        loop {
            // SAFETY: under the lock; the node has been parked in this line.
            let is_let_go = unsafe { self.waiter.node.state() } == State::Released;
            if is_let_go {
                // SAFETY: under the lock, and let go.
                let output = unsafe {
                    let grant = self.waiter.grant.get();
                    self.waiter.act.go_on(chan, bits, grant)
                };
                self.waiter.grant.set(Grant::Nothing);
                if let Some(output) = output {
                    self.phase = Phase::Done;
                    let mut memory = buffer::memory(0);
                    // SAFETY: under the lock.
                    unsafe { chan.give_back(&mut memory, A::RECEIVES) };
                    if A::SENDS {
                        // Who let it go has let all others go that could.
                        chan.unlock(bits);
                    } else {
                        chan.settle(bits);
                    }
                    return Poll::Ready(output);
                }
            }
            // SAFETY: as above.
            if waker.is_ready() || unsafe { A::line(chan).is_current(node, waker) } {
                // SAFETY: as above; one that was let go is in no list.
                let before = unsafe {
                    if is_let_go && !gossamer_core::mutant!("channel_parks_last") {
                        A::line(chan).park_first(node, Self::KIND, waker, P::STAYS);
                        None
                    } else if is_let_go {
                        A::line(chan).park(node, Self::KIND, waker, P::STAYS);
                        None
                    } else {
                        A::line(chan).renew(node, waker, P::STAYS)
                    }
                };
                chan.settle(bits);
                drop(before);
                return Poll::Pending;
            }
            chan.unlock(bits);
            waker.prepare();
            bits = chan.lock();
        }
    }

    /// # Safety
    /// See [`Kind::could_complete`].
    unsafe fn could_complete(node: NonNull<Node>) -> Could {
        // SAFETY: the node is alive, and so is its object; the kind says which type it is, and the node is the first
        // field of its waiter.
        let (waiter, chan) = unsafe {
            (
                node.cast::<Waiter<A>>().as_ref(),
                &*node.as_ref().object().cast::<Chan<T, P>>(),
            )
        };
        let bits = chan.lock();
        // SAFETY: under the lock; the node has been parked in this line.
        let could = unsafe {
            let is_next = A::line(chan).first() == Some(node) && A::could_go(chan, bits);
            if is_next && !A::SENDS && chan.is_promised() {
                Could::IfOthersDoNot
            } else {
                (is_next || waiter.node.state() == State::Released).into()
            }
        };
        chan.unlock(bits);
        could
    }

    /// Leaves the line; whether the operation has had no effect, and a waker to be dropped last.
    #[cold]
    #[inline(never)]
    fn leave_line(&mut self) -> (bool, Option<Waker>) {
        let chan = self.chan();
        let bits = chan.lock();
        // SAFETY: under the lock; the node has been parked in this line.
        let (waker, has_gone) = unsafe {
            if self.waiter.node.state() == State::Released {
                let grant = self.waiter.grant.get();
                A::give_back(chan, grant);
                (None, A::has_gone(grant))
            } else {
                A::waits(chan, false);
                (A::line(chan).unlink(self.node()), false)
            }
        };
        if gossamer_core::mutant!("channel_cancel_settles_nothing") {
            chan.unlock(bits);
        } else {
            chan.settle(bits);
        }
        (!has_gone, waker)
    }

    /// Gives the operation up, if it is not complete; whether it has had no effect, and has all it had before. And a
    /// waker to be dropped last.
    #[inline(always)]
    fn give_up(&mut self) -> (bool, Option<Waker>) {
        match mem::replace(&mut self.phase, Phase::Done) {
            Phase::Done => (false, None),
            Phase::InLine => self.leave_line(),
            Phase::Fresh | Phase::Begun => (true, None),
        }
    }
}

impl<T, P: Policy> Op<'_, T, P, Sends<T>> {
    /// Gives the operation up, and takes the message back, if it has not been sent.
    pub(super) fn withdraw(self: Pin<&mut Self>, into: &mut Option<T>) {
        // SAFETY: nothing is moved out; the node stays where it is.
        let this = unsafe { self.get_unchecked_mut() };
        // The waker's drop, which is user code, comes last.
        let (has_message, _waker) = this.give_up();
        if has_message {
            // SAFETY: given up without effect, so it is there, and not taken again.
            *into = Some(unsafe { this.waiter.act.take() });
        }
    }
}

impl<T, P: Policy, A: Act<T>> Drop for Op<'_, T, P, A> {
    #[inline(always)]
    fn drop(&mut self) {
        let (has_all, _waker) = self.give_up();
        if has_all {
            // SAFETY: given up without effect; it is not used again.
            unsafe { self.waiter.act.abandon() };
        }
    }
}

impl<T, P: Policy, A: Act<T>> fmt::Debug for Op<'_, T, P, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, location) = (A::NAME, self.waiter.node.location());
        write!(f, "{name} at {location} ({:?})", self.phase)
    }
}
