//! Why a message did not go or come.

pub use gossamer::channel::{SendError, TrySendError};

/// Why there is no message.
#[derive(Debug, PartialEq, Eq)]
pub enum TryRecvError {
    /// It may still come.
    Empty,
    /// It will not come.
    Disconnected,
}

/// Why a message was not sent.
#[derive(Debug, PartialEq, Eq)]
pub enum SendTimeoutError<T> {
    /// There was no room for so long.
    Timeout(T),
    /// Nobody receives.
    Closed(T),
}
