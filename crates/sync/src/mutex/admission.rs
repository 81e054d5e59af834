//! When the lock may be taken, when it is handed over, and what becomes of the word.

use core::marker::PhantomData;

use gossamer_core::context;

use crate::clock;
use crate::line::{Admission, HAS_WAITERS, Next};

/// Somebody has the lock, or it was handed to one that has not noticed so far.
const HELD: u32 = 1;
/// The first in line was woken to try again, and has not done so.
const WOKEN: u32 = 2;
/// The holder stood still inside its section; set when it leaves.
const STOOD: u32 = 4;
/// How often the first in line was passed.
const BYPASSED: u32 = 2047 * BYPASSED_ONE;
const BYPASSED_ONE: u32 = 1 << 3;
/// So often it may be.
const BYPASSES_MAX: u32 = if cfg!(any(loom, shuttle)) { 2 } else { 1024 };
/// The stamp of the poll in which the lock was taken.
const STAMP: u32 = 0xFFFF << STAMP_AT;
const STAMP_AT: u32 = 14;

/// So long, in nanoseconds, it may wait to be handed the lock.
const PATIENCE_NS: usize = 500_000;

mod sealed {
    /// Keeps [`super::Order`] to this module.
    pub trait Sealed {}
    impl Sealed for super::Barging {}
    impl Sealed for super::Fair {}
}

/// Whether those who wait for a [`Mutex`](super::Mutex) may be passed. Sealed: [`Barging`] and [`Fair`] are the two
/// there are.
pub trait Order: sealed::Sealed + 'static {
    /// Whether nobody may be passed.
    const IS_FAIR: bool;
}

/// An operation that comes while the lock is free may pass the waiters, but only for a while.
#[derive(Debug)]
pub struct Barging;

/// First come, first served.
#[derive(Debug)]
pub struct Fair;

impl Order for Barging {
    const IS_FAIR: bool = false;
}

impl Order for Fair {
    const IS_FAIR: bool = true;
}

/// The rules of a mutex.
pub(crate) struct Mutual<O>(PhantomData<O>);

pub(super) fn is_held(bits: u32) -> bool {
    bits & HELD != 0
}

/// The bits when the holder has left.
#[inline(always)]
pub(super) fn released(bits: u32) -> u32 {
    let stood = if bits & STAMP == stamp() { 0 } else { STOOD };
    bits & !(HELD | STAMP) | stood
}

#[inline(always)]
fn stamp() -> u32 {
    u32::from(context::stamp()) << STAMP_AT
}

/// Returns the bits when the holder has left, if that is all it has to do: nobody waits, or the first in line is on its
/// way and may still be passed.
#[inline(always)]
pub(super) fn leave_quickly<O: Order>(bits: u32) -> Option<u32> {
    if bits & HAS_WAITERS == 0 {
        return Some(0);
    }
    let bypassed = (bits & BYPASSED) / BYPASSED_ONE;
    let passes = !O::IS_FAIR
        && bits & WOKEN != 0
        && bits & STAMP == stamp()
        && !is_enough(bypassed)
        && !bypassed.is_power_of_two();
    passes.then_some(bits & !(HELD | STAMP))
}

/// Whether the first in line has been passed often enough.
#[inline(always)]
fn is_enough(bypassed: u32) -> bool {
    bypassed >= BYPASSES_MAX && !gossamer_core::mutant!("mutex_never_enough")
}

/// The bits when a free lock has been taken, here.
#[inline(always)]
pub(super) fn taken(bits: u32) -> u32 {
    bits & !(STOOD | STAMP) | HELD | stamp()
}

impl<O: Order> Admission for Mutual<O> {
    const NAMES: &'static [&'static str] = if O::IS_FAIR {
        &["FairMutex::lock"]
    } else {
        &["Mutex::lock"]
    };
    const GUESS: Option<u32> = Some(0);
    const IS_LOCK: bool = true;

    fn holder(bits: u32) -> Option<u32> {
        is_held(bits).then_some(bits & STAMP)
    }

    fn grant(bits: u32, _: usize) -> Option<u32> {
        (bits & HELD == 0).then_some(bits & HAS_WAITERS | HELD)
    }

    #[inline(always)]
    fn arrive(bits: u32, _: usize) -> Option<u32> {
        if bits & HELD != 0 {
            return None;
        }
        if bits & HAS_WAITERS == 0 {
            return Some(taken(bits));
        }
        (!O::IS_FAIR).then(|| taken(bits) + BYPASSED_ONE)
    }

    fn park(bits: u32, _: usize) -> (u32, usize) {
        (bits, 0)
    }

    /// The number is the time at which it could have had the lock for the first time, or 0.
    fn next(bits: u32, since: usize) -> Next {
        let Some(granted) = Self::grant(bits, since) else {
            return Next::Stay;
        };
        let bypassed = (bits & BYPASSED) / BYPASSED_ONE;
        if O::IS_FAIR || bits & STOOD != 0 || is_enough(bypassed) {
            return Next::Release(granted);
        }
        // A look at the clock costs more than a short section, but less than waking somebody.
        let now = match since == 0 || bits & WOKEN == 0 || bypassed.is_power_of_two() {
            true => clock::now_ns(),
            false => since,
        };
        let since = if since == 0 { now } else { since };
        // It wraps; who looked a little later than now counts as having waited.
        if now.wrapping_sub(since) >= PATIENCE_NS {
            Next::Release(granted)
        } else if bits & WOKEN == 0 {
            Next::Wake(bits | WOKEN, since)
        } else {
            Next::Stay
        }
    }

    fn retry(bits: u32) -> Result<u32, u32> {
        let bits = bits & !WOKEN;
        if bits & HELD == 0 {
            Ok(taken(bits & !BYPASSED))
        } else if gossamer_core::mutant!("mutex_loser_counts_as_woken") {
            Err(bits | WOKEN)
        } else {
            Err(bits)
        }
    }

    fn accept(bits: u32) -> u32 {
        taken(bits)
    }

    fn give_back(bits: u32, _: usize) -> u32 {
        bits & !HELD
    }

    fn leave(bits: u32, _: usize, woken: bool) -> u32 {
        if woken && !gossamer_core::mutant!("mutex_gone_counts_as_woken") {
            bits & !WOKEN
        } else {
            bits
        }
    }
}
