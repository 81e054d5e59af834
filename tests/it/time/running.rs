//! Under every model.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use gossamer::time::{Elapsed, interval, sleep as rest, sleep_until, timeout};
use gossamer::{Model, Runtime, TimeoutExt, Wait, sync::MVar, yield_now};

use super::{FAR, NEAR, begin};
use crate::models::{MODELS, runtime, watched};

fn each_model(body: fn(Model)) {
    for model in MODELS {
        watched(&model.to_string(), move || body(model));
    }
}

#[test]
fn tasks_fibers_and_threads_sleep() {
    each_model(|model| {
        let rt = runtime(model);
        let began = Instant::now();
        let task = rt.spawn(async move {
            rest(NEAR).await;
            Instant::now()
        });
        let fiber = rt.spawn_fiber(move || {
            sleep_until(began + NEAR).wait();
            Instant::now()
        });
        let thread = rt.spawn_thread(move || {
            rest(NEAR).wait();
            assert_eq!(timeout(NEAR, pending::<()>()).wait(), Err(Elapsed));
            Instant::now()
        });
        rt.block_on(rest(NEAR));
        assert!(began.elapsed() >= NEAR);
        for woken in [task.wait(), fiber.wait()] {
            assert!(woken.expect("no panic") - began >= NEAR);
        }
        assert!(thread.wait().expect("no panic") - began >= 2 * NEAR);
    });
}

/// A runner that never runs out of tasks looks at its timers all the same.
#[test]
fn a_busy_runner_wakes_sleepers() {
    each_model(|model| {
        let rt = runtime(model);
        let over = Arc::new(AtomicBool::new(false));
        let seen = over.clone();
        let busy = rt.spawn(async move {
            while !seen.load(Ordering::SeqCst) {
                yield_now().await;
            }
        });
        let _sleeper = rt.spawn(async move {
            rest(NEAR).await;
            over.store(true, Ordering::SeqCst);
        });
        busy.wait().expect("no panic");
    });
}

#[test]
fn ticks_come_one_after_the_other() {
    each_model(|model| {
        let rt = runtime(model);
        let ticking = rt.spawn(async {
            let mut every = interval(Duration::from_micros(300));
            let mut last = every.tick().await;
            for _ in 0..20 {
                let tick = every.tick().await;
                assert!(tick > last && tick <= Instant::now());
                last = tick;
            }
        });
        ticking.wait().expect("no panic");
    });
}

#[test]
fn a_runtime_ends_while_its_tasks_sleep() {
    each_model(|model| {
        let rt = runtime(model);
        let sleeping: Vec<_> = (0..20)
            .map(|number| {
                rt.spawn(async move {
                    yield_now().await;
                    rest(FAR + NEAR * number).await;
                })
            })
            .collect();
        rt.block_on(rest(NEAR));
        drop(rt);
        for task in sleeping {
            assert!(task.wait().expect_err("it sleeps").is_cancelled());
        }
    });
}

/// An idle worker with very many timers parks once for each time it has something to do.
#[test]
fn a_million_timers_wake_nobody() {
    watched("a million timers", || {
        let rt = Arc::new(runtime(Model::Pool { workers: 1 }));
        let inside = rt.clone();
        let parks = rt.spawn(async move {
            let timers = if cfg!(miri) { 100 } else { 1_000_000 };
            let mut far: Vec<_> = (0..timers)
                .map(|number| Box::pin(rest(FAR + NEAR * number)))
                .collect();
            for timer in &mut far {
                begin(timer.as_mut()).await;
            }
            rest(NEAR).await;
            let parks = || inside.metrics().expect("a pool").parks;
            let before = parks();
            for _ in 0..5 {
                rest(NEAR).await;
            }
            let after = parks();
            drop(far);
            after - before
        });
        let parks = parks.wait().expect("no panic");
        assert!(parks <= 50, "{parks} parks");
    });
}

/// Each sleeper by its own worker; then there is one worker for all of them.
#[test]
fn resizing_strands_no_timer() {
    watched("resizing", || {
        for _ in 0..5 {
            let rt = runtime(Model::Pool { workers: 4 });
            let all = Arc::new(std::sync::Barrier::new(5));
            let sleepers: Vec<_> = (0..4)
                .map(|_| {
                    let all = all.clone();
                    rt.spawn(async move {
                        // Nobody goes on before each has a worker.
                        let mut sleep = std::pin::pin!(rest(10 * NEAR));
                        begin(sleep.as_mut()).await;
                        all.wait();
                        sleep.await;
                    })
                })
                .collect();
            all.wait();
            rt.resize(1).wait().expect("it shrinks");
            for sleeper in sleepers {
                sleeper.wait().expect("no panic");
            }
        }
    });
}

/// The only worker registers a timer, and is then stuck in a poll until that has fired.
#[test]
fn timers_of_a_stuck_worker_fire() {
    watched("stuck", || {
        let rt = runtime(Model::Pool { workers: 1 });
        let (awake, stuck_until) = std::sync::mpsc::channel();
        let (has_begun, begun) = std::sync::mpsc::channel();
        let sleeper = rt.spawn(async move {
            let mut sleep = std::pin::pin!(rest(20 * NEAR));
            begin(sleep.as_mut()).await;
            has_begun.send(()).expect("somebody listens");
            sleep.await;
            rest(NEAR).await;
            awake.send(()).expect("somebody is stuck");
        });
        begun.recv().expect("it begins");
        let stuck = rt.spawn(async move { stuck_until.recv().expect("it wakes") });
        sleeper.wait().expect("no panic");
        stuck.wait().expect("no panic");
    });
}

/// Sleeps, cancellations and resizes at random, while tasks move.
#[test]
fn storms_of_timers() {
    watched("a storm", || {
        let rt = runtime(Model::Pool { workers: 3 });
        let tasks: Vec<_> = (0..100_u64).map(|number| rt.spawn(storm(number))).collect();
        for workers in [1, 4, 2, 1, 3] {
            rt.resize(workers).wait().expect("it changes");
            rt.block_on(rest(NEAR));
        }
        for task in tasks {
            task.wait().expect("no panic");
        }
    });
}

async fn storm(number: u64) {
    for round in 0..50 {
        let short = Duration::from_micros((number * 7 + round * 13) % 200);
        let late = rest(short).timeout(Duration::from_micros(100)).await;
        if late.is_err() {
            assert!(short >= Duration::from_micros(1));
        }
        assert_eq!(yield_now().timeout(FAR).await, Ok(()));
    }
}

/// Under a scheduler of its own a runtime has timers too.
#[test]
fn the_owner_runs_while_it_waits() {
    watched("the owner", || {
        let rt = Runtime::builder()
            .model(Model::Single)
            .build()
            .expect("a runtime can be built");
        let began = Instant::now();
        let rested = Arc::new(MVar::<()>::empty());
        let tells = rested.clone();
        let task = rt.spawn(async move {
            rest(NEAR).await;
            tells.put(()).await;
        });
        let far = rt.spawn(rest(FAR));
        // Nobody but this thread runs: it wakes for the task, and for itself.
        rested.take().wait();
        rest(NEAR).wait();
        assert!(began.elapsed() >= 2 * NEAR);
        assert!(task.is_finished());
        assert!(!far.is_finished());
    });
}
