//! `Semaphore`: a number of permits (Dijkstra 1965).
//!
//! The bits are the number of permits that are free. First come, first served: one that wants many is not passed by
//! those that want few.

use core::panic::Location;

use gossamer_core::policy::LockPolicy;

use crate::line::{Admission, Enter, HAS_WAITERS, Line, Waiting, constructors, leaves, operation};

/// As many permits as there can be: 536,870,911.
pub const PERMITS_MAX: usize = (1 << 29) - 1;

const PERMITS: u32 = PERMITS_MAX as u32;

/// The rules of a semaphore: an operation wants so many permits.
pub(crate) struct Permits;

impl Permits {
    /// Returns the bits with `count` more free permits, but never more than [`PERMITS_MAX`].
    #[inline(always)]
    fn add(bits: u32, count: usize) -> u32 {
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
        if bits & HAS_WAITERS == 0 || wants == 0 || gossamer_core::mutant!("semaphore_is_passed") {
            Self::grant(bits, wants)
        } else {
            None
        }
    }

    fn give_back(bits: u32, wants: usize) -> u32 {
        Self::add(bits, wants)
    }
}

/// Permits, of which each is one's at a time; who finds too few waits.
///
/// Use it as [`sync::Semaphore`](crate::sync::Semaphore) or [`local::Semaphore`](crate::local::Semaphore). One that
/// begins without permits is useful: others [add](Semaphore::add_permits) them.
///
/// # Blocking
/// [`acquire`](Semaphore::acquire) and [`acquire_many`](Semaphore::acquire_many) are futures: `.await` them in a task,
/// `.wait()` for them in a fiber or a thread.
///
/// # Cancellation
/// One that was dropped has acquired nothing; were the permits granted already, they are free again, and the next in
/// line is served.
///
/// # Examples
/// ```
/// # use gossamer::Wait;
/// use gossamer::sync::Semaphore;
///
/// let places = Semaphore::new(2);
/// let one = places.acquire().wait();
/// let two = places.acquire().wait();
/// assert!(places.try_acquire().is_none());
/// drop(one);
/// assert_eq!(places.available(), 1);
/// two.forget();
/// assert_eq!(places.available(), 1);
/// ```
pub struct Semaphore<P: LockPolicy> {
    line: Line<P, Permits>,
}

#[cfg(all(not(any(loom, shuttle)), target_pointer_width = "64"))]
const _: () = assert!(size_of::<Semaphore<gossamer_core::policy::Local>>() == 16);

constructors! {
    impl[] Semaphore<P> {
        /// Returns a semaphore with `permits` permits, all free.
        ///
        /// # Panics
        /// They are more than [`PERMITS_MAX`].
        #[track_caller]
        pub fn new(permits: usize) -> Self {
            assert!(
                permits <= PERMITS_MAX,
                "a semaphore was asked for with more than 536,870,911 permits: it cannot count so many"
            );
            Self {
                line: Line::<P, Permits>::new(permits as u32),
            }
        }
    }
}

impl<P: LockPolicy> Semaphore<P> {
    /// Waits for a permit.
    #[track_caller]
    #[inline(always)]
    pub fn acquire(&self) -> Acquire<'_, P> {
        self.acquire_at(1, Location::caller())
    }

    /// Waits for so many permits, until all of them are free at once. None are had at once, without waiting.
    ///
    /// It may be asked for more than there are now: others can [add](Semaphore::add_permits) some.
    ///
    /// # Panics
    /// They are more than [`PERMITS_MAX`], so that the wait would never end.
    #[track_caller]
    pub fn acquire_many(&self, permits: usize) -> Acquire<'_, P> {
        refuse_too_many(permits);
        self.acquire_at(permits, Location::caller())
    }

    #[inline(always)]
    fn acquire_at(&self, permits: usize, location: &'static Location<'static>) -> Acquire<'_, P> {
        Acquire {
            waiting: Waiting::new(&self.line, Enter::new(permits), location),
            semaphore: self,
        }
    }

    /// Returns a permit, if one is free and nobody waits.
    #[inline]
    pub fn try_acquire(&self) -> Option<Permit<'_, P>> {
        self.line.try_arrive(1).then(|| self.permit(1))
    }

    /// Returns `permits` permits, if they are free and nobody waits.
    ///
    /// # Panics
    /// They are more than [`PERMITS_MAX`].
    #[track_caller]
    pub fn try_acquire_many(&self, permits: usize) -> Option<Permit<'_, P>> {
        refuse_too_many(permits);
        self.line.try_arrive(permits).then(|| self.permit(permits))
    }

    /// Adds `permits` free permits.
    ///
    /// # Panics
    /// More than [`PERMITS_MAX`] would be free then; nothing has been added.
    #[track_caller]
    pub fn add_permits(&self, permits: usize) {
        let mut free = 0;
        let is_added = self.line.change_if(|bits| {
            free = (bits & PERMITS) as usize;
            (permits <= PERMITS_MAX - free).then(|| Permits::add(bits, permits))
        });
        assert!(
            is_added,
            "{permits} permits were added to {free} free ones of a semaphore, which can count {PERMITS_MAX}: add fewer"
        );
    }

    /// How many permits are free at this moment.
    pub fn available(&self) -> usize {
        (self.line.look() & PERMITS) as usize
    }

    fn permit(&self, permits: usize) -> Permit<'_, P> {
        Permit {
            semaphore: self,
            permits: permits as u32,
        }
    }

    /// Gives `permits` permits back to the semaphore.
    #[inline(always)]
    fn give_back(&self, permits: usize) {
        let add = |bits| Permits::add(bits, permits);
        if !self
            .line
            .try_change(|bits| (bits & HAS_WAITERS == 0).then(|| add(bits)))
        {
            self.line.change(add);
        }
    }
}

#[track_caller]
fn refuse_too_many(permits: usize) {
    assert!(
        permits <= PERMITS_MAX,
        "{permits} permits were asked for, but a semaphore has at most {PERMITS_MAX}: they would never be granted"
    );
}

/// Acquired permits; dropped, they are free again.
///
/// (Should more than [`PERMITS_MAX`] be free then, because so many were added while these were away, those above are
/// gone.)
#[must_use = "dropped at once, the permits are free at once"]
pub struct Permit<'a, P: LockPolicy> {
    semaphore: &'a Semaphore<P>,
    permits: u32,
}

impl<P: LockPolicy> Permit<'_, P> {
    /// How many they are.
    pub fn count(&self) -> usize {
        self.permits as usize
    }

    /// Never gives them back: the semaphore has so many fewer from now on.
    pub fn forget(self) {
        core::mem::forget(self);
    }
}

impl<P: LockPolicy> Drop for Permit<'_, P> {
    #[inline(always)]
    fn drop(&mut self) {
        self.semaphore.give_back(self.permits as usize);
    }
}

gossamer_core::impl_debug!([P: LockPolicy] Permit['_, P], this => permits: this.permits);

operation! {
    /// [`Semaphore::acquire`] and [`Semaphore::acquire_many`]. Dropped unfinished, it has acquired nothing.
    Acquire['a, P: LockPolicy]['a, P] by Permits, 0, semaphore: Semaphore<P>
        => Permit<'a, P>: |this, _how| this.semaphore.permit(this.waiting.action().wants())
}

leaves! { Acquire['a, P: LockPolicy]['a, P]; }

gossamer_core::impl_debug!([P: LockPolicy] Semaphore[P], this => available: this.available());
