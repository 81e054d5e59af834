//! Values of the whole process that a forked child makes anew.
//!
//! `fork()` gives the child one thread, the one that called it. A lock of the whole process that another thread held at
//! that moment would stay locked for good. So the child makes such values anew, and leaks the parent's. If the process
//! had only one thread, nothing is lost, and all goes on.
//!
//! Forks that bypass `pthread_atfork` are not seen: a bare system call, and `vfork`, after which there is nothing to do
//! but exec.

use std::boxed::Box;
use std::ptr;

use super::atomic::{AtomicPtr, Ordering};
use super::single_threaded;

#[cfg(unix)]
mod atfork {
    //! The C library's own words.
    use core::ffi::c_int;

    pub(super) type Handler = extern "C" fn();

    // SAFETY: the declaration is that of POSIX's <pthread.h>; it keeps the three pointers and has no other effect.
    unsafe extern "C" {
        /// Zero, or the number of an error: no memory.
        pub(super) safe fn pthread_atfork(
            prepare: Option<Handler>,
            parent: Option<Handler>,
            child: Option<Handler>,
        ) -> c_int;
    }
}

/// Has every child that this process forks from now on call this, once.
///
/// # Panics
/// There is no memory to note it.
pub fn in_forked_children(call: extern "C" fn()) {
    #[cfg(unix)]
    {
        let error = atfork::pthread_atfork(None, None, Some(call));
        assert_eq!(error, 0, "pthread_atfork: no memory for three pointers");
    }
    #[cfg(not(unix))]
    let _ = call;
}

/// One value a process, made at first use and never freed. See [`per_process!`](crate::per_process).
#[derive(Debug)]
#[doc(hidden)]
pub struct PerProcess<T>(AtomicPtr<T>);

impl<T: Send + Sync + 'static> PerProcess<T> {
    #[expect(clippy::new_without_default, reason = "for statics")]
    pub const fn new() -> Self {
        Self(AtomicPtr::new(ptr::null_mut()))
    }

    /// The value; `forget` is to call [`PerProcess::forget`] in a forked child.
    #[inline]
    pub fn get(&self, forget: extern "C" fn(), make: impl FnOnce() -> T) -> &'static T {
        // Acquire pairs with the release in `make`.
        let mut value = self.0.load(Ordering::Acquire);
        if value.is_null() {
            value = self.make(forget, make());
        }
        // SAFETY: it comes from a box that is never freed, and is shared from then on.
        unsafe { &*value }
    }

    #[cold]
    fn make(&self, forget: extern "C" fn(), value: T) -> *mut T {
        in_forked_children(forget);
        let new = Box::into_raw(Box::new(value));
        // AcqRel: publishes the value, or pairs with the release of the thread that was first.
        let first =
            (self.0).compare_exchange(ptr::null_mut(), new, Ordering::AcqRel, Ordering::Acquire);
        let Err(first) = first else {
            return new;
        };
        // SAFETY: the box was made above, and nobody else knows it.
        drop(unsafe { Box::from_raw(new) });
        first
    }

    /// In a forked child: the value is the parent's.
    pub fn forget(&self) {
        if !single_threaded() && !crate::mutant!("fork_keeps_globals") {
            // Relaxed: the child has one thread.
            self.0.store(ptr::null_mut(), Ordering::Relaxed);
        }
    }
}

/// A value made at first use that lives as long as the process; a forked child makes its own.
#[doc(hidden)]
#[macro_export]
macro_rules! per_process {
    ($(#[$doc:meta])* fn $name:ident() -> $type:ty = $make:expr) => {
        $(#[$doc])*
        fn $name() -> &'static $type {
            static VALUE: $crate::platform::PerProcess<$type> = $crate::platform::PerProcess::new();
            extern "C" fn forget() {
                VALUE.forget();
            }
            VALUE.get(forget, || $make)
        }
    };
}
pub use per_process;
