//! The messages of a receiver as a stream that owns it.

use std::fmt;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::{FusedStream, Stream};
use gossamer_core::policy::LockPolicy;
use pin_project_lite::pin_project;

use super::ends::Receiver;
use super::operations::Messages;

impl<T, P: LockPolicy> Receiver<T, P> {
    /// Like [`stream`](Receiver::stream), as a stream that owns the receiver.
    ///
    /// # Cancellation
    /// Dropped, it has received what it has given, and nothing more; the receiver is dropped with it.
    #[track_caller]
    pub fn into_stream(self) -> OwnedMessages<T, P>
    where
        T: 'static,
    {
        OwnedMessages::new(self, Location::caller())
    }
}

pin_project! {
    /// [`Receiver::into_stream`].
    #[must_use = "streams do nothing until they are polled"]
    pub struct OwnedMessages<T: 'static, P: LockPolicy> {
        // Dropped before the receiver, which keeps the channel.
        #[pin]
        messages: Messages<'static, T, P>,
        receiver: Receiver<T, P>,
    }
}

impl<T: 'static, P: LockPolicy> OwnedMessages<T, P> {
    fn new(receiver: Receiver<T, P>, location: &'static Location<'static>) -> Self {
        // SAFETY: the receiver is dropped after the stream, and not moved out.
        let chan = unsafe { receiver.0.outliving() };
        Self {
            messages: Messages::new(chan, location),
            receiver,
        }
    }

    /// The receiver, to look at, or to close the channel.
    pub fn receiver(&self) -> &Receiver<T, P> {
        &self.receiver
    }
}

impl<T: 'static, P: LockPolicy> Stream for OwnedMessages<T, P> {
    type Item = T;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        self.project().messages.poll_next(cx)
    }
}

impl<T: 'static, P: LockPolicy> FusedStream for OwnedMessages<T, P> {
    fn is_terminated(&self) -> bool {
        self.messages.is_terminated()
    }
}

impl<T: 'static, P: LockPolicy> fmt::Debug for OwnedMessages<T, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.messages.fmt(f)
    }
}
