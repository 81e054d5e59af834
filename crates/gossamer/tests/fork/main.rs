//! What a forked child can do with runtimes built before, and with new ones.
//!
//! No harness: this process forks, so it keeps its threads to itself. Each child has a watchdog, its alarm.

mod child;
mod scopes;
mod timers;

use std::env;
use std::error::Error;
use std::future::{Future, pending, poll_fn};
use std::os::unix::process::CommandExt;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::pin::Pin;
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::task::Poll;
use std::thread;
use std::time::Duration;

use gossamer::{JoinSet, Model, Runtime, Wait, sync::MVar, time::sleep as rest, yield_now};
use gossamer_core::home::Home;

use child::{end_of, exit, fork, guard, in_child, refused};

/// Forks of a busy process.
const FORKS: u32 = if cfg!(debug_assertions) { 200 } else { 1_000 };
/// In every refusal.
const REFUSAL: &str = "before fork()";

type Checked = Result<(), Box<dyn Error>>;

type Test = fn() -> Checked;

fn main() -> ExitCode {
    with_less_of_a_lock_of_std();
    let tests: [(&str, Test); 14] = [
        ("with_threads_it_is_refused", with_threads_it_is_refused),
        ("single_goes_on", single_goes_on),
        ("timers_go_on", timers::go_on),
        (
            "timers_of_other_threads_are_gone",
            timers::of_other_threads_are_gone,
        ),
        (
            "single_of_another_thread_is_refused",
            single_of_another_thread_is_refused,
        ),
        (
            "what_another_thread_visited_is_refused",
            what_another_thread_visited_is_refused,
        ),
        ("new_runtimes_work", new_runtimes_work),
        ("scopes_are_refused", scopes::are_refused),
        (
            "a_refused_scope_waits_for_its_own",
            scopes::a_refused_one_waits_for_its_own,
        ),
        (
            "waking_a_lost_task_does_nothing",
            waking_a_lost_task_does_nothing,
        ),
        ("a_task_that_forks_may_exit", a_task_that_forks_may_exit),
        (
            "a_task_that_forks_and_goes_on_ends_the_child",
            a_task_that_forks_and_goes_on_ends_the_child,
        ),
        (
            "what_was_begun_before_is_refused_too",
            what_was_begun_before_is_refused_too,
        ),
        ("children_of_a_busy_process", children_of_a_busy_process),
    ];
    // Before the runtime's own: the first to be registered is the first to be called in the child.
    // SAFETY: what it calls may be called at any time.
    let error = unsafe { libc::pthread_atfork(None, None, Some(guard)) };
    assert_eq!(error, 0, "pthread_atfork");
    let mut failed = 0;
    for (name, test) in tests {
        let result = test();
        match &result {
            Ok(()) => println!("test {name} ... ok"),
            Err(error) => println!("test {name} ... FAILED: {error}"),
        }
        failed += u8::from(result.is_err());
    }
    ExitCode::from(failed)
}

/// Starts this program again, with the signals of an overflowing stack ignored.
///
/// std's handler for them has a list of the threads, under a lock that every thread takes at its start and at its
/// end: in a child that was forked meanwhile, every new thread hangs (one child in 20,000, in a program of std alone).
/// For signals that are ignored std sets up no handler, and no thread takes the lock at its start. At its end it may
/// still do so, for a list that is empty: a child may hang for that, but far more rarely.
fn with_less_of_a_lock_of_std() {
    const STARTED: &str = "GOSSAMER_FORK_TEST_STARTED";
    if env::var_os(STARTED).is_none() {
        // SAFETY: it reads and writes nothing of ours.
        unsafe { libc::signal(libc::SIGSEGV, libc::SIG_IGN) };
        // SAFETY: as above.
        unsafe { libc::signal(libc::SIGBUS, libc::SIG_IGN) };
        let this = env::current_exe().expect("this program's path");
        let error = Command::new(this).env(STARTED, "").exec();
        panic!("this program does not start again: {error}");
    }
}

fn models_with_threads() -> [Model; 2] {
    [Model::Pool { workers: 2 }, Model::Threads]
}

fn with_threads_it_is_refused() -> Checked {
    for model in models_with_threads() {
        let rt = Runtime::builder().model(model).build()?;
        let place = Arc::new(MVar::empty());
        let taken = place.clone();
        let mut waits = Some(rt.spawn(async move { taken.take().await }));
        let mut finished = Some(rt.spawn(async { 1 }));
        while !finished.as_ref().is_some_and(|task| task.is_finished()) {
            thread::yield_now();
        }
        let (end, ended) = mpsc::channel::<()>();
        let mut blocked = Some(rt.spawn_thread(move || ended.recv().is_err()));
        let mut resize = Some(rt.resize(3));
        let mut rt = Some(rt);
        in_child(|| {
            let old = rt.take().expect("there");
            refused("spawn", || drop(old.spawn(async {})));
            refused("block_on", || old.block_on(async {}));
            refused("spawn_blocking", || drop(old.spawn_blocking(|| ())));
            if matches!(model, Model::Pool { .. }) {
                refused("metrics", || assert!(old.metrics().is_none()));
                let error = old.resize(1).wait().expect_err("refused");
                assert!(error.to_string().contains(REFUSAL), "{error}");
                let error = resize.take().expect("there").wait().expect_err("refused");
                assert!(error.to_string().contains(REFUSAL), "{error}");
            }
            let error = old.try_spawn(async {}).expect_err("refused");
            assert!(error.to_string().contains(REFUSAL), "{error}");
            let waits = waits.take().expect("there");
            waits.abort();
            refused("a task", || drop(waits.wait()));
            let finished = finished.take().expect("there").wait();
            assert_eq!(finished.expect("no panic"), 1);
            refused("a thread", || drop(blocked.take().expect("there").wait()));
            old.spawn_thread(|| ()).wait().expect("a new thread");
            drop(old);
        })?;
        in_child(|| {
            let old = rt.take().expect("there");
            assert!(old.shutdown_timeout(Duration::MAX));
        })?;
        // The parent knows nothing of it.
        place.put(7).wait();
        assert_eq!(waits.take().expect("there").wait()?, 7);
        drop(end);
        assert!(blocked.take().expect("there").wait()?);
        assert_eq!(rt.take().expect("there").block_on(async { 3 }), 3);
    }
    Ok(())
}

fn single_goes_on() -> Checked {
    let rt = Runtime::builder().model(Model::Single).build()?;
    let place = Arc::new(MVar::<i32>::empty());
    let taken = place.clone();
    let mut task = Some(rt.spawn(async move { taken.take().await + 1 }));
    rt.block_on(yield_now());
    let mut over = Some(rt.spawn(async { 9 }));
    rt.block_on(yield_now());
    let mut rt = Some(rt);
    in_child(|| {
        let rt = rt.take().expect("there");
        let mut set = JoinSet::new();
        set.push(over.take().expect("there"));
        let joined = set.next().wait().expect("one was pushed");
        assert_eq!(joined.expect("no panic"), 9);
        place.put(1).wait();
        assert_eq!(task.take().expect("there").wait().expect("no panic"), 2);
        assert_eq!(
            rt.block_on(async { rt.spawn(async { 5 }).await })
                .expect("no panic"),
            5
        );
        let putter = place.clone();
        let thread = rt.spawn_thread(move || putter.put(8).wait());
        assert_eq!(rt.block_on(place.take()), 8);
        thread.wait().expect("no panic");
        refused("spawn_blocking", || drop(rt.spawn_blocking(|| ())));
        drop(rt);
    })?;
    place.put(2).wait();
    assert_eq!(task.take().expect("there").wait()?, 3);
    Ok(())
}

fn single_of_another_thread_is_refused() -> Checked {
    let rt = Arc::new(Runtime::builder().model(Model::Single).build()?);
    let place = Arc::new(MVar::<i32>::empty());
    let (says, drives) = mpsc::channel();
    let (theirs, taken) = (rt.clone(), place.clone());
    let driver = thread::spawn(move || {
        theirs.block_on(async {
            says.send(()).expect("somebody listens");
            taken.take().await
        })
    });
    drives.recv()?;
    let mut task = Some(rt.spawn(pending::<()>()));
    in_child(|| {
        refused("block_on", || rt.block_on(async {}));
        refused("a task", || drop(task.take().expect("there").wait()));
        let turned_away = rt.spawn(async {}).wait();
        assert!(turned_away.is_err_and(|error| error.is_cancelled()));
    })?;
    place.put(4).wait();
    assert_eq!(driver.join().map_err(|_| "the driver panicked")?, 4);
    Ok(())
}

/// The visit never ends in the child: who would drive must not wait for that.
fn what_another_thread_visited_is_refused() -> Checked {
    let home = Home::open().ok_or("few homes are in use")?;
    let (end, ends) = mpsc::channel::<()>();
    let (begun, begins) = mpsc::channel();
    let visits = thread::spawn(move || {
        let visit = home.visit();
        begun.send(visit.is_some()).expect("somebody listens");
        ends.recv().expect_err("it is dropped");
    });
    assert!(begins.recv()?, "nobody else drives it");
    in_child(|| {
        assert!(home.is_lost());
        assert!(home.claim(false).is_none());
        assert!(home.visit().is_none());
    })?;
    drop(end);
    visits.join().map_err(|_| "the visitor panicked")?;
    assert!(!home.is_lost());
    home.close(home.claim(false).ok_or("nobody drives it")?);
    Ok(())
}

fn new_runtimes_work() -> Checked {
    let _old = Runtime::builder().model(Model::pool()).build()?;
    for model in [Model::Single, Model::Pool { workers: 3 }, Model::Threads] {
        in_child(|| use_new(model))?;
    }
    // A child of a child.
    in_child(|| {
        use_new(Model::Pool { workers: 2 });
        let rt = Runtime::builder()
            .model(Model::pool())
            .build()
            .expect("a pool");
        in_child(|| {
            refused("spawn", || drop(rt.spawn(async {})));
            use_new(Model::Pool { workers: 2 });
        })
        .expect("the grandchild is well");
        assert_eq!(rt.spawn(async { 1 }).wait().expect("no panic"), 1);
    })
}

/// Builds a runtime, and uses it up.
fn use_new(model: Model) {
    let rt = Runtime::builder().model(model).build().expect("a runtime");
    let place = Arc::new(MVar::empty());
    let tasks: Vec<_> = (0..10)
        .map(|number| {
            let place = place.clone();
            rt.spawn(async move {
                yield_now().await;
                place.put(number).await;
            })
        })
        .collect();
    let sum: i32 = (0..10).map(|_| place.take().wait()).sum();
    assert_eq!(sum, 45);
    for task in tasks {
        task.wait().expect("no panic");
    }
    if matches!(model, Model::Pool { .. }) {
        rt.resize(1).wait().expect("fewer workers");
    }
    assert_eq!(rt.spawn_blocking(|| 6).wait().expect("no panic"), 6);
    assert_eq!(rt.block_on(async { 7 }), 7);
}

fn waking_a_lost_task_does_nothing() -> Checked {
    for model in models_with_threads() {
        let rt = Runtime::builder().model(model).build()?;
        let place = Arc::new(MVar::empty());
        let taken = place.clone();
        let (says, begun) = mpsc::channel();
        let task = rt.spawn(async move {
            says.send(()).expect("somebody listens");
            taken.take().await
        });
        begun.recv()?;
        in_child(|| {
            place.put(1).wait();
            task.abort();
            use_new(model);
        })?;
        place.put(2).wait();
        assert_eq!(task.wait()?, 2);
    }
    Ok(())
}

fn a_task_that_forks_may_exit() -> Checked {
    for model in models_with_threads() {
        let rt = Runtime::builder().model(model).build()?;
        let child = rt.spawn(async {
            let child = fork();
            if child == 0 {
                exit(0);
            }
            child
        });
        assert_eq!(end_of(child.wait()?), "exit 0");
    }
    Ok(())
}

fn a_task_that_forks_and_goes_on_ends_the_child() -> Checked {
    for model in models_with_threads() {
        let rt = Runtime::builder().model(model).build()?;
        // The other task would be run twice.
        let other = rt.spawn(async { yield_now().await });
        let child = rt.spawn(async {
            let child = fork();
            yield_now().await;
            child
        });
        assert_eq!(end_of(child.wait()?), "signal 6");
        let child = rt.spawn(async { fork() });
        assert_eq!(end_of(child.wait()?), "signal 6");
        let child = rt.spawn_blocking(fork);
        assert_eq!(end_of(child.wait()?), "signal 6");
        other.wait()?;
    }
    Ok(())
}

/// The wait began before the fork, and nobody polls again for it: the child must not sleep on.
fn what_was_begun_before_is_refused_too() -> Checked {
    for model in models_with_threads() {
        for inside in [true, false] {
            let rt = Runtime::builder().model(model).build()?;
            let mut never = rt.spawn(pending::<()>());
            let mut child = None;
            let waited = catch_unwind(AssertUnwindSafe(|| {
                let wait = poll_fn(|cx| {
                    let polled = Pin::new(&mut never).poll(cx);
                    match child {
                        None => child = Some(fork()),
                        Some(_) => return polled.map(drop),
                    }
                    if child == Some(0) {
                        set_hook(Box::new(|_| ()));
                        return Poll::Pending;
                    }
                    Poll::Ready(())
                });
                if inside {
                    rt.block_on(wait);
                } else {
                    wait.wait();
                }
            }));
            let Some(child) = child.filter(|child| *child != 0) else {
                let text = waited
                    .err()
                    .and_then(|panic| panic.downcast::<String>().ok());
                exit(i32::from(!text.is_some_and(|text| text.contains(REFUSAL))));
            };
            assert_eq!(end_of(child), "exit 0", "{model}, inside: {inside}");
        }
    }
    Ok(())
}

/// Forks while other threads are inside every lock there is.
fn children_of_a_busy_process() -> Checked {
    let rt = Arc::new(
        Runtime::builder()
            .model(Model::Pool { workers: 3 })
            .build()?,
    );
    let stop = Arc::new(AtomicBool::new(false));
    let place = Arc::new(MVar::empty());
    let busy: Vec<_> = (0..8)
        .map(|number| {
            let (place, stop) = (place.clone(), stop.clone());
            rt.spawn(async move {
                while !stop.load(Ordering::Relaxed) {
                    if number % 2 == 0 {
                        place.put(number).await;
                    } else {
                        place.take().await;
                    }
                    rest(Duration::from_nanos(number)).await;
                }
            })
        })
        .collect();
    let (theirs, stopped) = (rt.clone(), stop.clone());
    let outside = thread::spawn(move || {
        while !stopped.load(Ordering::Relaxed) {
            theirs.spawn(async {}).wait().expect("no panic");
            theirs.spawn_blocking(|| ()).wait().expect("no panic");
            theirs.resize(2).wait().expect("fewer workers");
            theirs.resize(3).wait().expect("more workers");
            drop(Runtime::builder().build().expect("one more runtime"));
        }
    });
    let mut old = Some(rt);
    let mut result = Ok(());
    for _ in 0..FORKS {
        result = in_child(|| {
            let rt = old.take().expect("there");
            refused("spawn", || drop(rt.spawn(async {})));
            use_new(Model::Pool { workers: 2 });
            drop(rt);
        });
        if result.is_err() {
            break;
        }
    }
    stop.store(true, Ordering::Relaxed);
    outside.join().map_err(|_| "the thread outside panicked")?;
    busy.iter().for_each(|task| task.abort());
    result
}
