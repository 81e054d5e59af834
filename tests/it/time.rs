//! Waiting for time: on the virtual clock, and under every model.

mod foreign;
mod kept;
mod moving;
mod running;
mod virtually;

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

/// So far away that no test lives to see it.
const FAR: Duration = Duration::from_secs(86_400);

/// Near: some tests wait for it.
const NEAR: Duration = Duration::from_millis(2);

/// Polls once, in the task that asks; it has to be pending. (It may yield first.)
async fn begin<F: Future>(mut future: Pin<&mut F>) {
    poll_fn(|cx| {
        assert!(future.as_mut().poll(cx).is_pending());
        Poll::Ready(())
    })
    .await;
}
