//! The operations of an `MVar` that are no plain take or put: read, swap and replace.

use gossamer_core::policy::LockPolicy;

use super::cell::{BUSY, FULL, LockedMVar, MVarAction, Put, RESERVED, Take, Turn, has_value};

/// Returns the marks that a reader removes when it has cloned the value. Mutant: it leaves the promise, to nobody.
#[inline(always)]
pub(super) fn reader_marks() -> u32 {
    if gossamer_core::mutant!("mvar_read_keeps_mark") {
        BUSY
    } else {
        RESERVED | BUSY
    }
}

/// Keeps everybody else from the value, which its operation then clones without the lock.
#[derive(Debug)]
pub(super) struct Read;

impl<T> MVarAction<T> for Read {
    type Output = ();
    const NAME: &'static str = "MVar::read";
    const TAKES: bool = true;

    fn may_go(bits: u32) -> bool {
        has_value(bits)
    }

    unsafe fn act<P: LockPolicy>(&mut self, locked: &mut LockedMVar<'_, T, P>) {
        if !gossamer_core::mutant!("mvar_read_unmarked") {
            locked.bits |= RESERVED | BUSY;
        }
    }
}

/// Takes the value and puts another one.
#[derive(Debug)]
pub(super) struct Swap<T>(pub(super) Put<T>);

impl<T> MVarAction<T> for Swap<T> {
    type Output = T;
    const NAME: &'static str = "MVar::swap";
    const TAKES: bool = true;

    #[inline(always)]
    fn may_go(bits: u32) -> bool {
        has_value(bits)
    }

    #[inline(always)]
    unsafe fn act<P: LockPolicy>(&mut self, locked: &mut LockedMVar<'_, T, P>) -> T {
        // SAFETY: `act` requires that the swap may go or was promised the `MVar`: so it is full.
        let old = unsafe { Take.act(locked) };
        // SAFETY: empty now; it acts once.
        unsafe { self.0.act(locked) };
        old
    }

    unsafe fn give_up(&mut self) -> Option<T> {
        // SAFETY: it has not acted, and does not act any more.
        unsafe { self.0.give_up() }
    }
}

/// Puts a value whether or not there is one.
#[derive(Debug)]
pub(super) struct Replace<T>(pub(super) Put<T>);

impl<T> MVarAction<T> for Replace<T> {
    type Output = Option<T>;
    const NAME: &'static str = "MVar::replace";
    const TAKES: bool = true;
    /// It waits for a reader to finish, if at all.
    const WAITS_FIRST: bool = true;

    #[inline(always)]
    fn may_go(bits: u32) -> bool {
        bits & BUSY == 0
    }

    #[inline(always)]
    unsafe fn act<P: LockPolicy>(&mut self, locked: &mut LockedMVar<'_, T, P>) -> Option<T> {
        let mut old = None;
        if locked.bits & FULL != 0 {
            // SAFETY: full, and no reader has the value.
            old = Some(unsafe { Take.act(locked) });
        } else if locked.bits & RESERVED != 0 {
            // Empty and promised: the first putter is notified.
            locked.take_notification_back::<Turn<Put<T>>>();
            locked.bits &= !RESERVED;
        }
        // SAFETY: empty now; it acts once.
        unsafe { self.0.act(locked) };
        old
    }

    unsafe fn give_up(&mut self) -> Option<T> {
        // SAFETY: it has not acted, and does not act any more.
        unsafe { self.0.give_up() }
    }
}
