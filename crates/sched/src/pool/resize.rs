//! Changing the number of workers while they work.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use gossamer_core::fork::refusal;

use super::{Pool, Shared, WORKERS_MAX};

/// [`Pool::resize`]. Lazy: nothing happens before the first poll; dropped after it, the pool becomes what was
/// asked for all the same.
#[derive(Debug)]
#[must_use = "operations do nothing until they are awaited or waited for"]
pub struct Resize {
    shared: Arc<Shared>,
    workers: usize,
    begun: bool,
}

impl Pool {
    /// Changes the number of workers; complete when there are so many.
    ///
    /// A worker that is surplus retires when its current poll has ended. No task is lost or moved without being
    /// woken.
    ///
    /// # Errors
    /// No workers, or more than [`WORKERS_MAX`]; the pool is shutting down; the system grants no more threads (the
    /// pool keeps those it has); another resize has come in between; or this is a forked child.
    pub fn resize(&self, workers: usize) -> Resize {
        Resize {
            shared: self.shared.clone(),
            workers,
            begun: false,
        }
    }
}

impl Resize {
    fn begin(&self) -> io::Result<()> {
        let workers = self.workers;
        if !(1..=WORKERS_MAX).contains(&workers) {
            let text = format!("resize to {workers} workers: a pool has 1 to {WORKERS_MAX}");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        self.check_open()?;
        self.shared.crew.ask_for(workers);
        self.shared.hire()?;
        // Workers that are surplus find out, the idle ones and those that linger.
        if !gossamer_core::mutant!("resize_calls_nobody") {
            self.shared.call_surplus();
        }
        Ok(())
    }

    fn check_open(&self) -> io::Result<()> {
        if self.shared.is_closing() {
            let text = format!(
                "resize to {} workers: the runtime is shutting down",
                self.workers
            );
            return Err(io::Error::other(text));
        }
        Ok(())
    }
}

impl Future for Resize {
    type Output = io::Result<()>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.shared.origin.is_elsewhere() {
            return Poll::Ready(Err(io::Error::other(refusal("resize()"))));
        }
        if !self.begun {
            self.begun = true;
            self.begin()?;
        }
        if self.shared.crew.is_or_wake(self.workers, cx.waker()) {
            return Poll::Ready(Ok(()));
        }
        self.check_open()?;
        let target = self.shared.crew.asked();
        if target != self.workers {
            let text = format!(
                "resize to {} workers: another resize, to {target}, has come in between",
                self.workers
            );
            return Poll::Ready(Err(io::Error::other(text)));
        }
        Poll::Pending
    }
}
