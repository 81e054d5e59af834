//! Timers that are cancelled before they are due, and set again.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

/// The least that a timer is ahead; none is ever due.
const AHEAD_S: u64 = 60;
/// How much further ahead it may be.
const SPREAD_S: u64 = 3_600;

/// Keeps `live` timers pending, sets `count` of them anew, a random one each time, and sleeps at last for `idle` with
/// all of them pending; how many were pending then. `reset` is what a library has for a timer that is cancelled and set
/// to so long from now.
pub async fn timers<S: Future>(
    count: u64,
    live: usize,
    idle: Duration,
    sleep: impl Fn(Duration) -> S,
    reset: impl Fn(Pin<&mut S>, Duration),
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
            reset(timer.as_mut(), ahead(random));
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
