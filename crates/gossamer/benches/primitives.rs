//! Times of the hot operations, for a quick look while working on them: `cargo bench -p gossamer-rt`.
//!
//! Acquires of speed come from the lab, limits from `cargo xtask counts`; this is for neither.

use std::hint::black_box;
use std::time::{Duration, Instant};

use gossamer::{Model, Runtime, local, raw, sync, yield_now};

/// How often an operation is done in one run, and how many runs there are.
const TIMES: u64 = 200_000;
const RUNS: usize = 15;

/// Prints the median and the range of the runs, for one operation.
fn report(name: &str, run: impl Fn(u64) -> Duration) {
    run(TIMES);
    let mut runs: Vec<f64> = (0..RUNS)
        .map(|_| run(TIMES).as_nanos() as f64 / TIMES as f64)
        .collect();
    runs.sort_by(f64::total_cmp);
    let [least, median, most] = [runs[0], runs[RUNS / 2], runs[RUNS - 1]];
    println!("{name:<24} {median:>8.1} ns   ({least:.1} to {most:.1})");
}

/// Times `times` rounds of `work` inside a runtime.
fn timed(times: u64, work: impl AsyncFn(&Runtime, u64)) -> Duration {
    let rt = Runtime::builder()
        .model(Model::Single)
        .build()
        .expect("a shard is free");
    let start = Instant::now();
    rt.block_on(work(&rt, times));
    start.elapsed()
}

async fn put_and_take<P: raw::LockPolicy>(mvar: &raw::MVar<u64, P>, times: u64) {
    for number in 0..times {
        mvar.put(number).await;
        black_box(mvar.take().await);
    }
}

fn wake_there_and_back(times: u64) -> Duration {
    let rt = Runtime::builder()
        .model(Model::Single)
        .build()
        .expect("a shard is free");
    let start = Instant::now();
    rt.block_on_local(|scope| {
        let ask: &'static local::MVar<u64> = Box::leak(Box::default());
        let answer: &'static local::MVar<u64> = Box::leak(Box::default());
        let other = scope.spawn_local(async {
            loop {
                answer.put(ask.take().await + 1).await;
            }
        });
        async move {
            for number in 0..times {
                ask.put(number).await;
                black_box(answer.take().await);
            }
            other.abort();
        }
    });
    start.elapsed()
}

fn main() {
    report("spawn and join", |times| {
        timed(times, async |rt, times| {
            for number in 0..times {
                let task = rt.spawn(async move { number });
                black_box(task.await.expect("no panic there"));
            }
        })
    });
    report("yield", |times| {
        timed(times, async |_, times| {
            for _ in 0..times {
                yield_now().await;
            }
        })
    });
    report("put and take, local", |times| {
        timed(times, async |_, times| {
            put_and_take(&local::MVar::empty(), times).await;
        })
    });
    report("put and take, shared", |times| {
        timed(times, async |_, times| {
            put_and_take(&sync::MVar::empty(), times).await;
        })
    });
    report("wake there and back", wake_there_and_back);
}
