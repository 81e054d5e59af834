//! Timers that are cancelled before they are due, and set again.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

/// The least that a timer is ahead; none is ever due.
const AHEAD_S: u64 = 60;
/// How much further ahead it may be.
const SPREAD_S: u64 = 3_600;

/// Keeps `live` timers pending, cancels `count` of them, a random one each time, sets another in its place, and sleeps
/// at last for `idle` with all of them pending; how many were still pending when they were cancelled.
pub async fn timers<S: Future>(
    count: u64,
    live: usize,
    idle: Duration,
    sleep: impl Fn(Duration) -> S,
) -> u64 {
    let mut state = 1;
    let mut pending: Vec<Pin<Box<S>>> = Vec::with_capacity(live);
    for _ in 0..live {
        pending.push(Box::pin(sleep(ahead(step(&mut state)))));
    }
    poll_fn(|context| {
        for timer in &mut pending {
            // The first poll sets it.
            let _ = timer.as_mut().poll(context);
        }
        Poll::Ready(())
    })
    .await;
    let mut cancelled = 0;
    for _ in 0..count {
        let random = step(&mut state);
        let timer = &mut pending[random as usize % live];
        let is_pending = poll_fn(|context| {
            // What was there is dropped in its place, and so cancelled.
            timer.as_mut().set(sleep(ahead(random)));
            Poll::Ready(timer.as_mut().poll(context).is_pending())
        });
        cancelled += u64::from(is_pending.await);
    }
    sleep(idle).await;
    cancelled
}

fn ahead(random: u64) -> Duration {
    Duration::from_secs(AHEAD_S + (random >> 32) % SPREAD_S)
}

/// Xorshift (Marsaglia 2003), as all contenders have it.
fn step(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}
