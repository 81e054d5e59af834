//! Channels for one message. With ours a receiver that stays cannot close the channel, and the sender cannot wait until
//! it is closed: here that is an event, which both sides share.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use gossamer::channel::oneshot as ours;
use gossamer::sync::Event;

use self::error::{RecvError, TryRecvError};
use crate::missing;

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
    let receiver = Receiver {
        end: rx,
        closed,
        is_over: false,
    };
    (sender, receiver)
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
        if self.is_closed() {
            return Err(message);
        }
        self.end.send(message).map_err(ours::SendError::into_inner)
    }

    /// Whether the receiver is gone, or has closed the channel.
    pub fn is_closed(&self) -> bool {
        self.closed.is_set()
    }

    /// Waits for that.
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
    is_over: bool,
}

impl<T> Receiver<T> {
    /// Nothing more is sent; what was sent is received.
    pub fn close(&mut self) {
        self.closed.set();
    }

    /// The message, if it is there.
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        let received = match self.end.try_recv() {
            Err(TryRecvError::Empty) if self.closed.is_set() => Err(TryRecvError::Closed),
            received => received,
        };
        self.is_over |= !matches!(received, Err(TryRecvError::Empty));
        received
    }

    /// Whether it has given its output.
    pub fn is_terminated(&self) -> bool {
        self.is_over
    }

    /// Whether there is no message.
    pub fn is_empty(&self) -> bool {
        missing("look into a one-shot channel")
    }
}

impl<T> Future for Receiver<T> {
    type Output = Result<T, RecvError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        assert!(!self.is_over, "it has given its output");
        let received = match Pin::new(&mut self.end).poll(cx) {
            Poll::Pending if self.closed.is_set() => Poll::Ready(Err(RecvError)),
            received => received,
        };
        self.is_over = received.is_ready();
        received
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.closed.set();
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
