//! A receiver's messages as a stream.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_core::{FusedStream, Stream};

use crate::{AsyncReceiver, ReceiveError};

/// A message that is about to come.
type Coming<'a, T> = Pin<Box<dyn Future<Output = Result<T, ReceiveError>> + 'a>>;

/// The messages of a receiver, until there are no more.
pub struct ReceiveStream<'a, T> {
    receiver: &'a AsyncReceiver<T>,
    coming: Option<Coming<'a, T>>,
    is_over: bool,
}

impl<'a, T> ReceiveStream<'a, T> {
    pub(crate) fn new(receiver: &'a AsyncReceiver<T>) -> Self {
        Self {
            receiver,
            coming: None,
            is_over: false,
        }
    }
}

impl<T> Stream for ReceiveStream<'_, T> {
    type Item = T;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        if self.is_over {
            return Poll::Ready(None);
        }
        let receiver = self.receiver;
        let coming = self.coming.get_or_insert_with(|| Box::pin(receiver.recv()));
        let received = ready!(coming.as_mut().poll(cx));
        self.coming = None;
        self.is_over = received.is_err();
        Poll::Ready(received.ok())
    }
}

impl<T> FusedStream for ReceiveStream<'_, T> {
    fn is_terminated(&self) -> bool {
        self.is_over
    }
}

impl<T> fmt::Debug for ReceiveStream<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ReceiveStream")
    }
}
