//! One timer: a node inside the operation that waits, and the word that says in whose wheel it is.
//!
//! | `owner` | meaning | changed by |
//! | --- | --- | --- |
//! | null | in no wheel | the operation; the end of a simulation |
//! | some [`Timers`] | in their wheel | the operation; who moves timers, with both locks |
//! | [`FIRED`] | in no wheel, its time has come | who fires, as the last thing it does with the node |
//!
//! It changes from [`Timers`] to anything else only under their lock; so who finds the same owner before and after
//! taking that lock has the node. `Timers` are never freed. `FIRED` is published with release: who sees it need not
//! take the lock, and may free the node.

use std::fmt;
use std::marker::PhantomPinned;
use std::pin::Pin;
use std::ptr::{self, NonNull};
use std::task::{Poll, Waker};
use std::time::Duration;

use gossamer_core::moment::{Moment, nanos_of};
use gossamer_core::platform::atomic::{AtomicPtr, Ordering};
use gossamer_core::platform::{UnsafeCell, has_counter};
use gossamer_core::{mutant, waker};

use super::wheel::Links;
use super::{Timers, now};

/// What is later than this is never.
pub(super) const LAST: u64 = u64::MAX - 1;

const FIRED: *mut Timers = ptr::without_provenance_mut(1);

/// A timer; 64 bytes inside an operation.
pub struct Timer {
    owner: AtomicPtr<Timers>,
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

    /// # Safety
    /// The timer is alive, and the links are the caller's: see the type.
    #[inline(always)]
    pub(super) unsafe fn links<R>(this: *const Self, use_them: impl FnOnce(&mut Links) -> R) -> R {
        // SAFETY: the caller vouches for both; no closure here touches the links of the same timer.
        unsafe { (*this).links.with_mut(|links| use_them(&mut *links)) }
    }

    /// Whether it is [at](Timer::at) a moment that is not ahead; `false` if it has been polled.
    pub fn is_past(self: Pin<&mut Self>) -> bool {
        // Relaxed: only polling changes null.
        if !self.owner.load(Ordering::Relaxed).is_null() {
            return false;
        }
        // SAFETY: in no wheel, so the links are ours.
        let deadline = unsafe { Self::links(&raw const *self, |links| links.deadline) };
        deadline <= now().nanos()
    }

    /// Whether its time has come; if not, `waker` is called then. Registers with the timers of whoever runs this
    /// thread, also if it was registered elsewhere before.
    ///
    /// # Panics
    /// Nobody runs this thread, and the system grants no thread for the process's own timers.
    #[inline(always)]
    pub fn poll(self: Pin<&mut Self>, waker: &Waker) -> Poll<()> {
        self.poll_at(super::here, waker)
    }

    /// The same, with the timers that serve it here.
    #[inline(always)]
    pub(super) fn poll_at(
        self: Pin<&mut Self>,
        here: impl FnOnce() -> &'static Timers,
        waker: &Waker,
    ) -> Poll<()> {
        // Acquire pairs with the release in `fire`: the one who fired has done with the node.
        let owner = self.owner.load(Ordering::Acquire);
        if owner.is_null() {
            return self.register(here, waker);
        }
        if owner == FIRED {
            return Poll::Ready(());
        }
        self.poll_again(here(), waker)
    }

    /// Registers a timer that is in no wheel.
    #[inline(always)]
    fn register(
        self: Pin<&mut Self>,
        here: impl FnOnce() -> &'static Timers,
        waker: &Waker,
    ) -> Poll<()> {
        // SAFETY: in no wheel, so the links are ours.
        let never = unsafe { Self::links(&raw const *self, |links| links.deadline == u64::MAX) };
        if never {
            return Poll::Pending;
        }
        let timers = here();
        if waker::task_of(waker).is_none() {
            timers.note_foreign();
        }
        // Before the lock is taken: a foreign one is cloned, which runs user code.
        let waker = waker::clone_ref(waker);
        let this = NonNull::from_ref(&*self);
        // SAFETY: in no wheel, so the links are ours; pinned, and its drop takes it out again.
        unsafe {
            Self::links(this.as_ptr(), |links| {
                links.waker = Some(waker);
                if !links.is_dated {
                    timers.stamp(links);
                }
            });
            timers.register(this);
        }
        Poll::Pending
    }

    #[cold]
    #[inline(never)]
    fn poll_again(self: Pin<&mut Self>, here: &'static Timers, waker: &Waker) -> Poll<()> {
        let mut new = None;
        loop {
            // Acquire pairs with the release in `fire`.
            let owner = self.owner.load(Ordering::Acquire);
            if owner == FIRED {
                return Poll::Ready(());
            }
            if !ptr::eq(owner, here) && !mutant!("timer_stays_behind") {
                // Whoever runs there may never do so again.
                self.as_ref().get_ref().leave(true);
                // Acquire pairs with the release in `fire`.
                return if self.owner.load(Ordering::Acquire) == FIRED {
                    Poll::Ready(())
                } else {
                    self.register(|| here, waker)
                };
            }
            // SAFETY: not null, as it is `here`; and timers are never freed.
            let timers = unsafe { &*owner };
            let locked = timers.lock();
            // Relaxed: it changes under this lock alone.
            if self.owner.load(Ordering::Relaxed) != owner {
                continue;
            }
            // SAFETY: in the wheel whose lock we have.
            let before = unsafe {
                Self::links(&raw const *self, |links| {
                    let same = links.waker.as_ref().is_some_and(|old| old.will_wake(waker));
                    match new.take() {
                        _ if same => Some(None),
                        Some(new) => Some(links.waker.replace(new)),
                        None => None,
                    }
                })
            };
            drop(locked);
            if let Some(before) = before {
                // Dropped only here: it may be user code.
                drop(before);
                return Poll::Pending;
            }
            if waker::task_of(waker).is_none() {
                timers.note_foreign();
            }
            new = Some(waker::clone_ref(waker));
        }
    }

    /// Takes the timer out of its wheel, if it is in one.
    #[inline(always)]
    fn cancel(&self) {
        self.leave(false);
    }

    /// The same; perhaps it goes on elsewhere.
    #[inline(always)]
    fn leave(&self, goes_on: bool) {
        loop {
            // Acquire pairs with the release in `fire`.
            let owner = self.owner.load(Ordering::Acquire);
            if owner.is_null() || owner == FIRED {
                return;
            }
            // SAFETY: timers are never freed.
            let timers = unsafe { &*owner };
            let mut locked = timers.lock();
            // It may have fired meanwhile, or moved. Relaxed: it changes under this lock alone.
            let now = self.owner.load(Ordering::Relaxed);
            if now != owner && !mutant!("timer_cancelled_twice") {
                continue;
            }
            // SAFETY: in the wheel whose lock we have.
            let waker = unsafe {
                if goes_on {
                    locked.take_away(NonNull::from_ref(self));
                } else {
                    locked.remove(NonNull::from_ref(self));
                }
                Self::links(self, |links| links.waker.take())
            };
            // Relaxed: only the operation, which is here, reads it from now on.
            self.owner.store(ptr::null_mut(), Ordering::Relaxed);
            drop(locked);
            if let Some(waker) = waker {
                waker::let_go(waker);
            }
            return;
        }
    }

    /// Says in whose wheel it is.
    ///
    /// # Safety
    /// Under the lock of those timers, and of those whose it was.
    #[inline(always)]
    pub(super) unsafe fn set_owner(this: NonNull<Self>, timers: &'static Timers) {
        // SAFETY: alive, as it is in a wheel or about to be. Release pairs with the acquires above: the links are
        // in order before anybody asks who has them.
        unsafe { this.as_ref() }
            .owner
            .store(ptr::from_ref(timers).cast_mut(), Ordering::Release);
    }

    /// Its time has come: gives the waker. The node may be gone when this returns.
    ///
    /// # Safety
    /// Under the lock of its timers; it has been taken out of the wheel.
    pub(super) unsafe fn fire(this: NonNull<Self>) -> Option<Waker> {
        // SAFETY: under the lock.
        let waker = unsafe { Self::links(this.as_ptr(), |links| links.waker.take()) };
        // SAFETY: alive until this store. Release pairs with the acquires above.
        unsafe { this.as_ref() }
            .owner
            .store(FIRED, Ordering::Release);
        waker
    }

    /// The operation whose simulation has ended: in no wheel any more, and not fired.
    ///
    /// # Safety
    /// As [`Timer::fire`].
    pub(super) unsafe fn detach(this: NonNull<Self>) -> Option<Waker> {
        // SAFETY: under the lock.
        let waker = unsafe { Self::links(this.as_ptr(), |links| links.waker.take()) };
        // SAFETY: alive until this store. Release pairs with the acquires above.
        unsafe { this.as_ref() }
            .owner
            .store(ptr::null_mut(), Ordering::Release);
        waker
    }
}

impl Links {
    /// Notes that its time counts from now. With `stamps` it is dated later, by whoever looks at the wheel.
    #[inline(always)]
    pub(super) fn count_from_now(&mut self, stamps: bool) {
        // The wheel stamps it.
        if !stamps || !has_counter() {
            self.date_from_now();
        }
    }

    #[cold]
    #[inline(never)]
    fn date_from_now(&mut self) {
        self.date(now().nanos().saturating_add(self.deadline));
    }

    pub(super) fn date(&mut self, deadline: u64) {
        self.deadline = deadline.min(LAST);
        self.is_dated = true;
    }
}

impl Drop for Timer {
    #[inline]
    fn drop(&mut self) {
        self.cancel();
    }
}

impl fmt::Debug for Timer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timer").finish_non_exhaustive()
    }
}
