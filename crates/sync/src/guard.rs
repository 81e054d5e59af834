//! Guards: the right to use a value that is locked, and to unlock it.

use core::fmt;

/// A lock is held, or others wait for it, so it was not locked at once.
///
/// Try again later, or wait for it: `lock`, `read` and `write` give a guard in any case.
pub struct TryLockError(());

impl TryLockError {
    pub(crate) const fn new() -> Self {
        Self(())
    }
}

impl fmt::Display for TryLockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the lock is held, or others wait for it: wait for it too, or try again later")
    }
}

impl core::error::Error for TryLockError {}

gossamer_core::impl_debug_as_display!([] TryLockError[]);

/// Declares a guard: its parameters, with their bounds and without; how it points at its lock; the reference whose rules
/// about threads it follows; and how it unlocks.
macro_rules! guard {
    (
        $(#[$doc:meta])*
        $name:ident[$($generics:tt)*][$($of:tt)*] by $pointer:ty, like $like:ty, |$lock:ident| $unlock:expr
    ) => {
        $(#[$doc])*
        #[must_use = "dropped at once, it unlocks at once"]
        pub struct $name<$($generics)*> {
            lock: $pointer,
            _value: core::marker::PhantomData<$like>,
        }

        impl<$($generics)*> $name<$($of)*> {
            /// The lock has just been taken.
            #[inline(always)]
            fn new(lock: $pointer) -> Self {
                gossamer_core::context::simulated::holds(&lock.line);
                Self {
                    lock,
                    _value: core::marker::PhantomData,
                }
            }
        }

        impl<$($generics)*> core::ops::Deref for $name<$($of)*> {
            type Target = T;

            #[inline(always)]
            fn deref(&self) -> &T {
                // SAFETY: while there is this guard, nobody else changes the value; borrowed from the guard.
                self.lock.value.with(|value| unsafe { &*value })
            }
        }

        impl<$($generics)*> Drop for $name<$($of)*> {
            #[inline(always)]
            fn drop(&mut self) {
                let $lock = &*self.lock;
                gossamer_core::context::simulated::lets_go(&$lock.line);
                $unlock;
            }
        }

        impl<$($generics)*> core::fmt::Debug for $name<$($of)*>
        where
            T: core::fmt::Debug,
        {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                core::fmt::Debug::fmt(&**self, f)
            }
        }

        impl<$($generics)*> core::fmt::Display for $name<$($of)*>
        where
            T: core::fmt::Display,
        {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                core::fmt::Display::fmt(&**self, f)
            }
        }
    };
}
pub(crate) use guard;

/// Declares that a guard is the only one of its lock, so that it may change the value.
macro_rules! guard_alone {
    ($name:ident[$($generics:tt)*][$($of:tt)*]) => {
        impl<$($generics)*> core::ops::DerefMut for $name<$($of)*> {
            #[inline(always)]
            fn deref_mut(&mut self) -> &mut T {
                // SAFETY: the guard is the only one, and borrowed for this alone as long as the result.
                self.lock.value.with_mut(|value| unsafe { &mut *value })
            }
        }
    };
}
pub(crate) use guard_alone;
