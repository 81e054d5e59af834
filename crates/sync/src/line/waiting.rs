//! What an operation on a [`Line`] does when its turn comes: it arrives, or waits until the rules let it go.

use core::cell::Cell;
use core::ptr::NonNull;

use gossamer_core::policy::LockPolicy;
use gossamer_core::wait_queue::{Action, Operation, Waitable, action_of};
use gossamer_core::waiter::{Could, Node, State, WaitList};

use super::{Admission, Line, Next};

/// An operation that waits in a [`Line`]; `WHAT` is its name's number in the rules.
pub(crate) type Waiting<'a, P, R, const WHAT: usize = 0> = Operation<'a, Line<P, R>, Enter<WHAT>>;

/// How an operation came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    /// It did not wait.
    AtOnce,
    /// It waited in line.
    FromQueue,
}

/// Arriving, with a number that says what the operation asks for, or what it saw when it came.
#[derive(Debug)]
#[repr(transparent)]
pub(crate) struct Enter<const WHAT: usize = 0>(Cell<usize>);

impl<const WHAT: usize> Enter<WHAT> {
    pub(crate) const fn new(wants: usize) -> Self {
        Self(Cell::new(wants))
    }

    /// The number: after the end of the operation, what it had then.
    pub(crate) fn wants(&self) -> usize {
        self.0.get()
    }
}

/// The number of the operation that a node belongs to.
///
/// # Safety
/// Under the lock of the line in which the node is, as long as the result is used.
#[inline(always)]
pub(super) unsafe fn wants_of<'n>(node: NonNull<Node>) -> &'n Cell<usize> {
    // SAFETY: all actions in a `Line` begin with their number; the caller vouches for the rest.
    unsafe { action_of::<Cell<usize>>(node) }
}

// SAFETY: a line has one queue, and `Enter` begins alike whatever its name is.
unsafe impl<P: LockPolicy, R: Admission, const WHAT: usize> Action<Line<P, R>> for Enter<WHAT> {
    type Output = How;
    const NAME: &'static str = R::NAMES[WHAT];

    #[inline(always)]
    fn queue(line: &Line<P, R>) -> &WaitList {
        &line.list
    }

    #[inline(always)]
    fn try_quickly(&mut self, line: &Line<P, R>) -> Result<How, Option<u32>> {
        let goes = line.arrive_quickly(self.wants());
        goes.then_some(How::AtOnce).ok_or(None)
    }

    #[inline(always)]
    unsafe fn attempt(&mut self, line: &Line<P, R>, bits: u32) -> Result<How, u32> {
        line.serve(R::arrive(bits, self.wants()).ok_or(bits)?);
        Ok(How::AtOnce)
    }

    unsafe fn park(&mut self, _: &Line<P, R>, bits: u32) -> u32 {
        let (bits, wants) = R::park(bits, self.wants());
        self.0.set(wants);
        bits
    }

    #[inline(always)]
    unsafe fn resume(&mut self, line: &Line<P, R>, bits: u32, state: State) -> Result<How, u32> {
        let after = match state {
            State::Released => R::accept(bits),
            _ => R::retry(bits)?,
        };
        line.unlock(after);
        Ok(How::FromQueue)
    }

    unsafe fn cancel(&mut self, _: &Line<P, R>, bits: u32, state: State) -> u32 {
        match state {
            State::Released => R::give_back(bits, self.wants()),
            _ => R::leave(bits, self.wants(), state == State::Notified),
        }
    }

    unsafe fn could_complete(&self, _: &Line<P, R>, bits: u32) -> Could {
        (R::next(bits, self.wants()) != Next::Stay).into()
    }
}
