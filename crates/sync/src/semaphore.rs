//! `Semaphore`: a number of permits (Dijkstra 1965).
//!
//! First come, first served: one that wants many is not passed by those that want few.

use alloc::rc::Rc;
#[cfg(feature = "std")]
use alloc::sync::Arc;
use core::panic::Location;

use gossamer_core::policy::LockPolicy;

use crate::constructors::constructors;
use crate::line::{Admission, Enter, HAS_WAITERS, How, Line, Waiting};
use crate::line::{leaves, operation, owned_operation};

mod error;
mod rules;

pub use self::error::{AcquireError, TryAcquireError};
use self::rules::{CLOSED, PERMITS, PERMITS_MAX, Permits};

/// Permits, of which each is one's at a time; who finds too few waits.
///
/// Use it as [`sync::Semaphore`](crate::sync::Semaphore) or [`local::Semaphore`](crate::local::Semaphore). One that
/// begins without permits is useful: others [add](Semaphore::add_permits) them.
///
/// Once it is [closed](Semaphore::close), nobody acquires permits any more, and those that wait are told. One that is
/// never closed gives no error: `unwrap` says so.
///
/// # Blocking
/// [`acquire`](Semaphore::acquire) and its likes are futures: `.await` them in a task, `.wait()` for them in a fiber or
/// a thread (tokio's `blocking_acquire`).
///
/// # Cancellation
/// One that was dropped has acquired nothing; were the permits granted already, they are free again, and the next in
/// line is served.
///
/// # Examples
/// ```
/// use gossamer::Wait;
/// use gossamer::sync::Semaphore;
///
/// let places = Semaphore::new(2);
/// let one = places.acquire().wait()?;
/// let two = places.acquire().wait()?;
/// assert!(places.try_acquire().is_err());
/// drop(one);
/// assert_eq!(places.available_permits(), 1);
/// two.forget();
/// assert_eq!(places.available_permits(), 1);
/// # Ok::<(), gossamer::sync::AcquireError>(())
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
        /// They are more than `Semaphore::MAX_PERMITS`.
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
    /// As many permits as a semaphore can count: 536,870,911.
    pub const MAX_PERMITS: usize = PERMITS_MAX;

    /// Waits for a permit.
    ///
    /// # Errors
    /// The semaphore is closed, and was so before there was a permit for this one.
    #[doc(alias = "blocking_acquire")]
    #[track_caller]
    #[inline(always)]
    pub fn acquire(&self) -> Acquire<'_, P> {
        self.acquire_at(1, Location::caller())
    }

    /// Waits for so many permits, until all of them are free at once. None are had at once, without waiting.
    ///
    /// It may be asked for more than there are now: others can [add](Semaphore::add_permits) some.
    ///
    /// # Errors
    /// As [`acquire`](Semaphore::acquire).
    ///
    /// # Panics
    /// They are more than [`MAX_PERMITS`](Semaphore::MAX_PERMITS), so that the wait would never end.
    #[doc(alias = "blocking_acquire_many")]
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

    /// Returns a permit, if there is one at once.
    ///
    /// # Errors
    /// None is free, others wait, or the semaphore is closed.
    #[inline]
    pub fn try_acquire(&self) -> Result<SemaphorePermit<'_, P>, TryAcquireError> {
        self.try_arrive(1)?;
        Ok(SemaphorePermit::new(self, 1))
    }

    /// Returns `permits` permits, if they are there at once.
    ///
    /// # Errors
    /// So many are not free, others wait, or the semaphore is closed.
    ///
    /// # Panics
    /// They are more than [`MAX_PERMITS`](Semaphore::MAX_PERMITS).
    #[track_caller]
    pub fn try_acquire_many(
        &self,
        permits: usize,
    ) -> Result<SemaphorePermit<'_, P>, TryAcquireError> {
        refuse_too_many(permits);
        self.try_arrive(permits)?;
        Ok(SemaphorePermit::new(self, permits))
    }

    #[inline(always)]
    fn try_arrive(&self, permits: usize) -> Result<(), TryAcquireError> {
        if self.line.try_arrive(permits) {
            Ok(())
        } else if self.is_closed() {
            Err(TryAcquireError::Closed)
        } else {
            Err(TryAcquireError::NoPermits)
        }
    }

    /// Adds `permits` free permits, also to one that is closed.
    ///
    /// # Panics
    /// More than [`MAX_PERMITS`](Semaphore::MAX_PERMITS) would be free then; nothing has been added.
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

    /// Takes at most `permits` free permits away for good; returns how many it took.
    pub fn forget_permits(&self, permits: usize) -> usize {
        let mut taken = 0;
        self.line.change(|bits| {
            taken = permits.min((bits & PERMITS) as usize);
            bits - taken as u32
        });
        taken
    }

    /// How many permits are free at this moment.
    pub fn available_permits(&self) -> usize {
        (self.line.look() & PERMITS) as usize
    }

    /// Ends the acquiring: those that wait get an error, and so does who comes. A permit that was granted before is had,
    /// and permits come back as ever.
    ///
    /// # Examples
    /// ```
    /// use gossamer::Wait;
    /// use gossamer::sync::{Semaphore, TryAcquireError};
    ///
    /// let jobs = Semaphore::new(0);
    /// std::thread::scope(|scope| {
    ///     let worker = scope.spawn(|| jobs.acquire().wait().is_err());
    ///     jobs.close();
    ///     assert!(worker.join().unwrap());
    /// });
    /// assert_eq!(jobs.try_acquire().unwrap_err(), TryAcquireError::Closed);
    /// ```
    pub fn close(&self) {
        if gossamer_core::mutant!("closed_semaphore_keeps_waiters") {
            self.line.try_change(|bits| Some(bits | CLOSED));
        } else {
            self.line.change(|bits| bits | CLOSED);
        }
    }

    /// Whether it is [closed](Semaphore::close).
    pub fn is_closed(&self) -> bool {
        Permits::refuses(self.line.look())
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

/// Acquiring permits that own the semaphore, together with others.
macro_rules! owned_permits {
    ($policy:ty, $pointer:ident) => {
        impl Semaphore<$policy> {
            /// Waits for a permit, which keeps the semaphore alive, and borrows nothing.
            ///
            /// # Errors
            /// As [`acquire`](Semaphore::acquire).
            #[doc(alias = "blocking_acquire_owned")]
            #[track_caller]
            pub fn acquire_owned(self: $pointer<Self>) -> AcquireOwned<$policy> {
                self.acquire_owned_at(Location::caller())
            }

            /// The same for an operation that this one is a part of, and that was called there.
            #[doc(hidden)]
            pub fn acquire_owned_at(
                self: $pointer<Self>,
                caller: &'static Location<'static>,
            ) -> AcquireOwned<$policy> {
                AcquireOwned::new(self, 1, caller)
            }

            /// Waits for so many permits, as [`acquire_many`](Semaphore::acquire_many) does; they keep the semaphore alive.
            ///
            /// # Errors
            /// As [`acquire`](Semaphore::acquire).
            ///
            /// # Panics
            /// They are more than [`MAX_PERMITS`](Semaphore::MAX_PERMITS).
            #[doc(alias = "blocking_acquire_many_owned")]
            #[track_caller]
            pub fn acquire_many_owned(
                self: $pointer<Self>,
                permits: usize,
            ) -> AcquireOwned<$policy> {
                refuse_too_many(permits);
                AcquireOwned::new(self, permits, Location::caller())
            }

            /// As [`try_acquire`](Semaphore::try_acquire), with a permit that keeps the semaphore alive.
            ///
            /// # Errors
            /// None is free, others wait, or the semaphore is closed.
            pub fn try_acquire_owned(
                self: $pointer<Self>,
            ) -> Result<OwnedSemaphorePermit<$policy>, TryAcquireError> {
                self.try_acquire_many_owned(1)
            }

            /// As [`try_acquire_many`](Semaphore::try_acquire_many), with permits that keep the semaphore alive.
            ///
            /// # Errors
            /// So many are not free, others wait, or the semaphore is closed.
            ///
            /// # Panics
            /// They are more than [`MAX_PERMITS`](Semaphore::MAX_PERMITS).
            #[track_caller]
            pub fn try_acquire_many_owned(
                self: $pointer<Self>,
                permits: usize,
            ) -> Result<OwnedSemaphorePermit<$policy>, TryAcquireError> {
                refuse_too_many(permits);
                self.try_arrive(permits)?;
                Ok(OwnedSemaphorePermit::new(self, permits))
            }
        }
    };
}
owned_permits!(gossamer_core::policy::Local, Rc);
#[cfg(feature = "std")]
owned_permits!(gossamer_core::policy::Shared, Arc);

/// Declares a kind of permits: its parameters, with their bounds and without, and how it points at the semaphore.
macro_rules! permit {
    ($(#[$doc:meta])* $name:ident[$($generics:tt)*][$($of:tt)*] by $pointer:ty) => {
        $(#[$doc])*
        #[must_use = "dropped at once, the permits are free at once"]
        pub struct $name<$($generics)*> {
            semaphore: $pointer,
            permits: u32,
        }

        impl<$($generics)*> $name<$($of)*> {
            #[inline(always)]
            fn new(semaphore: $pointer, permits: usize) -> Self {
                gossamer_core::context::simulated::holds(&semaphore.line);
                Self { semaphore, permits: permits as u32 }
            }

            /// How many they are.
            pub fn num_permits(&self) -> usize {
                self.permits as usize
            }

            /// Never gives them back: the semaphore has so many fewer from now on.
            pub fn forget(mut self) {
                self.permits = 0;
            }

            /// Takes those of `other` too.
            ///
            /// # Panics
            /// They are of another semaphore.
            #[track_caller]
            pub fn merge(&mut self, mut other: Self) {
                assert!(
                    core::ptr::eq(&*self.semaphore, &*other.semaphore),
                    "permits of two semaphores were to be merged: those of each go back to their own"
                );
                self.permits = self.permits.saturating_add(core::mem::take(&mut other.permits));
            }

            /// Parts `permits` of them from the others; `None`: they are not so many.
            pub fn split(&mut self, permits: usize) -> Option<Self> {
                self.permits = u32::try_from(permits)
                    .ok()
                    .and_then(|permits| self.permits.checked_sub(permits))?;
                Some(Self::new(self.semaphore.clone(), permits))
            }

            /// The semaphore that they are of.
            pub fn semaphore(&self) -> &$pointer {
                &self.semaphore
            }
        }

        impl<$($generics)*> Drop for $name<$($of)*> {
            #[inline(always)]
            fn drop(&mut self) {
                gossamer_core::context::simulated::lets_go(&self.semaphore.line);
                self.semaphore.give_back(self.permits as usize);
            }
        }

        gossamer_core::impl_debug!([$($generics)*] $name[$($of)*], this => permits: this.permits);
    };
}

permit! {
    /// Acquired permits; dropped, they are free again.
    ///
    /// (Should more than [`MAX_PERMITS`](Semaphore::MAX_PERMITS) be free then, because so many were added while these were
    /// away, those above are gone.)
    SemaphorePermit['a, P: LockPolicy]['a, P] by &'a Semaphore<P>
}

permit! {
    /// Acquired permits, with the semaphore itself: they may outlive all else that knows it. Dropped, they are free again.
    ///
    /// # Examples
    /// ```
    /// use std::sync::Arc;
    /// use gossamer::sync::Semaphore;
    /// use gossamer::{Runtime, Wait};
    ///
    /// let rt = Runtime::builder().build()?;
    /// let places = Arc::new(Semaphore::new(2));
    /// let tasks = [1, 2, 3, 4].map(|job| {
    ///     // At most two tasks at a time: each takes its permit with it.
    ///     let permit = places.clone().acquire_owned().wait().unwrap();
    ///     rt.spawn(async move {
    ///         let _permit = permit;
    ///         job * 10
    ///     })
    /// });
    /// assert_eq!(tasks.map(|task| task.wait().unwrap()), [10, 20, 30, 40]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    OwnedSemaphorePermit[P: LockPolicy][P] by P::Counted<Semaphore<P>>
}

/// What one has acquired that came to its end so.
#[inline(always)]
fn unless_refused<T>(how: How, permits: impl FnOnce() -> T) -> Result<T, AcquireError> {
    match how {
        How::Refused => Err(AcquireError::new()),
        How::AtOnce | How::FromQueue => Ok(permits()),
    }
}

operation! {
    /// [`Semaphore::acquire`] and [`Semaphore::acquire_many`]. Dropped unfinished, it has acquired nothing.
    Acquire['a, P: LockPolicy]['a, P] by Permits, 0, semaphore: Semaphore<P>
        => Result<SemaphorePermit<'a, P>, AcquireError>: |this, how| {
            let permits = this.waiting.action().wants();
            unless_refused(how, || SemaphorePermit::new(this.semaphore, permits))
        }
}

leaves! { Acquire['a, P: LockPolicy]['a, P]; }

owned_operation! {
    /// `acquire_owned` and `acquire_many_owned` of a [`Semaphore`]. Dropped unfinished, it has acquired nothing.
    AcquireOwned[P: LockPolicy][P] by Permits, 0, Semaphore<P>
        => Result<OwnedSemaphorePermit<P>, AcquireError>: |semaphore, how, permits| {
            unless_refused(how, || OwnedSemaphorePermit::new(semaphore, permits))
        }
}

gossamer_core::impl_debug!(
    [P: LockPolicy] Semaphore[P],
    this => available_permits: this.available_permits(), is_closed: this.is_closed()
);
