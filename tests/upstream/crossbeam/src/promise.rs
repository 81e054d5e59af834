//! What goes through the channel. A `send` has its message; a selected one promises it, as it is made after the choice.
//!
//! The promise is a one-shot: the choice keeps it by sending, and takes it back by dropping its end, if another
//! operation was chosen although this one had gone as well. Who receives waits for either, and looks for another message
//! after the latter. That is no deadlock: who has chosen drops its own promises before it waits for another's.

use gossamer_channel::oneshot;
use gossamer_core::wait::Wait;

/// A message, or a promise of one.
pub(crate) enum Message<T> {
    Here(T),
    Promised(oneshot::Receiver<T>),
}

impl<T> Message<T> {
    /// A promise, and how to keep it.
    pub(crate) fn promised() -> (oneshot::Sender<T>, Self) {
        let (keep, promise) = oneshot::oneshot();
        (keep, Self::Promised(promise))
    }

    /// The message; `None`: the promise was taken back.
    pub(crate) fn open(self) -> Option<T> {
        match self {
            Self::Here(message) => Some(message),
            Self::Promised(promise) => promise.wait().ok(),
        }
    }

    /// The message of one's own that was not sent.
    pub(crate) fn into_own(self) -> T {
        self.open().expect("nobody promises to a sender")
    }
}
