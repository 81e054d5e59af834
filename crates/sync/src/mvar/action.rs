//! What each operation does to the `MVar` once it is its turn.
//!
//! All of it happens under the lock: values are moved, no user code runs.

use core::mem::MaybeUninit;

use gossamer_core::policy::LockPolicy;
use gossamer_core::wait_queue::Waitable;
use gossamer_core::waiter::Deferred;

use super::{BUSY, FULL, MVar, RESERVED};

/// The line an operation waits in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Line {
    /// Waits for a value.
    Takers,
    /// Waits for the `MVar` to be empty.
    Putters,
    /// Waits for a reader to finish: before all takers.
    BeforeTakers,
}

/// One kind of operation.
pub(super) trait MVarAction<T> {
    /// What it gives.
    type Output;
    /// Its name in dumps.
    const NAME: &'static str;
    /// Where it waits.
    const LINE: Line;
    /// Whether it is a plain take or put: it goes in exactly the state [`MVarAction::GOES`], and makes that the
    /// other one.
    const IS_PLAIN: bool = false;
    /// `FULL` or nothing: the state it goes in.
    const GOES: u32 = FULL;

    /// Whether it may go in this state, nothing being promised to it.
    fn may_go(bits: u32) -> bool;

    /// Does it.
    ///
    /// # Safety
    /// Under the lock of `mvar`, in state `bits`, once; the operation may go, or the `MVar` was promised to
    /// it (and `bits` does not say so any more).
    unsafe fn act<P: LockPolicy>(&mut self, mvar: &MVar<T, P>, bits: u32) -> (Self::Output, u32);

    /// The same, and then wakes the next in line and gives up the lock.
    ///
    /// # Safety
    /// As [`MVarAction::act`].
    #[inline(always)]
    unsafe fn finish<P: LockPolicy>(&mut self, mvar: &MVar<T, P>, bits: u32) -> Self::Output {
        // SAFETY: passed on to the caller.
        let (output, mut bits) = unsafe { self.act(mvar, bits) };
        // SAFETY: under the lock.
        let woken = unsafe { mvar.wake_next(&mut bits) };
        let deferred = woken.unwrap_or(Deferred::NOTHING);
        mvar.unlock(bits);
        deferred.run();
        output
    }

    /// Drops the value that an operation which never acted still has.
    fn give_up(&mut self) {}
}

/// What a reader takes away when it has cloned the value. Mutant: it leaves the promise, to nobody.
#[inline(always)]
pub(super) fn reader_marks() -> u32 {
    if gossamer_core::mutant!("mvar_read_keeps_mark") {
        BUSY
    } else {
        RESERVED | BUSY
    }
}

/// Full, and promised to nobody.
#[inline(always)]
fn has_value(bits: u32) -> bool {
    bits & (FULL | RESERVED) == FULL
}

#[derive(Debug)]
pub(super) struct Take;

impl<T> MVarAction<T> for Take {
    type Output = T;
    const NAME: &'static str = "MVar::take";
    const LINE: Line = Line::Takers;
    const IS_PLAIN: bool = true;

    #[inline(always)]
    fn may_go(bits: u32) -> bool {
        has_value(bits)
    }

    #[inline(always)]
    unsafe fn act<P: LockPolicy>(&mut self, mvar: &MVar<T, P>, bits: u32) -> (T, u32) {
        // SAFETY: under the lock, and full; the value is not read again.
        let value = mvar
            .value
            .with_mut(|place| unsafe { (*place).assume_init_read() });
        (value, bits & !FULL)
    }
}

/// Keeps everybody else from the value, which its operation then clones without the lock.
#[derive(Debug)]
pub(super) struct Read;

impl<T> MVarAction<T> for Read {
    type Output = ();
    const NAME: &'static str = "MVar::read";
    const LINE: Line = Line::Takers;

    fn may_go(bits: u32) -> bool {
        has_value(bits)
    }

    unsafe fn act<P: LockPolicy>(&mut self, _: &MVar<T, P>, bits: u32) -> ((), u32) {
        if gossamer_core::mutant!("mvar_read_unmarked") {
            return ((), bits);
        }
        ((), bits | RESERVED | BUSY)
    }
}

#[derive(Debug)]
pub(super) struct Put<T>(pub(super) MaybeUninit<T>);

impl<T> MVarAction<T> for Put<T> {
    type Output = ();
    const NAME: &'static str = "MVar::put";
    const LINE: Line = Line::Putters;
    const IS_PLAIN: bool = true;
    const GOES: u32 = 0;

    #[inline(always)]
    fn may_go(bits: u32) -> bool {
        bits & (FULL | RESERVED) == 0
    }

    #[inline(always)]
    unsafe fn act<P: LockPolicy>(&mut self, mvar: &MVar<T, P>, bits: u32) -> ((), u32) {
        // SAFETY: the value is there until the one act, and under the lock the `MVar` is ours.
        mvar.value
            .with_mut(|place| unsafe { (*place).write(self.0.assume_init_read()) });
        ((), bits | FULL)
    }

    fn give_up(&mut self) {
        // SAFETY: the operation never acted, so the value is there; called once.
        unsafe { self.0.assume_init_drop() };
    }
}

#[derive(Debug)]
pub(super) struct Swap<T>(pub(super) MaybeUninit<T>);

impl<T> MVarAction<T> for Swap<T> {
    type Output = T;
    const NAME: &'static str = "MVar::swap";
    const LINE: Line = Line::Takers;

    #[inline(always)]
    fn may_go(bits: u32) -> bool {
        has_value(bits)
    }

    #[inline(always)]
    unsafe fn act<P: LockPolicy>(&mut self, mvar: &MVar<T, P>, bits: u32) -> (T, u32) {
        // SAFETY: under the lock, and full; the old value is read once, the new one was ours.
        let old = mvar.value.with_mut(|place| unsafe {
            let old = (*place).assume_init_read();
            (*place).write(self.0.assume_init_read());
            old
        });
        (old, bits)
    }

    fn give_up(&mut self) {
        // SAFETY: the operation never acted, so the value is there; called once.
        unsafe { self.0.assume_init_drop() };
    }
}

#[derive(Debug)]
pub(super) struct Replace<T>(pub(super) MaybeUninit<T>);

impl<T> MVarAction<T> for Replace<T> {
    type Output = Option<T>;
    const NAME: &'static str = "MVar::replace";
    const LINE: Line = Line::BeforeTakers;

    #[inline(always)]
    fn may_go(bits: u32) -> bool {
        bits & BUSY == 0
    }

    #[inline(always)]
    unsafe fn act<P: LockPolicy>(&mut self, mvar: &MVar<T, P>, bits: u32) -> (Option<T>, u32) {
        if bits & FULL != 0 {
            // SAFETY: under the lock, full, and no reader has the value.
            let (old, bits) = unsafe { Swap(self.take()).act(mvar, bits) };
            return (Some(old), bits);
        }
        let mut bits = bits;
        if bits & RESERVED != 0 {
            // SAFETY: empty and promised: the first putter is notified.
            unsafe { mvar.putters.take_notification_back() };
            bits &= !RESERVED;
        }
        // SAFETY: under the lock, and empty.
        let ((), bits) = unsafe { Put(self.take()).act(mvar, bits) };
        (None, bits)
    }

    fn give_up(&mut self) {
        // SAFETY: the operation never acted, so the value is there; called once.
        unsafe { self.0.assume_init_drop() };
    }
}

impl<T> Replace<T> {
    fn take(&mut self) -> MaybeUninit<T> {
        core::mem::replace(&mut self.0, MaybeUninit::uninit())
    }
}
