//! The errors, which give no message back.

use std::error::Error;
use std::fmt;

/// Why a message did not go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SendError {
    /// The channel was closed by hand.
    Closed,
    /// Nobody is left to receive.
    ReceiveClosed,
}

/// Why there is no message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReceiveError {
    /// The channel was closed by hand.
    Closed,
    /// Nobody is left to send.
    SendClosed,
}

/// The channel was closed before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CloseError();

macro_rules! errors {
    ($($name:ident)*) => {$(
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a closed channel ({self:?})")
            }
        }

        impl Error for $name {}
    )*};
}

errors! { SendError ReceiveError CloseError }
