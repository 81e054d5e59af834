//! `RwLock`: many that read, or one that writes.
//!
//! First come, first served, readers and writers in one line; readers next to each other go together. A writer that
//! waits so holds back the readers that come after it, and no writer starves (Courtois, Heymans and Parnas 1971 tell
//! what happens otherwise).
//!
//! The bits: `WRITER`, or the number of readers.

use alloc::rc::Rc;
#[cfg(feature = "std")]
use alloc::sync::Arc;
use core::fmt;
use core::mem::ManuallyDrop;
use core::panic::Location;

use gossamer_core::platform::UnsafeCell;
use gossamer_core::policy::LockPolicy;

use crate::constructors::constructors;
use crate::guard::{TryLockError, guard, guard_alone};
use crate::line::{
    Admission, Enter, HAS_WAITERS, Line, Waiting, leaves, operation, owned_operation,
};

/// A writer holds the lock.
const WRITER: u32 = 1 << 29;
/// The bits that count the readers that hold the lock.
const READERS: u32 = WRITER - 1;

const READS: usize = 0;
const WRITES: usize = 1;

/// The rules of a lock for readers and writers: an operation wants to read or to write.
pub(crate) struct Access;

impl Admission for Access {
    const NAMES: &'static [&'static str] = &["RwLock::read", "RwLock::write"];
    const IS_LOCK: bool = true;

    fn holder(bits: u32) -> Option<u32> {
        (bits & WRITER != 0).then_some(WRITER)
    }

    #[inline(always)]
    fn grant(bits: u32, wants: usize) -> Option<u32> {
        if wants == WRITES {
            (bits & (WRITER | READERS) == 0).then_some(bits | WRITER)
        } else {
            (bits & WRITER == 0 && bits & READERS != READERS).then_some(bits + 1)
        }
    }

    #[inline(always)]
    fn arrive(bits: u32, wants: usize) -> Option<u32> {
        let passes = wants == READS && gossamer_core::mutant!("readers_pass_writers");
        if bits & HAS_WAITERS == 0 || passes {
            Self::grant(bits, wants)
        } else {
            None
        }
    }

    fn give_back(bits: u32, wants: usize) -> u32 {
        if wants == WRITES {
            bits & !WRITER
        } else {
            bits - 1
        }
    }
}

/// A value that many may read, or one may change.
///
/// Use it as [`sync::RwLock`](crate::sync::RwLock) or [`local::RwLock`](crate::local::RwLock). A task that has it and
/// asks for it again waits for itself, also if it only reads: a writer may have come in between.
///
/// There is no poisoning: a panic while the value is locked unlocks it.
///
/// # Blocking
/// [`read`](RwLock::read) and [`write`](RwLock::write) are futures: `.await` them in a task, `.wait()` for them in a
/// fiber or a thread (tokio's `blocking_read` and `blocking_write`). The guards may be held across an `.await`.
///
/// # Cancellation
/// A lock that was asked for and dropped has not been taken; those behind it go.
///
/// # Examples
/// ```
/// use gossamer::Wait;
/// use gossamer::sync::RwLock;
///
/// let place = RwLock::new(1);
/// {
///     let (one, two) = (place.read().wait(), place.read().wait());
///     assert_eq!(*one + *two, 2);
///     assert!(place.try_write().is_err());
/// }
/// *place.write().wait() = 5;
/// assert_eq!(place.into_inner(), 5);
/// ```
pub struct RwLock<T: ?Sized, P: LockPolicy> {
    line: Line<P, Access>,
    value: UnsafeCell<T>,
}

#[cfg(all(not(any(loom, shuttle)), target_pointer_width = "64"))]
const _: () = assert!(size_of::<RwLock<u32, gossamer_core::policy::Local>>() == 24);

// SAFETY: `&RwLock` gives the value to one at a time, or shows it to many: `T: Send + Sync`; the line is for any
// thread.
unsafe impl<T: ?Sized + Send + Sync, P: LockPolicy> Sync for RwLock<T, P> where P::Word: Sync {}

constructors! {
    impl[T] RwLock<T, P> {
        /// A value that nobody has locked.
        pub fn new(value: T) -> Self {
            Self {
                line: Line::<P, Access>::new(0),
                value: UnsafeCell::new(value),
            }
        }
    }
    default[T: Default] = Self::new(T::default());
    from[T] = new;
}

impl<T, P: LockPolicy> RwLock<T, P> {
    /// The value itself.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<T: ?Sized, P: LockPolicy> RwLock<T, P> {
    /// Waits until nobody writes, and locks the value to read it.
    ///
    /// A reader that comes after a waiting writer waits behind it. (A reader also waits while 536,870,911 others read.)
    #[doc(alias = "blocking_read")]
    #[track_caller]
    #[inline(always)]
    pub fn read(&self) -> ReadLock<'_, T, P> {
        ReadLock {
            waiting: Waiting::new(&self.line, Enter::new(READS), Location::caller()),
            lock: self,
        }
    }

    /// Waits until nobody reads or writes, and locks the value to change it.
    #[doc(alias = "blocking_write")]
    #[track_caller]
    #[inline(always)]
    pub fn write(&self) -> WriteLock<'_, T, P> {
        WriteLock {
            waiting: Waiting::new(&self.line, Enter::new(WRITES), Location::caller()),
            lock: self,
        }
    }

    /// Locks the value to read it, if that can be at once.
    ///
    /// # Errors
    /// Somebody writes, or waits.
    #[inline]
    pub fn try_read(&self) -> Result<RwLockReadGuard<'_, T, P>, TryLockError> {
        self.try_arrive(READS)?;
        Ok(RwLockReadGuard::new(self))
    }

    /// Locks the value to change it, if that can be at once.
    ///
    /// # Errors
    /// Somebody has it, or waits.
    #[inline]
    pub fn try_write(&self) -> Result<RwLockWriteGuard<'_, T, P>, TryLockError> {
        self.try_arrive(WRITES)?;
        Ok(RwLockWriteGuard::new(self))
    }

    #[inline(always)]
    fn try_arrive(&self, wants: usize) -> Result<(), TryLockError> {
        let has = self.line.try_arrive(wants);
        has.then_some(()).ok_or(TryLockError::new())
    }

    /// The value, which nobody else can have now.
    pub fn get_mut(&mut self) -> &mut T {
        // SAFETY: `&mut self`: no guard exists, unless it was forgotten, and then nobody uses it.
        self.value.with_mut(|value| unsafe { &mut *value })
    }

    /// One that reads, or the one that writes, leaves.
    #[inline(always)]
    fn leave(&self, wants: usize) {
        if wants == WRITES {
            self.line.record_left();
        }
        let leave = |bits| Access::give_back(bits, wants);
        // Others that read stay, or nobody waits.
        let quickly =
            |bits: u32| (bits & HAS_WAITERS == 0 || bits & READERS > 1).then(|| leave(bits));
        if !self.line.try_change(quickly) {
            self.line.change(leave);
        }
    }

    /// The one that writes reads from now on.
    fn turn_to_reading(&self) {
        gossamer_core::context::simulated::lets_go(&self.line);
        self.line.record_left();
        let turns = |bits| Access::give_back(bits, WRITES) + 1;
        if gossamer_core::mutant!("downgrade_wakes_nobody") {
            self.line.try_change(|bits| Some(turns(bits)));
        } else {
            self.line.change(turns);
        }
    }
}

/// Locking with guards that own the lock, together with others.
macro_rules! owned_locks {
    ($policy:ty, $pointer:ident) => {
        impl<T: ?Sized> RwLock<T, $policy> {
            /// Waits until nobody writes, and locks the value to read it; the guard keeps the lock alive, and borrows
            /// nothing.
            #[track_caller]
            pub fn read_owned(self: $pointer<Self>) -> ReadLockOwned<T, $policy> {
                ReadLockOwned::new(self, READS, Location::caller())
            }

            /// Waits until nobody reads or writes, and locks the value to change it; the guard keeps the lock alive, and
            /// borrows nothing.
            #[track_caller]
            pub fn write_owned(self: $pointer<Self>) -> WriteLockOwned<T, $policy> {
                WriteLockOwned::new(self, WRITES, Location::caller())
            }

            /// As [`try_read`](RwLock::try_read), with a guard that keeps the lock alive.
            ///
            /// # Errors
            /// Somebody writes, or waits.
            pub fn try_read_owned(
                self: $pointer<Self>,
            ) -> Result<OwnedRwLockReadGuard<T, $policy>, TryLockError> {
                self.try_arrive(READS)?;
                Ok(OwnedRwLockReadGuard::new(self))
            }

            /// As [`try_write`](RwLock::try_write), with a guard that keeps the lock alive.
            ///
            /// # Errors
            /// Somebody has it, or waits.
            pub fn try_write_owned(
                self: $pointer<Self>,
            ) -> Result<OwnedRwLockWriteGuard<T, $policy>, TryLockError> {
                self.try_arrive(WRITES)?;
                Ok(OwnedRwLockWriteGuard::new(self))
            }
        }
    };
}
owned_locks!(gossamer_core::policy::Local, Rc);
#[cfg(feature = "std")]
owned_locks!(gossamer_core::policy::Shared, Arc);

operation! {
    /// [`RwLock::read`]. Dropped unfinished, it has locked nothing.
    ReadLock['a, T: ?Sized, P: LockPolicy]['a, T, P] by Access, READS, lock: RwLock<T, P>
        => RwLockReadGuard<'a, T, P>: |this, _how| RwLockReadGuard::new(this.lock)
}

operation! {
    /// [`RwLock::write`]. Dropped unfinished, it has locked nothing.
    WriteLock['a, T: ?Sized, P: LockPolicy]['a, T, P] by Access, WRITES, lock: RwLock<T, P>
        => RwLockWriteGuard<'a, T, P>: |this, _how| RwLockWriteGuard::new(this.lock)
}

leaves! {
    ReadLock['a, T: ?Sized, P: LockPolicy]['a, T, P];
    WriteLock['a, T: ?Sized, P: LockPolicy]['a, T, P];
}

owned_operation! {
    /// `read_owned` of an [`RwLock`]. Dropped unfinished, it has locked nothing.
    ReadLockOwned[T: ?Sized, P: LockPolicy][T, P] by Access, READS, RwLock<T, P>
        => OwnedRwLockReadGuard<T, P>: |lock, _, _| OwnedRwLockReadGuard::new(lock)
}

owned_operation! {
    /// `write_owned` of an [`RwLock`]. Dropped unfinished, it has locked nothing.
    WriteLockOwned[T: ?Sized, P: LockPolicy][T, P] by Access, WRITES, RwLock<T, P>
        => OwnedRwLockWriteGuard<T, P>: |lock, _, _| OwnedRwLockWriteGuard::new(lock)
}

/// Shows the value, if nobody has it locked to write, or waits for that.
impl<T: ?Sized + fmt::Debug, P: LockPolicy> fmt::Debug for RwLock<T, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("RwLock");
        match self.try_read() {
            Ok(value) => shown.field("data", &value).finish(),
            Err(_) => shown.field("data", &format_args!("<locked>")).finish(),
        }
    }
}

guard! {
    /// A value locked to be read; dropped, also by a panic, it unlocks.
    RwLockReadGuard['a, T: ?Sized, P: LockPolicy]['a, T, P]
        by &'a RwLock<T, P>, like &'a T, |lock| lock.leave(READS)
}

guard! {
    /// A value locked to be changed; dropped, also by a panic, it unlocks.
    RwLockWriteGuard['a, T: ?Sized, P: LockPolicy]['a, T, P]
        by &'a RwLock<T, P>, like &'a mut T, |lock| lock.leave(WRITES)
}

guard! {
    /// A value locked to be read, with the lock itself: it may outlive all else that knows the lock.
    OwnedRwLockReadGuard[T: ?Sized, P: LockPolicy][T, P]
        by P::Counted<RwLock<T, P>>, like T, |lock| lock.leave(READS)
}

guard! {
    /// A value locked to be changed, with the lock itself: it may outlive all else that knows the lock.
    OwnedRwLockWriteGuard[T: ?Sized, P: LockPolicy][T, P]
        by P::Counted<RwLock<T, P>>, like T, |lock| lock.leave(WRITES)
}

guard_alone! { RwLockWriteGuard['a, T: ?Sized, P: LockPolicy]['a, T, P] }
guard_alone! { OwnedRwLockWriteGuard[T: ?Sized, P: LockPolicy][T, P] }

impl<'a, T: ?Sized, P: LockPolicy> RwLockWriteGuard<'a, T, P> {
    /// Reads from now on, without letting anybody write in between; and so do those that wait to read, up to the first
    /// that waits to write.
    ///
    /// # Examples
    /// ```
    /// use gossamer::sync::RwLock;
    ///
    /// let lock = RwLock::new(1);
    /// let mut writes = lock.try_write()?;
    /// *writes += 1;
    /// let reads = writes.downgrade();
    /// assert_eq!(*reads, 2);
    /// assert!(lock.try_read().is_ok());
    /// # Ok::<(), gossamer::sync::TryLockError>(())
    /// ```
    pub fn downgrade(self) -> RwLockReadGuard<'a, T, P> {
        // It must not unlock. The new guard does, also if a waker panics that is called meanwhile.
        let reads = RwLockReadGuard::new(ManuallyDrop::new(self).lock);
        reads.lock.turn_to_reading();
        reads
    }
}

impl<T: ?Sized, P: LockPolicy> OwnedRwLockWriteGuard<T, P> {
    /// As [`RwLockWriteGuard::downgrade`].
    pub fn downgrade(self) -> OwnedRwLockReadGuard<T, P> {
        let guard = ManuallyDrop::new(self);
        // SAFETY: the guard is not dropped, so the pointer has one owner.
        let lock = unsafe { core::ptr::read(&guard.lock) };
        let reads = OwnedRwLockReadGuard::<T, P>::new(lock);
        reads.lock.turn_to_reading();
        reads
    }
}

#[cfg(test)]
mod tests;
