//! The platform with shuttle behind it: threads are scheduled at random, one at a time, and atomics are sequentially
//! consistent.

pub use shuttle::hint::spin_loop;
pub use shuttle::lazy_static;
pub use shuttle::sync::MutexGuard;
pub use shuttle::thread;
pub use shuttle::thread_local;

/// shuttle's atomics under the names of `core::sync::atomic`.
pub mod atomic {
    pub use shuttle::sync::atomic::*;
}

use std::sync::PoisonError;

/// A mutex that does not poison: no user code ever runs under it.
#[derive(Debug, Default)]
pub struct Mutex<T>(shuttle::sync::Mutex<T>);

impl<T> Mutex<T> {
    /// Wraps a value.
    pub const fn new(value: T) -> Self {
        Self(shuttle::sync::Mutex::new(value))
    }

    /// Waits for the lock.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The value, which nobody else has.
    pub fn get_mut(&mut self) -> &mut T {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A condition variable for [`Mutex`].
#[derive(Debug, Default)]
pub struct Condvar(shuttle::sync::Condvar);

impl Condvar {
    /// A condition variable nobody waits for.
    pub const fn new() -> Self {
        Self(shuttle::sync::Condvar::new())
    }

    /// Gives the lock up, sleeps until notified (or for no reason), takes the lock again.
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        self.0.wait(guard).unwrap_or_else(PoisonError::into_inner)
    }

    /// Like [`wait`](Self::wait): no time passes here, so the limit is never reached.
    pub fn wait_for<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        _limit: std::time::Duration,
    ) -> MutexGuard<'a, T> {
        self.wait(guard)
    }

    /// Wakes all that sleep.
    pub fn notify_all(&self) {
        self.0.notify_all();
    }
}

/// A second thread is always assumed.
pub fn single_threaded() -> bool {
    false
}

/// A value made at first use that lives as long as one execution.
#[doc(hidden)]
#[macro_export]
macro_rules! process_global {
    ($(#[$doc:meta])* fn $name:ident() -> $type:ty = $make:expr) => {
        $(#[$doc])*
        fn $name() -> &'static $type {
            $crate::platform::lazy_static! { static ref VALUE: $type = $make; }
            &VALUE
        }
    };
}
pub(crate) use process_global;
pub use process_global as per_process;

/// Nobody forks here.
pub fn in_forked_children(_call: extern "C" fn()) {}

/// Nothing is ever reordered here.
pub fn light_fence() {}

/// Nothing is ever reordered here.
pub fn heavy_fence() {}

/// Nothing is ever reordered here.
pub fn is_light() -> bool {
    true
}

/// Nothing is ever reordered here.
pub fn quick_fence() {}
