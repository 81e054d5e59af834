//! One timer: a node inside the operation that waits, and the word that says in whose wheel it is. What the operation
//! does with it is in `timer.rs`.
//!
//! | `owner` | meaning | changed by |
//! | --- | --- | --- |
//! | null | in no wheel | the operation; the end of a simulation |
//! | some [`Timers`](super::Timers) | in their wheel | the operation; who moves timers, with both locks |
//! | [`FIRED`] | in no wheel, its time has come | who fires, as the last thing it does with the node |
//!
//! It changes from `Timers` to anything else only under their lock; so who finds the same owner before and after
//! taking that lock has the node. `Timers` are never freed. `FIRED` is published with release: who sees it need not
//! take the lock, and may free the node.

use std::marker::PhantomPinned;
use std::pin::Pin;
use std::ptr::{self, NonNull};
use std::task::Waker;
use std::time::Duration;

use gossamer_core::moment::{Moment, nanos_of};
use gossamer_core::platform::UnsafeCell;
use gossamer_core::platform::atomic::{AtomicPtr, Ordering};

/// The last moment that can come; a later deadline means never.
pub(super) const LAST: u64 = u64::MAX - 1;

/// The owner of a timer whose time has come.
pub(super) const FIRED: *mut () = ptr::without_provenance_mut(1);

/// No slot.
pub(super) const NOWHERE: u16 = u16::MAX;

/// A timer; 64 bytes inside an operation.
pub struct Timer {
    /// The [`Timers`](super::Timers) in whose wheel it is.
    pub(super) owner: AtomicPtr<()>,
    /// Touched by the operation while the owner is null or [`FIRED`], else under the owner's lock.
    links: UnsafeCell<Links>,
    _pinned: PhantomPinned,
}

#[cfg(all(target_pointer_width = "64", not(any(loom, shuttle))))]
const _: () = assert!(size_of::<Timer>() == 64);

// SAFETY: the links are touched as the table above says; the waker is `Send`.
unsafe impl Send for Timer {}
// SAFETY: `&Timer` gives access to the owner's word alone.
unsafe impl Sync for Timer {}

/// A timer in no wheel, for its operation.
pub(super) struct Idle<'a>(Pin<&'a mut Timer>);

/// A timer, for the holder of the lock of the wheel that it is in, or comes into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry(NonNull<Timer>);

/// The data of a timer that its wheel uses.
#[derive(Debug)]
pub(super) struct Links {
    pub(super) next: Option<Entry>,
    pub(super) prev: Option<Entry>,
    /// Its deadline in nanoseconds; while it is not dated, how many after its stamp that is.
    pub(super) deadline: u64,
    /// When it was registered first or later, while it is not dated; zero as long as nobody has taken note.
    pub(super) stamp: u64,
    /// Whom it wakes; there as long as it is in a wheel.
    pub(super) waker: Option<Waker>,
    /// In which slot it is.
    pub(super) place: u16,
    pub(super) is_dated: bool,
}

impl Timer {
    /// Fires at a moment, once it has been polled.
    pub fn at(deadline: Moment) -> Self {
        Self::with(Links::dated(deadline.nanos()))
    }

    /// Fires so much time after its first poll. What no moment can hold is never.
    pub fn after(duration: Duration) -> Self {
        Self::with(Links::undated(nanos_of(duration)))
    }

    fn with(links: Links) -> Self {
        Self {
            owner: AtomicPtr::new(ptr::null_mut()),
            links: UnsafeCell::new(links),
            _pinned: PhantomPinned,
        }
    }

    /// The timer, for the operation; `None` if it is in a wheel, or has fired.
    #[inline(always)]
    pub(super) fn idle(self: Pin<&mut Self>) -> Option<Idle<'_>> {
        // Relaxed: only polling, which is here, changes null.
        let is_ours = self.owner.load(Ordering::Relaxed).is_null();
        is_ours.then_some(Idle(self))
    }
}

impl Idle<'_> {
    /// Its links.
    #[inline(always)]
    pub(super) fn links<R>(&mut self, use_them: impl FnOnce(&mut Links) -> R) -> R {
        // SAFETY: in no wheel, so nobody else touches them; and this borrow of the timer is exclusive.
        let with = |links: *mut Links| use_them(unsafe { &mut *links });
        self.0.links.with_mut(with)
    }

    /// The timer as an entry of the wheel that it comes into. It stays where it is until its drop, which takes it out.
    ///
    /// # Safety
    /// The caller holds the lock of that wheel, and uses the entry as [`Entry::new`] says.
    #[inline(always)]
    pub(super) unsafe fn into_entry(self) -> Entry {
        // SAFETY: pinned, and the rest is what this function requires too.
        unsafe { Entry::new(NonNull::from_ref(&*self.0)) }
    }
}

impl Entry {
    /// # Safety
    /// The caller holds the lock of the wheel that the timer is in or comes into, and the timer stays where it is until
    /// it has been taken out. The entry and its copies, but for those inside that wheel, are used only until the lock is
    /// given up or the timer [given back](Entry::give_back).
    #[inline(always)]
    pub(super) unsafe fn new(timer: NonNull<Timer>) -> Self {
        Self(timer)
    }

    #[inline(always)]
    fn timer(&self) -> &Timer {
        // SAFETY: `new` requires that the timer stays where it is as long as an entry of it is used.
        unsafe { self.0.as_ref() }
    }

    /// Its links.
    #[inline(always)]
    pub(super) fn links<R>(self, use_them: impl FnOnce(&mut Links) -> R) -> R {
        // SAFETY: `new` requires that its caller holds the lock; no closure here touches the links of the same timer.
        let with = |links: *mut Links| use_them(unsafe { &mut *links });
        self.timer().links.with_mut(with)
    }

    /// Says in whose wheel it is: `owner` is some [`Timers`](super::Timers), whose lock is held too.
    #[inline(always)]
    pub(super) fn set_owner(self, owner: *const ()) {
        // Release pairs with the acquires in `timer.rs`: the links are in order before anybody asks who has them.
        self.timer()
            .owner
            .store(owner.cast_mut(), Ordering::Release);
    }

    /// Gives the timer, which has been taken out of its wheel, back to the operation, as one that has [`FIRED`], or as
    /// one in no wheel (null).
    ///
    /// # Returns
    /// Its waker.
    ///
    /// # Safety
    /// No copy of the entry is used again: the timer may be gone when this returns.
    pub(super) unsafe fn give_back(self, owner: *mut ()) -> Option<Waker> {
        let waker = self.links(|links| links.waker.take());
        self.set_owner(owner);
        waker
    }
}

impl Links {
    /// Of a timer with this deadline.
    pub(super) fn dated(deadline: u64) -> Self {
        Self {
            is_dated: true,
            ..Self::undated(deadline)
        }
    }

    /// Of a timer that fires so many nanoseconds after it was registered.
    pub(super) fn undated(nanos: u64) -> Self {
        Self {
            next: None,
            prev: None,
            deadline: nanos,
            stamp: 0,
            waker: None,
            place: NOWHERE,
            is_dated: false,
        }
    }

    /// It fires then.
    pub(super) fn date(&mut self, deadline: u64) {
        self.deadline = deadline.min(LAST);
        self.is_dated = true;
    }
}

gossamer_core::impl_debug!([] Timer[]);
