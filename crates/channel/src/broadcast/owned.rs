//! The messages of a receiver as a stream that owns it.

use std::fmt;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_core::{FusedStream, Stream};
use gossamer_core::policy::LockPolicy;
use pin_project_lite::pin_project;

use super::ends::{Message, Receiver, received};
use super::error::Lagged;
use super::messages::item;
use super::ring::Ring;
use crate::shared_state::OwnedWaiting;

impl<T: Clone, P: LockPolicy> Receiver<T, P> {
    /// Like [`stream`](Receiver::stream), as a stream that owns the receiver.
    ///
    /// # Cancellation
    /// Dropped, it has received what it has given, and nothing more; the receiver is dropped with it.
    ///
    /// # Panics
    /// As cloning the message does; it has been received then, and the stream goes on.
    #[track_caller]
    pub fn into_stream(self) -> OwnedMessages<T, P>
    where
        T: 'static,
    {
        OwnedMessages {
            waiting: OwnedWaiting::new(self.chan.clone(), self.next, Location::caller()),
            receiver: self,
            is_over: false,
        }
    }
}

pin_project! {
    /// [`Receiver::into_stream`].
    #[must_use = "streams do nothing until they are polled"]
    pub struct OwnedMessages<T: 'static, P: LockPolicy> {
        #[pin]
        waiting: OwnedWaiting<Ring<Message<T, P>>, P>,
        receiver: Receiver<T, P>,
        is_over: bool,
    }
}

impl<T: 'static, P: LockPolicy> OwnedMessages<T, P> {
    /// The receiver, to look at.
    pub fn receiver(&self) -> &Receiver<T, P> {
        &self.receiver
    }
}

impl<T: Clone + 'static, P: LockPolicy> Stream for OwnedMessages<T, P> {
    type Item = Result<T, Lagged>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut this = self.project();
        let next = &mut this.receiver.next;
        let receive = |ring: &mut Ring<_>| (ring.receive(next), ring.shrink());
        let (found, _memory) = ready!(this.waiting.as_mut().poll(cx, receive));
        // Before the message is cloned, which may panic.
        this.waiting.wait_again(*next);
        let item = item(received::<T, P>(found));
        *this.is_over = item.is_none();
        Poll::Ready(item)
    }
}

impl<T: Clone + 'static, P: LockPolicy> FusedStream for OwnedMessages<T, P> {
    fn is_terminated(&self) -> bool {
        self.is_over
    }
}

impl<T: 'static, P: LockPolicy> fmt::Debug for OwnedMessages<T, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.waiting.fmt(f)
    }
}
