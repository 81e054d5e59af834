//! `Lazy`: a value with the closure that makes it.

use core::fmt;

use gossamer_core::policy::LockPolicy;

use super::cell::{GetOrInit, OnceCell};
use crate::constructors::constructors;

/// A future value that is made when it is first asked for, by whoever asks: an [`OnceCell`] with its closure.
///
/// (What is to be made at once, beside its caller, is a task: its join handle is the value to come.)
///
/// Use it as [`sync::Lazy`](crate::sync::Lazy) or [`local::Lazy`](crate::local::Lazy).
///
/// # Cancellation
/// Should the one that makes the value be dropped, or panic, the next that asks makes it, with another call of the
/// closure.
///
/// # Examples
/// ```
/// use gossamer::Wait;
/// use gossamer::sync::Lazy;
///
/// let words = Lazy::new(async || "read from a file".split(' ').collect::<Vec<_>>());
/// assert_eq!(words.get(), None);
/// assert_eq!(words.force().wait().len(), 4);
/// assert_eq!(words.get().map(Vec::len), Some(4));
/// ```
pub struct Lazy<T, F, P: LockPolicy> {
    cell: OnceCell<T, P>,
    make: F,
}

constructors! {
    impl[T, F] Lazy<T, F, P> {
        /// The value that `make` will make.
        pub fn new(make: F) -> Self {
            Self { cell: OnceCell::<T, P>::new(), make }
        }
    }
}

impl<T, F, P: LockPolicy> Lazy<T, F, P> {
    /// The value, if it is made.
    #[inline]
    pub fn get(&self) -> Option<&T> {
        self.cell.get()
    }

    /// The value; if it is not made, makes it. While somebody else does, waits for that.
    ///
    /// A closure that asks for this very value waits for itself.
    ///
    /// # Blocking
    /// `.await` in a task, `.wait()` in a fiber or thread.
    #[track_caller]
    pub fn force<M>(&self) -> GetOrInit<'_, T, P, &F, M>
    where
        F: Fn() -> M,
        M: Future<Output = T>,
    {
        self.cell.get_or_init(&self.make)
    }
}

impl<T: fmt::Debug, F, P: LockPolicy> fmt::Debug for Lazy<T, F, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Lazy").field(&self.get()).finish()
    }
}
