//! Channels for one message.

pub use gossamer::channel::oneshot::{Receiver, Sender, oneshot as channel};

/// Why there is no message.
pub mod error {
    pub use gossamer::channel::{Closed as RecvError, TryRecvError};
}
