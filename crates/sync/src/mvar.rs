//! `MVar`: an `MVar` that is empty or holds one value; the synchronised variable of Id (Barth,
//! Nikhil, Arvind 1991) and Concurrent Haskell (Peyton Jones, Gordon, Finne 1996).
//!
//! # Protocol
//!
//! A hand-over *reserves*. Whoever fills the `MVar` with takers waiting marks it `RESERVED` and wakes
//! the first taker; the value stays in the `MVar` until that taker's own poll takes it. Whoever
//! empties it with putters waiting does the same for the first putter. So dropping an operation at
//! any moment loses nothing: if something was reserved for it, the mark moves on to the next in
//! line or is cleared.
//!
//! | FULL | RESERVED | BUSY | meaning | may go at once | waiting |
//! | --- | --- | --- | --- | --- | --- |
//! | 0 | 0 | 0 | empty | put, replace | takers |
//! | 1 | 0 | 0 | full | take, read, swap, replace | putters |
//! | 0 | 1 | 0 | empty, promised to the first putter | replace | both |
//! | 1 | 1 | 0 | full, promised to the first taker | replace | both |
//! | 1 | 1 | 1 | full, and the value is being cloned by a reader | nothing | both |
//!
//! *Takers* are take, read and swap in one line (and a replace that came while BUSY, before all of
//! them); *putters* another. The first of a line is the one the `MVar` is promised to. The other
//! combinations do not occur.

mod action;
mod op;
mod quick;

use core::fmt;
use core::mem::MaybeUninit;
use core::panic::Location;
use core::pin::Pin;
use core::task::{Context, Poll, ready};

use gossamer_core::platform::UnsafeCell;
use gossamer_core::policy::{Local, LocalWord, LockPolicy, Word};
#[cfg(feature = "std")]
use gossamer_core::policy::{Shared, SharedWord};
use gossamer_core::wait_queue::Waitable;
use gossamer_core::waiter::{Deferred, WaitList};

use self::op::{Op, Turn};

/// There is a value.
const FULL: u32 = 1;
/// The value, or the empty place, is promised to the first of its line.
const RESERVED: u32 = 2;
/// A reader clones the value, without the lock.
const BUSY: u32 = 4;
/// Exactly one operation waits, and its list is inline (see [`gossamer_core::waiter`]): a taker if the `MVar`
/// is empty and not promised, or full and promised to it; else a putter. Only where operations stay on
/// their thread, and only on the quick way: [`MVar::lock`] settles it.
const INLINE: u32 = 8;
/// Operations wait in proper lists; without this mark the lists say nothing, unless they are [`INLINE`]: they may name
/// a inline waiter that has left. Kept only where there is a quick way, which it closes; the general way looks at the
/// lists: [`MVar::lock`] takes it off, [`MVar::unlock`] puts it on.
const HAS_WAITERS: u32 = 16;

/// An `MVar` that is empty or holds one value; both taking and putting can wait.
///
/// Waiting operations are served first come, first served; one change of the `MVar` wakes one of them,
/// and the one that is woken completes (as GHC promises), unless a [`replace`](MVar::replace)
/// overtakes a woken putter.
///
/// A take makes the next put possible and the other way round, so an `MVar<()>` is a lock, an
/// `MVar<T>` a channel of one, and a pair of them a rendezvous.
///
/// Use it as [`sync::MVar`](crate::sync::MVar) or [`local::MVar`](crate::local::MVar).
///
/// # Blocking
/// Every operation is a future: `.await` it in a task, `.wait()` for it in a thread. The `try_`
/// operations never wait. (In a simulation a `try_` operation takes place at the scheduling point of the
/// operation before it.)
///
/// # Cancellation
/// An operation dropped unfinished has not happened: no value is lost, and if the `MVar` was promised
/// to it, the next in line is woken.
///
/// # Examples
/// ```
/// # use gossamer_core::wait::Wait;
/// use gossamer_sync::sync::MVar;
///
/// let place = MVar::new(1);
/// assert_eq!(place.take().wait(), 1);
/// assert_eq!(place.try_take(), None);
/// place.put(2).wait();
/// assert_eq!(place.replace(3).wait(), Some(2));
/// assert_eq!(place.read().wait(), 3);
/// ```
pub struct MVar<T, P: LockPolicy> {
    word: P::Word,
    value: UnsafeCell<MaybeUninit<T>>,
    takers: WaitList,
    putters: WaitList,
}

#[cfg(all(not(any(loom, shuttle)), target_pointer_width = "64"))]
const _: () = assert!(size_of::<MVar<u32, Local>>() == 24);
#[cfg(all(not(any(loom, shuttle)), target_pointer_width = "64", feature = "std"))]
const _: () = assert!(size_of::<MVar<u32, Shared>>() == 24);

// SAFETY: only values move between threads, and everything else is under an atomic lock.
unsafe impl<T: Send, P: LockPolicy> Send for MVar<T, P> where P::Word: Sync {}
// SAFETY: as above; `&MVar` gives out `T` only by value, or clones under the reservation.
unsafe impl<T: Send, P: LockPolicy> Sync for MVar<T, P> where P::Word: Sync {}

macro_rules! constructors {
    ($policy:ty, $word:ty, $($const:tt)?) => {
        impl<T> MVar<T, $policy> {
            /// An empty `MVar`.
            pub $($const)? fn empty() -> Self {
                Self {
                    word: <$word>::new(0),
                    value: UnsafeCell::new(MaybeUninit::uninit()),
                    takers: WaitList::new(),
                    putters: WaitList::new(),
                }
            }

            /// An `MVar` that holds `value`.
            pub $($const)? fn new(value: T) -> Self {
                Self {
                    word: <$word>::new(FULL),
                    value: UnsafeCell::new(MaybeUninit::new(value)),
                    takers: WaitList::new(),
                    putters: WaitList::new(),
                }
            }
        }

        impl<T> Default for MVar<T, $policy> {
            /// An empty `MVar`.
            fn default() -> Self {
                Self::empty()
            }
        }
    };
}

#[cfg(not(loom))]
constructors!(Local, LocalWord, const);
#[cfg(all(not(loom), feature = "std"))]
constructors!(Shared, SharedWord, const);
#[cfg(loom)]
constructors!(Local, LocalWord,);
#[cfg(all(loom, feature = "std"))]
constructors!(Shared, SharedWord,);

impl<T, P: LockPolicy> MVar<T, P> {
    /// Waits for a value and takes it, leaving the `MVar` empty.
    #[track_caller]
    #[inline(always)]
    pub fn take(&self) -> Take<'_, T, P> {
        Take(Op::new(self, Turn(action::Take), Location::caller()))
    }

    /// Waits until the `MVar` is empty and puts `value` there.
    #[track_caller]
    #[inline(always)]
    pub fn put(&self, value: T) -> Put<'_, T, P> {
        Put(Op::new(
            self,
            Turn(action::Put(MaybeUninit::new(value))),
            Location::caller(),
        ))
    }

    /// Waits for a value and clones it, leaving it there. The next in line may then take or read it.
    ///
    /// The clone is made without any lock held; other operations wait in line meanwhile.
    #[track_caller]
    #[inline(always)]
    pub fn read(&self) -> Read<'_, T, P>
    where
        T: Clone,
    {
        Read(Op::new(self, Turn(action::Read), Location::caller()))
    }

    /// Waits for a value and exchanges it for `value`, in one step.
    #[track_caller]
    #[inline(always)]
    pub fn swap(&self, value: T) -> Swap<'_, T, P> {
        Swap(Op::new(
            self,
            Turn(action::Swap(MaybeUninit::new(value))),
            Location::caller(),
        ))
    }

    /// The relaxed put of Lwt's day: puts `value` whether or not there is a value, and gives the old
    /// one back.
    ///
    /// * Empty, a taker waiting: the value goes to the first one; `None`.
    /// * Empty, nobody waiting: `None`.
    /// * Full: the old value comes back, also if it was promised to a woken taker, which will
    ///   find the new one. Waiting putters go on waiting.
    /// * Empty, but promised to a woken putter: `None`, and that putter goes on waiting, still
    ///   first in its line.
    ///
    /// # Blocking
    /// Waits only while another thread is inside `T::clone` for a [`read`](MVar::read); complete at its
    /// first poll otherwise. If several wait so, the one that came last goes first.
    #[track_caller]
    #[inline(always)]
    pub fn replace(&self, value: T) -> Replace<'_, T, P> {
        Replace(Op::new(
            self,
            Turn(action::Replace(MaybeUninit::new(value))),
            Location::caller(),
        ))
    }

    /// Takes the value, if there is one that is not promised to a waiting taker.
    pub fn try_take(&self) -> Option<T> {
        self.try_act(&mut action::Take)
    }

    /// Puts `value`, if the `MVar` is empty and not promised to a waiting putter.
    ///
    /// # Errors
    /// Gives the value back.
    pub fn try_put(&self, value: T) -> Result<(), T> {
        let mut act = action::Put(MaybeUninit::new(value));
        // SAFETY: when the act did not take place, the value is still there.
        self.try_act(&mut act)
            .ok_or_else(|| unsafe { act.0.assume_init() })
    }

    /// Exchanges the value, if there is one that is not promised to a waiting taker.
    ///
    /// # Errors
    /// Gives `value` back.
    pub fn try_swap(&self, value: T) -> Result<T, T> {
        let mut act = action::Swap(MaybeUninit::new(value));
        // SAFETY: when the act did not take place, the value is still there.
        self.try_act(&mut act)
            .ok_or_else(|| unsafe { act.0.assume_init() })
    }

    /// Does what [`replace`](MVar::replace) does, unless another thread is inside `T::clone`.
    ///
    /// # Errors
    /// Gives `value` back.
    pub fn try_replace(&self, value: T) -> Result<Option<T>, T> {
        let mut act = action::Replace(MaybeUninit::new(value));
        // SAFETY: when the act did not take place, the value is still there.
        self.try_act(&mut act)
            .ok_or_else(|| unsafe { act.0.assume_init() })
    }

    /// Clones the value, if there is one that is not promised to a waiting taker.
    pub fn try_read(&self) -> Option<T>
    where
        T: Clone,
    {
        let bits = self.lock();
        if bits & (FULL | RESERVED) != FULL {
            self.unlock(bits);
            return None;
        }
        self.unlock(bits | RESERVED | BUSY);
        // SAFETY: the marks are set.
        Some(unsafe { self.clone_value() })
    }

    /// Whether there is no value at this moment.
    pub fn is_empty(&self) -> bool {
        let bits = self.lock();
        self.unlock(bits);
        bits & FULL == 0
    }

    #[inline(always)]
    fn try_act<A: action::MVarAction<T>>(&self, act: &mut A) -> Option<A::Output> {
        if P::THREAD_BOUND && A::IS_PLAIN {
            let bits = self.word.lock();
            // SAFETY: under the lock.
            if let Some(output) = unsafe { self.act_quickly(act, bits) } {
                return Some(output);
            }
        }
        self.try_act_slowly(act)
    }

    fn try_act_slowly<A: action::MVarAction<T>>(&self, act: &mut A) -> Option<A::Output> {
        let bits = self.lock();
        if A::may_go(bits) {
            // SAFETY: the lock is held, and the act may go.
            Some(unsafe { act.finish(self, bits) })
        } else {
            self.unlock(bits);
            None
        }
    }

    /// Clones the value without the lock, then serves the next in line.
    ///
    /// # Safety
    /// The caller has found the `MVar` full and promised to nobody, and has marked it `RESERVED` and `BUSY` since.
    unsafe fn clone_value(&self) -> T
    where
        T: Clone,
    {
        /// Ends the reading, also when `clone` panics.
        struct Reading<'a, T, P: LockPolicy>(&'a MVar<T, P>);
        impl<T, P: LockPolicy> Drop for Reading<'_, T, P> {
            fn drop(&mut self) {
                let bits = self.0.lock() & !action::reader_marks();
                self.0.wake_ready(bits);
            }
        }
        let _reading = Reading(self);
        // SAFETY: BUSY keeps everybody else from the value, and it is there.
        self.value
            .with(|place| unsafe { (*place).assume_init_ref().clone() })
    }
}

// SAFETY: the word is a lock, an atomic one unless it is `Local`'s.
unsafe impl<T, P: LockPolicy> Waitable for MVar<T, P> {
    const THREAD_BOUND: bool = P::THREAD_BOUND;

    /// For anything but the quick way: no list is inline then.
    #[inline(always)]
    fn lock(&self) -> u32 {
        let bits = self.word.lock();
        if !P::THREAD_BOUND {
            return bits;
        }
        if bits & INLINE != 0 {
            return self.spill_inline(bits);
        }
        if bits & HAS_WAITERS == 0 && !gossamer_core::mutant!("inline_leaves_traces") {
            self.takers.forget_inline();
            self.putters.forget_inline();
        }
        bits & !HAS_WAITERS
    }

    #[inline(always)]
    fn unlock(&self, bits: u32) {
        let has_waiters = P::THREAD_BOUND && self.has_waiters();
        self.word.unlock(if has_waiters {
            bits | HAS_WAITERS
        } else {
            bits
        });
    }

    #[inline(always)]
    fn has_waiters(&self) -> bool {
        !(self.takers.is_empty() && self.putters.is_empty())
    }

    /// Promises the `MVar` to the first of the line that can go, if it is promised to nobody.
    #[inline(always)]
    unsafe fn wake_next(&self, bits: &mut u32) -> Option<Deferred> {
        let line = if *bits & FULL != 0 {
            &self.takers
        } else {
            &self.putters
        };
        if *bits & RESERVED != 0 || line.is_empty() {
            return None;
        }
        *bits |= RESERVED;
        if gossamer_core::mutant!("mvar_reserve_without_wake") {
            return None;
        }
        // SAFETY: under the lock; not empty; nothing is reserved, so the first is not notified.
        Some(unsafe { line.notify_first() })
    }
}

impl<T, P: LockPolicy> MVar<T, P> {
    fn forget_all(&self) {
        self.forget_waiters(&self.takers);
        self.forget_waiters(&self.putters);
    }
}

impl<T, P: LockPolicy> Drop for MVar<T, P> {
    fn drop(&mut self) {
        /// Goes on where a waker panicked when it was dropped, then drops the value.
        struct Rest<'a, T, P: LockPolicy>(&'a mut MVar<T, P>);
        impl<T, P: LockPolicy> Drop for Rest<'_, T, P> {
            fn drop(&mut self) {
                self.0.forget_all();
                if !self.0.is_empty() {
                    // SAFETY: full, and no operation can exist any more: they borrow the `MVar`.
                    self.0
                        .value
                        .with_mut(|place| unsafe { (*place).assume_init_drop() });
                }
            }
        }
        Rest(self).0.forget_all();
    }
}

impl<T, P: LockPolicy> fmt::Debug for MVar<T, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MVar")
            .field("is_empty", &self.is_empty())
            .finish_non_exhaustive()
    }
}

macro_rules! operations {
    ($($(#[$doc:meta])* $name:ident($act:ty) -> $output:ty;)*) => {$(
        $(#[$doc])*
        #[must_use = "operations do nothing until they are awaited or waited for"]
        #[derive(Debug)]
        pub struct $name<'a, T, P: LockPolicy>(Op<'a, T, P, $act>);

        impl<T, P: LockPolicy> Future for $name<'_, T, P> {
            type Output = $output;

            #[inline(always)]
            fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<$output> {
                // SAFETY: the field is pinned as its owner is.
                op::poll(unsafe { self.map_unchecked_mut(|this| &mut this.0) }, cx)
            }
        }
    )*};
}

operations! {
    /// [`MVar::take`]. Dropped unfinished, it has taken nothing.
    Take(action::Take) -> T;
    /// [`MVar::put`]. Dropped unfinished, it has put nothing, and its value is dropped with it.
    Put(action::Put<T>) -> ();
    /// [`MVar::swap`]. Dropped unfinished, it has changed nothing, and its value is dropped with it.
    Swap(action::Swap<T>) -> T;
    /// [`MVar::replace`]. Dropped unfinished, it has changed nothing, and its value is dropped with it.
    Replace(action::Replace<T>) -> Option<T>;
}

/// [`MVar::read`]. Dropped unfinished, it has no effect.
#[must_use = "operations do nothing until they are awaited or waited for"]
#[derive(Debug)]
pub struct Read<'a, T, P: LockPolicy>(Op<'a, T, P, action::Read>);

impl<T: Clone, P: LockPolicy> Future for Read<'_, T, P> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let mvar = self.0.object();
        // SAFETY: the field is pinned as its owner is.
        ready!(unsafe { self.map_unchecked_mut(|this| &mut this.0) }.poll(cx));
        // SAFETY: the operation has set the reader's marks.
        Poll::Ready(unsafe { mvar.clone_value() })
    }
}
