//! The part of the platform that is the operating system's: locks and threads.

use std::sync::{self, PoisonError};

pub use std::sync::MutexGuard;
pub use std::thread;
pub use std::thread_local;

/// A mutex that does not poison: no user code ever runs under it.
#[derive(Debug, Default)]
pub struct Mutex<T>(sync::Mutex<T>);

impl<T> Mutex<T> {
    /// Wraps a value.
    pub const fn new(value: T) -> Self {
        Self(sync::Mutex::new(value))
    }

    /// Waits for the lock.
    #[inline]
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
pub struct Condvar(sync::Condvar);

impl Condvar {
    /// A condition variable nobody waits for.
    pub const fn new() -> Self {
        Self(sync::Condvar::new())
    }

    /// Gives the lock up, sleeps until notified (or for no reason), takes the lock again.
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        self.0.wait(guard).unwrap_or_else(PoisonError::into_inner)
    }

    /// Like [`Condvar::wait`], for at most `limit`.
    pub fn wait_for<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        limit: std::time::Duration,
    ) -> MutexGuard<'a, T> {
        match self.0.wait_timeout(guard, limit) {
            Ok((guard, _)) => guard,
            Err(poisoned) => poisoned.into_inner().0,
        }
    }

    /// Wakes all that sleep.
    pub fn notify_all(&self) {
        self.0.notify_all();
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu", not(gossamer_portable)))]
mod libc_flag {
    //! glibc's own word on whether a second thread can exist.
    // SAFETY: the declaration is that of glibc's <sys/single_threaded.h>.
    unsafe extern "C" {
        /// Not zero while the process has one thread (glibc 2.32 and later). glibc clears it
        /// before it creates the second thread, on the creating thread.
        pub(super) static __libc_single_threaded: core::ffi::c_char;
    }
}

/// Whether this process has one thread only, so that an atomic may be a plain load and store.
///
/// `true` is a fact at the moment of the call and stays one until this very thread creates
/// another: between the call and a plain read-modify-write no user code may run. Always `false`
/// where the C library does not tell.
#[inline(always)]
pub fn single_threaded() -> bool {
    #[cfg(all(target_os = "linux", target_env = "gnu", not(gossamer_portable)))]
    {
        let flag = &raw const libc_flag::__libc_single_threaded;
        // SAFETY: the byte is always readable. Volatile, because another function call may change
        // it. Only the thread that creates the second one writes it while it is true (and that is
        // us); later writes happen before the new thread starts.
        unsafe { flag.read_volatile() != 0 }
    }
    #[cfg(not(all(target_os = "linux", target_env = "gnu", not(gossamer_portable))))]
    {
        false
    }
}

/// A value made at first use that lives as long as the process, and in forked children too (as long as one execution,
/// under loom). If it has a lock, see `per_process!`.
macro_rules! process_global {
    ($(#[$doc:meta])* fn $name:ident() -> $type:ty = $make:expr) => {
        $(#[$doc])*
        fn $name() -> &'static $type {
            static VALUE: std::sync::OnceLock<$type> = std::sync::OnceLock::new();
            VALUE.get_or_init(|| $make)
        }
    };
}
pub(crate) use process_global;
