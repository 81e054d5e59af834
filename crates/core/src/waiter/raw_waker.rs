//! The waker of a poll, by value.

use core::marker::PhantomData;
use core::mem::ManuallyDrop;
use core::task::{RawWaker, RawWakerVTable, Waker};

/// The waker of a poll, by value: what nobody points at need not be in memory, and its vtable is known where
/// the poll is inlined into the one that made the waker.
#[derive(Debug, Clone, Copy)]
pub struct RawWakerParts<'a> {
    data: *const (),
    vtable: &'static RawWakerVTable,
    _waker: PhantomData<&'a Waker>,
}

impl<'a> RawWakerParts<'a> {
    /// The parts of a waker.
    #[inline(always)]
    pub fn new(waker: &'a Waker) -> Self {
        Self {
            data: waker.data(),
            vtable: waker.vtable(),
            _waker: PhantomData,
        }
    }

    /// Loans the waker itself out.
    #[inline(always)]
    pub fn with<R>(self, use_it: impl FnOnce(&Waker) -> R) -> R {
        // SAFETY: the parts are those of a waker that is borrowed as long as this lives, and the copy is not
        // dropped.
        let waker = unsafe { Waker::from_raw(RawWaker::new(self.data, self.vtable)) };
        use_it(&ManuallyDrop::new(waker))
    }

    #[inline(always)]
    pub(crate) fn data(self) -> *const () {
        self.data
    }

    #[cfg_attr(not(feature = "std"), allow(dead_code))]
    #[inline(always)]
    pub(crate) fn vtable(self) -> &'static RawWakerVTable {
        self.vtable
    }
}
