//! Notifications. What is for one is a permit of a semaphore of ours, what is for all that wait an event, which is reset
//! at once: who waited when it was set goes all the same. tokio's waits from the call on, and an event of ours is waited for
//! from the first poll: what comes between them is told by the number of the calls that tell all.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker, ready};

use gossamer::sync::{Event, Semaphore};

use super::waiting::unless_comes;
use crate::missing;

/// Tells one, or all that wait.
#[derive(Debug)]
pub struct Notify {
    one: Semaphore,
    all: Event,
    /// How often all were told.
    rounds: AtomicUsize,
}

impl Notify {
    /// Nobody is told.
    pub fn new() -> Self {
        Self {
            one: Semaphore::new(0),
            all: Event::new(),
            rounds: AtomicUsize::new(0),
        }
    }

    /// Tells the first that waits, or else the next that comes.
    pub fn notify_one(&self) {
        if self.one.available_permits() == 0 {
            self.one.add_permits(1);
        }
    }

    /// Not the last that waits.
    pub fn notify_last(&self) {
        missing("line that serves the last to come")
    }

    /// Tells all that wait.
    pub fn notify_waiters(&self) {
        self.rounds.fetch_add(1, Ordering::SeqCst);
        self.all.set();
        self.all.reset();
    }

    /// Waits to be told.
    pub fn notified(&self) -> Notified<'_> {
        let round = self.round();
        Notified(Some(Box::pin(self.wait(round))))
    }

    /// Waits to be told.
    pub fn notified_owned(self: Arc<Self>) -> Notified<'static> {
        let round = self.round();
        Notified(Some(Box::pin(async move { self.wait(round).await })))
    }

    fn round(&self) -> usize {
        self.rounds.load(Ordering::SeqCst)
    }

    async fn wait(&self, round: usize) {
        let all = async {
            // Looked at after the event, at which it waits from then on.
            let was_told = poll_fn(|_| match round == self.round() {
                true => Poll::Pending,
                false => Poll::Ready(()),
            });
            unless_comes(self.all.ready(), was_told).await;
        };
        let told = unless_comes(all, self.one.acquire()).await;
        if let Some(Ok(permit)) = told {
            permit.forget();
        }
    }
}

impl Default for Notify {
    fn default() -> Self {
        Self::new()
    }
}

/// [`Notify::notified`].
pub struct Notified<'a>(Option<Pin<Box<dyn Future<Output = ()> + Send + 'a>>>);

impl Notified<'_> {
    /// Waits from now on; whether it was told.
    pub fn enable(self: Pin<&mut Self>) -> bool {
        self.poll(&mut Context::from_waker(Waker::noop()))
            .is_ready()
    }
}

impl Future for Notified<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if let Some(waiting) = &mut self.0 {
            ready!(waiting.as_mut().poll(cx));
            self.0 = None;
        }
        Poll::Ready(())
    }
}

impl fmt::Debug for Notified<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Notified")
    }
}
