//! The parker of a wait, taken out late: most operations are complete in their first poll, and need none.

use core::mem::ManuallyDrop;
use core::ptr;
use core::task::{RawWaker, RawWakerVTable, Waker};
use std::sync::OnceLock;

use crate::parker::Parker;

/// A parker of the current thread, which is taken out when it is first wanted, and put back in the end.
pub(super) struct LazyParker(OnceLock<Parker>);

/// Wakers by which a first poll is polled; what is cloned of them is the parker's own.
static VTABLE: RawWakerVTable = RawWakerVTable::new(clone, wake, wake, |_| {});

impl LazyParker {
    pub(super) const fn new() -> Self {
        Self(OnceLock::new())
    }

    /// The parker.
    #[cold]
    pub(super) fn parker(&self) -> &Parker {
        self.0.get_or_init(Parker::take)
    }

    /// Returns the parker, if it has been taken out before.
    #[inline(always)]
    pub(super) fn taken(&self) -> Option<&Parker> {
        self.0.get()
    }

    /// Calls `poll` with a waker of this thread. The waker takes the parker out when it is cloned or called.
    #[inline(always)]
    pub(super) fn with_waker<R>(&self, poll: impl FnOnce(&Waker) -> R) -> R {
        // SAFETY: the functions take the pointer for a `LazyParker`, which is there as long as the waker is loaned, and
        // which other threads may use too: any parker will do, as long as there is one.
        let waker = unsafe { Waker::from_raw(RawWaker::new(ptr::from_ref(self).cast(), &VTABLE)) };
        poll(&ManuallyDrop::new(waker))
    }
}

const fn is_sync<T: Sync>() {}
const _: () = is_sync::<LazyParker>();

/// # Safety
/// `data` is a `LazyParker` that is there.
unsafe fn lazy_parker<'a>(data: *const ()) -> &'a LazyParker {
    // SAFETY: `data` is one that is there, and is shared from then on.
    unsafe { &*data.cast::<LazyParker>() }
}

/// # Safety
/// As [`lazy_parker`].
unsafe fn clone(data: *const ()) -> RawWaker {
    // SAFETY: the waker's data, which is there as long as the waker is loaned.
    let clone = ManuallyDrop::new(unsafe { lazy_parker(data) }.parker().waker().clone());
    RawWaker::new(clone.data(), clone.vtable())
}

/// # Safety
/// As [`lazy_parker`].
unsafe fn wake(data: *const ()) {
    // SAFETY: the waker's data, which is there as long as the waker is loaned.
    unsafe { lazy_parker(data) }.parker().waker().wake_by_ref();
}

impl Drop for LazyParker {
    #[inline(always)]
    fn drop(&mut self) {
        if let Some(parker) = self.0.take() {
            parker.put_back();
        }
    }
}
