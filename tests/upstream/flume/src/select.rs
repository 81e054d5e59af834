//! Whichever comes first: our [`any`](gossamer_channel::select::any), over operations with what is made of their outputs.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use gossamer_channel::select;
use gossamer_core::wait::Wait;

use crate::{Receiver, RecvError, SendError, Sender};

/// A list of operations.
pub struct Selector<'a, R>(Vec<Pin<Box<dyn Future<Output = R> + 'a>>>);

impl<'a, R: 'a> Selector<'a, R> {
    /// An empty list.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self(Vec::new())
    }

    /// Sending.
    pub fn send<T: 'a>(
        mut self,
        to: &'a Sender<T>,
        message: T,
        then: impl FnOnce(Result<(), SendError<T>>) -> R + 'a,
    ) -> Self {
        self.0.push(Box::pin(async move {
            let sent = to.end.send(message).await;
            then(sent.map_err(|error| SendError(error.0)))
        }));
        self
    }

    /// Receiving.
    pub fn recv<T: 'a>(
        mut self,
        from: &'a Receiver<T>,
        then: impl FnOnce(Result<T, RecvError>) -> R + 'a,
    ) -> Self {
        self.0.push(Box::pin(async move {
            let received = from.end.recv().await;
            then(received.map_err(|_| RecvError::Disconnected))
        }));
        self
    }

    /// What is made of the first that comes.
    pub fn wait(self) -> R {
        select::any(self.0).wait().1
    }
}

impl<R> fmt::Debug for Selector<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Selector { .. }")
    }
}
