//! Many fibers, and many switches between them, while all around is busy.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use gossamer::{JoinHandle, Model, Runtime, Wait, sync::MVar, yield_now};

use super::{Random, rounds, runtime, watched};

/// How often all fibers together stand still, under each model. `GOSSAMER_ROUNDS=100000000` asks for more.
const SWITCHES: u32 = 1_000_000;
const FIBERS: u32 = 16;
/// So many times a fiber yields before it passes a number on.
const TURNS: u32 = 16;

/// What a fiber has in its registers and on its stack while it stands still: numbers that depend on all that came before.
struct Numbers([u64; 8]);

impl Numbers {
    fn new(of: u32) -> Self {
        Self([0, 1, 2, 3, 4, 5, 6, 7].map(|at| u64::from(of) << 32 | at))
    }

    #[inline(always)]
    fn mix(&mut self, with: u64) {
        for at in 0..8 {
            let before = self.0[(at + 7) % 8];
            self.0[at] = self.0[at]
                .rotate_left(7)
                .wrapping_mul(0x9E37_79B9_7F4A_7C15)
                ^ before.wrapping_add(with);
        }
    }

    fn sum(&self) -> u64 {
        self.0.iter().copied().fold(0, u64::wrapping_add)
    }
}

/// What a fiber computes; `turn` and `pass` stand still, or do not.
fn compute(of: u32, steps: u32, mut turn: impl FnMut(), mut pass: impl FnMut(u32) -> u32) -> u64 {
    let mut numbers = Numbers::new(of);
    for step in 0..steps {
        if step % TURNS == 0 {
            numbers.mix(u64::from(pass(step)));
        }
        turn();
        numbers.mix(u64::from(step));
    }
    numbers.sum()
}

/// Tasks that yield and use memory until they are stopped.
fn load(rt: &Runtime, stop: &Arc<AtomicBool>) -> Vec<JoinHandle<()>> {
    let busy = (0..4).map(|_| {
        let stop = stop.clone();
        rt.spawn(async move {
            let mut bytes = 1;
            while !stop.load(Ordering::SeqCst) {
                let room = vec![1_u8; bytes];
                yield_now().await;
                bytes = bytes % 4_096 + usize::from(room[bytes - 1]);
            }
        })
    });
    busy.collect()
}

#[test]
fn a_million_switches_under_load() {
    for model in [
        Model::Single,
        Model::Pool { workers: 1 },
        Model::Pool { workers: 2 },
    ] {
        watched(&model.to_string(), move || {
            let rt = runtime(model);
            let stop = Arc::new(AtomicBool::new(false));
            let busy = load(&rt, &stop);
            let steps = rounds(SWITCHES) / FIBERS;
            let ring: Vec<_> = (0..FIBERS)
                .map(|_| Arc::new(MVar::<u32>::empty()))
                .collect();
            let fibers = ring.iter().enumerate().map(|(at, own)| {
                let (own, next) = (own.clone(), ring[(at + 1) % ring.len()].clone());
                rt.spawn_fiber(move || {
                    let pass = |step| {
                        next.put(step).wait();
                        own.take().wait()
                    };
                    compute(at as u32, steps, || yield_now().wait(), pass)
                })
            });
            let fibers: Vec<_> = fibers.collect();
            for (of, fiber) in (0..).zip(fibers) {
                let sum = fiber.wait().expect("no panic");
                let expected = compute(of, steps, || (), |step| step);
                assert_eq!(sum, expected, "{model}: fiber {of}");
            }
            stop.store(true, Ordering::SeqCst);
            for task in busy {
                task.wait().expect("no panic");
            }
        });
    }
}

/// Passes a few numbers to and fro, on one thread all the time.
fn converse(is_first: bool, number: u32, to: &MVar<u32>, from: &MVar<u32>) -> u32 {
    let here = thread::current().id();
    let mut sum = 0;
    for round in 0..4 {
        if is_first {
            to.put(number + round).wait();
        }
        let got = from.take().wait();
        assert_eq!(got, number + round);
        sum += got;
        yield_now().wait();
        if !is_first {
            to.put(got).wait();
        }
        assert_eq!(thread::current().id(), here);
    }
    sum
}

#[test]
fn ten_thousand_fibers_while_their_pool_is_resized() {
    const PAIRS: u32 = 5_000;
    /// So many pairs begin between two resizes at most.
    const APART: u32 = 25;
    watched("10,000 fibers", || {
        let rt = Arc::new(runtime(Model::Pool { workers: 2 }));
        let (stop, resized) = (
            Arc::new(AtomicBool::new(false)),
            Arc::new(AtomicUsize::new(0)),
        );
        let resizer = {
            let (rt, stop, resized) = (rt.clone(), stop.clone(), resized.clone());
            thread::spawn(move || {
                let mut random = Random(23);
                while !stop.load(Ordering::SeqCst) {
                    let workers = random.below(8) as usize + 1;
                    rt.resize(workers).wait().expect("it can be resized");
                    resized.fetch_add(1, Ordering::SeqCst);
                }
            })
        };
        let owned = Arc::new(());
        let mut fibers = Vec::new();
        for number in 0..PAIRS {
            let mvars = [(); 2].map(|()| Arc::new(MVar::<u32>::empty()));
            for is_first in [true, false] {
                let ([one, other], owned) = (mvars.clone(), owned.clone());
                let (to, from) = if is_first { (one, other) } else { (other, one) };
                let fiber = rt.spawn_fiber(move || {
                    let _owned = owned;
                    converse(is_first, number, &to, &from)
                });
                fibers.push((number, fiber));
            }
            while resized.load(Ordering::SeqCst) < (number / APART) as usize {
                thread::yield_now();
            }
        }
        for (number, fiber) in fibers {
            assert_eq!(fiber.wait().expect("no panic"), 4 * number + 6);
        }
        stop.store(true, Ordering::SeqCst);
        resizer.join().expect("no panic");
        drop(rt);
        assert_eq!(Arc::strong_count(&owned), 1, "each closure was dropped");
    });
}
