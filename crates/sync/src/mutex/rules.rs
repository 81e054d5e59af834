//! When the lock may be taken, when it is handed over, and what becomes of the word.

use core::marker::PhantomData;

use gossamer_core::context;

use crate::clock;
use crate::line::{LINED, Next, Rules};

/// Somebody has the lock, or it was handed to one that has not noticed so far.
const HELD: u32 = 1;
/// The first in line was woken to try again, and has not done so.
const WOKEN: u32 = 2;
/// How many more times the lock is handed over at once.
const STRICT: u32 = STRICT_MAX * STRICT_ONE;
const STRICT_ONE: u32 = 1 << 2;
/// So often the lock is handed over at once after a holder was seen to stand still.
pub(super) const STRICT_MAX: u32 = 15;
/// How often the first in line was passed.
const BYPASSED: u32 = 127 * BYPASSED_ONE;
const BYPASSED_ONE: u32 = 1 << 6;
/// So often it may be.
const BYPASSES_MAX: u32 = if cfg!(any(loom, shuttle)) { 2 } else { 64 };
/// Where the lock was taken.
const HOLDER: u32 = 0xFFFF << HOLDER_AT;
const HOLDER_AT: u32 = 13;

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

/// Who comes while the lock is free may pass those who wait, but only for a while.
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
pub(super) fn released(bits: u32) -> u32 {
    bits & !(HELD | HOLDER)
}

/// The same if there is nothing else to do: nobody waits, or the first in line is on its way and may still be passed.
#[inline(always)]
pub(super) fn leave_quickly<O: Order>(bits: u32) -> Option<u32> {
    if bits & LINED == 0 {
        return Some(released(bits) & !BYPASSED);
    }
    let bypassed = (bits & BYPASSED) / BYPASSED_ONE;
    let passes = !O::IS_FAIR
        && bits & (WOKEN | STRICT) == WOKEN
        && bypassed < BYPASSES_MAX
        && !bypassed.is_power_of_two();
    passes.then(|| released(bits))
}

/// The bits when a free lock has been taken, here.
#[inline(always)]
fn taken(bits: u32) -> u32 {
    released(bits) | HELD | u32::from(context::here()) << HOLDER_AT
}

/// One has found the lock held: does its holder stand still?
fn seen_held(bits: u32) -> u32 {
    let here = u32::from(context::here());
    if here != 0 && (bits & HOLDER) >> HOLDER_AT == here {
        bits | STRICT
    } else {
        bits
    }
}

impl<O: Order> Rules for Mutual<O> {
    const NAMES: &'static [&'static str] = if O::IS_FAIR {
        &["FairMutex::lock"]
    } else {
        &["Mutex::lock"]
    };

    fn grant(bits: u32, _: usize) -> Option<u32> {
        // Not known by whom: it has not run so far.
        (bits & HELD == 0).then_some(bits & !(WOKEN | BYPASSED) | HELD)
    }

    #[inline(always)]
    fn arrive(bits: u32, _: usize) -> Option<u32> {
        if bits & HELD != 0 {
            return None;
        }
        if bits & LINED == 0 {
            return Some(taken(bits));
        }
        (!O::IS_FAIR).then(|| taken(bits) + BYPASSED_ONE)
    }

    /// The number is the time.
    fn park(bits: u32, _: usize) -> (u32, usize) {
        if O::IS_FAIR {
            (bits, 0)
        } else {
            (seen_held(bits), clock::now_ns())
        }
    }

    fn next(bits: u32, since: usize) -> Next {
        let Some(granted) = Self::grant(bits, since) else {
            return Next::Stay;
        };
        if O::IS_FAIR {
            return Next::Grant(granted);
        }
        if bits & STRICT != 0 {
            return Next::Grant(granted - STRICT_ONE);
        }
        let bypassed = (bits & BYPASSED) / BYPASSED_ONE;
        if bypassed >= BYPASSES_MAX || clock::now_ns().saturating_sub(since) >= PATIENCE_NS {
            Next::Grant(granted)
        } else if bits & WOKEN == 0 {
            Next::Wake(bits | WOKEN)
        } else {
            Next::Stay
        }
    }

    fn retry(bits: u32) -> Result<u32, u32> {
        let bits = bits & !WOKEN;
        if bits & HELD == 0 {
            Ok(taken(bits & !BYPASSED))
        } else {
            Err(seen_held(bits))
        }
    }

    fn accept(bits: u32) -> u32 {
        taken(bits)
    }

    fn give_back(bits: u32, _: usize) -> u32 {
        released(bits)
    }

    fn leave(bits: u32, _: usize, woken: bool) -> u32 {
        if woken { bits & !WOKEN } else { bits }
    }
}
