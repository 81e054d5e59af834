//! The two sides.

use std::task::{Context, Poll};
use std::time::Duration;

use gossamer::TimeoutExt;
use gossamer::channel as ours;

use super::debug_of_any;
use super::error::{SendError, SendTimeoutError, TryRecvError, TrySendError};
use crate::missing;
use crate::sync::waiting::block;

/// The side that sends.
pub struct Sender<T>(pub(super) ours::Sender<T>);

/// The side that sends, and finds room always.
pub struct UnboundedSender<T>(pub(super) ours::Sender<T>);

debug_of_any! {
    Sender[T] UnboundedSender[T] Receiver[T] UnboundedReceiver[T] WeakSender[T] WeakUnboundedSender[T]
}

impl<T> Sender<T> {
    /// Sends.
    pub async fn send(&self, value: T) -> Result<(), SendError<T>> {
        self.0.send(value).await
    }

    /// Sends, if there is room.
    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        self.0.try_send(message)
    }

    /// Sends, if there is room in time.
    pub async fn send_timeout(
        &self,
        value: T,
        timeout: Duration,
    ) -> Result<(), SendTimeoutError<T>> {
        let mut message = Some(value);
        let sent = self.0.send_from(&mut message).timeout(timeout).await;
        let mut unsent = || {
            message
                .take()
                .expect("a message that was not sent is there")
        };
        match sent {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(SendTimeoutError::Closed(unsent())),
            Err(_) => Err(SendTimeoutError::Timeout(unsent())),
        }
    }

    /// Blocks until there is room.
    pub fn blocking_send(&self, value: T) -> Result<(), SendError<T>> {
        block(self.0.send(value))
    }

    /// How many messages there may be.
    pub fn max_capacity(&self) -> usize {
        self.0.capacity().expect("it is bounded")
    }
}

impl<T> UnboundedSender<T> {
    /// Sends.
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        let sent = self.0.try_send(message);
        sent.map_err(|refused| SendError(refused.into_inner()))
    }
}

macro_rules! sides {
    ($sender:ident $weak:ident $receiver:ident) => {
        impl<T> $sender<T> {
            /// Waits until nobody receives.
            pub async fn closed(&self) {
                self.0.closed().await;
            }

            /// Whether nobody receives.
            pub fn is_closed(&self) -> bool {
                self.0.is_closed()
            }

            /// Whether both are of one channel.
            pub fn same_channel(&self, other: &Self) -> bool {
                self.0.same_channel(&other.0)
            }

            /// One that does not count.
            pub fn downgrade(&self) -> $weak<T> {
                $weak(self.0.downgrade())
            }

            /// How many senders there are.
            pub fn strong_count(&self) -> usize {
                self.0.sender_count()
            }

            /// How many do not count.
            pub fn weak_count(&self) -> usize {
                self.0.weak_count()
            }
        }

        impl<T> Clone for $sender<T> {
            fn clone(&self) -> Self {
                Self(self.0.clone())
            }
        }

        /// A sender that does not count.
        pub struct $weak<T>(ours::WeakSender<T>);

        impl<T> $weak<T> {
            /// A sender, if there is one.
            pub fn upgrade(&self) -> Option<$sender<T>> {
                self.0.upgrade().map($sender)
            }

            /// How many senders there are.
            pub fn strong_count(&self) -> usize {
                self.0.sender_count()
            }

            /// How many do not count.
            pub fn weak_count(&self) -> usize {
                self.0.weak_count()
            }
        }

        impl<T> Clone for $weak<T> {
            fn clone(&self) -> Self {
                Self(self.0.clone())
            }
        }

        /// The side that receives.
        pub struct $receiver<T>(pub(super) ours::Receiver<T>);

        impl<T> $receiver<T> {
            /// Receives.
            pub async fn recv(&mut self) -> Option<T> {
                self.0.recv().await.ok()
            }

            /// Receives, if there is a message.
            pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
                self.0.try_recv().map_err(|error| match error {
                    ours::TryRecvError::Empty => TryRecvError::Empty,
                    ours::TryRecvError::Closed => TryRecvError::Disconnected,
                })
            }

            /// Receives so many at most.
            pub async fn recv_many(&mut self, buffer: &mut Vec<T>, limit: usize) -> usize {
                self.0.recv_many(buffer, limit).await.unwrap_or(0)
            }

            /// Blocks until there is a message.
            pub fn blocking_recv(&mut self) -> Option<T> {
                block(self.0.recv()).ok()
            }

            /// Not without a future.
            pub fn poll_recv(&mut self, _cx: &mut Context<'_>) -> Poll<Option<T>> {
                missing("operation that outlives its future")
            }

            /// Nothing more is sent.
            pub fn close(&mut self) {
                self.0.close();
            }

            /// Whether nothing more is sent.
            pub fn is_closed(&self) -> bool {
                self.0.is_closed()
            }

            /// Whether there is no message.
            pub fn is_empty(&self) -> bool {
                self.0.is_empty()
            }

            /// How many messages there are.
            pub fn len(&self) -> usize {
                self.0.len()
            }

            /// How many senders there are.
            pub fn sender_strong_count(&self) -> usize {
                self.0.sender_count()
            }

            /// How many do not count.
            pub fn sender_weak_count(&self) -> usize {
                self.0.weak_count()
            }
        }
    };
}

sides! { Sender WeakSender Receiver }
sides! { UnboundedSender WeakUnboundedSender UnboundedReceiver }
