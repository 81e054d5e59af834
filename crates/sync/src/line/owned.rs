//! Operations that own what they wait at, together with others: what they give is not bound to a borrow.

use core::fmt;
use core::panic::Location;
use core::pin::Pin;
use core::task::{Context, Poll, ready};

use gossamer_core::policy::{Counted, LockPolicy};
use gossamer_core::wait_queue::Leave;
use pin_project_lite::pin_project;

use super::{Admission, Enter, How, Line, Waiting};

pin_project! {
    /// An operation that waits in the line of an object which it keeps alive.
    pub(crate) struct OwnedWaiting<C, W> {
        // Before the object, as its drop may still leave the line.
        #[pin]
        waiting: W,
        // Until it is complete.
        object: Option<C>,
    }
}

impl<C, P: LockPolicy, R: Admission, const WHAT: usize>
    OwnedWaiting<C, Waiting<'static, P, R, WHAT>>
{
    /// An operation that was called at `location`.
    pub(crate) fn new<T: ?Sized>(
        object: C,
        line: impl FnOnce(&T) -> &Line<P, R>,
        wants: usize,
        location: &'static Location<'static>,
    ) -> Self
    where
        C: Counted<T>,
    {
        // SAFETY: the line is in what the counted pointer points at, which stays where it is as long as the pointer: until
        // the operation is dropped, which comes first, or complete, and then it does not look at its line any more.
        let line = unsafe { &*core::ptr::from_ref(line(&object)) };
        Self {
            waiting: Waiting::new(line, Enter::new(wants), location),
            object: Some(object),
        }
    }

    /// Goes on; gives the object, how the operation came to its end, and its number then.
    ///
    /// # Panics
    /// It is complete.
    pub(crate) fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<(C, How, usize)> {
        let mut this = self.project();
        // Before the operation is polled: without its object it must not look at the line.
        assert!(
            this.object.is_some(),
            "{} was polled after it was complete",
            R::NAMES[WHAT]
        );
        let how = ready!(this.waiting.as_mut().poll(cx));
        let object = this.object.take().expect("it was there before the poll");
        Poll::Ready((object, how, this.waiting.action().wants()))
    }

    /// Leaves its line, and begins anew when it is polled again.
    pub(crate) fn leave(self: Pin<&mut Self>) {
        Leave::leave(self.project().waiting);
    }
}

impl<C, W: fmt::Debug> fmt::Debug for OwnedWaiting<C, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.waiting.fmt(f)
    }
}

/// Declares an operation that owns what it waits at: its parameters, with their bounds and without; the rules, and the
/// number of its name there; the object; and what it gives of that when it goes.
macro_rules! owned_operation {
    (
        $(#[$doc:meta])*
        $name:ident[$($generics:tt)*][$($of:tt)*] by $rules:ty, $what:tt, $object:ty
            => $output:ty: |$owned:pat_param, $how:pat_param, $wants:pat_param| $give:expr
    ) => {
        pin_project_lite::pin_project! {
            $(#[$doc])*
            #[must_use = "operations do nothing until they are awaited or waited for"]
            #[derive(Debug)]
            pub struct $name<$($generics)*> {
                #[pin]
                waiting: $crate::line::OwnedWaiting<
                    P::Counted<$object>,
                    $crate::line::Waiting<'static, P, $rules, $what>,
                >,
            }
        }

        impl<$($generics)*> $name<$($of)*> {
            fn new(
                object: P::Counted<$object>,
                wants: usize,
                location: &'static core::panic::Location<'static>,
            ) -> Self {
                Self {
                    waiting: $crate::line::OwnedWaiting::new(
                        object,
                        |object: &$object| &object.line,
                        wants,
                        location,
                    ),
                }
            }
        }

        impl<$($generics)*> Future for $name<$($of)*> {
            type Output = $output;

            fn poll(
                self: core::pin::Pin<&mut Self>,
                cx: &mut core::task::Context<'_>,
            ) -> core::task::Poll<$output> {
                let ($owned, $how, $wants) = core::task::ready!(self.project().waiting.poll(cx));
                core::task::Poll::Ready($give)
            }
        }

        impl<$($generics)*> gossamer_core::wait_queue::Leave for $name<$($of)*> {
            fn leave(self: core::pin::Pin<&mut Self>) {
                self.project().waiting.leave();
            }
        }
    };
}
pub(crate) use owned_operation;
