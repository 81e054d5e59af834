//! `MVar`: a place that is empty or holds one value; the synchronised variable of Id (Barth,
//! Nikhil, Arvind 1991) and Concurrent Haskell (Peyton Jones, Gordon, Finne 1996).

mod cell;
mod others;

use core::panic::Location;
use core::pin::Pin;
use core::task::{Context, Poll, ready};

use gossamer_core::policy::LockPolicy;
use gossamer_core::wait_queue::{Leave, Locked, forget_waiters};
use pin_project_lite::pin_project;

pub use self::cell::MVar;
use self::cell::{FULL, LockedMVar, MVarAction, Op, Turn};

impl<T, P: LockPolicy> MVar<T, P> {
    /// Waits for a value and takes it, leaving the `MVar` empty.
    #[track_caller]
    #[inline(always)]
    pub fn take(&self) -> Take<'_, T, P> {
        Take {
            op: Op::new(self, Turn(cell::Take), Location::caller()),
        }
    }

    /// Waits until the `MVar` is empty and puts `value` there.
    #[track_caller]
    #[inline(always)]
    pub fn put(&self, value: T) -> Put<'_, T, P> {
        Put {
            op: Op::new(self, Turn(cell::Put::new(value)), Location::caller()),
        }
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
        Read {
            op: Op::new(self, Turn(others::Read), Location::caller()),
        }
    }

    /// Waits for a value and exchanges it for `value`, in one step.
    #[track_caller]
    #[inline(always)]
    pub fn swap(&self, value: T) -> Swap<'_, T, P> {
        Swap {
            op: Op::new(
                self,
                Turn(others::Swap(cell::Put::new(value))),
                Location::caller(),
            ),
        }
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
        Replace {
            op: Op::new(
                self,
                Turn(others::Replace(cell::Put::new(value))),
                Location::caller(),
            ),
        }
    }

    /// Takes the value, if there is one that is not promised to a waiting taker.
    pub fn try_take(&self) -> Option<T> {
        self.try_act(&mut cell::Take)
    }

    /// Puts `value`, if the `MVar` is empty and not promised to a waiting putter.
    ///
    /// # Errors
    /// Gives the value back.
    pub fn try_put(&self, value: T) -> Result<(), T> {
        self.try_bring(cell::Put::new(value))
    }

    /// Exchanges the value, if there is one that is not promised to a waiting taker.
    ///
    /// # Errors
    /// Gives `value` back.
    pub fn try_swap(&self, value: T) -> Result<T, T> {
        self.try_bring(others::Swap(cell::Put::new(value)))
    }

    /// Does what [`replace`](MVar::replace) does, unless another thread is inside `T::clone`.
    ///
    /// # Errors
    /// Gives `value` back.
    pub fn try_replace(&self, value: T) -> Result<Option<T>, T> {
        self.try_bring(others::Replace(cell::Put::new(value)))
    }

    /// Clones the value, if there is one that is not promised to a waiting taker.
    pub fn try_read(&self) -> Option<T>
    where
        T: Clone,
    {
        self.try_act_slowly(&mut others::Read)?;
        // SAFETY: the act has set the reader's marks.
        Some(unsafe { self.clone_value() })
    }

    /// Whether there is no value at this moment.
    pub fn is_empty(&self) -> bool {
        self.bits() & FULL == 0
    }

    #[inline(always)]
    fn locked(&self) -> LockedMVar<'_, T, P> {
        // SAFETY: no code here locks an `MVar` that it has locked.
        unsafe { Locked::lock(self) }
    }

    /// Does it if it can be done now.
    #[inline(always)]
    fn try_act<A: MVarAction<T>>(&self, act: &mut A) -> Option<A::Output> {
        if P::THREAD_BOUND
            && A::IS_PLAIN
            && let Some(output) = self.act_quickly(act)
        {
            return Some(output);
        }
        self.try_act_slowly(act)
    }

    /// Like `try_act`, for an act that brings a value: returns the value if the act does not take place.
    #[inline(always)]
    fn try_bring<A: MVarAction<T>>(&self, mut act: A) -> Result<A::Output, T> {
        // SAFETY: it did not act, and is not used any more.
        let kept = |act: &mut A| unsafe { act.give_up() }.expect("it brings a value");
        self.try_act(&mut act).ok_or_else(|| kept(&mut act))
    }

    fn try_act_slowly<A: MVarAction<T>>(&self, act: &mut A) -> Option<A::Output> {
        let locked = self.locked();
        if !A::may_go(locked.bits) {
            locked.unlock();
            return None;
        }
        // SAFETY: the act may go, and has not acted.
        Some(unsafe { act.finish(locked) })
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
                let mut locked = self.0.locked();
                locked.bits &= !others::reader_marks();
                locked.wake_ready();
            }
        }
        let _reading = Reading(self);
        // SAFETY: BUSY keeps everybody else from the value, and it is there.
        self.value
            .with(|place| unsafe { (*place.cast::<T>()).clone() })
    }
}

impl<T, P: LockPolicy> MVar<T, P> {
    fn forget_all(&mut self) {
        forget_waiters::<_, Turn<cell::Take>>(self);
        forget_waiters::<_, Turn<cell::Put<T>>>(self);
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
                        .with_mut(|place| unsafe { place.cast::<T>().drop_in_place() });
                }
            }
        }
        Rest(self).0.forget_all();
    }
}

gossamer_core::impl_debug!([T, P: LockPolicy] MVar[T, P], this => is_empty: this.is_empty());

macro_rules! operations {
    ($($(#[$doc:meta])* $name:ident($act:ty) -> $output:ty;)*) => {$(
        pin_project! {
            $(#[$doc])*
            #[must_use = "operations do nothing until they are awaited or waited for"]
            #[derive(Debug)]
            pub struct $name<'a, T, P: LockPolicy> {
                #[pin]
                op: Op<'a, T, P, $act>,
            }
        }

        impl<T, P: LockPolicy> Future for $name<'_, T, P> {
            type Output = $output;

            #[inline(always)]
            fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<$output> {
                self.project().op.poll(cx)
            }
        }

        impl<T, P: LockPolicy> Leave for $name<'_, T, P> {
            fn leave(self: Pin<&mut Self>) {
                self.project().op.leave();
            }
        }
    )*};
}

operations! {
    /// [`MVar::take`]. Dropped unfinished, it has taken nothing.
    Take(cell::Take) -> T;
    /// [`MVar::put`]. Dropped unfinished, it has put nothing, and its value is dropped with it.
    Put(cell::Put<T>) -> ();
    /// [`MVar::swap`]. Dropped unfinished, it has changed nothing, and its value is dropped with it.
    Swap(others::Swap<T>) -> T;
    /// [`MVar::replace`]. Dropped unfinished, it has changed nothing, and its value is dropped with it.
    Replace(others::Replace<T>) -> Option<T>;
}

pin_project! {
    /// [`MVar::read`]. Dropped unfinished, it has no effect.
    #[must_use = "operations do nothing until they are awaited or waited for"]
    #[derive(Debug)]
    pub struct Read<'a, T, P: LockPolicy> {
        #[pin]
        op: Op<'a, T, P, others::Read>,
    }
}

impl<T: Clone, P: LockPolicy> Future for Read<'_, T, P> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let mvar = self.op.object();
        ready!(self.project().op.poll(cx));
        // SAFETY: the operation has set the reader's marks.
        Poll::Ready(unsafe { mvar.clone_value() })
    }
}

impl<T: Clone, P: LockPolicy> Leave for Read<'_, T, P> {
    fn leave(self: Pin<&mut Self>) {
        self.project().op.leave();
    }
}
