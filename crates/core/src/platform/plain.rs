//! The part of the platform that needs no operating system.

use core::cell;

#[cfg(not(shuttle))]
pub use core::hint::spin_loop;
#[cfg(not(shuttle))]
pub use core::sync::atomic;

/// A cell whose content is reached through closures, the shape loom's cell has.
#[derive(Debug)]
#[repr(transparent)]
pub struct UnsafeCell<T: ?Sized>(cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    /// Wraps a value.
    #[inline(always)]
    pub const fn new(value: T) -> Self {
        Self(cell::UnsafeCell::new(value))
    }

    /// The value.
    #[inline(always)]
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

impl<T: ?Sized> UnsafeCell<T> {
    /// Shows the content as a pointer to read through.
    #[inline(always)]
    pub fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
        read(self.0.get())
    }

    /// Shows the content as a pointer to write through.
    #[inline(always)]
    pub fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        write(self.0.get())
    }
}
