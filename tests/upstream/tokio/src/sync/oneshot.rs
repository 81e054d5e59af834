//! Channels for one message. With ours the sender cannot wait until the channel is closed: here that is an event, which
//! both sides share.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::FusedFuture;
use gossamer::channel::oneshot as ours;
use gossamer::sync::Event;

use self::error::{RecvError, TryRecvError};

/// Why there is no message.
pub mod error {
    pub use gossamer::channel::{Closed as RecvError, TryRecvError};
}

/// Both sides.
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let (tx, rx) = gossamer::channel::oneshot();
    let closed = Arc::new(Event::new());
    let sender = Sender {
        end: tx,
        closed: closed.clone(),
        closing: None,
    };
    (sender, Receiver { end: rx, closed })
}

/// The side that sends.
pub struct Sender<T> {
    end: ours::Sender<T>,
    closed: Arc<Event>,
    /// It goes on waiting when [`Sender::closed`] is dropped, as tokio's.
    closing: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
}

impl<T> Sender<T> {
    /// Sends the message.
    pub fn send(self, message: T) -> Result<(), T> {
        self.end.send(message).map_err(ours::SendError::into_inner)
    }

    /// Whether the receiver is gone, or has closed the channel.
    pub fn is_closed(&self) -> bool {
        self.end.is_closed()
    }

    /// Waits until the receiver is gone, or closes the channel.
    pub async fn closed(&mut self) {
        let Self {
            closed, closing, ..
        } = self;
        let closing = closing.get_or_insert_with(|| {
            let closed = closed.clone();
            Box::pin(async move { closed.ready().await })
        });
        poll_fn(|cx| closing.as_mut().poll(cx)).await;
        self.closing = None;
    }
}

/// The side that receives.
pub struct Receiver<T> {
    end: ours::Receiver<T>,
    closed: Arc<Event>,
}

impl<T> Receiver<T> {
    /// Nothing more is sent; what was sent is received.
    pub fn close(&mut self) {
        self.end.close();
        self.closed.set();
    }

    /// The message, if it is there.
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        self.end.try_recv()
    }

    /// Whether it has given its output.
    pub fn is_terminated(&self) -> bool {
        self.end.is_terminated()
    }

    /// Whether there is no message.
    pub fn is_empty(&self) -> bool {
        self.end.is_empty()
    }
}

impl<T> Future for Receiver<T> {
    type Output = Result<T, RecvError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.end).poll(cx)
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.close();
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.end.fmt(f)
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.end.fmt(f)
    }
}
