//! Why a message did not go or come.

use std::error::Error;
use std::fmt;

use gossamer_core::impl_debug_as_display;

/// The other side (all receivers, or a pipe's other end) is gone, or the channel was closed; this is the message.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SendError<T>(pub T);

impl_debug_as_display!([T] SendError[T]);

impl<T> fmt::Display for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the message was not sent: the other side is gone, or `close` was called")
    }
}

impl<T> Error for SendError<T> {}

impl<T> SendError<T> {
    /// The message.
    pub fn into_inner(self) -> T {
        self.0
    }
}

/// Why a message was not sent at once; it comes back.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum TrySendError<T> {
    /// There is no room at this moment, or none that is not reserved, for senders that wait or by permits; in a rendezvous
    /// channel: no receiver waits.
    Full(T),
    /// No receiver is left, or the channel was closed.
    #[doc(alias = "Disconnected")]
    Closed(T),
}

impl<T> TrySendError<T> {
    /// The message.
    pub fn into_inner(self) -> T {
        match self {
            Self::Full(message) | Self::Closed(message) => message,
        }
    }
}

impl_debug_as_display!([T] TrySendError[T]);

impl<T> fmt::Display for TrySendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full(_) => "the message was not sent: there is no room",
            Self::Closed(_) => return SendError(()).fmt(f),
        })
    }
}

impl<T> Error for TrySendError<T> {}

impl<T> From<SendError<T>> for TrySendError<T> {
    fn from(SendError(message): SendError<T>) -> Self {
        Self::Closed(message)
    }
}

/// The other side (all senders, or a pipe's other end) is gone, or the channel was closed, and what had been sent has been
/// received.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Closed;

impl_debug_as_display!([] Closed[]);

impl fmt::Display for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the channel is closed: the other side is gone, or `close` was called")
    }
}

impl Error for Closed {}

/// Why there is no message at this moment.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum TryRecvError {
    /// It may still come.
    Empty,
    /// It will not come.
    #[doc(alias = "Disconnected")]
    Closed,
}

impl_debug_as_display!([] TryRecvError[]);

impl fmt::Display for TryRecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("there is no message at this moment"),
            Self::Closed => Closed.fmt(f),
        }
    }
}

impl Error for TryRecvError {}

impl From<Closed> for TryRecvError {
    fn from(Closed: Closed) -> Self {
        Self::Closed
    }
}
