//! Why a message did not go or come.

use std::error::Error;
use std::fmt;

/// The receiver is gone; this is the message.
pub struct SendError<T>(pub T);

impl<T> fmt::Debug for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SendError(..)")
    }
}

impl<T> fmt::Display for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the message was not sent: its receiver was dropped")
    }
}

impl<T> Error for SendError<T> {}

/// No message will come: the sender was dropped without sending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closed;

impl fmt::Display for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no message will come: its sender was dropped without sending one")
    }
}

impl Error for Closed {}

/// Why there is no message at this moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TryRecvError {
    /// It may still come.
    Empty,
    /// It will not come.
    Closed,
}

impl fmt::Display for TryRecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("no message was sent so far"),
            Self::Closed => Closed.fmt(f),
        }
    }
}

impl Error for TryRecvError {}
