//! What an operation does when its turn comes: the part that each primitive writes.

use super::Waitable;
use crate::context;
use crate::waiter::{Could, State, WaitList};

/// What an operation does when its turn comes.
///
/// Except for [`prepare`](Action::prepare) and [`abandon`](Action::abandon), everything runs under the object's lock or
/// takes it, and runs no user code under it.
///
/// # Safety
/// [`queue`](Action::queue) gives the same queue of the same object each time, and only operations whose actions begin
/// as this one does (see [`action_of`](super::action_of)) are in it.
pub unsafe trait Action<O: Waitable> {
    /// What the operation gives.
    type Output;
    /// What dumps call the operation.
    const NAME: &'static str;
    /// Whether all of the operation is inlined into the caller's future, not just the
    /// [simple case](Action::try_quickly). That is then the only one: if it gives the bits, the operation has to wait.
    const INLINE: bool = false;
    /// Whether each poll begins with [`Action::prepare`].
    const PREPARES: bool = false;
    /// Whether it waits before all others, not behind them.
    const WAITS_FIRST: bool = false;

    /// The queue in which it waits.
    fn queue(object: &O) -> &WaitList;

    /// Whether the task yields at this operation (see [`context::must_yield`]).
    #[inline(always)]
    fn has_to_yield() -> bool {
        context::must_yield()
    }

    /// Whether others may go on because this one has begun to wait.
    #[inline(always)]
    fn wakes_when_parked(_object: &O) -> bool {
        false
    }

    /// Allocates what the action needs, if it [does](Action::PREPARES). Not under the lock, and perhaps while the
    /// operation is queued: nobody else looks at such an action.
    #[inline(always)]
    fn prepare(&mut self, _object: &O) {}

    /// Takes effect in the simple case, in the first poll and before all else.
    ///
    /// # Errors
    /// It did not. `Some`: the lock is held, and these are the bits.
    #[inline(always)]
    fn try_quickly(&mut self, _object: &O) -> Result<Self::Output, Option<u32>> {
        Err(None)
    }

    /// Takes effect if it can at once; then it wakes the waiters that can go on because of it, and releases the lock.
    ///
    /// # Errors
    /// It cannot. The lock is held, and these are the bits.
    ///
    /// # Safety
    /// Under the lock, with these bits; the action has not taken effect.
    unsafe fn attempt(&mut self, object: &O, bits: u32) -> Result<Self::Output, u32>;

    /// The operation is about to park.
    ///
    /// # Returns
    /// The bits.
    ///
    /// # Safety
    /// Under the lock.
    #[inline(always)]
    unsafe fn park(&mut self, _object: &O, bits: u32) -> u32 {
        bits
    }

    /// The operation was woken with something reserved or granted, and has left its queue: as [`Action::attempt`]. If
    /// it has to wait again, it waits before all others.
    ///
    /// # Errors
    /// As [`Action::attempt`].
    ///
    /// # Safety
    /// As [`Action::attempt`]; and the operation was woken.
    unsafe fn resume(&mut self, object: &O, bits: u32, state: State) -> Result<Self::Output, u32>;

    /// The operation has left its queue without taking effect; it gives back what it was promised. Afterwards the
    /// waiters that can go on are woken.
    ///
    /// # Returns
    /// The bits.
    ///
    /// # Safety
    /// Under the lock. The operation was parked or woken, as `state` says.
    unsafe fn cancel(&mut self, object: &O, bits: u32, state: State) -> u32;

    /// The operation ends without its output: drops what it still has, which is user code. `state`: how it left its
    /// queue.
    #[inline(always)]
    fn abandon(&mut self, _state: State) {}

    /// Whether the first waiter of the queue, which was not woken, could go on now.
    ///
    /// # Safety
    /// Under the lock; the operation is parked.
    unsafe fn could_complete(&self, object: &O, bits: u32) -> Could;
}
