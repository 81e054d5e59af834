//! The messages of a channel as a stream.

use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_core::{FusedStream, Stream};
use gossamer_core::policy::LockPolicy;

use super::action::{One, Op, Receives};
use super::ends::Receiver;

/// [`Receiver::stream`].
#[must_use = "streams do nothing until they are polled"]
#[derive(Debug)]
pub struct Messages<'a, T, P: LockPolicy> {
    receiver: &'a Receiver<T, P>,
    op: Op<'a, T, P, Receives<One>>,
    is_over: bool,
    location: &'static Location<'static>,
}

impl<'a, T, P: LockPolicy> Messages<'a, T, P> {
    pub(super) fn new(receiver: &'a Receiver<T, P>, location: &'static Location<'static>) -> Self {
        Self {
            receiver,
            op: Op::new(receiver.0.chan(), Receives(One), location),
            is_over: false,
            location,
        }
    }
}

impl<T, P: LockPolicy> Stream for Messages<'_, T, P> {
    type Item = T;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        // SAFETY: the operation is not moved: it is replaced in its place.
        let this = unsafe { self.get_unchecked_mut() };
        // Also after the end, which then comes once more: as an operation that yields.
        if this.is_over && gossamer_core::mutant!("end_comes_at_once") {
            return Poll::Ready(None);
        }
        // SAFETY: pinned as its owner is.
        let mut op = unsafe { Pin::new_unchecked(&mut this.op) };
        let message = ready!(op.as_mut().poll(cx)).ok();
        this.is_over = message.is_none();
        op.set(Op::new(
            this.receiver.0.chan(),
            Receives(One),
            this.location,
        ));
        Poll::Ready(message)
    }
}

impl<T, P: LockPolicy> FusedStream for Messages<'_, T, P> {
    fn is_terminated(&self) -> bool {
        self.is_over
    }
}
