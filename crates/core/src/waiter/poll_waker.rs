//! The waker of a poll: by value, and in a form that can be kept in a node under a lock.

use core::marker::PhantomData;
use core::mem::ManuallyDrop;
use core::task::{RawWaker, RawWakerVTable, Waker};

use super::deferred::drop_quietly;
use crate::waker;

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

impl Drop for PollWaker<'_> {
    /// A clone that was not used: the operation may have gone instead of waiting.
    #[inline(always)]
    fn drop(&mut self) {
        if let Some(clone) = self.clone.take() {
            drop_quietly(clone);
        }
    }
}

/// The waker of a poll. Cloning a foreign one runs user code, so it is cloned before the lock is taken
/// (see [`PollWaker::prepare`]); one of ours is only counted.
#[derive(Debug)]
pub struct PollWaker<'a> {
    waker: &'a Waker,
    clone: Option<Waker>,
}

impl<'a> PollWaker<'a> {
    /// Not yet cloned.
    #[inline(always)]
    pub fn new(waker: &'a Waker) -> Self {
        Self { waker, clone: None }
    }

    /// One of ours, which is never cloned here, so that there is nothing to drop; or `None`.
    #[inline(always)]
    pub fn of_ours(waker: &'a Waker) -> Option<ManuallyDrop<Self>> {
        waker::is_ours(waker.vtable()).then(|| ManuallyDrop::new(Self::new(waker)))
    }

    /// Whether it can be kept in a node now.
    #[inline(always)]
    pub fn is_ready(&self) -> bool {
        waker::is_ours(self.waker.vtable()) || self.clone.is_some()
    }

    /// Clones a foreign waker. Not under a lock.
    #[cold]
    pub fn prepare(&mut self) {
        self.clone = Some(self.waker.clone());
    }

    /// The waker itself.
    #[inline(always)]
    pub fn waker(&self) -> &'a Waker {
        self.waker
    }

    /// One that owns a reference. It was [ready](PollWaker::is_ready).
    #[inline(always)]
    pub(super) fn take(&mut self) -> Waker {
        match self.clone.take() {
            Some(clone) => clone,
            None => waker::clone_ref(self.waker),
        }
    }
}
