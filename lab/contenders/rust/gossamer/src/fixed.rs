//! The ring on statically allocated tasks: no heap, no threads; its size is fixed when it is compiled.

use crate::ring::Ring;

const TASKS: usize = 503;

/// A ring whose pool has words of the form `$word`. Each is in a module of its own, by whose name `cargo xtask counts`
/// finds its instructions.
macro_rules! ring {
    ($name:ident, $word:ty) => {
        mod $name {
            use std::pin::Pin;
            use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
            use std::task::{Context, Poll};

            use gossamer_core::fixed::{Pool, Slot};

            use super::TASKS;

            static RING: Pool<Hop, TASKS, $word> = Pool::new([const { Slot::new(Hop) }; TASKS]);
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

            #[inline(never)]
            pub(super) fn run(hops: u64) -> usize {
                TOKENS[0].store(hops, Ordering::Relaxed);
                RING.signal(0);
                RING.run();
                WINNER.load(Ordering::Relaxed)
            }
        }
    };
}

ring!(several_cores, gossamer_core::fixed::Atomic);
ring!(one_core, gossamer_core::fixed::Section);

/// Which form the words of the pool have.
#[derive(Clone, Copy)]
pub(crate) enum Cores {
    One,
    Several,
}

/// Runs the ring; static tasks have no order of creation.
pub(crate) fn run(ring: &Ring, cores: Cores) -> Result<usize, String> {
    if ring.threads != TASKS {
        return Err(format!(
            "--threads {}: compiled for {TASKS} static tasks",
            ring.threads
        ));
    }
    Ok(match cores {
        Cores::One => one_core::run(ring.hops),
        Cores::Several => several_cores::run(ring.hops),
    })
}
