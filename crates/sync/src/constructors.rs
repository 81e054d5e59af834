//! Constructors, which are `const` and so cannot be generic over the lock policy.

/// Declares the constructors of a type for each policy there is, which they call `P`: `const` where they can be.
macro_rules! constructors {
    ($($declared:tt)*) => {
        const _: () = {
            type P = gossamer_core::policy::Local;
            $crate::constructors::constructors_of! { $($declared)* }
        };
        #[cfg(feature = "std")]
        const _: () = {
            type P = gossamer_core::policy::Shared;
            $crate::constructors::constructors_of! { $($declared)* }
        };
    };
}
pub(crate) use constructors;

/// [`constructors`] for one policy.
macro_rules! constructors_of {
    (
        impl[$($generics:tt)*] $type:ty {
            $($(#[$meta:meta])* $visible:vis fn $new:ident($($arguments:tt)*) -> Self $body:block)*
        }
        $($(#[$about:meta])* default[$($bounds:tt)*] = $default:expr;)?
        $(from[$($from:tt)*] = $of:ident;)?
    ) => {
        impl<$($generics)*> $type {
            $(
                $(#[$meta])*
                #[cfg(not(loom))]
                $visible const fn $new($($arguments)*) -> Self $body

                $(#[$meta])*
                #[cfg(loom)]
                $visible fn $new($($arguments)*) -> Self $body
            )*
        }

        $(impl<$($bounds)*> Default for $type {
            $(#[$about])*
            fn default() -> Self {
                $default
            }
        })?

        $(impl<$($from)*> From<T> for $type {
            fn from(value: T) -> Self {
                Self::$of(value)
            }
        })?
    };
}
pub(crate) use constructors_of;
