//! Simulated threads: that they are threads, that one at a time runs, what is told of them, and how they end.

use std::cell::{Cell, RefCell};
use std::fs;
use std::future::pending;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, panic_any};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use gossamer::JoinHandle;
use gossamer::Wait;
use gossamer::sync::{MVar, Mutex};
use gossamer::time::{sleep as rest, timeout};

use crate::patience::Patience;
use gossamer_sim::{
    Cause, End, Failure, Sim, Trace, TraceEvent, Waits, exhaustive, explore, now, replay, run,
    spawn,
};

/// A simulated thread, as the facade spawns one.
#[track_caller]
pub(super) fn named<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> JoinHandle<T> {
    let spawned = gossamer_sched::spawn_thread(name, work, Location::caller());
    spawned.unwrap_or_else(|refused| panic!("{refused}"))
}

#[track_caller]
pub(super) fn spawn_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> JoinHandle<T> {
    named("simulated", work)
}

/// A thread and a task pass a number to and fro.
async fn to_and_fro() {
    let (there, back) = (Arc::new(MVar::empty()), Arc::new(MVar::empty()));
    let thread = spawn_thread({
        let (there, back) = (there.clone(), back.clone());
        move || {
            for _ in 0..3 {
                let number: u32 = there.take().wait();
                back.put(number + 1).wait();
            }
        }
    });
    let mut number = 0;
    for _ in 0..3 {
        there.put(number).await;
        number = back.take().await;
    }
    thread.await.expect("no panic");
    assert_eq!(number, 3);
}

#[test]
fn a_task_and_a_thread_over_ten_thousand_seeds() {
    explore(0..10_000, to_and_fro);
}

/// As many as if the thread were a task.
#[test]
fn all_schedules_of_a_task_and_a_thread() {
    let explored = |is_thread: bool| {
        exhaustive(100_000, || async move {
            let mvar = Arc::new(MVar::empty());
            let puts = mvar.clone();
            let other = match is_thread {
                true => spawn_thread(move || {
                    puts.put(1).wait();
                    puts.put(2).wait();
                }),
                false => spawn(async move {
                    puts.put(1).await;
                    puts.put(2).await;
                }),
            };
            assert_eq!(mvar.take().await + mvar.take().await, 3);
            other.await.expect("no panic");
        })
    };
    let threads = explored(true);
    assert!(threads.complete && threads.schedules > 10, "{threads:?}");
    assert_eq!(threads, explored(false));
}

/// What is read and written at two moments, by threads that others may overtake in between.
#[test]
fn threads_overtake_each_other() {
    let lost = |seed| {
        run(seed, || async {
            let count = Arc::new(MVar::new(0));
            let both = [(); 2].map(|()| {
                let count = count.clone();
                spawn_thread(move || {
                    let seen = count.read().wait();
                    count.take().wait();
                    count.put(seen + 1).wait();
                })
            });
            for thread in both {
                thread.await.expect("no panic");
            }
            count.take().await
        })
        .expect("it ends")
            == 1
    };
    let lost = (0..100).filter(|seed| lost(*seed)).count();
    assert!((1..100).contains(&lost), "{lost} of 100");
}

/// Two threads that take two locks in opposite orders.
async fn crossing() {
    let locks = Arc::new([Mutex::new(()), Mutex::new(())]);
    let both = [(0, 1), (1, 0)].map(|(first, second)| {
        let locks = locks.clone();
        spawn_thread(move || {
            let _first = locks[first].lock().wait();
            let _second = locks[second].lock().wait();
        })
    });
    for thread in both {
        thread.await.expect("no panic");
    }
}

#[test]
fn a_deadlock_of_threads_is_reported() {
    let failure = (0..100)
        .find_map(|seed| run(seed, crossing).err())
        .expect("a deadlock");
    let Cause::Deadlock(report) = &failure.cause else {
        panic!("{failure}")
    };
    let waiting: Vec<_> = report.waiting().collect();
    assert!(
        matches!(waiting[0].1, Waits::Task { task: 1, .. }),
        "{report}"
    );
    for (task, (number, waits)) in waiting[1..].iter().enumerate() {
        assert_eq!(*number, task + 1);
        let Waits::Operation { name, .. } = waits else {
            panic!("{report}")
        };
        assert_eq!(*name, "Mutex::lock");
    }
    let text = failure.to_string();
    for part in [
        "task 1 `simulated`, spawned at ",
        "task 2 `simulated`, spawned at ",
        "Mutex::lock on Mutex #1, called at ",
        "Mutex::lock on Mutex #2, called at ",
        "threads.rs:",
    ] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    let again = replay(&failure.choices, crossing).unwrap_err();
    assert_eq!((again.cause, again.trace), (failure.cause, failure.trace));
}

#[test]
fn a_seed_gives_the_same_trace() {
    let trace = |seed| {
        let run = Sim::new().run_traced(seed, || async {
            let thread = spawn_thread(|| {
                let inner = spawn_thread(|| rest(Duration::from_secs(1)).wait());
                inner.wait().expect("no panic");
            });
            to_and_fro().await;
            thread.await.expect("no panic");
        });
        run.result.expect("it ends");
        run.trace
    };
    let traces: Vec<Trace> = (0..50).map(trace).collect();
    assert!(traces.iter().skip(1).any(|other| *other != traces[0]));
    for (seed, before) in traces.iter().enumerate() {
        assert_eq!(trace(seed as u64), *before, "seed {seed}");
    }
    assert_eq!(traces[0].name(1), Some("simulated"));
    assert_eq!(traces[0].name(4), None);
}

#[test]
fn a_panic_is_the_handles_and_the_runs() {
    let panics = || async {
        let mvar = Arc::new(MVar::<u32>::empty());
        let puts = mvar.clone();
        let thread = spawn_thread(move || {
            mvar.take().wait();
            panic_any("planned".to_owned())
        });
        puts.put(1).await;
        let error: Result<(), _> = thread.await;
        let payload = error.expect_err("it panics").try_into_panic().unwrap();
        assert_eq!(payload.downcast_ref::<String>().unwrap(), "planned");
    };
    for seed in 0..20 {
        Sim::new()
            .expect_panics()
            .run(seed, panics)
            .expect("the panic is expected");
        let failure = run(seed, panics).unwrap_err();
        let Cause::Panicked { task: 1, message } = &failure.cause else {
            panic!("{failure}")
        };
        assert_eq!(message, "planned");
    }
}

/// Notes that it is dropped.
pub(super) struct Dropped(pub(super) Arc<AtomicUsize>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// The number of threads with this name; `expected`, once it is that. (Linux lists a thread a while after it is joined.)
pub(super) fn threads_named(name: &str, expected: usize) -> usize {
    let number = || {
        let tasks = fs::read_dir("/proc/self/task").expect("Linux has it");
        let names =
            tasks.filter_map(|task| fs::read_to_string(task.ok()?.path().join("comm")).ok());
        names.filter(|comm| comm.trim_end() == name).count()
    };
    let mut patience = Patience::new(Duration::from_secs(10));
    while number() != expected && !patience.is_over() {
        std::thread::yield_now();
    }
    number()
}

/// Threads that stand still, have not begun, or are in the midst of a scope of their own, when the run ends or fails.
#[test]
fn none_is_left_over() {
    let dropped = Arc::new(AtomicUsize::new(0));
    for seed in 0..1_000 {
        let drops = dropped.clone();
        let result: Result<(), Failure> = run(seed, || async move {
            let mvar = Arc::new(MVar::<()>::empty());
            let thread = |_| -> JoinHandle<()> {
                let (mvar, dropped) = (mvar.clone(), Dropped(drops.clone()));
                named("left over", move || {
                    let _dropped = dropped;
                    let _never = catch_unwind(AssertUnwindSafe(|| mvar.take().wait()));
                    mvar.take().wait();
                    unreachable!("nobody puts")
                })
            };
            let all = [(); 3].map(thread);
            if seed % 2 == 0 {
                for thread in all {
                    thread.await.expect("it never ends");
                }
            }
        });
        assert_eq!(result.is_err(), seed % 2 == 0);
    }
    assert_eq!(dropped.load(Ordering::Relaxed), 3_000);
    assert_eq!(threads_named("left over", 0), 0);
}

thread_local! {
    static OWN: Cell<u32> = const { Cell::new(0) };
    static AT_END: RefCell<Option<Dropped>> = const { RefCell::new(None) };
}

/// Each has its own, from the beginning, over all its waits; and they have gone when it is joined.
#[test]
fn thread_locals_are_as_outside() {
    explore(0..200, || async {
        OWN.set(100);
        let dropped = Arc::new(AtomicUsize::new(0));
        let mvar = Arc::new(MVar::new(()));
        let both = [1, 2].map(|number| {
            let (mvar, dropped) = (mvar.clone(), Dropped(dropped.clone()));
            spawn_thread(move || {
                let id = thread::current().id();
                assert_eq!(OWN.replace(number), 0, "of another one");
                AT_END.set(Some(dropped));
                let not_send = Rc::new(number);
                for _ in 0..3 {
                    mvar.take().wait();
                    async {
                        assert_eq!(*not_send, number);
                        mvar.put(()).await;
                        assert_eq!((OWN.get(), thread::current().id()), (number, id));
                    }
                    .wait();
                }
                id
            })
        });
        let [first, second] = both;
        assert_ne!(first.await.unwrap(), second.await.unwrap());
        // A join by the handle is over as soon as the closure has returned, as outside.
        rest(Duration::from_nanos(1)).await;
        assert_eq!(dropped.load(Ordering::Relaxed), 2);
        assert_eq!(OWN.get(), 100);
    });
}

#[test]
fn time_is_virtual_in_a_thread() {
    const DAY: Duration = Duration::from_secs(86_400);
    let began = Instant::now();
    let outcome = run(0, || async {
        let thread = spawn_thread(|| {
            let began = (now(), gossamer::time::now());
            rest(DAY).wait();
            let late = timeout(DAY, pending::<()>()).wait();
            assert!(late.is_err());
            assert_eq!(gossamer::time::now() - began.1, 2 * DAY);
            now() - began.0
        });
        let half = spawn(async { rest(DAY / 2).await });
        half.await.expect("no panic");
        assert_eq!(now(), DAY / 2);
        thread.await.expect("no panic")
    });
    assert_eq!(outcome.expect("it ends"), 2 * DAY);
    assert!(began.elapsed() < DAY);
}

/// An abort does nothing, as outside.
#[test]
fn a_thread_is_not_aborted() {
    explore(0..100, || async {
        let mvar = Arc::new(MVar::empty());
        let takes = mvar.clone();
        let thread = spawn_thread(move || takes.take().wait());
        thread.abort();
        mvar.put(1).await;
        assert_eq!(thread.await.unwrap(), 1);
    });
}

/// A thread owns no tasks that need not be `Send`.
#[test]
fn a_thread_spawns_nothing_onto_the_simulations_own() {
    let failure = run(0, || async {
        spawn_thread(|| drop(spawn(async {}))).await.unwrap();
    });
    let text = failure.unwrap_err().to_string();
    assert!(
        text.contains("sim::spawn() was called in a simulated thread"),
        "{text}"
    );
}

/// How each task ended, in order.
fn ends(trace: &Trace) -> Vec<(usize, End)> {
    let end = |event: &TraceEvent| match *event {
        TraceEvent::Ended { task, how } => Some((task, how)),
        _ => None,
    };
    trace.events().iter().filter_map(end).collect()
}

#[test]
fn the_trace_says_how_threads_end() {
    let run = Sim::new().expect_panics().run_traced(3, || async {
        let returns = spawn_thread(|| ());
        let panics = spawn_thread(|| panic!("planned"));
        let waits = spawn_thread(|| MVar::<()>::empty().take().wait());
        returns.await.unwrap();
        let _panicked: Result<(), _> = panics.await;
        drop(waits);
        rest(Duration::from_secs(1)).await;
    });
    run.result.expect("panics are expected");
    let mut ends = ends(&run.trace);
    ends.sort_by_key(|(task, _)| *task);
    let how: Vec<_> = ends.into_iter().map(|(_, how)| how).collect();
    assert_eq!(
        how,
        [End::Returned, End::Returned, End::Panicked, End::Dropped]
    );
}
