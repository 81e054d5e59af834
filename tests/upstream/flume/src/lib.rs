//! The names of flume over Gossamer's channels: what that crate's own tests are compiled against, those of its
//! asynchronous part left out. An operation is finished by `.wait()`; the errors are std's, where that has them.
#![forbid(unsafe_code)]

mod error;
mod select;

use std::fmt;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use gossamer_channel as ours;
use gossamer_channel::Closed;
use gossamer_core::wait::Wait;

pub use self::error::{RecvError, SendTimeoutError};
pub use self::select::Selector;
pub use std::sync::mpsc::{RecvTimeoutError, SendError, TryRecvError, TrySendError};

/// A channel for at most so many messages.
pub fn bounded<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    pair(ours::bounded(capacity))
}

/// A channel for any number of messages.
pub fn unbounded<T>() -> (Sender<T>, Receiver<T>) {
    pair(ours::unbounded())
}

fn pair<T>((to, from): (ours::Sender<T>, ours::Receiver<T>)) -> (Sender<T>, Receiver<T>) {
    (Sender::of(Arc::new(to)), Receiver { end: from })
}

/// The side that sends.
pub struct Sender<T> {
    end: ours::Sender<T>,
    /// One more, of which weak ones are made and make others: ours have none.
    seed: Arc<ours::Sender<T>>,
}

/// The side that receives.
pub struct Receiver<T> {
    end: ours::Receiver<T>,
}

/// A sender that does not keep the channel open.
#[derive(Debug)]
pub struct WeakSender<T>(Weak<ours::Sender<T>>);

impl<T> WeakSender<T> {
    /// One that does, if there is another one.
    pub fn upgrade(&self) -> Option<Sender<T>> {
        self.0.upgrade().map(Sender::of)
    }
}

impl<T> Sender<T> {
    fn of(seed: Arc<ours::Sender<T>>) -> Self {
        let end = ours::Sender::clone(&seed);
        Self { end, seed }
    }

    /// Sends, and waits for room.
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        let sent = self.end.send(message).wait();
        sent.map_err(|error| SendError(error.0))
    }

    /// Sends, if there is room.
    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        self.end.try_send(message).map_err(|error| match error {
            ours::TrySendError::Full(message) => TrySendError::Full(message),
            ours::TrySendError::Closed(message) => TrySendError::Disconnected(message),
        })
    }

    /// Sends, and waits so long for room.
    pub fn send_timeout(&self, message: T, timeout: Duration) -> Result<(), SendTimeoutError<T>> {
        let mut message = Some(message);
        let sent = gossamer_time::timeout(timeout, self.end.send_from(&mut message)).wait();
        // It may have gone in the moment of giving up: then there is nothing to give back.
        match (sent, message) {
            (_, None) => Ok(()),
            (Ok(_), Some(message)) => Err(SendTimeoutError::Disconnected(message)),
            (Err(_), Some(message)) => Err(SendTimeoutError::Timeout(message)),
        }
    }

    /// One that does not keep the channel open.
    pub fn downgrade(&self) -> WeakSender<T> {
        WeakSender(Arc::downgrade(&self.seed))
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        Self::of(self.seed.clone())
    }
}

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        let end = self.end.clone();
        Self { end }
    }
}

impl<T> Receiver<T> {
    /// Receives, and waits for a message.
    pub fn recv(&self) -> Result<T, RecvError> {
        let received = self.end.recv().wait();
        received.map_err(|Closed| RecvError::Disconnected)
    }

    /// Receives, if there is a message.
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        self.end.try_recv().map_err(|error| match error {
            ours::TryRecvError::Empty => TryRecvError::Empty,
            ours::TryRecvError::Closed => TryRecvError::Disconnected,
        })
    }

    /// Receives, and waits so long for a message.
    pub fn recv_timeout(&self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        match gossamer_time::timeout(timeout, self.end.recv()).wait() {
            Ok(received) => received.map_err(|Closed| RecvTimeoutError::Disconnected),
            Err(_) => Err(RecvTimeoutError::Timeout),
        }
    }

    /// Receives, and waits until then for a message.
    pub fn recv_deadline(&self, deadline: Instant) -> Result<T, RecvTimeoutError> {
        match gossamer_time::timeout_at(deadline, self.end.recv()).wait() {
            Ok(received) => received.map_err(|Closed| RecvTimeoutError::Disconnected),
            Err(_) => Err(RecvTimeoutError::Timeout),
        }
    }

    /// Messages until nobody is left to send, waiting for each.
    pub fn iter(&self) -> impl Iterator<Item = T> + '_ {
        self.end.iter()
    }

    /// The messages there are, and those that come meanwhile.
    pub fn try_iter(&self) -> impl Iterator<Item = T> + '_ {
        self.end.try_iter()
    }

    /// The messages there are, taken out at once.
    pub fn drain(&self) -> impl Iterator<Item = T> {
        let messages: Vec<T> = self.end.try_iter().take(self.end.len()).collect();
        messages.into_iter()
    }
}

impl<T> IntoIterator for Receiver<T> {
    type Item = T;
    type IntoIter = <ours::Receiver<T> as IntoIterator>::IntoIter;

    fn into_iter(self) -> Self::IntoIter {
        self.end.into_iter()
    }
}

impl<'a, T> IntoIterator for &'a Receiver<T> {
    type Item = T;
    type IntoIter = <&'a ours::Receiver<T> as IntoIterator>::IntoIter;

    fn into_iter(self) -> Self::IntoIter {
        self.end.iter()
    }
}

macro_rules! both {
    ($($name:ident)*) => {$(
        impl<T> $name<T> {
            /// How many messages there are.
            pub fn len(&self) -> usize {
                self.end.len()
            }

            /// Whether there are none.
            pub fn is_empty(&self) -> bool {
                self.end.is_empty()
            }

            /// Whether there are as many as there may be.
            pub fn is_full(&self) -> bool {
                self.end.is_full()
            }

            /// How many there may be.
            pub fn capacity(&self) -> Option<usize> {
                self.end.capacity()
            }

            /// Whether the other side has gone.
            pub fn is_disconnected(&self) -> bool {
                self.end.is_closed()
            }

            /// Whether both are of one channel.
            pub fn same_channel(&self, other: &Self) -> bool {
                self.end.same_channel(&other.end)
            }
        }

        impl<T> fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(stringify!($name))
            }
        }
    )*};
}

both! { Sender Receiver }
