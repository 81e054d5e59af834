//! Workers that are stuck in a poll, and what others make of their tasks.

use std::future::poll_fn;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};

use gossamer::{Model, Runtime, Wait, sync::MVar, yield_now};

use super::{Random, rounds, watched};
use crate::contract::FIBERS;

/// A pool whose stuck polls are told to the one who holds the other end.
pub(super) fn pool(workers: usize) -> (Arc<Runtime>, mpsc::Receiver<u32>) {
    crate::hanging::watch();
    let (told, tells) = mpsc::channel();
    let rt = Runtime::builder()
        .model(Model::Pool { workers })
        .on_stuck(move |stuck| told.send(stuck.spawned.line()).unwrap_or_default())
        .fibers(FIBERS)
        .build()
        .expect("a runtime can be built");
    (Arc::new(rt), tells)
}

/// Blocks its thread, not its task, until the other end says so.
pub(super) fn gate() -> (mpsc::Sender<()>, impl FnOnce() + Send) {
    let (open, opened) = mpsc::channel();
    (open, move || opened.recv().expect("somebody opens it"))
}

#[test]
fn with_every_worker_stuck_the_others_run() {
    for workers in [1, 2, 3] {
        watched("every worker stuck", move || {
            let (rt, tells) = pool(workers);
            let (opens, gates): (Vec<_>, Vec<_>) = (0..workers).map(|_| gate()).unzip();
            let (begun, begins) = mpsc::channel();
            let stuck: Vec<_> = gates
                .into_iter()
                .map(|gate| {
                    let begun = begun.clone();
                    rt.spawn(async move {
                        begun.send(()).expect("somebody listens");
                        gate();
                    })
                })
                .collect();
            (0..workers).for_each(|_| begins.recv().expect("it begins"));
            // Only others can run it.
            let free = rt.spawn(async move {
                for open in &opens {
                    yield_now().await;
                    open.send(()).expect("it waits");
                }
                line!()
            });
            free.wait().expect("no panic");
            for stuck in stuck {
                stuck.wait().expect("no panic");
            }
            assert!(tells.recv().is_ok());
            settles(&rt, workers);
        });
    }
}

/// There are no spares any more, and all workers.
pub(super) fn settles(rt: &Runtime, workers: usize) {
    loop {
        let metrics = rt.metrics().expect("a pool");
        if (metrics.workers, metrics.spares, metrics.leaving) == (workers, 0, 0) {
            return;
        }
        thread::yield_now();
    }
}

#[test]
fn what_a_stuck_poll_has_woken_runs() {
    watched("woken before", || {
        let (rt, _tells) = pool(1);
        let (open, gate) = gate();
        let mvar = Arc::new(MVar::<()>::empty());
        let taken = mvar.clone();
        let (begun, begins) = mpsc::channel();
        let opener = rt.spawn(async move {
            begun.send(()).expect("somebody listens");
            taken.take().await;
            open.send(()).expect("it waits");
        });
        // The one worker parks it before it does anything else.
        begins.recv().expect("it begins");
        // Wakes the opener, in plain memory, and is stuck then.
        let stuck = rt.spawn(async move {
            mvar.put(()).await;
            gate();
        });
        opener.wait().expect("no panic");
        stuck.wait().expect("no panic");
        settles(&rt, 1);
    });
}

#[test]
fn what_is_woken_while_a_poll_is_stuck_runs() {
    watched("woken meanwhile", || {
        let (rt, _tells) = pool(1);
        let (open, gate) = gate();
        let mvars: [Arc<MVar<u32>>; 2] = [Arc::new(MVar::empty()), Arc::new(MVar::empty())];
        let [first, second] = mvars.clone();
        let opener = rt.spawn(async move {
            let sum = first.take().await + second.take().await;
            open.send(()).expect("it waits");
            sum
        });
        let (begun, begins) = mpsc::channel();
        let [first, second] = mvars;
        // Wakes it after it has been stuck for a while.
        let stuck = rt.spawn(async move {
            begun.send(()).expect("somebody listens");
            let began = Instant::now();
            while began.elapsed() < Duration::from_millis(50) {
                std::hint::spin_loop();
            }
            second.put(2).await;
            gate();
        });
        begins.recv().expect("it begins");
        // From outside: to the inbox of the one who is stuck.
        first.put(1).wait();
        assert_eq!(opener.wait().expect("no panic"), 3);
        stuck.wait().expect("no panic");
        settles(&rt, 1);
    });
}

#[test]
fn what_a_stuck_poll_spawns_runs() {
    watched("spawned meanwhile", || {
        let (rt, _tells) = pool(1);
        let (open, gate) = gate();
        let inner = Arc::downgrade(&rt);
        let stuck = rt.spawn(async move {
            let began = Instant::now();
            while began.elapsed() < Duration::from_millis(50) {
                std::hint::spin_loop();
            }
            let rt = inner.upgrade().expect("it lives");
            let fiber = rt.spawn_fiber(move || open.send(()).expect("it waits"));
            drop(rt);
            gate();
            fiber.await.expect("no panic");
        });
        stuck.wait().expect("no panic");
        settles(&rt, 1);
    });
}

#[test]
fn a_task_that_wakes_itself_and_is_stuck_stays() {
    watched("woke itself", || {
        let (rt, tells) = pool(2);
        let (open, gate) = gate();
        let mut gate = Some(gate);
        let stuck = rt.spawn(poll_fn(move |cx| {
            cx.waker().wake_by_ref();
            if let Some(gate) = gate.take() {
                gate();
                return Poll::Pending;
            }
            Poll::Ready(())
        }));
        let (last, gate2) = self::gate();
        let other = rt.spawn(async move { gate2() });
        let third = rt.spawn(async move {
            // Both are stuck, or this would not run on a spare.
            open.send(()).expect("it waits");
            last.send(()).expect("it waits");
        });
        third.wait().expect("no panic");
        stuck.wait().expect("no panic");
        other.wait().expect("no panic");
        drop(tells);
        settles(&rt, 2);
    });
}

#[test]
fn a_stuck_poll_is_told_once_with_its_line() {
    watched("told once", || {
        let (rt, tells) = pool(1);
        let (open, gate) = gate();
        let (stuck, line) = (rt.spawn(async move { gate() }), line!());
        // Again and again there is work, and looks at the one who is stuck.
        let rest = rt.spawn(async {
            let began = Instant::now();
            while began.elapsed() < Duration::from_millis(100) {
                yield_now().await;
            }
        });
        rest.wait().expect("no panic");
        open.send(()).expect("it waits");
        stuck.wait().expect("no panic");
        settles(&rt, 1);
        assert_eq!(tells.recv(), Ok(line));
        assert_eq!(rt.metrics().expect("a pool").stuck, 1);
        drop(rt);
        assert!(tells.recv().is_err(), "it is told twice");
    });
}

#[test]
fn a_report_that_panics_harms_nobody() {
    watched("a panicking report", || {
        let rt = Runtime::builder()
            .model(Model::Pool { workers: 1 })
            .on_stuck(|_| panic!("the report panics"))
            .build()
            .expect("a runtime can be built");
        for _ in 0..2 {
            let (open, gate) = gate();
            let stuck = rt.spawn(async move { gate() });
            let free = rt.spawn(async move { open.send(()).expect("it waits") });
            free.wait().expect("no panic");
            stuck.wait().expect("no panic");
        }
    });
}

#[test]
fn stuck_again_and_again_there_are_at_most_twice_as_many_spares() {
    watched("again and again", || {
        let (rt, _tells) = pool(2);
        let opened = Arc::new(AtomicBool::new(false));
        let begun = Arc::new(AtomicUsize::new(0));
        let stuck: Vec<_> = (0..12)
            .map(|_| {
                let (opened, begun) = (opened.clone(), begun.clone());
                rt.spawn(async move {
                    begun.fetch_add(1, Ordering::SeqCst);
                    while !opened.load(Ordering::SeqCst) {
                        thread::yield_now();
                    }
                })
            })
            .collect();
        while begun.load(Ordering::SeqCst) < 6 {
            thread::yield_now();
        }
        let began = Instant::now();
        while began.elapsed() < Duration::from_millis(60) {
            assert!(rt.metrics().expect("a pool").spares <= 4);
            thread::yield_now();
        }
        assert_eq!(begun.load(Ordering::SeqCst), 6);
        opened.store(true, Ordering::SeqCst);
        for stuck in stuck {
            stuck.wait().expect("no panic");
        }
        settles(&rt, 2);
    });
}

#[test]
fn absurd_times_are_refused() {
    for time in [Duration::ZERO, Duration::from_nanos(1), Duration::MAX] {
        let error = Runtime::builder()
            .model(Model::Pool { workers: 1 })
            .stuck_after(time)
            .build()
            .expect_err("no such time");
        assert!(
            error.to_string().contains("expected 100µs to 3600s"),
            "{error}"
        );
    }
}

/// Pools whose workers are stuck now and then, that are resized and shut down in the midst of it.
#[test]
fn storm() {
    watched("a storm", move || {
        for seed in 1..=rounds(1_000) {
            storm_with(seed.into());
        }
    });
}

fn storm_with(seed: u64) {
    let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let workers = 1 + random.below(3) as usize;
    let rt = Runtime::builder()
        .model(Model::Pool { workers })
        .stuck_after(Duration::from_micros(100))
        .on_stuck(|_| {})
        .fibers(FIBERS)
        .build()
        .expect("a runtime can be built");
    let rt = Arc::new(rt);
    let mvars: Vec<Arc<MVar<u64>>> = (0..3).map(|_| Arc::new(MVar::new(0))).collect();
    let tasks: Vec<_> = (0..6 + random.below(6))
        .map(|number| {
            let mut random = Random(seed * 1_000 + number + 1);
            let mvars = mvars.clone();
            let body = move || {
                let us = random.below(400);
                (mvars[random.below(3) as usize].clone(), us, random.below(3))
            };
            let mut body = body;
            if number % 4 == 3 {
                return rt.spawn_fiber(move || {
                    for _ in 0..3 {
                        let (mvar, us, how) = body();
                        let value = mvar.take().wait();
                        stick(us, how);
                        mvar.put(value + 1).wait();
                    }
                });
            }
            rt.spawn(async move {
                for _ in 0..3 {
                    let (mvar, us, how) = body();
                    let value = mvar.take().await;
                    stick(us, how);
                    mvar.put(value + 1).await;
                }
            })
        })
        .collect();
    if random.below(2) == 0 {
        let resized = rt.resize(1 + random.below(3) as usize).wait();
        resized.expect("there are threads enough");
    }
    if random.below(3) == 0 {
        // In the midst of it.
        drop(rt);
        for task in tasks {
            // Ended or cancelled.
            task.wait().unwrap_or_default();
        }
        return;
    }
    let count = tasks.len() as u64;
    for task in tasks {
        task.wait().expect("no panic");
    }
    let sum: u64 = mvars.iter().map(|mvar| mvar.take().wait()).sum();
    assert_eq!(sum, 3 * count, "seed {seed}: an increment was lost");
}

/// Holds the worker.
fn stick(us: u64, how: u64) {
    let began = Instant::now();
    while how > 0 && began.elapsed() < Duration::from_micros(us) {
        if how == 1 {
            std::hint::spin_loop();
        } else {
            thread::yield_now();
        }
    }
}

/// When all are idle nobody looks.
#[test]
fn an_idle_pool_has_a_monitor_that_sleeps() {
    watched("an idle monitor", || {
        let (rt, _tells) = pool(2);
        for _ in 0..3 {
            rt.spawn(async {}).wait().expect("no panic");
            // It stops looking after a while: then its thread is switched to no more.
            let mut before = switches();
            let mut quiet = 0;
            while quiet < 3 {
                rest(Duration::from_millis(100));
                let now = switches();
                quiet = if now == before { quiet + 1 } else { 0 };
                before = now;
            }
        }
    });
}

#[test]
fn a_monitor_that_slept_finds_who_is_stuck_later() {
    watched("after a sleep", || {
        let (rt, _tells) = pool(1);
        rt.spawn(async {}).wait().expect("no panic");
        rest(Duration::from_millis(300));
        let (open, gate) = gate();
        let (begun, begins) = mpsc::channel();
        let stuck = rt.spawn(async move {
            begun.send(()).expect("somebody listens");
            gate();
        });
        begins.recv().expect("it begins");
        let free = rt.spawn(async move { open.send(()).expect("it waits") });
        free.wait().expect("no panic");
        stuck.wait().expect("no panic");
    });
}

/// Not a test alone: what the process does that is stopped.
#[test]
fn the_one_that_is_stopped() {
    let ms = if std::env::var_os(STOPPED).is_some() {
        600
    } else {
        20
    };
    watched("work", move || {
        let (rt, _tells) = pool(2);
        let mvar = Arc::new(MVar::new(0_u64));
        let began = Instant::now();
        let tasks: Vec<_> = (0..8)
            .map(|_| {
                let mvar = mvar.clone();
                rt.spawn(async move {
                    let mut count = 0;
                    while began.elapsed() < Duration::from_millis(ms) {
                        let value = mvar.take().await;
                        yield_now().await;
                        mvar.put(value + 1).await;
                        count += 1;
                    }
                    count
                })
            })
            .collect();
        let counts = tasks.into_iter().map(|task| task.wait().expect("no panic"));
        assert_eq!(counts.sum::<u64>(), mvar.take().wait());
        settles(&rt, 2);
    });
}

const STOPPED: &str = "GOSSAMER_STOPPED";

/// To the monitor every worker of a process that was stopped has been in one poll for seconds.
#[test]
fn stopping_the_process_harms_nobody() {
    watched("a stopped process", || {
        let mut child = Command::new(std::env::current_exe().expect("it has a path"))
            .args(["--exact", "models::monitor::the_one_that_is_stopped"])
            .env(STOPPED, "1")
            .stdout(Stdio::null())
            .spawn()
            .expect("it can be started");
        let pid = child.id().to_string();
        for signal in ["-STOP", "-CONT"] {
            rest(Duration::from_millis(300));
            let sent = Command::new("kill").args([signal, &pid]).status();
            assert!(sent.expect("there is a kill").success());
            if signal == "-STOP" {
                rest(Duration::from_secs(2));
            }
        }
        assert!(child.wait().expect("it ends").success());
    });
}

use std::thread::sleep as rest;

/// How often a thread of this name was switched to, of all pools of this process.
fn switches() -> Vec<(String, u64)> {
    let mut found = Vec::new();
    let tasks = std::fs::read_dir("/proc/self/task").expect("Linux");
    for task in tasks.flatten() {
        let read = |name: &str| std::fs::read_to_string(task.path().join(name));
        // A thread may have ended.
        let (Ok(name), Ok(status)) = (read("comm"), read("status")) else {
            continue;
        };
        if !name.starts_with("gossamer-monito") {
            continue;
        }
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
        let count = line
            .and_then(|count| count.trim().parse().ok())
            .unwrap_or(0);
        found.push((task.file_name().to_string_lossy().into_owned(), count));
    }
    found
}
