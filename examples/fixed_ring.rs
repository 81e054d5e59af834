//! The thread ring on statically allocated tasks: no heap, no threads, nothing of std but `println!`.
//!
//! `cargo run --release -p gossamer-rt --example fixed_ring`

use core::pin::Pin;
use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use core::task::{Context, Poll};

use gossamer::fixed::{Pool, SLOT_BYTES, Slot};

const TASKS: usize = 503;
const HOPS: u32 = 1_000;

static RING: Pool<Hop, TASKS> = Pool::new([const { Slot::new(Hop) }; TASKS]);
static TOKENS: [AtomicU32; TASKS] = [const { AtomicU32::new(0) }; TASKS];
static WINNER: AtomicUsize = AtomicUsize::new(0);

/// A task of the ring: it has no state of its own but where it waits, and that is always here.
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
            let next = (me + 1) % TASKS;
            TOKENS[next].store(token - 1, Ordering::Relaxed);
            RING.signal(next);
        }
        Poll::Pending
    }
}

fn main() {
    TOKENS[0].store(HOPS, Ordering::Relaxed);
    RING.signal(0);
    RING.run();
    println!("{}", WINNER.load(Ordering::Relaxed));
    println!("{} bytes a task", SLOT_BYTES + size_of::<Hop>());
}
