//! Values of which each task, fiber and thread has its own.

use std::cell::Cell;
use std::ptr;

use gossamer_task::locals;
pub use gossamer_task::locals::Over;

/// A value of which each task, fiber and thread has its own; made by `task_local!`.
///
/// It is made at first use, and destroyed when the task, fiber or thread has ended: after its future (so that
/// destructors in there can still use it), the last made first, and before whoever joins it is told. The value moves
/// with its task from thread to thread, so it is `Send`; it need not be `Sync`.
///
/// It is not inherited: what a task spawns begins with values of its own. The future of a `block_on` is a task, too:
/// its values are not those of the thread that calls. Nor are they those of a task that is ended by another one, as the
/// child of a scope may be: what its destructors use is the other's, and its own go when the runtime has let go of it,
/// perhaps after the scope; those of a fiber whose stack is leaked stay. Futures that are polled by another library's
/// runtime have the values of the thread that polls.
///
/// A destructor may use the values that have not been destroyed so far, and make others; using one that has been
/// destroyed is an error. A destructor that panics harms nobody else: the panic ends there.
///
/// # Examples
/// ```
/// use std::cell::Cell;
/// use gossamer::{Runtime, Wait, task_local};
///
/// task_local! {
///     static STEPS: Cell<u32> = Cell::new(0);
/// }
///
/// let rt = Runtime::builder().build()?;
/// let task = rt.spawn(async {
///     STEPS.set(3);
///     STEPS.get()
/// });
/// assert_eq!(task.wait()?, 3);
/// assert_eq!(STEPS.get(), 0); // this thread's own
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct TaskLocal<T: 'static> {
    make: fn() -> T,
}

impl<T: Send + 'static> TaskLocal<T> {
    /// One that is made by `make`. For `task_local!`: it must be in a `static`.
    #[doc(hidden)]
    pub const fn new(make: fn() -> T) -> Self {
        Self { make }
    }

    /// Calls `use_it` with the value of the current task, fiber or thread.
    ///
    /// A fiber may wait in there.
    ///
    /// # Panics
    /// The value has been destroyed: this is a destructor of something that lives longer. See
    /// [`try_with`](TaskLocal::try_with).
    #[track_caller]
    pub fn with<R>(&'static self, use_it: impl FnOnce(&T) -> R) -> R {
        match self.try_with(use_it) {
            Ok(result) => result,
            Err(over) => panic!("a task-local value was used too late: {over}"),
        }
    }

    /// As [`with`](TaskLocal::with).
    ///
    /// # Errors
    /// The value has been destroyed.
    pub fn try_with<R>(&'static self, use_it: impl FnOnce(&T) -> R) -> Result<R, Over> {
        locals::with(ptr::from_ref(self).addr(), self.make, use_it)
    }
}

impl<T: Send + 'static> TaskLocal<Cell<T>> {
    /// Changes the value, and gives the one before.
    #[track_caller]
    pub fn replace(&'static self, value: T) -> T {
        self.with(|cell| cell.replace(value))
    }

    /// Changes the value.
    #[track_caller]
    pub fn set(&'static self, value: T) {
        drop(self.replace(value));
    }

    /// A copy of the value.
    #[track_caller]
    pub fn get(&'static self) -> T
    where
        T: Copy,
    {
        self.with(Cell::get)
    }

    /// Takes the value, and leaves the default.
    #[track_caller]
    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(Cell::take)
    }
}

gossamer_core::impl_debug!([T] TaskLocal[T]);

/// Declares values of which each task, fiber and thread has its own: see [`TaskLocal`](crate::TaskLocal).
///
/// # Examples
/// ```
/// use std::cell::Cell;
/// use gossamer::task_local;
///
/// task_local! {
///     /// How many requests the current task has served.
///     static SERVED: Cell<u32> = Cell::new(0);
/// }
/// SERVED.set(SERVED.get() + 1);
/// assert_eq!(SERVED.get(), 1);
/// ```
#[macro_export]
macro_rules! task_local {
    ($($(#[$meta:meta])* $visible:vis static $name:ident: $type:ty = $make:expr);* $(;)?) => {$(
        $(#[$meta])*
        $visible static $name: $crate::TaskLocal<$type> = $crate::TaskLocal::new(|| $make);
    )*};
}
