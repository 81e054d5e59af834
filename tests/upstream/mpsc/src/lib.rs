//! The names of `std::sync::mpsc` over Gossamer's channels, with std's own errors.
//!
//! std's tests are not published as a package, and name std by its path. crossbeam-channel carries a copy of them, over
//! a few lines that make std's types of its own; under those lines this facade stands. So beside std's names it has the
//! two constructors by crossbeam's names, one type for both senders, and the choice among receivers that std once had.
#![forbid(unsafe_code)]

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use gossamer_channel as ours;
use gossamer_channel::Closed;
use gossamer_core::wait::Wait;

pub use std::sync::mpsc::{RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError};

#[doc(hidden)]
pub use self::{channel as unbounded, sync_channel as bounded};

/// A channel for any number of messages.
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let (to, from) = ours::unbounded();
    (Sender(to), Receiver(from))
}

/// A channel for at most so many messages.
pub fn sync_channel<T>(bound: usize) -> (SyncSender<T>, Receiver<T>) {
    let (to, from) = ours::bounded(bound);
    (Sender(to), Receiver(from))
}

/// The side that sends.
#[derive(Debug)]
pub struct Sender<T>(ours::Sender<T>);

/// The side that sends, where there may be no room.
pub type SyncSender<T> = Sender<T>;

/// The side that receives.
#[derive(Debug)]
pub struct Receiver<T>(ours::Receiver<T>);

impl<T> Sender<T> {
    /// Sends, and waits for room.
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        let sent = self.0.send(message).wait();
        sent.map_err(|error| SendError(error.0))
    }

    /// Sends, if there is room.
    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        self.0.try_send(message).map_err(|error| match error {
            ours::TrySendError::Full(message) => TrySendError::Full(message),
            ours::TrySendError::Closed(message) => TrySendError::Disconnected(message),
        })
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> Receiver<T> {
    /// Receives, and waits for a message.
    pub fn recv(&self) -> Result<T, RecvError> {
        self.0.recv().wait().map_err(|Closed| RecvError)
    }

    /// Receives, if there is a message.
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        self.0.try_recv().map_err(|error| match error {
            ours::TryRecvError::Empty => TryRecvError::Empty,
            ours::TryRecvError::Closed => TryRecvError::Disconnected,
        })
    }

    /// Receives, and waits so long for a message.
    pub fn recv_timeout(&self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        match gossamer_time::timeout(timeout, self.0.recv()).wait() {
            Ok(received) => received.map_err(|Closed| RecvTimeoutError::Disconnected),
            Err(_) => Err(RecvTimeoutError::Timeout),
        }
    }

    #[doc(hidden)]
    pub async fn next(&self) -> Result<T, RecvError> {
        self.0.recv().await.map_err(|Closed| RecvError)
    }
}

/// Waits for the first of them.
#[doc(hidden)]
pub fn first(list: Vec<Pin<Box<dyn Future<Output = ()> + '_>>>) {
    ours::select::any(list).wait();
}

/// The choice, by the name that the tests call it. Each case has a name of its own, as it comes from another expansion,
/// for what it has received.
#[doc(hidden)]
#[macro_export]
macro_rules! crossbeam_channel_internal {
    (@ [$(($came:ident ($from:expr) ($result:pat) $body:tt))*]) => {{
        $(let mut $came = ::core::option::Option::None;)*
        $crate::first(::std::vec![$(
            ::std::boxed::Box::pin(async { $came = ::core::option::Option::Some($from.next().await); }),
        )*]);
        $(if let ::core::option::Option::Some($result) = $came $body else)* {
            ::core::unreachable!()
        }
    }};
    (@ [$($cases:tt)*] recv($from:expr) -> $result:pat => $body:block $($rest:tt)*) => {
        $crate::crossbeam_channel_internal!(@ [$($cases)* (came ($from) ($result) $body)] $($rest)*)
    };
    (recv $($rest:tt)*) => { $crate::crossbeam_channel_internal!(@ [] recv $($rest)*) };
}
