//! When the system grants nothing more: errors that give back what was to be run, and runtimes that go on.
//!
//! The tests run themselves once more, in a process whose address space is limited.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};

use gossamer::{JoinHandle, Model, Runtime, Wait, sync::MVar};
use rustix::process::Resource;

use super::{patience, runtime, watched};

/// KiB of address space, and bytes of a thread's stack: room for some twenty. Large, so that there is always room left
/// for what is small, which the standard library ends the process over.
const LIMIT: &str = "1500000";
const STACK: &str = "67108864";
/// Bytes that glibc's allocator takes from the system ahead of need. It has one arena here: one of 64 MiB for each thread
/// would take the room that a test grants to a thread. Other allocators ignore both.
const KEPT_FREE: &str = "16777216";

/// Set in the process that is limited.
const LIMITED: &str = "GOSSAMER_LIMITED";

/// Runs `body` in a process of its own, with a limit; `test` is the path of the test that calls this.
fn limited(test: &str, body: impl FnOnce() + Send + 'static) {
    in_a_process(test, LIMIT, STACK, body);
}

fn in_a_process(test: &str, limit: &str, stack: &str, body: impl FnOnce() + Send + 'static) {
    if std::env::var_os(LIMITED).is_some() {
        return watched(test, body);
    }
    let this = std::env::current_exe().expect("a test is a program");
    let ran = Command::new("sh")
        .args(["-c", "ulimit -S -v \"$0\"; exec \"$@\"", limit])
        .arg(this)
        .args(["--exact", test, "--nocapture", "--test-threads", "1"])
        .env(LIMITED, "1")
        .env("RUST_MIN_STACK", stack)
        // A backtrace reads the whole program's symbols, for which there is no room.
        .env("RUST_BACKTRACE", "0")
        .env("MALLOC_ARENA_MAX", "1")
        .env("MALLOC_TOP_PAD_", KEPT_FREE)
        .env("GOSSAMER_PATIENCE", patience().as_secs().to_string())
        .output()
        .expect("there is a shell");
    let said = String::from_utf8_lossy(&ran.stdout);
    let cried = String::from_utf8_lossy(&ran.stderr);
    assert!(
        ran.status.success() && said.contains("1 passed"),
        "{said}{cried}"
    );
}

#[test]
fn no_more_threads_for_tasks() {
    limited("models::limits::no_more_threads_for_tasks", || {
        let rt = runtime(Model::Threads);
        let gate = Arc::new(MVar::<()>::empty());
        let mut waiting = Vec::new();
        let begun = Arc::new(AtomicUsize::new(0));
        let refused = loop {
            // Before it is tried: a thread that begins takes more for a moment than it keeps, and then there is room
            // again.
            let all_begun = begun.load(Ordering::Relaxed) == waiting.len();
            let (gate, begun) = (gate.clone(), begun.clone());
            let value = waiting.len();
            match rt.try_spawn(async move {
                begun.fetch_add(1, Ordering::Relaxed);
                gate.read().await;
                value
            }) {
                Ok(task) => waiting.push(task),
                Err(_) if !all_begun => std::thread::yield_now(),
                Err(refused) => break refused,
            }
            assert!(waiting.len() < 60_000, "there is no limit");
        };
        // The future is whole, and the panic of `spawn` names what is lacking.
        let panicked = catch_unwind(AssertUnwindSafe(|| rt.spawn(async {})));
        let payload = panicked.map(drop).expect_err("no thread");
        let text = payload.downcast_ref::<String>().expect("a text");
        assert!(text.contains("grants no thread"), "{text}");
        gate.put(()).wait();
        assert_eq!(refused.future.wait(), waiting.len());
        for (value, task) in waiting.into_iter().enumerate() {
            assert_eq!(task.wait().expect("no panic"), value);
        }
        assert_eq!(
            rt.spawn(async { 1 }).wait().expect("there is room again"),
            1
        );
    });
}

/// So many threads that there is no room for the small things of one more, which the standard library would end the
/// process over.
#[test]
fn no_more_mappings() {
    let test = "models::limits::no_more_mappings";
    in_a_process(test, "unlimited", "131072", || {
        let rt = runtime(Model::Threads);
        let gate = Arc::new(MVar::<()>::empty());
        let mut waiting = Vec::new();
        while waiting.len() < 40_000 {
            let gate = gate.clone();
            match rt.try_spawn(async move { gate.read().await }) {
                Ok(task) => waiting.push(task),
                Err(refused) => {
                    drop(refused.future);
                    break;
                }
            }
        }
        gate.put(()).wait();
        for task in waiting {
            task.wait().expect("no panic");
        }
        assert_eq!(rt.spawn(async { 1 }).wait().expect("it goes on"), 1);
    });
}

#[test]
fn no_more_workers() {
    limited("models::limits::no_more_workers", || {
        let rt = runtime(Model::Pool { workers: 2 });
        let error = rt.resize(1_024).wait().expect_err("no room for so many");
        assert!(
            error.to_string().contains("could not be started"),
            "{error}"
        );
        let kept = rt.metrics().expect("a pool").workers;
        assert!((2..100).contains(&kept), "{kept}");
        let parks = || rt.metrics().expect("a pool").parks;
        let before = parks();
        assert_eq!(rt.spawn(async { 1 }).wait().expect("it goes on"), 1);
        // Those that are idle sleep, and do not look for ever for what the missing ones would do.
        while parks() == before {
            std::thread::yield_now();
        }
        rt.resize(1).wait().expect("it shrinks");
        assert_eq!(rt.spawn(async { 2 }).wait().expect("it goes on"), 2);
    });
}

/// Threads that wait until their sender is dropped.
type Threads = Vec<(mpsc::Sender<()>, JoinHandle<()>)>;

/// Takes all threads there are.
fn take_threads(rt: &Runtime) -> Threads {
    let begun = Arc::new(AtomicUsize::new(0));
    let mut threads = Vec::new();
    loop {
        let all_begun = begun.load(Ordering::Relaxed) == threads.len();
        let (keep, kept) = mpsc::channel::<()>();
        let begun = begun.clone();
        let started = rt.try_spawn_thread(move || {
            begun.fetch_add(1, Ordering::Relaxed);
            kept.recv().expect_err("it is dropped");
        });
        match started {
            Ok(thread) => threads.push((keep, thread)),
            Err(_) if !all_begun => std::thread::yield_now(),
            Err(refused) => {
                let text = refused.to_string();
                let expected = "not spawned: the system grants no thread: ";
                assert!(text.starts_with(expected), "{text}");
                return threads;
            }
        }
    }
}

/// Raises the limit, so that one more can be had, and no two.
fn grant_one_thread() {
    let pages = std::fs::read_to_string("/proc/self/statm").expect("this is Linux");
    let pages = pages
        .split(' ')
        .next()
        .and_then(|pages| pages.parse::<u64>().ok());
    let used = pages.expect("a number") * rustix::param::page_size() as u64;
    let stack: u64 = STACK.parse().expect("a number");
    let mut limit = rustix::process::getrlimit(Resource::As);
    limit.current = Some(used + stack * 3 / 2);
    rustix::process::setrlimit(Resource::As, limit).expect("only the soft limit was set");
}

fn end_threads(threads: Threads) {
    for (keep, thread) in threads {
        drop(keep);
        thread.wait().expect("no panic");
    }
}

#[test]
fn no_spare_for_a_worker_that_is_stuck() {
    limited(
        "models::limits::no_spare_for_a_worker_that_is_stuck",
        || {
            let (told, tells) = mpsc::channel();
            let rt = Runtime::builder()
                .model(Model::Pool { workers: 1 })
                .on_stuck(move |stuck| told.send(stuck.clone()).unwrap_or_default())
                .build()
                .expect("a runtime can be built");
            let threads = take_threads(&rt);
            let (open, opened) = mpsc::channel::<()>();
            let (begun, begins) = mpsc::channel();
            let stuck = rt.spawn(async move {
                begun.send(()).expect("somebody listens");
                opened.recv().expect("it is opened");
            });
            // Or the one worker may run first what is to wait.
            begins.recv().expect("it begins");
            let waits = rt.spawn(async {});
            // Told while it goes on, or it would not be told at all.
            let told = tells.recv().expect("it is told").to_string();
            assert!(
                told.contains("no spare worker to be had (worker 1 could not be started"),
                "{told}"
            );
            assert!(!told.contains("others took"), "{told}");
            open.send(()).expect("it waits");
            stuck.wait().expect("no panic");
            waits.wait().expect("no panic");
            end_threads(threads);
        },
    );
}

/// The one spare that is granted in the end stays, though another is refused again and again.
#[test]
fn one_spare_for_two_workers_that_are_stuck() {
    limited(
        "models::limits::one_spare_for_two_workers_that_are_stuck",
        || {
            let (told, tells) = mpsc::channel();
            let rt = Runtime::builder()
                .model(Model::Pool { workers: 2 })
                .on_stuck(move |stuck| told.send(stuck.clone()).unwrap_or_default())
                .build()
                .expect("a runtime can be built");
            // First of all: a worker that is stuck while the machine leaves the other one no time would get a spare,
            // which would then run at once what is to wait.
            let threads = take_threads(&rt);
            let (begun, begins) = mpsc::channel();
            let blocked = |opened: mpsc::Receiver<()>| {
                let begun = begun.clone();
                async move {
                    begun.send(()).expect("somebody listens");
                    opened.recv().expect("it is opened");
                }
            };
            let (open_first, opened_first) = mpsc::channel();
            let (open_second, opened_second) = mpsc::channel();
            // On two lines: one is told of each.
            let first = rt.spawn(blocked(opened_first));
            let second = rt.spawn(blocked(opened_second));
            for _ in 0..2 {
                begins.recv().expect("it begins");
            }
            let waits = rt.spawn(async {});
            // By then both are known to be stuck.
            for _ in 0..2 {
                let told = tells.recv().expect("it is told");
                assert!(told.refused.is_some(), "{told}");
            }
            grant_one_thread();
            waits.wait().expect("no panic");
            let spares = || rt.metrics().expect("a pool").spares;
            // One more counts while it is asked for.
            while spares() > 1 {
                std::thread::yield_now();
            }
            assert_eq!(spares(), 1);
            for open in [open_first, open_second] {
                open.send(()).expect("it waits");
            }
            first.wait().expect("no panic");
            second.wait().expect("no panic");
            end_threads(threads);
        },
    );
}

#[test]
fn no_thread_for_the_monitor() {
    limited("models::limits::no_thread_for_the_monitor", || {
        let rt = runtime(Model::Single);
        let mut threads = take_threads(&rt);
        // Room for one, once it is quite gone.
        end_threads(threads.split_off(threads.len() - 1));
        let refused = loop {
            let built = Runtime::builder().model(Model::Pool { workers: 1 }).build();
            let text = built.expect_err("room for one").to_string();
            if !text.starts_with("worker 0 ") {
                break text;
            }
            std::thread::yield_now();
        };
        let expected = "the monitor's thread could not be started: the system grants no thread: ";
        assert!(refused.starts_with(expected), "{refused}");
        end_threads(threads);
    });
}

#[test]
fn no_more_threads_and_stacks() {
    limited("models::limits::no_more_threads_and_stacks", || {
        let rt = runtime(Model::Single);
        let gate = Arc::new(MVar::<()>::empty());
        let (mut threads, mut fibers) = (Vec::new(), Vec::new());
        let begun = Arc::new(AtomicUsize::new(0));
        let mut refused = loop {
            let (gate, begun) = (gate.clone(), begun.clone());
            match rt.try_spawn_thread(move || {
                begun.fetch_add(1, Ordering::Relaxed);
                gate.read().wait();
            }) {
                Ok(thread) => threads.push(thread),
                Err(refused) => break vec![refused.to_string()],
            }
        };
        // A thread that still needs a signal stack when all is taken ends the process.
        while begun.load(Ordering::Relaxed) < threads.len() {
            std::thread::yield_now();
        }
        let body = loop {
            let gate = gate.clone();
            match rt.try_spawn_fiber(move || gate.read().wait()) {
                Ok(fiber) => fibers.push(fiber),
                Err(error) => {
                    refused.push(error.to_string());
                    break error.future;
                }
            }
        };
        let [thread, fiber] = &refused[..] else {
            unreachable!("one of each")
        };
        assert!(
            thread.starts_with("not spawned: the system grants no thread: "),
            "{thread}"
        );
        assert!(
            fiber.starts_with("not spawned: no memory for a fiber's stack: "),
            "{fiber}"
        );
        gate.put(()).wait();
        // The closure came back whole.
        body();
        for all in threads.into_iter().chain(fibers) {
            all.wait().expect("no panic");
        }
    });
}
