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

use core::fmt;
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};
use core::panic::Location;

use gossamer_core::platform::UnsafeCell;
use gossamer_core::policy::LockPolicy;

use crate::line::{Enter, Line, Waiting, constructors, leaves, operation};

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
/// [`lock`](Mutex::lock) is a future: `.await` it in a task, `.wait()` for it in a fiber or a thread. The guard may be
/// held across an `.await`.
///
/// # Cancellation
/// A lock that was asked for and dropped has not been taken; was it handed over already, the next in line has it.
///
/// # Examples
/// ```
/// # use gossamer::Wait;
/// use gossamer::sync::Mutex;
///
/// let count = Mutex::new(1);
/// *count.lock().wait() += 1;
/// let held = count.try_lock().expect("nobody has it");
/// assert_eq!(*held, 2);
/// assert!(count.try_lock().is_none());
/// ```
pub struct Mutex<T, P: LockPolicy, O: Order = Barging> {
    line: Line<P, Mutual<O>>,
    value: UnsafeCell<T>,
}

#[cfg(all(not(any(loom, shuttle)), target_pointer_width = "64"))]
const _: () = assert!(size_of::<Mutex<u32, gossamer_core::policy::Local>>() == 24);

// SAFETY: `&Mutex` gives the value to one at a time, so `T: Send` is enough; the line is for any thread.
unsafe impl<T: Send, P: LockPolicy, O: Order> Sync for Mutex<T, P, O> where P::Word: Sync {}

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
    /// Waits until the value is free, and locks it.
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

    /// Locks the value if that can be at once: nobody has it and, in a fair one, nobody waits for it.
    #[inline]
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T, P, O>> {
        self.line.try_arrive(0).then(|| self.guard())
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

    /// The value itself.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }

    /// The lock has just been taken.
    #[inline(always)]
    fn guard(&self) -> MutexGuard<'_, T, P, O> {
        MutexGuard {
            mutex: self,
            _value: PhantomData,
        }
    }
}

operation! {
    /// [`Mutex::lock`]. Dropped unfinished, it has locked nothing.
    Lock['a, T, P: LockPolicy, O: Order]['a, T, P, O] by Mutual<O>, 0, mutex: Mutex<T, P, O>
        => MutexGuard<'a, T, P, O>: |this, _how| this.mutex.guard()
}

leaves! { Lock['a, T, P: LockPolicy, O: Order]['a, T, P, O]; }

/// Shows the value, if nobody has it locked.
impl<T: fmt::Debug, P: LockPolicy, O: Order> fmt::Debug for Mutex<T, P, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.try_lock() {
            Some(value) => f.debug_tuple("Mutex").field(&value).finish(),
            None => f.write_str("Mutex(<locked>)"),
        }
    }
}

/// A locked value; dropped, also by a panic, it unlocks.
///
/// It may be held across an `.await`, and one of [`sync`](crate::sync) may be dropped on another thread.
#[must_use = "dropped at once, it unlocks at once"]
pub struct MutexGuard<'a, T, P: LockPolicy, O: Order = Barging> {
    mutex: &'a Mutex<T, P, O>,
    /// `Send` and `Sync` as a `&mut T` is.
    _value: PhantomData<&'a mut T>,
}

impl<'a, T, P: LockPolicy, O: Order> MutexGuard<'a, T, P, O> {
    /// The mutex it locks.
    pub(crate) fn mutex(&self) -> &'a Mutex<T, P, O> {
        self.mutex
    }
}

impl<T, P: LockPolicy, O: Order> Deref for MutexGuard<'_, T, P, O> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: the guard is the only one, and borrowed as long as the result.
        self.mutex.value.with(|value| unsafe { &*value })
    }
}

impl<T, P: LockPolicy, O: Order> DerefMut for MutexGuard<'_, T, P, O> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the guard is the only one, and borrowed for this alone as long as the result.
        self.mutex.value.with_mut(|value| unsafe { &mut *value })
    }
}

impl<T, P: LockPolicy, O: Order> Drop for MutexGuard<'_, T, P, O> {
    #[inline(always)]
    fn drop(&mut self) {
        let line = &self.mutex.line;
        if !line.try_change(admission::leave_quickly::<O>) {
            line.change(admission::released);
        }
    }
}

impl<T: fmt::Debug, P: LockPolicy, O: Order> fmt::Debug for MutexGuard<'_, T, P, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}
