//! Times of the hot operations, for a quick look while working on them: `cargo bench -p gossamer-rt`.
//!
//! Claims of speed come from the lab, limits from `cargo xtask counts`; this is for neither.

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{Criterion, criterion_group, criterion_main};
use gossamer::{Runtime, local, raw, sync, yield_now};

/// Times `times` rounds of `work` inside a runtime.
fn timed(times: u64, work: impl AsyncFn(&Runtime, u64)) -> Duration {
    let rt = Runtime::builder().build().expect("a home is free");
    let start = Instant::now();
    rt.block_on(work(&rt, times));
    start.elapsed()
}

async fn put_and_take<P: raw::Policy>(place: &raw::MVar<u64, P>, times: u64) {
    for number in 0..times {
        place.put(number).await;
        black_box(place.take().await);
    }
}

fn primitives(criterion: &mut Criterion) {
    criterion.bench_function("spawn and join", |bencher| {
        bencher.iter_custom(|times| {
            timed(times, async |rt, times| {
                for number in 0..times {
                    black_box(
                        rt.spawn(async move { number })
                            .await
                            .expect("no panic there"),
                    );
                }
            })
        });
    });
    criterion.bench_function("yield", |bencher| {
        bencher.iter_custom(|times| {
            timed(times, async |_, times| {
                for _ in 0..times {
                    yield_now().await;
                }
            })
        });
    });
    criterion.bench_function("put and take, local", |bencher| {
        bencher.iter_custom(|times| {
            timed(times, async |_, times| {
                put_and_take(&local::MVar::empty(), times).await;
            })
        });
    });
    criterion.bench_function("put and take, shared", |bencher| {
        bencher.iter_custom(|times| {
            timed(times, async |_, times| {
                put_and_take(&sync::MVar::empty(), times).await;
            })
        });
    });
    criterion.bench_function("wake there and back", wake);
}

fn wake(bencher: &mut criterion::Bencher<'_>) {
    bencher.iter_custom(|times| {
        let rt = Runtime::builder().build().expect("a home is free");
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
    });
}

criterion_group!(benches, primitives);
criterion_main!(benches);
