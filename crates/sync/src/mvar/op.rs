//! Operations on an `MVar`: each waits until the `MVar` is promised to it, and acts in its own poll.

use core::hint::cold_path;
use core::pin::Pin;
use core::task::{Context, Poll};

use gossamer_core::context;
use gossamer_core::policy::{LockPolicy, Word};
use gossamer_core::wait_queue::{Action, Operation, Phase, Waitable};
use gossamer_core::waiter::{Could, Node, RawWakerParts, State, WaitList};

use super::action::{Line, MVarAction};
use super::{FULL, INLINE, MVar, RESERVED};

/// One operation.
pub(super) type Op<'a, T, P, A> = Operation<'a, MVar<T, P>, Turn<A>>;

/// Acting when it is the operation's turn.
#[derive(Debug)]
pub(super) struct Turn<A>(pub(super) A);

// SAFETY: nobody looks at the actions in these lines.
unsafe impl<T, P: LockPolicy, A: MVarAction<T>> Action<MVar<T, P>> for Turn<A> {
    type Output = A::Output;
    const NAME: &'static str = A::NAME;
    const INLINE: bool = !(P::THREAD_BOUND && A::IS_PLAIN);
    /// Before all takers a reader is busy, so the `MVar` is promised to nobody in line.
    const WAITS_FIRST: bool = matches!(A::LINE, Line::BeforeTakers);

    #[inline(always)]
    fn queue(mvar: &MVar<T, P>) -> &WaitList {
        mvar.lines_of::<A>().1
    }

    #[inline(always)]
    fn try_quickly(&mut self, mvar: &MVar<T, P>) -> Result<A::Output, Option<u32>> {
        let bits = mvar.lock();
        // SAFETY: under the lock.
        unsafe { self.attempt(mvar, bits) }.map_err(Some)
    }

    #[inline(always)]
    unsafe fn attempt(&mut self, mvar: &MVar<T, P>, bits: u32) -> Result<A::Output, u32> {
        if !A::may_go(bits) {
            return Err(bits);
        }
        // SAFETY: under the lock, and the act may go.
        Ok(unsafe { self.0.finish(mvar, bits) })
    }

    #[inline(always)]
    unsafe fn resume(&mut self, mvar: &MVar<T, P>, bits: u32, _: State) -> Result<A::Output, u32> {
        // SAFETY: under the lock, and the `MVar` was promised to it.
        Ok(unsafe { self.0.finish(mvar, bits & !RESERVED) })
    }

    unsafe fn cancel(&mut self, _: &MVar<T, P>, bits: u32, state: State) -> u32 {
        match state {
            State::Notified => bits & !RESERVED,
            _ => bits,
        }
    }

    fn abandon(&mut self, _: State) {
        self.0.give_up();
    }

    unsafe fn could_complete(&self, _: &MVar<T, P>, bits: u32) -> Could {
        A::may_go(bits).into()
    }
}

/// Polls an operation.
#[inline(always)]
pub(super) fn poll<T, P: LockPolicy, A: MVarAction<T>>(
    op: Pin<&mut Op<'_, T, P, A>>,
    cx: &mut Context<'_>,
) -> Poll<A::Output> {
    if P::THREAD_BOUND && A::IS_PLAIN {
        // SAFETY: nothing is moved out; it stays pinned.
        return unsafe { poll_inline(op.get_unchecked_mut(), RawWakerParts::new(cx.waker())) };
    }
    op.poll(cx)
}

/// Take and put of one thread while at most one operation waits: each case is one comparison of the whole word.
/// Everything else goes the general way.
///
/// # Safety
/// The operation is pinned.
#[inline(always)]
unsafe fn poll_inline<T, P: LockPolicy, A: MVarAction<T>>(
    op: &mut Op<'_, T, P, A>,
    waker: RawWakerParts<'_>,
) -> Poll<A::Output> {
    // SAFETY: passed on to the caller.
    unsafe {
        if op.phase() == Phase::Fresh {
            if context::must_yield() {
                op.set_phase(Phase::Begun);
                context::yield_to_others(waker);
                return Poll::Pending;
            }
            return begin_inline(op, waker);
        }
        if op.phase() == Phase::Queued {
            let mvar = op.object();
            if mvar.word.lock() != A::GOES | RESERVED | INLINE {
                return poll_slowly(op, waker);
            }
            // Under the lock; the one waiter, who is notified, is this one. Its turn.
            let (output, after) = op.action_mut().0.act(mvar, A::GOES);
            mvar.word.unlock(after);
            op.set_phase(Phase::Done);
            return Poll::Ready(output);
        }
        cold_path();
        poll_begun(op, waker)
    }
}

/// Begins the operation, nothing having been done so far.
///
/// # Safety
/// The operation is pinned.
#[inline(always)]
unsafe fn begin_inline<T, P: LockPolicy, A: MVarAction<T>>(
    op: &mut Op<'_, T, P, A>,
    waker: RawWakerParts<'_>,
) -> Poll<A::Output> {
    let mvar = op.object();
    let bits = mvar.word.lock();
    if bits == A::GOES ^ FULL {
        let (other, own) = mvar.lines_of::<A>();
        let node = op.node();
        // SAFETY: under the lock; nobody waits; the node is pinned and never leaves this thread.
        unsafe {
            if own.park_inline(other, node, waker) {
                if context::is_watched() {
                    cold_path();
                    waker.with(|waker| Node::name_inline(node, Op::<T, P, A>::KIND, waker));
                }
                mvar.word.unlock(bits | INLINE);
                op.set_phase(Phase::Queued);
                return Poll::Pending;
            }
        }
    // SAFETY: under the lock.
    } else if let Some(output) = unsafe { mvar.act_quickly(&mut op.action_mut().0, bits) } {
        // SAFETY: it has taken effect.
        unsafe { op.set_phase(Phase::Done) };
        return Poll::Ready(output);
    }
    cold_path();
    // SAFETY: passed on to the caller.
    unsafe { poll_slowly(op, waker) }
}

/// The same after the operation's scheduling point, in a simulation; or it is complete, which is said here.
///
/// # Safety
/// The operation is pinned.
#[cold]
#[inline(never)]
unsafe fn poll_begun<T, P: LockPolicy, A: MVarAction<T>>(
    op: &mut Op<'_, T, P, A>,
    waker: RawWakerParts<'_>,
) -> Poll<A::Output> {
    // SAFETY: passed on to the caller.
    unsafe {
        match op.phase() {
            Phase::Begun => begin_inline(op, waker),
            _ => poll_slowly(op, waker),
        }
    }
}

/// The general way.
///
/// # Safety
/// The operation is pinned.
#[inline(always)]
unsafe fn poll_slowly<T, P: LockPolicy, A: MVarAction<T>>(
    op: &mut Op<'_, T, P, A>,
    waker: RawWakerParts<'_>,
) -> Poll<A::Output> {
    // SAFETY: passed on to the caller.
    unsafe { op.poll_out_of_line(waker, None) }
}
