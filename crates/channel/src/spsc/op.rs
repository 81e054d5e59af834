//! A waiting operation: it goes at once, or parks until the other side has done something; or is dropped on the way.
//!
//! Nothing is ever given to an operation that waits: it is woken, and then tries once more.

use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::panic::Location;
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context, Poll, Waker};

use gossamer_core::context;
use gossamer_core::platform::{spin_loop, thread};
use gossamer_core::wait::may_spin;
use gossamer_core::waiter::{Could, Kind, Node, PollWaker, RawWakerParts, State};

use super::chan::{Chan, End};
use super::flavour::RingPolicy;
use super::receiver::Receiver;
use super::sender::{Put, Sender};
use crate::error::{Closed, SendError, TryRecvError};

/// How often a thread looks before it parks: it waits longer each time, up to a limit, and in the end lets others run.
const LOOKS: u32 = if cfg!(any(loom, shuttle)) { 0 } else { 11 };
/// The first of those that lets others run.
const YIELDS: u32 = 7;
/// The processor's pauses before the second look, and the most before one. Who looks sooner takes the other side's
/// lines of the cache away for one message: with 1 a stream takes a quarter longer, and with 16 who has to wait for
/// each message gets it twice as late.
const FIRST_PAUSE: u32 = 8;
const LAST_PAUSE: u32 = 64;

/// Where the operation stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Not polled yet.
    Fresh,
    /// Past its scheduling point, and not in line.
    Begun,
    /// In line, or let go.
    Queued,
    /// Complete.
    Done,
}

/// One operation.
#[repr(C)]
pub(super) struct Op<'a, T, P: RingPolicy, A: RingAction<T, P>> {
    node: Node,
    act: A,
    end: &'a mut A::End,
    phase: Phase,
    _chan: PhantomData<(T, P)>,
}

// SAFETY: the node is touched under the channel's atomic lock only, and owns its waker.
unsafe impl<T: Send, P: RingPolicy, A: RingAction<T, P> + Send> Send for Op<'_, T, P, A> where
    P::Word: Sync
{
}
// SAFETY: `&Op` gives access to nothing.
unsafe impl<T: Send, P: RingPolicy, A: RingAction<T, P>> Sync for Op<'_, T, P, A> where P::Word: Sync
{}

impl<'a, T, P: RingPolicy, A: RingAction<T, P>> Op<'a, T, P, A> {
    const KIND: &'static Kind = &Kind {
        name: A::NAME,
        could_complete: Self::could_complete,
    };

    #[inline(always)]
    pub(super) fn new(end: &'a mut A::End, act: A, location: &'static Location<'static>) -> Self {
        Self {
            node: Node::new(end.chan().as_ptr().cast_const().cast(), location),
            act,
            end,
            phase: Phase::Fresh,
            _chan: PhantomData,
        }
    }

    #[inline(always)]
    fn chan(&self) -> &'a Chan<T, P> {
        // SAFETY: the handle is borrowed as long.
        unsafe { self.end.chan().as_ref() }
    }

    fn node(&self) -> NonNull<Node> {
        NonNull::from_ref(&self.node)
    }

    #[inline(always)]
    pub(super) fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<A::Output> {
        // SAFETY: nothing is moved out; the node stays where it is.
        let this = unsafe { self.get_unchecked_mut() };
        if this.phase == Phase::Fresh {
            if context::must_yield() {
                this.phase = Phase::Begun;
                context::yield_to_others(RawWakerParts::new(cx.waker()));
                return Poll::Pending;
            }
            // SAFETY: not done so far.
            if let Some(output) = unsafe { this.act.quickly(this.end) } {
                this.phase = Phase::Done;
                return Poll::Ready(output);
            }
        }
        // SAFETY: pinned.
        unsafe { this.poll_slowly(cx.waker()) }
    }

    /// # Safety
    /// The operation is pinned.
    #[inline(never)]
    unsafe fn poll_slowly(&mut self, waker: &Waker) -> Poll<A::Output> {
        assert!(
            self.phase != Phase::Done,
            "{} was polled after it was complete",
            A::NAME
        );
        let mut waker = PollWaker::new(waker);
        let mut looks = 0;
        loop {
            // SAFETY: in line, and so pinned.
            if self.phase == Phase::Queued && unsafe { self.stays_queued(&mut waker) } {
                return Poll::Pending;
            }
            self.phase = Phase::Begun;
            // SAFETY: not done so far.
            if let Some(output) = unsafe { self.act.attempt(self.end) } {
                self.phase = Phase::Done;
                return Poll::Ready(output);
            }
            if looks < LOOKS && !P::THREAD_BOUND && may_spin() {
                pause(looks);
                looks += 1;
                continue;
            }
            // SAFETY: passed on to the caller.
            if unsafe { self.parks(&mut waker) } {
                return Poll::Pending;
            }
        }
    }

    /// Gets in line; `false` if there is something to do instead.
    ///
    /// # Safety
    /// The operation is pinned, and not in line.
    unsafe fn parks(&mut self, waker: &mut PollWaker<'_>) -> bool {
        let chan = self.chan();
        if !waker.is_ready() {
            waker.prepare();
        }
        let bits = chan.lock();
        if bits & A::End::OTHER_GONE != 0 {
            chan.unlock(bits);
            return false;
        }
        // SAFETY: under the lock, and pinned: the node stays until `drop` or its turn has taken it out.
        unsafe { A::End::line(chan).park(self.node(), Self::KIND, waker, P::THREAD_BOUND) };
        self.phase = Phase::Queued;
        chan.unlock(bits | A::End::WAITS);
        chan.reach(A::End::other_at(chan));
        // The other side may have gone on without having seen the bit: pairs with the fence after each message.
        !A::End::could_go(chan)
    }

    /// Whether it goes on waiting; if not, it has left the line.
    ///
    /// # Safety
    /// The operation is in line.
    unsafe fn stays_queued(&mut self, waker: &mut PollWaker<'_>) -> bool {
        let (chan, node) = (self.chan(), self.node());
        loop {
            let bits = chan.lock();
            // SAFETY: under the lock; the node has been parked in this line.
            if unsafe { self.node.state() } == State::Released {
                chan.unlock(bits);
                return false;
            }
            if A::End::could_go(chan) {
                chan.unlock(bits);
                // User code, perhaps.
                drop(self.leave_queue());
                return false;
            }
            // SAFETY: as above.
            if waker.is_ready() || unsafe { A::End::line(chan).is_current(node, waker) } {
                // SAFETY: as above.
                let before = unsafe { A::End::line(chan).renew(node, waker, P::THREAD_BOUND) };
                chan.unlock(bits);
                drop(before);
                return true;
            }
            chan.unlock(bits);
            waker.prepare();
        }
    }

    /// Its waker is to be dropped.
    #[cold]
    #[inline(never)]
    fn leave_queue(&mut self) -> Option<Waker> {
        self.phase = Phase::Begun;
        let chan = self.chan();
        // SAFETY: it has been parked in this line.
        unsafe { chan.leave_queue(A::End::line(chan), self.node(), A::End::WAITS) }
    }

    /// # Safety
    /// See [`Kind::could_complete`].
    unsafe fn could_complete(node: NonNull<Node>) -> Could {
        // SAFETY: the node is alive, and so is its object; the kind says which type it is.
        let (node, chan) =
            unsafe { (node.as_ref(), &*node.as_ref().object().cast::<Chan<T, P>>()) };
        let bits = chan.lock();
        // SAFETY: under the lock; the node has been parked.
        let is_let_go = unsafe { node.state() } == State::Released;
        chan.unlock(bits);
        (is_let_go || A::End::could_go(chan)).into()
    }
}

/// Waits a while before the next look.
fn pause(looks: u32) {
    if looks < YIELDS {
        for _ in 0..(FIRST_PAUSE << looks).min(LAST_PAUSE) {
            spin_loop();
        }
    } else {
        thread::yield_now();
    }
}

impl<T, P: RingPolicy, A: RingAction<T, P>> Drop for Op<'_, T, P, A> {
    #[inline(always)]
    fn drop(&mut self) {
        if self.phase == Phase::Done {
            return;
        }
        // User code, perhaps: after the message has gone, which may panic too.
        let _waker = (self.phase == Phase::Queued).then(|| self.leave_queue());
        // SAFETY: not complete, and not in line; it is not used again.
        unsafe { self.act.abandon() };
    }
}

impl<T, P: RingPolicy, A: RingAction<T, P>> fmt::Debug for Op<'_, T, P, A> {
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

/// One of the operations.
pub(super) trait RingAction<T, P: RingPolicy> {
    /// Whose it is.
    type End: End<T, P>;
    /// What it gives.
    type Output;
    /// Its name in dumps.
    const NAME: &'static str;

    /// Does it, if that is simple; `None` says nothing.
    ///
    /// # Safety
    /// Not again after it has been done.
    #[inline(always)]
    unsafe fn quickly(&mut self, _end: &mut Self::End) -> Option<Self::Output> {
        None
    }

    /// Does it, if that can be at once.
    ///
    /// # Safety
    /// Not again after it has been done.
    unsafe fn attempt(&mut self, end: &mut Self::End) -> Option<Self::Output>;

    /// Drops what it has, as it has not been done; user code.
    ///
    /// # Safety
    /// Once, and then it is not used again.
    unsafe fn abandon(&mut self) {}
}

/// Sending one message.
pub(super) struct Sends<T>(ManuallyDrop<T>);

impl<T> Sends<T> {
    #[inline(always)]
    pub(super) fn new(message: T) -> Self {
        Self(ManuallyDrop::new(message))
    }

    /// # Safety
    /// It was there, and is the caller's if it comes back; not again otherwise.
    #[inline(always)]
    unsafe fn ended(&mut self, put: Put) -> Option<Result<(), SendError<T>>> {
        match put {
            Put::Sent => Some(Ok(())),
            Put::Full => None,
            // SAFETY: it has not been moved.
            Put::Closed => Some(Err(SendError(unsafe { ManuallyDrop::take(&mut self.0) }))),
        }
    }
}

impl<T, P: RingPolicy> RingAction<T, P> for Sends<T> {
    type End = Sender<T, P>;
    type Output = Result<(), SendError<T>>;
    const NAME: &'static str = "spsc::Sender::send";

    #[inline(always)]
    unsafe fn quickly(&mut self, end: &mut Sender<T, P>) -> Option<Self::Output> {
        // SAFETY: passed on to the caller.
        unsafe {
            let put = end.put_quickly(&raw const *self.0);
            self.ended(put)
        }
    }

    unsafe fn attempt(&mut self, end: &mut Sender<T, P>) -> Option<Self::Output> {
        // SAFETY: passed on to the caller.
        unsafe {
            let put = end.put(&raw const *self.0);
            self.ended(put)
        }
    }

    #[inline(always)]
    unsafe fn abandon(&mut self) {
        // SAFETY: passed on to the caller.
        unsafe { ManuallyDrop::drop(&mut self.0) };
    }
}

/// Receiving one message.
pub(super) struct Receives;

impl<T, P: RingPolicy> RingAction<T, P> for Receives {
    type End = Receiver<T, P>;
    type Output = Result<T, Closed>;
    const NAME: &'static str = "spsc::Receiver::recv";

    #[inline(always)]
    unsafe fn quickly(&mut self, end: &mut Receiver<T, P>) -> Option<Self::Output> {
        end.take_quickly().map(Ok)
    }

    unsafe fn attempt(&mut self, end: &mut Receiver<T, P>) -> Option<Self::Output> {
        unless_empty(end.take())
    }
}

/// Receiving several messages.
pub(super) struct ReceivesMany<'a, T> {
    into: &'a mut Vec<T>,
    most: usize,
}

impl<'a, T> ReceivesMany<'a, T> {
    pub(super) fn new(into: &'a mut Vec<T>, most: usize) -> Self {
        Self { into, most }
    }
}

impl<T, P: RingPolicy> RingAction<T, P> for ReceivesMany<'_, T> {
    type End = Receiver<T, P>;
    type Output = Result<usize, Closed>;
    const NAME: &'static str = "spsc::Receiver::recv_many";

    unsafe fn attempt(&mut self, end: &mut Receiver<T, P>) -> Option<Self::Output> {
        if self.most == 0 {
            return Some(Ok(0));
        }
        unless_empty(end.take_many(self.into, self.most))
    }
}

/// What an operation gives; nothing, if it has to wait.
fn unless_empty<R>(taken: Result<R, TryRecvError>) -> Option<Result<R, Closed>> {
    match taken {
        Ok(taken) => Some(Ok(taken)),
        Err(TryRecvError::Closed) => Some(Err(Closed)),
        Err(TryRecvError::Empty) => None,
    }
}

/// [`Sender::send`].
#[must_use = "operations do nothing until they are awaited or waited for"]
#[derive(Debug)]
pub struct Sending<'a, T: 'a, P: RingPolicy>(pub(super) Op<'a, T, P, Sends<T>>);

impl<T, P: RingPolicy> Future for Sending<'_, T, P> {
    type Output = Result<(), SendError<T>>;

    #[inline(always)]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: the field is pinned as its owner is.
        unsafe { self.map_unchecked_mut(|this| &mut this.0) }.poll(cx)
    }
}

/// [`Receiver::recv`].
#[must_use = "operations do nothing until they are awaited or waited for"]
#[derive(Debug)]
pub struct Receiving<'a, T: 'a, P: RingPolicy>(pub(super) Op<'a, T, P, Receives>);

impl<T, P: RingPolicy> Future for Receiving<'_, T, P> {
    type Output = Result<T, Closed>;

    #[inline(always)]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: the field is pinned as its owner is.
        unsafe { self.map_unchecked_mut(|this| &mut this.0) }.poll(cx)
    }
}

/// [`Receiver::recv_many`].
#[must_use = "operations do nothing until they are awaited or waited for"]
#[derive(Debug)]
pub struct ReceivingMany<'a, T: 'a, P: RingPolicy>(pub(super) Op<'a, T, P, ReceivesMany<'a, T>>);

impl<T, P: RingPolicy> Future for ReceivingMany<'_, T, P> {
    type Output = Result<usize, Closed>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: the field is pinned as its owner is.
        unsafe { self.map_unchecked_mut(|this| &mut this.0) }.poll(cx)
    }
}
