//! `RwLock`: many that read, or one that writes.
//!
//! First come, first served, readers and writers in one line; readers next to each other go together. A writer that
//! waits so holds back the readers that come after it, and no writer starves (Courtois, Heymans and Parnas 1971 tell
//! what happens otherwise).
//!
//! The bits: `WRITER`, or the number of readers.

use core::fmt;
use core::marker::PhantomData;
use core::mem;
use core::ops::{Deref, DerefMut};
use core::panic::Location;

use gossamer_core::platform::UnsafeCell;
use gossamer_core::policy::LockPolicy;

use crate::line::{Admission, Enter, HAS_WAITERS, Line, Waiting, constructors, leaves, operation};

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
/// fiber or a thread. The guards may be held across an `.await`.
///
/// # Cancellation
/// A lock that was asked for and dropped has not been taken; those behind it go.
///
/// # Examples
/// ```
/// # use gossamer::Wait;
/// use gossamer::sync::RwLock;
///
/// let place = RwLock::new(1);
/// {
///     let (one, two) = (place.read().wait(), place.read().wait());
///     assert_eq!(*one + *two, 2);
///     assert!(place.try_write().is_none());
/// }
/// *place.write().wait() = 5;
/// assert_eq!(place.into_inner(), 5);
/// ```
pub struct RwLock<T, P: LockPolicy> {
    line: Line<P, Access>,
    value: UnsafeCell<T>,
}

#[cfg(all(not(any(loom, shuttle)), target_pointer_width = "64"))]
const _: () = assert!(size_of::<RwLock<u32, gossamer_core::policy::Local>>() == 24);

// SAFETY: `&RwLock` gives the value to one at a time, or shows it to many: `T: Send + Sync`; the line is for any
// thread.
unsafe impl<T: Send + Sync, P: LockPolicy> Sync for RwLock<T, P> where P::Word: Sync {}

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
    /// Waits until nobody writes, and locks the value to read it.
    ///
    /// A reader that comes after a waiting writer waits behind it. (A reader also waits while 536,870,911 others read.)
    #[track_caller]
    #[inline(always)]
    pub fn read(&self) -> ReadLock<'_, T, P> {
        ReadLock {
            waiting: Waiting::new(&self.line, Enter::new(READS), Location::caller()),
            lock: self,
        }
    }

    /// Waits until nobody reads or writes, and locks the value to change it.
    #[track_caller]
    #[inline(always)]
    pub fn write(&self) -> WriteLock<'_, T, P> {
        WriteLock {
            waiting: Waiting::new(&self.line, Enter::new(WRITES), Location::caller()),
            lock: self,
        }
    }

    /// Locks the value to read it, if nobody writes and nobody waits.
    #[inline]
    pub fn try_read(&self) -> Option<ReadGuard<'_, T, P>> {
        self.line.try_arrive(READS).then(|| self.reads())
    }

    /// Locks the value to change it, if nobody has it and nobody waits.
    #[inline]
    pub fn try_write(&self) -> Option<WriteGuard<'_, T, P>> {
        self.line.try_arrive(WRITES).then(|| self.writes())
    }

    /// The value, which nobody else can have now.
    pub fn get_mut(&mut self) -> &mut T {
        // SAFETY: `&mut self`: no guard exists, unless it was forgotten, and then nobody uses it.
        self.value.with_mut(|value| unsafe { &mut *value })
    }

    /// The value itself.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }

    /// It has just been locked to be read.
    #[inline(always)]
    fn reads(&self) -> ReadGuard<'_, T, P> {
        ReadGuard {
            lock: self,
            _value: PhantomData,
        }
    }

    /// It has just been locked to be changed.
    #[inline(always)]
    fn writes(&self) -> WriteGuard<'_, T, P> {
        WriteGuard {
            lock: self,
            _value: PhantomData,
        }
    }

    /// One that reads, or the one that writes, leaves.
    #[inline(always)]
    fn leave(&self, wants: usize) {
        let leave = |bits| Access::give_back(bits, wants);
        // Others that read stay, or nobody waits.
        let quickly =
            |bits: u32| (bits & HAS_WAITERS == 0 || bits & READERS > 1).then(|| leave(bits));
        if !self.line.try_change(quickly) {
            self.line.change(leave);
        }
    }
}

operation! {
    /// [`RwLock::read`]. Dropped unfinished, it has locked nothing.
    ReadLock['a, T, P: LockPolicy]['a, T, P] by Access, READS, lock: RwLock<T, P>
        => ReadGuard<'a, T, P>: |this, _how| this.lock.reads()
}

operation! {
    /// [`RwLock::write`]. Dropped unfinished, it has locked nothing.
    WriteLock['a, T, P: LockPolicy]['a, T, P] by Access, WRITES, lock: RwLock<T, P>
        => WriteGuard<'a, T, P>: |this, _how| this.lock.writes()
}

leaves! {
    ReadLock['a, T, P: LockPolicy]['a, T, P];
    WriteLock['a, T, P: LockPolicy]['a, T, P];
}

/// Shows the value, if nobody has it locked to write, or waits for that.
impl<T: fmt::Debug, P: LockPolicy> fmt::Debug for RwLock<T, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.try_read() {
            Some(value) => f.debug_tuple("RwLock").field(&value).finish(),
            None => f.write_str("RwLock(<locked>)"),
        }
    }
}

/// A value locked to be read; dropped, also by a panic, it unlocks.
#[must_use = "dropped at once, it unlocks at once"]
pub struct ReadGuard<'a, T, P: LockPolicy> {
    lock: &'a RwLock<T, P>,
    /// `Send` and `Sync` as a `&T` is.
    _value: PhantomData<&'a T>,
}

/// A value locked to be changed; dropped, also by a panic, it unlocks.
#[must_use = "dropped at once, it unlocks at once"]
pub struct WriteGuard<'a, T, P: LockPolicy> {
    lock: &'a RwLock<T, P>,
    /// `Send` and `Sync` as a `&mut T` is.
    _value: PhantomData<&'a mut T>,
}

impl<'a, T, P: LockPolicy> WriteGuard<'a, T, P> {
    /// Reads from now on, without letting anybody write in between; and so do those that wait to read, up to the first
    /// that waits to write.
    ///
    /// # Examples
    /// ```
    /// use gossamer::sync::{RwLock, WriteGuard};
    ///
    /// let lock = RwLock::new(1);
    /// let mut writes = lock.try_write().expect("nobody has it");
    /// *writes += 1;
    /// let reads = WriteGuard::downgrade(writes);
    /// assert_eq!(*reads, 2);
    /// assert!(lock.try_read().is_some());
    /// ```
    pub fn downgrade(guard: Self) -> ReadGuard<'a, T, P> {
        let lock = guard.lock;
        // It must not unlock.
        mem::forget(guard);
        let turns = |bits| Access::give_back(bits, WRITES) + 1;
        if !gossamer_core::mutant!("downgrade_wakes_nobody") {
            lock.line.change(turns);
        } else {
            lock.line.try_change(|bits| Some(turns(bits)));
        }
        lock.reads()
    }
}

impl<T, P: LockPolicy> Deref for ReadGuard<'_, T, P> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: while somebody reads, nobody writes; borrowed from the guard.
        self.lock.value.with(|value| unsafe { &*value })
    }
}

impl<T, P: LockPolicy> Deref for WriteGuard<'_, T, P> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: the guard is the only one, and borrowed as long as the result.
        self.lock.value.with(|value| unsafe { &*value })
    }
}

impl<T, P: LockPolicy> DerefMut for WriteGuard<'_, T, P> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the guard is the only one, and borrowed for this alone as long as the result.
        self.lock.value.with_mut(|value| unsafe { &mut *value })
    }
}

impl<T, P: LockPolicy> Drop for ReadGuard<'_, T, P> {
    #[inline(always)]
    fn drop(&mut self) {
        self.lock.leave(READS);
    }
}

impl<T, P: LockPolicy> Drop for WriteGuard<'_, T, P> {
    #[inline(always)]
    fn drop(&mut self) {
        self.lock.leave(WRITES);
    }
}

impl<T: fmt::Debug, P: LockPolicy> fmt::Debug for ReadGuard<'_, T, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl<T: fmt::Debug, P: LockPolicy> fmt::Debug for WriteGuard<'_, T, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

#[cfg(test)]
mod tests;
