//! What is a pool's own: several workers, sharing, errors.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use gossamer::{JoinHandle, Model, Runtime, Wait, runtime::ParseModelError, sync::MVar};

use super::{monitor, runtime, watched};

#[test]
fn no_workers_are_refused() {
    let error = Runtime::builder()
        .model(Model::Pool { workers: 0 })
        .build()
        .expect_err("no workers");
    assert_eq!(error.to_string(), "0 workers: a pool has 1 to 1024");
    let error = Runtime::builder()
        .model(Model::pool())
        .workers(5_000)
        .build()
        .expect_err("too many");
    assert_eq!(error.to_string(), "5000 workers: a pool has 1 to 1024");
}

#[test]
fn models_parse_and_print() {
    for text in ["single", "pool:1", "pool:1024", "threads"] {
        let model: Model = text.parse().expect("a model");
        assert_eq!(model.to_string(), text);
    }
    for text in ["", "pool:", "pool:0", "pool:1025", "pool:-1", "Single"] {
        let error: ParseModelError = text.parse::<Model>().expect_err("no model");
        assert!(
            error.to_string().contains("expected single, pool"),
            "{error}"
        );
    }
}

/// Two tasks that block their workers until both run.
fn meet(rt: &Runtime, meet: &Arc<Barrier>) -> [JoinHandle<()>; 2] {
    [meet.clone(), meet.clone()].map(|meet| {
        rt.spawn(async move {
            meet.wait();
        })
    })
}

#[test]
fn two_tasks_spawned_inside_run_at_once() {
    watched("two at once, inside", || {
        for _ in 0..100 {
            let rt = Arc::new(runtime(Model::Pool { workers: 2 }));
            let inner = Arc::downgrade(&rt);
            let both = rt.spawn(async move {
                let rt = inner.upgrade().expect("it lives");
                for task in meet(&rt, &Arc::new(Barrier::new(2))) {
                    task.await.expect("no panic");
                }
            });
            both.wait().expect("no panic");
        }
    });
}

#[test]
fn two_tasks_spawned_by_one_worker_call_the_other() {
    watched("two at once, the other asleep", || {
        for _ in 0..20 {
            // No monitor helps.
            let rt = Runtime::builder()
                .model(Model::Pool { workers: 2 })
                .stuck_after(Duration::from_secs(3600))
                .build();
            let rt = Arc::new(rt.expect("a runtime can be built"));
            while rt.metrics().expect("a pool").parks < 2 {
                thread::yield_now();
            }
            let inner = Arc::downgrade(&rt);
            let both = rt.spawn(async move {
                let rt = inner.upgrade().expect("it lives");
                for task in meet(&rt, &Arc::new(Barrier::new(2))) {
                    task.await.expect("no panic");
                }
            });
            both.wait().expect("no panic");
        }
    });
}

#[test]
fn two_tasks_spawned_outside_run_at_once() {
    watched("two at once, outside", || {
        for _ in 0..100 {
            let rt = runtime(Model::Pool { workers: 2 });
            for task in meet(&rt, &Arc::new(Barrier::new(2))) {
                task.wait().expect("no panic");
            }
        }
    });
}

#[test]
fn sleeping_workers_are_called_for_new_tasks() {
    watched("new, all asleep", || {
        let rt = runtime(Model::Pool { workers: 2 });
        for _ in 0..200 {
            while rt.metrics().expect("a pool").idle < 2 {
                thread::yield_now();
            }
            rt.spawn(async {}).wait().expect("no panic");
        }
    });
}

#[test]
fn a_shutdown_has_a_limit() {
    watched("limit", || {
        for model in [Model::Pool { workers: 2 }, Model::Threads] {
            let rt = runtime(model);
            let (hold, free) = (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)));
            let (held, freed) = (hold.clone(), free.clone());
            let task = rt.spawn(async move {
                held.wait();
                freed.wait();
            });
            hold.wait();
            assert!(!rt.shutdown_timeout(Duration::from_millis(1)));
            free.wait();
            task.wait().expect("it ends all the same");
        }
    });
}

#[test]
fn many_outside_threads_spawn() {
    watched("outside", || {
        let rt = Arc::new(runtime(Model::Pool { workers: 3 }));
        let spawners: Vec<_> = (0..4)
            .map(|_| {
                let rt = rt.clone();
                thread::spawn(move || {
                    (0..500)
                        .map(|number| rt.spawn(async move { number }))
                        .map(|task| task.wait().expect("no panic"))
                        .sum::<u64>()
                })
            })
            .collect();
        for handle in spawners {
            assert_eq!(handle.join().expect("no panic"), 499 * 500 / 2);
        }
    });
}

#[test]
fn the_figures_say_what_there_is() {
    watched("figures", || {
        let rt = runtime(Model::Pool { workers: 2 });
        let figures = || rt.metrics().expect("a pool");
        let gate = Arc::new(MVar::<()>::empty());
        let waiting: Vec<_> = (0..10)
            .map(|_| {
                let gate = gate.clone();
                rt.spawn(async move { gate.read().await })
            })
            .collect();
        assert!(figures().tasks >= 10, "{:?}", figures());
        gate.put(()).wait();
        for task in waiting {
            task.wait().expect("no panic");
        }
        while figures().tasks > 0 || figures().polls < 10 {
            // A worker may still be letting go of the last one, and adds its polls up after its turn.
            thread::yield_now();
        }
        assert_eq!((figures().queued, figures().injected), (0, 0));
    });
}

/// Spares come and go at any time; each worker is counted once, and as what it is.
#[test]
fn a_spare_that_leaves_is_no_worker() {
    watched("a spare leaves", || {
        let (rt, _tells) = monitor::pool(1);
        let figures = || rt.metrics().expect("a pool");
        let hold = || {
            let (open, gate) = monitor::gate();
            let (begun, begins) = mpsc::channel();
            let held = rt.spawn(async move {
                begun.send(()).expect("somebody listens");
                gate();
            });
            begins.recv().expect("it begins");
            (open, held)
        };
        for _ in 0..10 {
            let [(open_worker, worker), (open_spare, spare)] = [hold(), hold()];
            open_worker.send(()).expect("it waits");
            worker.wait().expect("no panic");
            // The spare is still held, whether or not it is still needed.
            for _ in 0..1_000 {
                let now = figures();
                assert_eq!(now.workers, 1, "{now:?}");
            }
            open_spare.send(()).expect("it waits");
            spare.wait().expect("no panic");
            while figures().spares + figures().leaving > 0 {
                thread::yield_now();
            }
        }
    });
}

/// A task wakes another one and calculates on: once an idle worker has noticed, the other one runs meanwhile, time
/// after time.
#[test]
fn a_long_poll_keeps_nobody_waiting() {
    const IN_A_ROW: u32 = 20;
    watched("long polls", || {
        let rt = runtime(Model::Pool { workers: 2 });
        // One worker is kept busy until both tasks have parked at the other one: apart they need no offers.
        let hold = Arc::new(Barrier::new(2));
        let held = hold.clone();
        let holds = rt.spawn(async move {
            held.wait();
            held.wait();
        });
        hold.wait();
        let (ask, reply) = (Arc::new(MVar::<u64>::empty()), Arc::new(MVar::empty()));
        let (start, parked) = (Arc::new(MVar::empty()), Arc::new(AtomicU64::new(0)));
        let answered = Arc::new(AtomicU64::new(0));
        let (asked, replies, answers) = (ask.clone(), reply.clone(), answered.clone());
        let parks = parked.clone();
        drop(rt.spawn(async move {
            parks.fetch_add(1, Ordering::SeqCst);
            loop {
                let round = asked.take().await;
                answers.store(round, Ordering::SeqCst);
                replies.put(()).await;
            }
        }));
        let (starts, parks) = (start.clone(), parked.clone());
        let asks = rt.spawn(async move {
            parks.fetch_add(1, Ordering::SeqCst);
            starts.take().await;
            let mut in_a_row = 0;
            for round in 1.. {
                ask.put(round).await;
                let began = Instant::now();
                let mut ran = false;
                while !ran && began.elapsed() < Duration::from_millis(5) {
                    ran = answered.load(Ordering::SeqCst) == round;
                }
                in_a_row = if ran { in_a_row + 1 } else { 0 };
                if in_a_row == IN_A_ROW {
                    return;
                }
                reply.take().await;
            }
        });
        while parked.load(Ordering::SeqCst) < 2 {
            thread::yield_now();
        }
        hold.wait();
        holds.wait().expect("no panic");
        start.put(()).wait();
        asks.wait().expect("no panic");
    });
}
