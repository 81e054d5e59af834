//! The messages of a receiver as iterators, which `mpmc`, `spsc` and `broadcast` have alike.

/// A `Receiver`, by `&` or `&mut`, as an iterator; `next` waits for a message.
macro_rules! iterators {
    (
        $policy:ident, $next:ident, $Item:ty $(: $Message:ident)? $(, $mutable:tt)?; $(#[$more:meta])*
    ) => {
        impl<T $(: $Message)?, P: $policy> Receiver<T, P> {
            /// Messages until no sender is left: waits for each as `.wait()` does, in a thread or a fiber.
            $(#[$more])*
            pub fn iter(&$($mutable)? self) -> Iter<'_, T, P> {
                Iter(self)
            }
        }

        /// [`Receiver::iter`].
        #[derive(Debug)]
        pub struct Iter<'a, T, P: $policy>(&'a $($mutable)? Receiver<T, P>);

        impl<T $(: $Message)?, P: $policy> Iterator for Iter<'_, T, P> {
            type Item = $Item;

            #[track_caller]
            #[inline(always)]
            fn next(&mut self) -> Option<$Item> {
                $next(self.0)
            }
        }

        impl<'a, T $(: $Message)?, P: $policy> IntoIterator for &'a $($mutable)? Receiver<T, P> {
            type Item = $Item;
            type IntoIter = Iter<'a, T, P>;

            fn into_iter(self) -> Iter<'a, T, P> {
                self.iter()
            }
        }

        /// [`Receiver::into_iter`].
        #[derive(Debug)]
        pub struct IntoIter<T, P: $policy>(Receiver<T, P>);

        impl<T $(: $Message)?, P: $policy> Iterator for IntoIter<T, P> {
            type Item = $Item;

            #[track_caller]
            #[inline(always)]
            fn next(&mut self) -> Option<$Item> {
                $next(&$($mutable)? self.0)
            }
        }

        impl<T $(: $Message)?, P: $policy> IntoIterator for Receiver<T, P> {
            type Item = $Item;
            type IntoIter = IntoIter<T, P>;

            /// As [`iter`](Receiver::iter).
            fn into_iter(self) -> IntoIter<T, P> {
                IntoIter(self)
            }
        }
    };
}
pub(crate) use iterators;
