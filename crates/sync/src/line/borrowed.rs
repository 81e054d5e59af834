//! Operations that borrow what they wait at.

/// Declares an operation that waits in a line: its parameters, with their bounds and without; the rules, and the number
/// of its name there; the object, if it needs that when it goes; and what it gives then.
macro_rules! operation {
    (
        $(#[$doc:meta])*
        $name:ident[$($generics:tt)*][$($of:tt)*] by $rules:ty, $what:tt $(, $object:ident: $type:ty)?
            => $output:ty: |$this:ident, $how:ident| $give:expr
    ) => {
        pin_project_lite::pin_project! {
            $(#[$doc])*
            #[must_use = "operations do nothing until they are awaited or waited for"]
            #[derive(Debug)]
            pub struct $name<$($generics)*> {
                #[pin]
                waiting: $crate::line::Waiting<'a, P, $rules, $what>,
                $($object: &'a $type,)?
            }
        }

        impl<$($generics)*> Future for $name<$($of)*> {
            type Output = $output;

            #[inline(always)]
            fn poll(
                self: core::pin::Pin<&mut Self>,
                cx: &mut core::task::Context<'_>,
            ) -> core::task::Poll<$output> {
                let mut $this = self.project();
                let $how = core::task::ready!($this.waiting.as_mut().poll(cx));
                core::task::Poll::Ready($give)
            }
        }
    };
}
pub(crate) use operation;

/// Lets operations [leave](gossamer_core::wait_queue::Leave) their line without ending.
macro_rules! leaves {
    ($($name:ident[$($generics:tt)*][$($of:tt)*];)*) => {$(
        impl<$($generics)*> gossamer_core::wait_queue::Leave for $name<$($of)*> {
            fn leave(self: core::pin::Pin<&mut Self>) {
                gossamer_core::wait_queue::Leave::leave(self.project().waiting);
            }
        }
    )*};
}
pub(crate) use leaves;
