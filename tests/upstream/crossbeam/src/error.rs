//! Why a message did not go or come, with the texts that the tests know.

use std::error::Error;
use std::fmt;

/// The text of an error.
macro_rules! display {
    ([$($generic:ident)?] $type:ty, $($pattern:pat => $text:literal),+) => {
        impl$(<$generic>)? fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $($pattern => f.write_str($text),)+
                }
            }
        }

        impl$(<$generic: Send>)? Error for $type {}
    };
}

/// An error that says what it is, and nothing else.
macro_rules! plain {
    ($($name:ident $text:literal)+) => {$(
        #[doc = concat!("What it says: ", $text, ".")]
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct $name;

        display! { [] $name, _ => $text }
    )+};
}

plain! {
    RecvError "receiving on an empty and disconnected channel"
    TrySelectError "all operations in select would block"
    SelectTimeoutError "timed out waiting on select"
    TryReadyError "all operations in select would block"
    ReadyTimeoutError "timed out waiting on select"
}

/// An error with two cases, without a message in it.
macro_rules! receiving {
    ($name:ident, $other:ident, $is_other:ident, $other_text:literal, $gone_text:literal) => {
        /// Why there is no message.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $name {
            /// It may still come.
            $other,
            /// It will not come.
            Disconnected,
        }

        impl $name {
            /// Whether it may still come.
            pub fn $is_other(&self) -> bool {
                *self == Self::$other
            }

            /// Whether it will not come.
            pub fn is_disconnected(&self) -> bool {
                *self == Self::Disconnected
            }
        }

        display! { [] $name, Self::$other => $other_text, Self::Disconnected => $gone_text }

        impl From<RecvError> for $name {
            fn from(_: RecvError) -> Self {
                Self::Disconnected
            }
        }
    };
}

receiving!(
    TryRecvError,
    Empty,
    is_empty,
    "receiving on an empty channel",
    "receiving on an empty and disconnected channel"
);
receiving!(
    RecvTimeoutError,
    Timeout,
    is_timeout,
    "timed out waiting on receive operation",
    "channel is empty and disconnected"
);

/// Nobody is left to receive; this is the message.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SendError<T>(pub T);

impl<T> SendError<T> {
    /// The message.
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T> fmt::Debug for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SendError(..)")
    }
}

display! { [T] SendError<T>, _ => "sending on a disconnected channel" }

/// An error with two cases, both with the message.
macro_rules! sending {
    ($name:ident, $other:ident, $is_other:ident, $text:literal) => {
        /// Why the message did not go.
        #[derive(Clone, Copy, PartialEq, Eq)]
        pub enum $name<T> {
            /// It could later.
            $other(T),
            /// Nobody is left to receive it.
            Disconnected(T),
        }

        impl<T> $name<T> {
            /// The message.
            pub fn into_inner(self) -> T {
                match self {
                    Self::$other(message) | Self::Disconnected(message) => message,
                }
            }

            /// Whether it could go later.
            pub fn $is_other(&self) -> bool {
                matches!(self, Self::$other(_))
            }

            /// Whether nobody is left to receive it.
            pub fn is_disconnected(&self) -> bool {
                matches!(self, Self::Disconnected(_))
            }
        }

        impl<T> fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self {
                    Self::$other(_) => concat!(stringify!($other), "(..)"),
                    Self::Disconnected(_) => "Disconnected(..)",
                })
            }
        }

        display! { [T] $name<T>, Self::$other(_) => $text, Self::Disconnected(_) => "sending on a disconnected channel" }

        impl<T> From<SendError<T>> for $name<T> {
            fn from(error: SendError<T>) -> Self {
                Self::Disconnected(error.0)
            }
        }
    };
}

sending!(TrySendError, Full, is_full, "sending on a full channel");
sending!(
    SendTimeoutError,
    Timeout,
    is_timeout,
    "timed out waiting on send operation"
);
