//! The names of async-channel over Gossamer's channels: what that crate's own tests are compiled against.
//!
//! Sending and receiving are our operations as they are, and so are the errors. Closing by hand is not here, as no test
//! does that; replacing a message is only a name, as ours do not.
#![forbid(unsafe_code)]

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::{Context, Poll, ready};

use futures_core::Stream;
use gossamer_channel as ours;
use gossamer_core::policy::Shared;
use gossamer_core::wait::Wait;

pub use gossamer_channel::{Closed as RecvError, SendError, TryRecvError, TrySendError};

/// A channel for at most so many messages.
pub fn bounded<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    pair(ours::bounded(capacity))
}

/// A channel for any number of messages.
pub fn unbounded<T>() -> (Sender<T>, Receiver<T>) {
    pair(ours::unbounded())
}

fn pair<T>((to, from): (ours::Sender<T>, ours::Receiver<T>)) -> (Sender<T>, Receiver<T>) {
    (Sender::of(Arc::new(to)), Receiver::of(Arc::new(from)))
}

/// The side that sends.
pub struct Sender<T> {
    end: ours::Sender<T>,
    /// One more, of which weak ones are made and make others: our receivers have none.
    seed: Arc<ours::Sender<T>>,
}

/// A message that is about to come, and the receiver it comes from.
type Coming<T> = Pin<Box<dyn Future<Output = Result<T, RecvError>> + Send>>;

/// The side that receives.
pub struct Receiver<T> {
    end: ours::Receiver<T>,
    /// As the sender's.
    seed: Arc<ours::Receiver<T>>,
    /// What the stream waits for.
    coming: Mutex<Option<Coming<T>>>,
}

impl<T> Sender<T> {
    fn of(seed: Arc<ours::Sender<T>>) -> Self {
        let end = ours::Sender::clone(&seed);
        Self { end, seed }
    }

    /// Sends, and waits for room.
    pub fn send(&self, message: T) -> ours::raw::Sending<'_, T, Shared> {
        self.end.send(message)
    }

    /// The same for a thread.
    pub fn send_blocking(&self, message: T) -> Result<(), SendError<T>> {
        self.send(message).wait()
    }

    /// Sends, if there is room.
    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        self.end.try_send(message)
    }

    /// Sends if there is room.
    ///
    /// # Panics
    /// There is none: ours replace no message.
    pub fn force_send(&self, message: T) -> Result<Option<T>, SendError<T>> {
        match self.try_send(message) {
            Ok(()) => Ok(None),
            Err(TrySendError::Closed(message)) => Err(SendError(message)),
            Err(TrySendError::Full(_)) => panic!("our channels replace no message"),
        }
    }

    /// Waits until nobody is left to receive.
    pub async fn closed(&self) {
        self.end.closed().await;
    }
}

impl<T> Receiver<T> {
    fn of(seed: Arc<ours::Receiver<T>>) -> Self {
        let end = ours::Receiver::clone(&seed);
        let coming = Mutex::new(None);
        Self { end, seed, coming }
    }

    /// Receives, and waits for a message.
    pub fn recv(&self) -> ours::raw::Receiving<'_, T, Shared> {
        self.end.recv()
    }

    /// The same for a thread.
    pub fn recv_blocking(&self) -> Result<T, RecvError> {
        self.recv().wait()
    }

    /// Receives, if there is a message.
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        self.end.try_recv()
    }
}

impl<T: Send + 'static> Stream for Receiver<T> {
    type Item = T;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let this = &mut *self;
        let coming = this
            .coming
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        let from = &this.seed;
        let next = coming.get_or_insert_with(|| {
            let from = from.clone();
            Box::pin(async move { from.recv().await })
        });
        let message = ready!(next.as_mut().poll(cx));
        *coming = None;
        Poll::Ready(message.ok())
    }
}

macro_rules! both {
    ($($name:ident $weak:ident)*) => {$(
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

            /// How many there are, without the one that weak ones are made of.
            pub fn sender_count(&self) -> usize {
                self.end.sender_count().saturating_sub(1)
            }

            /// How many there are, without the one that weak ones are made of.
            pub fn receiver_count(&self) -> usize {
                self.end.receiver_count().saturating_sub(1)
            }

            /// Whether the other side has gone.
            pub fn is_closed(&self) -> bool {
                self.end.is_closed()
            }

            /// One that does not keep the channel open.
            pub fn downgrade(&self) -> $weak<T> {
                $weak(Arc::downgrade(&self.seed))
            }
        }

        impl<T> Clone for $name<T> {
            fn clone(&self) -> Self {
                Self::of(self.seed.clone())
            }
        }

        impl<T> fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(concat!(stringify!($name), " { .. }"))
            }
        }

        /// An end that does not keep the channel open.
        pub struct $weak<T>(Weak<ours::$name<T>>);

        impl<T> $weak<T> {
            /// One that does, if there is another one.
            pub fn upgrade(&self) -> Option<$name<T>> {
                self.0.upgrade().map($name::of)
            }
        }

        impl<T> fmt::Debug for $weak<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(concat!(stringify!($weak), " { .. }"))
            }
        }
    )*};
}

both! { Sender WeakSender Receiver WeakReceiver }
