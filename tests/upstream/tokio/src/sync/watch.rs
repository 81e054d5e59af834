//! Channels for the latest value.

use gossamer::channel;
use gossamer::channel::watch as ours;

use self::error::{RecvError, SendError};

/// Why there is no value.
pub mod error {
    pub use gossamer::channel::{Closed as RecvError, SendError};
}

/// The value as it was.
pub type Ref<T> = ours::Snapshot<T>;

/// Both sides.
pub fn channel<T>(init: T) -> (Sender<T>, Receiver<T>) {
    let (tx, rx) = channel::watch(init);
    (Sender(tx), Receiver(rx))
}

/// The side that sends.
#[derive(Debug)]
pub struct Sender<T>(ours::Sender<T>);

/// The side that receives.
#[derive(Debug)]
pub struct Receiver<T>(ours::Receiver<T>);

impl<T> Sender<T> {
    /// Replaces the value, if there is a receiver.
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        if self.is_closed() {
            return Err(SendError(value));
        }
        self.0.send(value);
        Ok(())
    }

    /// Modifies a clone of the value, and sends that.
    pub fn send_modify<F>(&self, modify: F)
    where
        F: FnMut(&mut T),
        T: Clone,
    {
        self.0.send_modify(modify);
    }

    /// Waits until there is no receiver.
    pub async fn closed(&self) {
        self.0.closed().await;
    }

    /// Whether there is no receiver.
    pub fn is_closed(&self) -> bool {
        self.0.is_closed()
    }

    /// A receiver that has seen this value.
    pub fn subscribe(&self) -> Receiver<T> {
        Receiver(self.0.subscribe())
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> Receiver<T> {
    /// Waits for a value that it has not seen.
    pub async fn changed(&mut self) -> Result<(), RecvError> {
        self.0.changed().await.map(drop)
    }

    /// Whether there is one.
    pub fn has_changed(&self) -> Result<bool, RecvError> {
        match self.is_closed() {
            true => Err(RecvError),
            false => Ok(self.0.has_changed()),
        }
    }

    /// Has not seen the value.
    pub fn mark_changed(&mut self) {
        self.0.mark_changed();
    }

    /// Has seen the value.
    pub fn mark_unchanged(&mut self) {
        self.0.mark_unchanged();
    }

    /// The value.
    pub fn borrow(&self) -> Ref<T> {
        self.0.snapshot()
    }

    /// The value, which it has seen then.
    pub fn borrow_and_update(&mut self) -> Ref<T> {
        self.0.snapshot_and_update()
    }

    /// Waits for a value that meets the condition.
    pub async fn wait_for<F>(&mut self, condition: F) -> Result<Ref<T>, RecvError>
    where
        F: FnMut(&T) -> bool,
    {
        self.0.wait_for(condition).await
    }

    /// Whether nobody sends.
    pub fn is_closed(&self) -> bool {
        self.0.is_closed()
    }
}

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}
