//! The names of kanal over Gossamer's channels: what that crate's own tests are compiled against.
//!
//! Our channels are closed by the last end of a side that goes, and what was sent before is still received. kanal's can
//! be closed by hand as well, and then nothing more is received: here that is an event beside the channel, which all ends
//! share, and which every operation looks at and waits for.
#![forbid(unsafe_code)]

mod error;
mod stream;

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Weak};
use std::task::Poll;

use gossamer_channel as ours;
use gossamer_core::wait::Wait;
use gossamer_sync::sync::Event;

pub use self::error::{CloseError, ReceiveError, SendError};
pub use self::stream::ReceiveStream;

/// What all ends of a channel share.
struct Common<T> {
    /// Closed by hand.
    closed: Event,
    /// To drop what is in a channel that is closed.
    receiver: Weak<ours::Receiver<T>>,
}

impl<T> Common<T> {
    /// An operation's output; `None` if the channel is closed by hand before that.
    async fn unless_closed<F: Future>(&self, operation: F) -> Option<F::Output> {
        let (mut operation, mut closed) = (pin!(operation), pin!(self.closed.ready()));
        poll_fn(|cx| {
            if self.closed.is_set() {
                return Poll::Ready(None);
            }
            match operation.as_mut().poll(cx) {
                Poll::Ready(output) => Poll::Ready(Some(output)),
                Poll::Pending => closed.as_mut().poll(cx).map(|()| None),
            }
        })
        .await
    }

    fn close(&self) -> Result<(), CloseError> {
        if self.closed.is_set() {
            return Err(CloseError());
        }
        self.closed.set();
        if let Some(receiver) = self.receiver.upgrade() {
            receiver.try_iter().for_each(drop);
        }
        Ok(())
    }
}

/// The side that sends, for threads.
pub struct Sender<T>(AsyncSender<T>);

/// The side that receives, for threads.
pub struct Receiver<T>(AsyncReceiver<T>);

/// The side that sends, for tasks.
pub struct AsyncSender<T> {
    end: ours::Sender<T>,
    common: Arc<Common<T>>,
}

/// The side that receives, for tasks.
pub struct AsyncReceiver<T> {
    end: Arc<ours::Receiver<T>>,
    common: Arc<Common<T>>,
}

/// A channel for at most so many messages; for none, a sender and a receiver meet.
pub fn bounded_async<T>(size: usize) -> (AsyncSender<T>, AsyncReceiver<T>) {
    pair(match size {
        0 => ours::rendezvous(),
        size => ours::bounded(size),
    })
}

/// A channel for any number of messages.
pub fn unbounded_async<T>() -> (AsyncSender<T>, AsyncReceiver<T>) {
    pair(ours::unbounded())
}

/// As [`bounded_async`], for threads.
pub fn bounded<T>(size: usize) -> (Sender<T>, Receiver<T>) {
    let (to, from) = bounded_async(size);
    (Sender(to), Receiver(from))
}

/// As [`unbounded_async`], for threads.
pub fn unbounded<T>() -> (Sender<T>, Receiver<T>) {
    let (to, from) = unbounded_async();
    (Sender(to), Receiver(from))
}

fn pair<T>((to, from): (ours::Sender<T>, ours::Receiver<T>)) -> (AsyncSender<T>, AsyncReceiver<T>) {
    let from = Arc::new(from);
    let common = Arc::new(Common {
        closed: Event::new(),
        receiver: Arc::downgrade(&from),
    });
    let sender = AsyncSender {
        end: to,
        common: common.clone(),
    };
    (sender, AsyncReceiver { end: from, common })
}

impl<T> AsyncSender<T> {
    /// Sends, and waits for room.
    pub async fn send(&self, data: T) -> Result<(), SendError> {
        let sent = self.common.unless_closed(self.end.send(data)).await;
        sent.ok_or(SendError::Closed)?
            .map_err(|_| SendError::ReceiveClosed)
    }
}

impl<T> Sender<T> {
    /// Sends, and waits for room.
    pub fn send(&self, data: T) -> Result<(), SendError> {
        self.0.send(data).wait()
    }
}

impl<T> AsyncReceiver<T> {
    /// Receives, and waits for a message.
    pub async fn recv(&self) -> Result<T, ReceiveError> {
        let received = self.common.unless_closed(self.end.recv()).await;
        received
            .ok_or(ReceiveError::Closed)?
            .map_err(|ours::Closed| ReceiveError::SendClosed)
    }

    /// Messages until nobody is left to send.
    pub fn stream(&self) -> ReceiveStream<'_, T> {
        ReceiveStream::new(self)
    }
}

impl<T> Receiver<T> {
    /// Receives, and waits for a message.
    pub fn recv(&self) -> Result<T, ReceiveError> {
        self.0.recv().wait()
    }

    /// Receives all there are, and says how many.
    pub fn drain_into(&self, vec: &mut Vec<T>) -> Result<usize, ReceiveError> {
        let before = vec.len();
        vec.extend(self.0.end.try_iter());
        Ok(vec.len() - before)
    }
}

impl<T> Clone for AsyncSender<T> {
    fn clone(&self) -> Self {
        Self {
            end: self.end.clone(),
            common: self.common.clone(),
        }
    }
}

impl<T> Clone for AsyncReceiver<T> {
    fn clone(&self) -> Self {
        Self {
            end: self.end.clone(),
            common: self.common.clone(),
        }
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

macro_rules! ends {
    ($name:ident, $inner:ident) => {
        impl<T> $inner<T> {
            /// Closes the channel for both sides: what is in it is dropped.
            pub fn close(&self) -> Result<(), CloseError> {
                self.common.close()
            }
        }

        impl<T> $name<T> {
            /// Closes the channel for both sides: what is in it is dropped.
            pub fn close(&self) -> Result<(), CloseError> {
                self.0.close()
            }
        }

        impl<T> fmt::Debug for $inner<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(stringify!($inner))
            }
        }

        impl<T> fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(stringify!($name))
            }
        }
    };
}

ends!(Sender, AsyncSender);
ends!(Receiver, AsyncReceiver);
