//! `Mutex` and `FairMutex`: one at a time.
//!
//! # Protocol
//!
//! [`Mutex`] lets who is running pass those who wait (it *barges*), because handing a lock to a task that is not
//! running makes everybody wait for a switch between any two sections: 12 ns sections become a convoy of hops. The
//! lock is free while the first in line is on its way to it; whoever comes first has it, and the first in line, if it
//! comes too late, stays first. So that nobody waits for ever, the lock is *handed over* when
//!
//! * the first in line has been passed 1,024 times, some microseconds of short sections (a hand-over costs as much as a
//!   hundred of them), or
//! * it has waited for half a millisecond (looked at after 1, 2, 4, 8 … passings, so at most twice as long if the
//!   sections are alike, and whenever it is woken to try again), or
//! * the holder has stood still inside its section, so that others ran meanwhile: it leaves in another poll than it
//!   came in. Then passing gains nothing: the next section may well stand still too, and who was woken looks in vain.
//!
//! The idea of a bounded barging is that of WebKit's `WTF::Lock` (Pizlo 2016) and of parking_lot.
//!
//! | HELD | WOKEN | meaning |
//! | --- | --- | --- |
//! | 0 | 0 | free; nobody waits |
//! | 0 | 1 | free; the first in line is on its way, and others may pass it |
//! | 1 | 0 | held, or handed to one that has not noticed so far |
//! | 1 | 1 | held by one that has passed the first in line, who is still on its way |
//!
//! ```text
//!  30     29  14  13      3  2     1     0
//! +------+-------+----------+-----+-----+----+
//! |HAS_WAITERS | STAMP | BYPASSED |STOOD|WOKEN|HELD|
//! +------+-------+----------+-----+-----+----+
//! ```
//! `STAMP` says in which poll the lock was taken (see [`gossamer_core::context::stamp`]); `STOOD` that the one who has
//! just left came in another one.

mod admission;

use alloc::rc::Rc;
#[cfg(feature = "std")]
use alloc::sync::Arc;
use core::fmt;
use core::panic::Location;

use gossamer_core::platform::UnsafeCell;
use gossamer_core::policy::LockPolicy;

use crate::constructors::constructors;
use crate::guard::{TryLockError, guard, guard_alone};
use crate::line::{Enter, Line, Waiting, leaves, operation, owned_operation};

use self::admission::Mutual;
pub use self::admission::{Barging, Fair, Order};

/// A value that one at a time may use.
///
/// `O` says whether those who wait may be passed: [`Barging`] (yes, but not for long) or [`Fair`] (no). Use it as
/// [`sync::Mutex`](crate::sync::Mutex), [`sync::FairMutex`](crate::sync::FairMutex), or those of
/// [`local`](crate::local).
///
/// There is no poisoning: a panic while the value is locked unlocks it, as any end of its guard does, and the next one
/// finds the value as it was left.
///
/// # Blocking
/// [`lock`](Mutex::lock) is a future: `.await` it in a task, `.wait()` for it in a fiber or a thread (tokio's
/// `blocking_lock`). The guard may be held across an `.await`.
///
/// # Cancellation
/// A lock that was asked for and dropped has not been taken; was it handed over already, the next in line has it.
///
/// # Examples
/// ```
/// use gossamer::Wait;
/// use gossamer::sync::Mutex;
///
/// let count = Mutex::new(1);
/// *count.lock().wait() += 1;
/// let held = count.try_lock()?;
/// assert_eq!(*held, 2);
/// assert!(count.try_lock().is_err());
/// # Ok::<(), gossamer::sync::TryLockError>(())
/// ```
pub struct Mutex<T: ?Sized, P: LockPolicy, O: Order = Barging> {
    line: Line<P, Mutual<O>>,
    value: UnsafeCell<T>,
}

#[cfg(all(not(any(loom, shuttle)), target_pointer_width = "64"))]
const _: () = assert!(size_of::<Mutex<u32, gossamer_core::policy::Local>>() == 24);

// SAFETY: `&Mutex` gives the value to one at a time, so `T: Send` is enough; the line is for any thread.
unsafe impl<T: ?Sized + Send, P: LockPolicy, O: Order> Sync for Mutex<T, P, O> where P::Word: Sync {}

constructors! {
    impl[T, O: Order] Mutex<T, P, O> {
        /// A value that nobody has locked.
        pub fn new(value: T) -> Self {
            Self {
                line: Line::<P, Mutual<O>>::new(0),
                value: UnsafeCell::new(value),
            }
        }
    }
    default[T: Default, O: Order] = Self::new(T::default());
    from[T, O: Order] = new;
}

impl<T, P: LockPolicy, O: Order> Mutex<T, P, O> {
    /// The value itself.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<T: ?Sized, P: LockPolicy, O: Order> Mutex<T, P, O> {
    /// Waits until the value is free, and locks it.
    #[doc(alias = "blocking_lock")]
    #[track_caller]
    #[inline(always)]
    pub fn lock(&self) -> Lock<'_, T, P, O> {
        self.lock_at(Location::caller())
    }

    /// [Locks](Mutex::lock) for a caller at `location`.
    #[inline(always)]
    pub(crate) fn lock_at(&self, location: &'static Location<'static>) -> Lock<'_, T, P, O> {
        Lock {
            waiting: Waiting::new(&self.line, Enter::new(0), location),
            mutex: self,
        }
    }

    /// Locks the value if that can be at once.
    ///
    /// # Errors
    /// Somebody has it or, of a fair one, waits for it.
    #[inline]
    pub fn try_lock(&self) -> Result<MutexGuard<'_, T, P, O>, TryLockError> {
        let has = self.line.try_arrive(0);
        has.then(|| MutexGuard::new(self))
            .ok_or(TryLockError::new())
    }

    /// Whether somebody has it at this moment.
    pub fn is_locked(&self) -> bool {
        admission::is_held(self.line.look())
    }

    /// The value, which nobody else can have now.
    pub fn get_mut(&mut self) -> &mut T {
        // SAFETY: `&mut self`: no guard exists, unless it was forgotten, and then nobody uses it.
        self.value.with_mut(|value| unsafe { &mut *value })
    }

    /// The holder leaves.
    #[inline(always)]
    fn unlock(&self) {
        let held = admission::taken(0);
        if !self
            .line
            .try_change_from(held, admission::leave_quickly::<O>)
        {
            self.line.change(admission::released);
        }
    }
}

/// Locking with a guard that owns the mutex, together with others.
macro_rules! owned_locks {
    ($policy:ty, $pointer:ident) => {
        impl<T: ?Sized, O: Order> Mutex<T, $policy, O> {
            /// Waits until the value is free, and locks it; the guard keeps the mutex alive, and borrows nothing.
            #[doc(alias = "blocking_lock_owned")]
            #[track_caller]
            pub fn lock_owned(self: $pointer<Self>) -> LockOwned<T, $policy, O> {
                LockOwned::new(self, 0, Location::caller())
            }

            /// As [`try_lock`](Mutex::try_lock), with a guard that keeps the mutex alive.
            ///
            /// # Errors
            /// Somebody has it or, of a fair one, waits for it.
            pub fn try_lock_owned(
                self: $pointer<Self>,
            ) -> Result<OwnedMutexGuard<T, $policy, O>, TryLockError> {
                let has = self.line.try_arrive(0);
                has.then(|| OwnedMutexGuard::new(self))
                    .ok_or(TryLockError::new())
            }
        }
    };
}
owned_locks!(gossamer_core::policy::Local, Rc);
#[cfg(feature = "std")]
owned_locks!(gossamer_core::policy::Shared, Arc);

operation! {
    /// [`Mutex::lock`]. Dropped unfinished, it has locked nothing.
    Lock['a, T: ?Sized, P: LockPolicy, O: Order]['a, T, P, O] by Mutual<O>, 0, mutex: Mutex<T, P, O>
        => MutexGuard<'a, T, P, O>: |this, _how| MutexGuard::new(this.mutex)
}

leaves! { Lock['a, T: ?Sized, P: LockPolicy, O: Order]['a, T, P, O]; }

owned_operation! {
    /// `lock_owned` of a [`Mutex`]. Dropped unfinished, it has locked nothing.
    LockOwned[T: ?Sized, P: LockPolicy, O: Order][T, P, O] by Mutual<O>, 0, Mutex<T, P, O>
        => OwnedMutexGuard<T, P, O>: |mutex, _, _| OwnedMutexGuard::new(mutex)
}

/// Shows the value, if nobody has it locked.
impl<T: ?Sized + fmt::Debug, P: LockPolicy, O: Order> fmt::Debug for Mutex<T, P, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Mutex");
        match self.try_lock() {
            Ok(value) => shown.field("data", &value).finish(),
            Err(_) => shown.field("data", &format_args!("<locked>")).finish(),
        }
    }
}

guard! {
    /// A locked value; dropped, also by a panic, it unlocks.
    ///
    /// It may be held across an `.await`, and one of [`sync`](crate::sync) may be dropped on another thread.
    MutexGuard['a, T: ?Sized, P: LockPolicy, O: Order]['a, T, P, O]
        by &'a Mutex<T, P, O>, like &'a mut T, |mutex| mutex.unlock()
}

guard! {
    /// A locked value, with the mutex itself: it may outlive all else that knows the mutex.
    ///
    /// # Examples
    /// ```
    /// use std::sync::Arc;
    /// use gossamer::sync::{Mutex, OwnedMutexGuard};
    /// use gossamer::{Runtime, Wait};
    ///
    /// let rt = Runtime::builder().build()?;
    /// let count = Arc::new(Mutex::new(0));
    /// let mut held: OwnedMutexGuard<i32> = count.clone().lock_owned().wait();
    /// // Locked here, it is unlocked by the task.
    /// let task = rt.spawn(async move { *held += 1 });
    /// task.wait()?;
    /// assert_eq!(*count.lock().wait(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    OwnedMutexGuard[T: ?Sized, P: LockPolicy, O: Order][T, P, O]
        by P::Counted<Mutex<T, P, O>>, like T, |mutex| mutex.unlock()
}

guard_alone! { MutexGuard['a, T: ?Sized, P: LockPolicy, O: Order]['a, T, P, O] }
guard_alone! { OwnedMutexGuard[T: ?Sized, P: LockPolicy, O: Order][T, P, O] }

impl<'a, T: ?Sized, P: LockPolicy, O: Order> MutexGuard<'a, T, P, O> {
    /// The mutex that it locks.
    pub fn mutex(guard: &Self) -> &'a Mutex<T, P, O> {
        guard.lock
    }
}

impl<T: ?Sized, P: LockPolicy, O: Order> OwnedMutexGuard<T, P, O> {
    /// The mutex that it locks.
    pub fn mutex(guard: &Self) -> &P::Counted<Mutex<T, P, O>> {
        &guard.lock
    }
}
