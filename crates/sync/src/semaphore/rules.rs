//! The rules of a semaphore, and its bits: the permits that are free, and whether it is closed.

use crate::line::{Admission, HAS_WAITERS, REFUSED};

/// As many permits as there can be: 536,870,911.
pub(super) const PERMITS_MAX: usize = (1 << 29) - 1;

/// The permits that are free.
pub(super) const PERMITS: u32 = PERMITS_MAX as u32;
/// Nobody acquires any more.
pub(super) const CLOSED: u32 = 1 << 29;

/// The rules of a semaphore: an operation wants so many permits.
pub(crate) struct Permits;

impl Permits {
    /// Returns the bits with `count` more free permits, but never more than [`PERMITS_MAX`].
    #[inline(always)]
    pub(super) fn add(bits: u32, count: usize) -> u32 {
        let room = (PERMITS - (bits & PERMITS)) as usize;
        bits + count.min(room) as u32
    }
}

impl Admission for Permits {
    const NAMES: &'static [&'static str] = &["Semaphore::acquire"];

    #[inline(always)]
    fn grant(bits: u32, wants: usize) -> Option<u32> {
        ((bits & PERMITS) as usize >= wants).then(|| bits - wants as u32)
    }

    #[inline(always)]
    fn arrive(bits: u32, wants: usize) -> Option<u32> {
        let none_waits = bits & HAS_WAITERS == 0 || wants == 0;
        if none_waits && bits & CLOSED == 0 || gossamer_core::mutant!("semaphore_is_passed") {
            Self::grant(bits, wants)
        } else {
            None
        }
    }

    fn refuses(bits: u32) -> bool {
        bits & CLOSED != 0
    }

    fn give_back(bits: u32, wants: usize) -> u32 {
        if wants == REFUSED && !gossamer_core::mutant!("refused_gives_back") {
            bits
        } else {
            Self::add(bits, wants)
        }
    }
}
