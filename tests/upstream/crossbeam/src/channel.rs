//! The two ends.

use std::fmt;
use std::future::pending;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;
use std::time::{Duration, Instant};

use gossamer_channel as ours;
use gossamer_channel::Closed;
use gossamer_core::wait::Wait;

use crate::clock::{Alarm, Clock};
use crate::error::{
    RecvError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError,
};
use crate::promise::Message;
use crate::select::Desk;

/// The side that sends.
pub struct Sender<T> {
    pub(crate) to: ours::Sender<Message<T>>,
    pub(crate) desk: Arc<Desk<T>>,
}

/// The side that receives.
pub struct Receiver<T> {
    pub(crate) from: Source<T>,
    pub(crate) desk: Arc<Desk<T>>,
}

/// Where messages come from.
pub(crate) enum Source<T> {
    Channel(ours::Receiver<Message<T>>),
    Clock(Arc<dyn Clock<T>>),
    Never,
}

fn pair<T>(
    (to, from): (ours::Sender<Message<T>>, ours::Receiver<Message<T>>),
) -> (Sender<T>, Receiver<T>) {
    let desk = Arc::new(Desk::new());
    let from = Source::Channel(from);
    let sender = Sender {
        to,
        desk: desk.clone(),
    };
    (sender, Receiver { from, desk })
}

/// A channel for at most so many messages.
pub fn bounded<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    pair(ours::bounded(capacity))
}

/// A channel for any number of messages.
pub fn unbounded<T>() -> (Sender<T>, Receiver<T>) {
    pair(ours::unbounded())
}

fn alarm(first: Option<Instant>, period: Option<Duration>) -> Receiver<Instant> {
    Receiver {
        from: Source::Clock(Arc::new(Alarm::new(first, period))),
        desk: Arc::new(Desk::new()),
    }
}

/// One message, when this time has gone by.
pub fn after(duration: Duration) -> Receiver<Instant> {
    alarm(Instant::now().checked_add(duration), None)
}

/// One message, at that time.
pub fn at(time: Instant) -> Receiver<Instant> {
    alarm(Some(time), None)
}

/// A message each time that this time has gone by.
pub fn tick(period: Duration) -> Receiver<Instant> {
    alarm(Instant::now().checked_add(period), Some(period))
}

/// No message, and no end.
pub fn never<T>() -> Receiver<T> {
    Receiver {
        from: Source::Never,
        desk: Arc::new(Desk::new()),
    }
}

impl<T> Sender<T> {
    /// Sends, and waits for room.
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        let sent = self.to.send(Message::Here(message)).wait();
        sent.map_err(|error| SendError(error.0.into_own()))
    }

    /// Sends, if there is room.
    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        let sent = self.to.try_send(Message::Here(message));
        sent.map_err(|error| match error {
            ours::TrySendError::Full(message) => TrySendError::Full(message.into_own()),
            ours::TrySendError::Closed(message) => TrySendError::Disconnected(message.into_own()),
        })
    }

    /// Sends, and waits so long for room.
    pub fn send_timeout(&self, message: T, timeout: Duration) -> Result<(), SendTimeoutError<T>> {
        match Instant::now().checked_add(timeout) {
            Some(deadline) => self.send_deadline(message, deadline),
            None => self.send(message).map_err(SendTimeoutError::from),
        }
    }

    /// Sends, and waits until then for room.
    pub fn send_deadline(&self, message: T, at: Instant) -> Result<(), SendTimeoutError<T>> {
        let mut message = Some(Message::Here(message));
        let sent = gossamer_time::timeout_at(at, self.to.send_from(&mut message)).wait();
        // It may have gone in the moment of giving up: then there is nothing to give back.
        match (sent, message.map(Message::into_own)) {
            (_, None) => Ok(()),
            (Ok(_), Some(message)) => Err(SendTimeoutError::Disconnected(message)),
            (Err(_), Some(message)) => Err(SendTimeoutError::Timeout(message)),
        }
    }
}

impl<T> Receiver<T> {
    /// Receives, and waits for a message.
    pub fn recv(&self) -> Result<T, RecvError> {
        self.recv_until(None).map_err(|_| RecvError)
    }

    /// Receives, if there is a message.
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        loop {
            let message = match &self.from {
                Source::Channel(from) => from.try_recv().map_err(|error| match error {
                    ours::TryRecvError::Empty => TryRecvError::Empty,
                    ours::TryRecvError::Closed => TryRecvError::Disconnected,
                })?,
                Source::Clock(clock) => Message::Here(clock.take().ok_or(TryRecvError::Empty)?),
                Source::Never => return Err(TryRecvError::Empty),
            };
            if let Some(message) = message.open() {
                return Ok(message);
            }
        }
    }

    /// Receives, and waits so long for a message.
    pub fn recv_timeout(&self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        self.recv_until(Instant::now().checked_add(timeout))
    }

    /// Receives, and waits until then for a message.
    pub fn recv_deadline(&self, deadline: Instant) -> Result<T, RecvTimeoutError> {
        self.recv_until(Some(deadline))
    }

    fn recv_until(&self, deadline: Option<Instant>) -> Result<T, RecvTimeoutError> {
        loop {
            let received = match deadline {
                None => self.next().wait(),
                Some(at) => gossamer_time::timeout_at(at, self.next())
                    .wait()
                    .map_err(|_| RecvTimeoutError::Timeout)?,
            };
            let message = received.map_err(|Closed| RecvTimeoutError::Disconnected)?;
            if let Some(message) = message.open() {
                return Ok(message);
            }
        }
    }

    /// The next message, or promise of one.
    pub(crate) async fn next(&self) -> Result<Message<T>, Closed> {
        match &self.from {
            Source::Channel(from) => from.recv().await,
            Source::Clock(clock) => loop {
                if let Some(message) = clock.take() {
                    return Ok(Message::Here(message));
                }
                match clock.due() {
                    Some(due) => gossamer_time::sleep_until(due).await,
                    None => pending().await,
                }
            },
            Source::Never => pending().await,
        }
    }

    /// Messages until nobody is left to send, waiting for each.
    pub fn iter(&self) -> Iter<'_, T> {
        Iter(self)
    }

    /// The messages there are.
    pub fn try_iter(&self) -> TryIter<'_, T> {
        TryIter(self)
    }

    /// How many messages there are.
    pub fn len(&self) -> usize {
        match &self.from {
            Source::Channel(from) => from.len(),
            Source::Clock(clock) => {
                usize::from(clock.due().is_some_and(|due| due <= Instant::now()))
            }
            Source::Never => 0,
        }
    }

    /// How many there may be.
    pub fn capacity(&self) -> Option<usize> {
        match &self.from {
            Source::Channel(from) => from.capacity(),
            Source::Clock(_) => Some(1),
            Source::Never => Some(0),
        }
    }

    /// Whether both receive from one channel.
    pub fn same_channel(&self, other: &Self) -> bool {
        match (&self.from, &other.from) {
            (Source::Channel(from), Source::Channel(other)) => from.same_channel(other),
            (Source::Clock(clock), Source::Clock(other)) => Arc::ptr_eq(clock, other),
            // All that never have anything are alike.
            (Source::Never, Source::Never) => true,
            _ => false,
        }
    }
}

impl<T> Sender<T> {
    /// How many messages there are.
    pub fn len(&self) -> usize {
        self.to.len()
    }

    /// How many there may be.
    pub fn capacity(&self) -> Option<usize> {
        self.to.capacity()
    }

    /// Whether both send into one channel.
    pub fn same_channel(&self, other: &Self) -> bool {
        self.to.same_channel(&other.to)
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        Self {
            to: self.to.clone(),
            desk: self.desk.clone(),
        }
    }
}

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        let from = match &self.from {
            Source::Channel(from) => Source::Channel(from.clone()),
            Source::Clock(clock) => Source::Clock(clock.clone()),
            Source::Never => Source::Never,
        };
        Self {
            from,
            desk: self.desk.clone(),
        }
    }
}

macro_rules! both {
    ($($name:ident)*) => {$(
        impl<T> $name<T> {
            /// Whether there are no messages.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// Whether there are as many as there may be.
            pub fn is_full(&self) -> bool {
                self.capacity() == Some(self.len())
            }
        }

        impl<T> UnwindSafe for $name<T> {}
        impl<T> RefUnwindSafe for $name<T> {}

        impl<T> fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(concat!(stringify!($name), " { .. }"))
            }
        }
    )*};
}

both! { Sender Receiver }

/// [`Receiver::iter`].
#[derive(Debug)]
pub struct Iter<'a, T>(&'a Receiver<T>);

/// [`Receiver::try_iter`].
#[derive(Debug)]
pub struct TryIter<'a, T>(&'a Receiver<T>);

/// [`Receiver::into_iter`].
#[derive(Debug)]
pub struct IntoIter<T>(Receiver<T>);

macro_rules! iterates {
    ($($type:ty, $try:ident;)+) => {$(
        impl<T> Iterator for $type {
            type Item = T;

            fn next(&mut self) -> Option<T> {
                self.0.$try().ok()
            }
        }
    )+};
}

iterates! { Iter<'_, T>, recv; TryIter<'_, T>, try_recv; IntoIter<T>, recv; }

impl<'a, T> IntoIterator for &'a Receiver<T> {
    type Item = T;
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

impl<T> IntoIterator for Receiver<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    fn into_iter(self) -> IntoIter<T> {
        IntoIter(self)
    }
}
