//! Why a receiver of a broadcast channel has no message.

use std::error::Error;
use std::fmt;

use crate::error::Closed;

/// Why a receiver was not given a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecvError {
    /// So many messages are no longer there, as it was too slow for them. It goes on with the oldest that is.
    Lagged(u64),
    /// No message will come: no sender is left, and all messages have been received.
    Closed,
}

impl fmt::Display for RecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lagged(number) => Lagged(*number).fmt(f),
            Self::Closed => Closed.fmt(f),
        }
    }
}

impl Error for RecvError {}

/// So many messages are no longer there, as the receiver was too slow for them: what an iterator or a stream gives in
/// their place. It goes on with the oldest that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lagged(pub u64);

impl fmt::Display for Lagged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} messages were missed: the receiver was too slow for the channel's capacity",
            self.0
        )
    }
}

impl Error for Lagged {}

/// Why a receiver has no message at this moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TryRecvError {
    /// It has received all there are; more may come.
    Empty,
    /// See [`RecvError::Lagged`].
    Lagged(u64),
    /// See [`RecvError::Closed`].
    Closed,
}

impl fmt::Display for TryRecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Empty => f.write_str("there is no message at this moment"),
            Self::Lagged(number) => Lagged(number).fmt(f),
            Self::Closed => RecvError::Closed.fmt(f),
        }
    }
}

impl Error for TryRecvError {}
