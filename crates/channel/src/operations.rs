//! The futures of operations that are nothing but that, which `mpmc` and `spsc` have alike.

/// Names of the operations `Op`, which do nothing else.
macro_rules! operations {
    ($policy:ident; $($(#[$about:meta])* $name:ident<$T:ident>: $action:ty => $output:ty;)*) => {$(
        pin_project_lite::pin_project! {
            $(#[$about])*
            #[must_use = "operations do nothing until they are awaited or waited for"]
            #[derive(Debug)]
            pub struct $name<'a, $T, P: $policy> {
                #[pin]
                pub(super) op: Op<'a, $T, P, $action>,
            }
        }

        impl<$T, P: $policy> Future for $name<'_, $T, P> {
            type Output = $output;

            #[inline(always)]
            fn poll(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
            ) -> std::task::Poll<Self::Output> {
                self.project().op.poll(cx)
            }
        }

        impl<$T, P: $policy> gossamer_core::wait_queue::Leave for $name<'_, $T, P> {
            fn leave(self: std::pin::Pin<&mut Self>) {
                self.project().op.leave();
            }
        }
    )*};
}
pub(crate) use operations;
