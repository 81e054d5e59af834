//! `Debug` for types whose content is not to be shown, and for errors.

/// Writes `Debug` for a type that shows its name and the given values, and that there is more:
/// `impl_debug!([T, P: LockPolicy] MVar[T, P], this => is_empty: this.is_empty());`.
#[macro_export]
macro_rules! impl_debug {
    ([$($generics:tt)*] $name:ident[$($of:tt)*] $(, $this:ident => $($field:ident: $value:expr),+)?) => {
        impl<$($generics)*> ::core::fmt::Debug for $name<$($of)*> {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                $(let $this = self;)?
                f.debug_struct(stringify!($name))
                    $($(.field(stringify!($field), &$value))+)?
                    .finish_non_exhaustive()
            }
        }
    };
}

/// Writes `Debug` for an error, which then shows what its `Display` says: `main` that returns an error prints that.
/// `impl_debug_as_display!([T] SendError[T]);`
#[macro_export]
macro_rules! impl_debug_as_display {
    ([$($generics:tt)*] $name:ident[$($of:tt)*]) => {
        impl<$($generics)*> ::core::fmt::Debug for $name<$($of)*> {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                ::core::fmt::Display::fmt(self, f)
            }
        }
    };
}
