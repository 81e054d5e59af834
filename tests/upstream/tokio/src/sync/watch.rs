//! Channels for the latest value. With ours nothing can be marked as changed: here that is a flag of the receiver.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use gossamer::channel;
use gossamer::channel::watch as ours;

use self::error::{RecvError, SendError};
use crate::missing;

/// Why there is no value.
pub mod error {
    pub use gossamer::channel::{Closed as RecvError, SendError};
}

/// The value as it was.
pub type Ref<T> = ours::Snapshot<T>;

/// Both sides.
pub fn channel<T>(init: T) -> (Sender<T>, Receiver<T>) {
    let (tx, rx) = channel::watch(init);
    (Sender(tx), Receiver::new(rx))
}

/// The side that sends.
#[derive(Debug)]
pub struct Sender<T>(ours::Sender<T>);

/// The side that receives.
#[derive(Debug)]
pub struct Receiver<T> {
    end: ours::Receiver<T>,
    is_marked: bool,
}

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

    /// Not before there is no receiver.
    pub async fn closed(&self) {
        missing("wait for the last receiver of a watch channel")
    }

    /// Whether there is no receiver.
    pub fn is_closed(&self) -> bool {
        self.0.is_closed()
    }

    /// A receiver that has seen this value.
    pub fn subscribe(&self) -> Receiver<T> {
        Receiver::new(self.0.subscribe())
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> Receiver<T> {
    fn new(end: ours::Receiver<T>) -> Self {
        let is_marked = false;
        Self { end, is_marked }
    }

    /// Waits for a value that it has not seen.
    pub async fn changed(&mut self) -> Result<(), RecvError> {
        if self.is_marked {
            self.mark_unchanged();
            return Ok(());
        }
        self.end.changed().await.map(drop)
    }

    /// Whether there is one.
    pub fn has_changed(&self) -> Result<bool, RecvError> {
        match self.is_closed() {
            true => Err(RecvError),
            false => Ok(self.is_marked || self.end.has_changed()),
        }
    }

    /// Has not seen the value.
    pub fn mark_changed(&mut self) {
        self.is_marked = true;
    }

    /// Has seen the value.
    pub fn mark_unchanged(&mut self) {
        self.borrow_and_update();
    }

    /// The value.
    pub fn borrow(&self) -> Ref<T> {
        self.end.snapshot()
    }

    /// The value, which it has seen then.
    pub fn borrow_and_update(&mut self) -> Ref<T> {
        self.is_marked = false;
        let latest = self.borrow();
        let any = pin!(self.end.wait_for(|_| true));
        match any.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Ok(value)) => value,
            Poll::Ready(Err(RecvError)) | Poll::Pending => latest,
        }
    }

    /// Waits for a value that meets the condition.
    pub async fn wait_for<F>(&mut self, condition: F) -> Result<Ref<T>, RecvError>
    where
        F: FnMut(&T) -> bool,
    {
        let found = self.end.wait_for(condition).await;
        self.is_marked &= found.is_err();
        found
    }

    /// Whether nobody sends.
    pub fn is_closed(&self) -> bool {
        self.end.is_closed()
    }
}

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        Self {
            end: self.end.clone(),
            is_marked: self.is_marked,
        }
    }
}
