//! `IVar`: a variable that is assigned once; who reads it before waits. The dataflow variable of Oz (Smolka 1995), and
//! Id's I-structure (Arvind, Nikhil and Pingali 1989).

use core::fmt;
use core::panic::Location;

use gossamer_core::policy::LockPolicy;

use super::{AlreadyAssigned, Assigned, Once, READS};
use crate::constructors::constructors;
use crate::line::{Enter, Waiting, operation};

/// A variable that is assigned once; who reads it before that waits.
///
/// Use it as [`sync::IVar`](crate::sync::IVar) or [`local::IVar`](crate::local::IVar).
///
/// # Blocking
/// [`read`](IVar::read) is a future: `.await` it in a task, `.wait()` for it in a fiber or a thread. The rest never
/// waits.
///
/// # Cancellation
/// Reading has no effect, nor has giving up.
///
/// # Examples
/// ```
/// use gossamer::Wait;
/// use gossamer::sync::IVar;
///
/// let answer = IVar::new();
/// assert_eq!(answer.try_read(), None);
/// answer.put(42).unwrap();
/// assert_eq!(*answer.read().wait(), 42);
/// assert_eq!(answer.put(43).unwrap_err().0, 43);
/// ```
pub struct IVar<T, P: LockPolicy>(Once<T, P>);

#[cfg(all(not(any(loom, shuttle)), target_pointer_width = "64"))]
const _: () = assert!(size_of::<IVar<u32, gossamer_core::policy::Local>>() == 24);

constructors! {
    impl[T] IVar<T, P> {
        /// Not assigned.
        pub fn new() -> Self {
            Self(Once::<T, P>::new())
        }

        /// Assigned from the beginning.
        pub fn assigned(value: T) -> Self {
            Self(Once::<T, P>::with(value))
        }
    }
    /// Not assigned.
    default[T] = Self::new();
    from[T] = assigned;
}

impl<T, P: LockPolicy> IVar<T, P> {
    /// Assigns the value; all who wait for it go.
    ///
    /// # Errors
    /// It has one already: gives the value back.
    pub fn put(&self, value: T) -> Result<(), AlreadyAssigned<T>> {
        self.0.assign(value)
    }

    /// Waits for the value.
    #[track_caller]
    #[inline(always)]
    pub fn read(&self) -> ReadIVar<'_, T, P> {
        ReadIVar {
            waiting: Waiting::new(&self.0.line, Enter::new(READS), Location::caller()),
            ivar: self,
        }
    }

    /// The value, if it is assigned.
    #[inline]
    pub fn try_read(&self) -> Option<&T> {
        self.0.get()
    }

    /// The value itself, if it is assigned.
    pub fn into_inner(mut self) -> Option<T> {
        self.0.take()
    }
}

operation! {
    /// [`IVar::read`]. Dropped unfinished, it has no effect.
    ReadIVar['a, T, P: LockPolicy]['a, T, P] by Assigned, READS, ivar: IVar<T, P>
        => &'a T: |this, _how| (this.ivar.0.get()).expect("a reader goes when there is a value")
}

impl<T: fmt::Debug, P: LockPolicy> fmt::Debug for IVar<T, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("IVar").field(&self.try_read()).finish()
    }
}
