//! The ring on statically allocated tasks: no heap, no threads; its size is fixed when it is compiled.

use std::pin::Pin;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Poll};

use gossamer_core::fixed::{Pool, Slot};

use crate::ring::Ring;

const TASKS: usize = 503;

static RING: Pool<Hop, TASKS> = Pool::new([const { Slot::new(Hop) }; TASKS]);
static TOKENS: [AtomicU64; TASKS] = [const { AtomicU64::new(0) }; TASKS];
static WINNER: AtomicUsize = AtomicUsize::new(0);

struct Hop;

impl Future for Hop {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let me = RING.number(cx);
        while RING.take_signal(me) {
            let token = TOKENS[me].load(Ordering::Relaxed);
            if token == 0 {
                WINNER.store(me + 1, Ordering::Relaxed);
                return Poll::Ready(());
            }
            let next = if me + 1 == TASKS { 0 } else { me + 1 };
            TOKENS[next].store(token - 1, Ordering::Relaxed);
            RING.signal(next);
        }
        Poll::Pending
    }
}

/// Runs the ring; static tasks have no order of creation.
pub(crate) fn run(ring: &Ring) -> Result<usize, String> {
    if ring.threads != TASKS {
        return Err(format!(
            "--threads {}: compiled for {TASKS} static tasks",
            ring.threads
        ));
    }
    TOKENS[0].store(ring.hops, Ordering::Relaxed);
    RING.signal(0);
    RING.run();
    Ok(WINNER.load(Ordering::Relaxed))
}
