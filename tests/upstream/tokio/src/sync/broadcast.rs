//! Channels that tell all. tokio's hold a power of two.

use gossamer::channel;
use gossamer::channel::broadcast as ours;

use self::error::{RecvError, SendError, TryRecvError};

/// Why a message did not go or come.
pub mod error {
    pub use gossamer::channel::broadcast::{RecvError, SendError, TryRecvError};
}

/// Both sides.
pub fn channel<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    assert!(
        capacity <= usize::MAX >> 1,
        "broadcast channel capacity exceeded `usize::MAX / 2`"
    );
    // Of none ours says itself what is wrong.
    let places = match capacity {
        0 => 0,
        capacity => capacity.next_power_of_two(),
    };
    let (tx, rx) = channel::broadcast(places);
    (Sender(tx), Receiver(rx))
}

/// The side that sends.
#[derive(Debug)]
pub struct Sender<T>(ours::Sender<T>);

/// The side that receives.
#[derive(Debug)]
pub struct Receiver<T>(ours::Receiver<T>);

impl<T> Sender<T> {
    /// Without receivers.
    pub fn new(capacity: usize) -> Self {
        channel(capacity).0
    }

    /// Sends to all; how many they are.
    pub fn send(&self, value: T) -> Result<usize, SendError<T>> {
        self.0.send(value)?;
        Ok(self.receiver_count())
    }

    /// A receiver of what comes.
    pub fn subscribe(&self) -> Receiver<T> {
        Receiver(self.0.subscribe())
    }

    /// How many messages somebody has not received.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many receivers there are.
    pub fn receiver_count(&self) -> usize {
        self.0.receiver_count()
    }

    /// Waits until there is no receiver.
    pub async fn closed(&self) {
        self.0.closed().await;
    }

    /// One that does not count.
    pub fn downgrade(&self) -> WeakSender<T> {
        WeakSender(self.0.downgrade())
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

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T: Clone> Receiver<T> {
    /// Receives.
    pub async fn recv(&mut self) -> Result<T, RecvError> {
        self.0.recv().await
    }

    /// Receives, if there is a message.
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        self.0.try_recv()
    }
}

impl<T> Receiver<T> {
    /// A receiver of what comes.
    pub fn resubscribe(&self) -> Self {
        Self(self.0.resubscribe())
    }

    /// How many messages there are for it.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether nobody sends.
    pub fn is_closed(&self) -> bool {
        self.0.is_closed()
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

/// A sender that does not count.
#[derive(Debug)]
pub struct WeakSender<T>(ours::WeakSender<T>);

impl<T> WeakSender<T> {
    /// A sender, if there is one.
    pub fn upgrade(&self) -> Option<Sender<T>> {
        self.0.upgrade().map(Sender)
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
