//! `Debug` for types whose content is not to be shown.

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
