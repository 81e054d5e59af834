//! Parked static tasks: no heap; a task is its number, its link in the run queue and its semaphore, and what it is
//! sent is its number.

use gossamer_contender::Failure;
use gossamer_contender::args::Args;
use waiting::park;

/// A pool of static tasks that wait for a signal each; the first of them has the number `$first`.
macro_rules! pool {
    ($name:ident, $first:expr, $tasks:expr) => {
        mod $name {
            use std::pin::Pin;
            use std::task::{Context, Poll};

            use gossamer_core::fixed::{Pool, Slot};
            use waiting::park;

            static POOL: Pool<Parking, { $tasks }> =
                Pool::new([const { Slot::new(Parking) }; $tasks]);

            struct Parking;

            impl Future for Parking {
                type Output = ();

                fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
                    let me = POOL.number(cx);
                    if POOL.take_signal(me) {
                        park::woke(($first + me) as u64);
                        return Poll::Ready(());
                    }
                    park::parks();
                    Poll::Pending
                }
            }

            /// All of them wait.
            pub(super) fn park() {
                POOL.run();
            }

            /// All of them are woken.
            pub(super) fn wake() {
                (0..$tasks).for_each(|task| POOL.signal(task));
                POOL.run();
            }
        }
    };
}

/// How many tasks one of [`POOLS`] pools has.
const EACH: usize = 31_250;
const POOLS: usize = 32;

/// A million tasks, as a pool has at most 32,767.
macro_rules! million {
    ($($name:ident $place:literal),*) => {
        $(pool!($name, $place * super::EACH, super::EACH);)*
        const MILLION: [[fn(); 2]; POOLS] = [$([$name::park, $name::wake]),*];
    };
}

million!(
    p0 0, p1 1, p2 2, p3 3, p4 4, p5 5, p6 6, p7 7, p8 8, p9 9, p10 10, p11 11, p12 12, p13
    13, p14 14, p15 15, p16 16, p17 17, p18 18, p19 19, p20 20, p21 21, p22 22, p23 23, p24
    24, p25 25, p26 26, p27 27, p28 28, p29 29, p30 30, p31 31
);
pool!(one, 0, 1);

/// The sum of what all tasks are sent.
pub(crate) fn run(args: &Args) -> Result<u64, Failure> {
    args.only(&["--kind", "--threads"])?;
    let threads = args.count("--threads", 1)?;
    let pools: &[[fn(); 2]] = match threads {
        1 => &[[one::park, one::wake]],
        n if n == EACH * POOLS => &MILLION,
        n => {
            return Err(
                format!("--threads {n}: compiled for 1 and for 1000000 static tasks").into(),
            );
        }
    };
    park::expect(threads as u64);
    for act in [0, 1] {
        pools.iter().for_each(|pool| pool[act]());
    }
    Ok(park::sum())
}
