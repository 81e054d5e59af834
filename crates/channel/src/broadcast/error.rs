//! Why a receiver of a broadcast channel has no message.

use std::error::Error;
use std::fmt;

use gossamer_core::impl_debug_as_display;

/// Why a receiver was not given a message.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum RecvError {
    /// The receiver was too slow: this many messages are lost to it. It goes on with the oldest that is still there.
    Lagged(u64),
    /// No message will come: no sender is left, and all messages have been received.
    Closed,
}

impl_debug_as_display!([] RecvError[]);

impl fmt::Display for RecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lagged(number) => Lagged(*number).fmt(f),
            Self::Closed => f.write_str("the channel is closed: no sender is left"),
        }
    }
}

impl Error for RecvError {}

/// Number of messages that are lost to a receiver because it was too slow. An iterator or a stream gives this in their
/// place, and goes on with the oldest message that is still there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Lagged(pub u64);

impl_debug_as_display!([] Lagged[]);

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
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum TryRecvError {
    /// It has received all there are; more may come.
    Empty,
    /// See [`RecvError::Lagged`].
    Lagged(u64),
    /// See [`RecvError::Closed`].
    Closed,
}

impl_debug_as_display!([] TryRecvError[]);

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

impl From<RecvError> for TryRecvError {
    fn from(error: RecvError) -> Self {
        match error {
            RecvError::Lagged(number) => Self::Lagged(number),
            RecvError::Closed => Self::Closed,
        }
    }
}
