//! A program that knows nothing of simulations, run in one: the facade's own ways of spawning lead into it.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use gossamer::sync::MVar;
use gossamer::time::{interval, sleep as pause, timeout};
use gossamer::{Handle, JoinSet, Model, Runtime, Wait, spawn, task, yield_now};
use gossamer_sim::{self as sim, Cause, Failure, Sim, TraceEvent, Waits};

use crate::contract::SIM;

const SECOND: Duration = Duration::from_secs(1);

fn failure<F: Future<Output = ()>>(body: impl Fn() -> F) -> Failure {
    let failure = (0..100).find_map(|seed| SIM.run(seed, &body).err());
    failure.expect("a run that fails")
}

#[test]
fn what_is_spawned_is_in_the_simulation() {
    let began = std::time::Instant::now();
    SIM.explore(0..200, || async {
        let sum = Arc::new(AtomicUsize::new(0));
        let add = |n| {
            let sum = sum.clone();
            async move {
                pause(n as u32 * 1000 * SECOND).await;
                sum.fetch_add(n, Ordering::Relaxed)
            }
        };
        let handle = Handle::current();
        let by_function = spawn(add(1));
        let by_handle = handle.spawn(add(2));
        let inner = add(4);
        let nested = spawn(async move { Handle::current().spawn(inner).await.unwrap() });
        let call = gossamer::spawn_blocking(|| 8);
        let limited = handle.limited(1);
        let first = limited.spawn(add(16)).await;
        let second = limited.spawn(add(32)).await;
        let mut set = JoinSet::new();
        for task in [by_function, by_handle, nested, first, second] {
            set.push(task);
        }
        while let Some(ended) = set.join_next().await {
            ended.unwrap();
        }
        assert_eq!(call.await.unwrap(), 8);
        assert_eq!(sum.load(Ordering::Relaxed), 1 + 2 + 4 + 16 + 32);
        assert_eq!(sim::now(), 48_000 * SECOND);
    });
    assert!(began.elapsed() < 1000 * SECOND, "time is virtual");
}

#[test]
fn scopes_and_fibers_and_timers() {
    SIM.explore(0..200, || async {
        let handle = Handle::current();
        let mvar = Arc::new(MVar::empty());
        let sum = handle.async_scope(mvar.clone(), async |s, mvar| {
            let from = mvar.clone();
            let takes = s.spawn(async move { from.take().await + from.take().await });
            for value in [1, 2] {
                let mvar = mvar.clone();
                s.spawn(async move { mvar.put(value).await });
            }
            takes.await.unwrap()
        });
        assert_eq!(sum.await, 3);
        let inside = handle.clone();
        let fiber = handle.spawn_fiber(move || {
            let mut values = [0; 2];
            inside.scope(|s| {
                for value in &mut values {
                    s.spawn(async move {
                        yield_now().await;
                        *value += 1;
                    });
                }
            });
            values
        });
        assert_eq!(fiber.await.unwrap(), [1, 1]);
        assert!(timeout(SECOND, pending::<()>()).await.is_err());
        let mut ticks = interval(SECOND);
        let from = sim::now();
        for _ in 0..3 {
            ticks.tick().await;
        }
        assert_eq!(sim::now() - from, 3 * SECOND);
    });
}

/// A task is known by the place where the program spawned it, and by its name.
#[test]
fn a_report_knows_the_tasks() {
    let failure = failure(|| async {
        let stays = Handle::current().task().name("stays").spawn(async {
            assert_eq!(task::task_name().as_deref(), Some("stays"));
            Arc::new(MVar::<u8>::empty()).take().await
        });
        let goes = Handle::current().task().name("goes").spawn(async {});
        goes.await.unwrap();
        stays.await.unwrap();
    });
    let text = failure.to_string();
    assert!(matches!(failure.cause, Cause::Deadlock(_)), "{text}");
    for expected in [
        "task 1 `stays`, spawned at ",
        " waits for the end of task 1 `stays`, spawned at ",
        "task 2 `goes` spawned at ",
        "task 2 `goes` returned",
        "simulated.rs:",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
}

/// Whoever spawned it, whether or not somebody joins it.
#[test]
fn a_panic_of_a_spawned_task_fails_the_run() {
    let body = || async {
        let planned = async { panic!("planned") };
        drop::<gossamer::JoinHandle<()>>(Handle::current().task().name("bad").spawn(planned));
        pending::<()>().await;
    };
    let failure = failure(body);
    let text = failure.to_string();
    assert!(
        matches!(failure.cause, Cause::Panicked { task: 1, .. }),
        "{text}"
    );
    assert_eq!(failure.trace.name(1), Some("bad"));
    assert!(text.contains("task 1 panicked: planned"), "{text}");
    assert!(text.contains("task 1 `bad` panicked"), "{text}");
    let again = sim::replay(&failure.choices, body).unwrap_err();
    assert_eq!((again.cause, again.trace), (failure.cause, failure.trace));
}

/// What is left over when the root ends goes with the simulation, and so does what comes later.
#[test]
fn a_handle_that_outlives_its_simulation() {
    for seed in 0..20 {
        let run = Sim::new().run_traced(seed, || async {
            let left = spawn(pending::<()>());
            yield_now().await;
            (Handle::current(), left)
        });
        let (handle, left) = run.result.unwrap();
        assert!(left.wait().unwrap_err().is_cancelled());
        let late = handle.spawn(async {});
        assert!(late.wait().unwrap_err().is_cancelled());
        assert!(Handle::try_current().is_none());
        let ended = run
            .trace
            .events()
            .iter()
            .filter(|event| matches!(event, TraceEvent::Ended { .. }));
        assert_eq!(ended.count(), 2);
    }
}

#[test]
fn a_runtime_inside_is_refused() {
    SIM.run(0, || async {
        for model in [Model::Single, Model::pool(), Model::Threads] {
            let error = Runtime::builder()
                .model(model)
                .build()
                .expect_err("refused");
            assert!(error.to_string().contains("inside a simulation"), "{error}");
        }
    })
    .unwrap();
}

/// What a simulation cannot see is no deadlock.
#[test]
fn waiting_for_what_is_outside() {
    let (never, ends) = std::sync::mpsc::channel::<()>();
    let thread = gossamer::spawn_thread(move || ends.recv().is_err());
    let failure = Sim::new()
        .run(0, || async move { thread.await.is_ok() })
        .unwrap_err();
    drop(never);
    let Cause::WaitsOutside(report) = &failure.cause else {
        panic!("{failure}");
    };
    let (_, waits) = report.waiting().next().expect("the root");
    assert_eq!(*waits, Waits::Outside);
    let text = failure.to_string();
    assert!(
        text.contains("outside") && text.contains("spawn_thread()"),
        "{text}"
    );
    assert!(!text.contains("deadlock"), "{text}");
}

/// Both orders of what two tasks do.
#[gossamer::test(sim, seeds = 0..50)]
async fn a_test_under_each_seed() -> Result<(), gossamer::JoinError> {
    static FIRST: AtomicUsize = AtomicUsize::new(0);
    let order = Arc::new(AtomicUsize::new(0));
    let noted = |task| {
        let order = order.clone();
        spawn(async move {
            let _already = order.compare_exchange(0, task, Ordering::Relaxed, Ordering::Relaxed);
        })
    };
    let (one, two) = (noted(1), noted(2));
    one.await?;
    two.await?;
    FIRST.fetch_or(order.load(Ordering::Relaxed), Ordering::Relaxed);
    static RUNS: AtomicUsize = AtomicUsize::new(0);
    if RUNS.fetch_add(1, Ordering::Relaxed) == 49 {
        assert_eq!(FIRST.load(Ordering::Relaxed), 3);
    }
    Ok(())
}

#[gossamer::test(sim, seeds = 3..=3)]
#[should_panic(expected = "with seed 3: task 0 panicked: the test returned an error")]
async fn a_test_that_returns_an_error() -> Result<(), &'static str> {
    yield_now().await;
    Err("planned")
}

#[gossamer::test(sim, seeds = [])]
#[should_panic(expected = "without seeds")]
async fn a_test_without_seeds() {}

#[gossamer::test(sim = Sim::new().expect_panics().steps_max(500), fibers = crate::contract::FIBERS)]
#[should_panic(expected = "with seed 0: deadlock")]
async fn a_test_with_settings() {
    let panics = Handle::current().spawn_fiber(|| panic!("planned"));
    assert!(panics.await.map(|never: ()| never).is_err());
    pending::<()>().await;
}

/// What a failed test says is what one writes to run it again.
#[test]
fn a_test_says_how_to_run_it_again() {
    let says = |test: fn()| {
        let payload = std::panic::catch_unwind(test).expect_err("it fails");
        let text = payload.downcast::<String>().expect("a text");
        text.lines().last().expect("a line").to_owned()
    };
    assert_eq!(
        says(a_test_that_returns_an_error),
        "to run it again: #[gossamer::test(sim, seeds = 3..4)]"
    );
    assert_eq!(
        says(a_test_with_settings),
        "to run it again: #[gossamer::test(sim = Sim::new().steps_max(500).expect_panics()\
         .fibers(unsafe { Fibers::contract() }), seeds = 0..1)]"
    );
}

/// What the last lines of a deadlock's report say of a task.
fn waits_of(failure: &Failure, task: &str) -> String {
    let text = failure.to_string();
    assert!(matches!(failure.cause, Cause::Deadlock(_)), "{text}");
    let mut lines = text
        .lines()
        .skip_while(|line| !line.contains(&format!("{task}, ")));
    let first = lines.next().expect("the task waits");
    let more = lines.take_while(|line| line.trim_start().starts_with("or for"));
    let what = |line: &str| {
        let (_, what) = line.split_once(" for ").expect("what it waits for");
        match what.split_once(", called at ") {
            Some((what, after)) => {
                let held = after.split_once(", held by").map_or("", |(_, by)| by);
                format!("{what}{held}")
            }
            None => what.to_owned(),
        }
    };
    let all: Vec<_> = std::iter::once(first).chain(more).map(what).collect();
    all.join(" | ")
}

/// All branches of a select, wherever it stands; joins of whatever kind.
#[test]
fn a_report_names_all_that_a_task_waits_for() {
    let failure = failure(|| async {
        let (tx, rx) = gossamer::channel::bounded::<u8>(1);
        let lock = Arc::new(gossamer::sync::Mutex::new(()));
        let (never, one) = gossamer::channel::oneshot::<u8>();
        let guard = lock.clone().lock_owned().await;
        let selects = Handle::current().task().name("selects").spawn(async move {
            let limit = Duration::MAX;
            let either = async {
                gossamer::select! {
                    _ = rx.recv() => {},
                    _ = lock.lock() => {},
                    _ = one => {},
                }
            };
            timeout(limit, either).await.unwrap();
        });
        let mut set = JoinSet::new();
        set.push(selects);
        Handle::current()
            .async_scope((), async move |s, ()| {
                s.spawn(async move { while set.join_next().await.is_some() {} });
            })
            .await;
        drop((tx, never, guard));
    });
    let root = waits_of(&failure, "the root");
    assert_eq!(root, "scope::ends on scope #1");
    let selects = waits_of(&failure, "task 1 `selects`");
    let mut branches: Vec<_> = selects.split(" | ").collect();
    branches.sort_unstable();
    assert_eq!(branches.len(), 4, "{failure}");
    assert!(
        branches[0].starts_with("Mutex::lock on Mutex #"),
        "{failure}"
    );
    assert!(branches[0].ends_with(" task 0"), "{failure}");
    assert!(
        branches[1].starts_with("Receiver::recv on Receiver #"),
        "{failure}"
    );
    assert!(
        branches[2].starts_with("oneshot::recv on oneshot #"),
        "{failure}"
    );
    assert!(
        branches[3].starts_with("sleep::ends on sleep #"),
        "{failure}"
    );
    let joins = waits_of(&failure, "task 2");
    assert!(
        joins.starts_with("JoinSet::join_next on JoinSet #"),
        "{failure}"
    );
}

gossamer::protocol! {
    /// A client that says things, which nobody hears.
    protocol Tells between client and server {
        Tell: client { tell -> Tell },
    }
}

/// Operations without a node say themselves what they are.
#[test]
fn a_report_names_the_other_ends() {
    let failure = failure(|| async {
        let handle = Handle::current();
        let task = |name| handle.task().name(name);
        let (mut tx, rx) = gossamer::channel::oneshot::<u8>();
        let closed = task("closed").spawn(async move { tx.closed().await });
        let (client, server) = tells::pipe();
        let ready =
            task("ready").spawn(async move { client.tell().unwrap().ready().await.is_ok() });
        let sleeps = task("sleeps").spawn(pause(Duration::MAX));
        pending::<()>().await;
        drop((closed, ready, sleeps, rx, server));
    });
    for (task, waits) in [
        ("task 1 `closed`", "oneshot::closed on oneshot #"),
        ("task 2 `ready`", "pipe::ready on pipe #"),
        ("task 3 `sleeps`", "sleep::ends on sleep #"),
    ] {
        assert!(waits_of(&failure, task).starts_with(waits), "{failure}");
    }
}

/// Whoever has a lock at the end, and nobody else.
#[test]
fn a_report_says_who_holds_a_lock() {
    let failure = failure(|| async {
        let lock = Arc::new(gossamer::sync::RwLock::new(()));
        let places = Arc::new(gossamer::sync::Semaphore::new(2));
        for name in ["downgrades", "reads", "left"] {
            let (lock, places) = (lock.clone(), places.clone());
            let (told, tells) = gossamer::channel::oneshot();
            let task = Handle::current().task().name(name).spawn(async move {
                let permit = places.acquire().await.unwrap();
                let guard = match name {
                    "downgrades" => lock.write().await.downgrade(),
                    _ => lock.read().await,
                };
                let permit = (name == "downgrades").then_some(permit);
                let guard = (name != "left").then_some(guard);
                told.send(()).unwrap();
                pending::<()>().await;
                drop((permit, guard));
            });
            drop(task);
            tells.await.unwrap();
        }
        let all = places.acquire_many(2);
        let writes = lock.write();
        gossamer::select! {
            _ = all => {},
            _ = writes => {},
        }
    });
    let text = failure.to_string();
    let Cause::Deadlock(report) = &failure.cause else {
        panic!("{text}");
    };
    let held_by = |operation| {
        let mut waits = report.waiting().filter(|(task, _)| *task == 0);
        waits.find_map(|(_, waits)| match waits {
            Waits::Operation { name, held_by, .. } if *name == operation => {
                let mut names: Vec<_> = held_by
                    .iter()
                    .filter_map(|holder| holder.name.clone())
                    .collect();
                names.sort_unstable();
                Some(names)
            }
            _ => None,
        })
    };
    assert_eq!(
        held_by("RwLock::write"),
        Some(vec!["downgrades".into(), "reads".into()]),
        "{text}"
    );
    assert_eq!(
        held_by("Semaphore::acquire"),
        Some(vec!["downgrades".into()]),
        "{text}"
    );
    assert!(text.contains(", held by task "), "{text}");
}

/// A task that was aborted has let go; another one that has the lock too has not.
#[test]
fn a_report_does_not_mistake_the_holder() {
    for seed in 0..20 {
        let ran = SIM.run(seed, || async {
            let lock = Arc::new(gossamer::sync::RwLock::new(()));
            let reads = || {
                let lock = lock.clone();
                spawn(async move {
                    let _held = lock.read().await;
                    pending::<()>().await;
                })
            };
            let (stays, goes) = (reads(), reads());
            pause(SECOND).await;
            goes.abort();
            assert!(goes.await.is_err());
            drop(lock.write().await);
            drop(stays);
        });
        let text = ran.expect_err("one reader stays").to_string();
        let writes = text.lines().find(|line| line.contains("RwLock::write"));
        let holders = writes.and_then(|line| line.split_once(", held by "));
        let (_, holders) = holders.unwrap_or_else(|| panic!("{text}"));
        assert!(holders.starts_with("task 1"), "{text}");
        assert!(
            !holders.contains("task 2") && !holders.contains("ended"),
            "{text}"
        );
    }
}

/// A thread that holds a lock is told of as a task is.
#[test]
fn a_report_says_which_thread_holds_a_lock() {
    let failure = failure(|| async {
        let lock = Arc::new(gossamer::sync::Mutex::new(()));
        let theirs = lock.clone();
        let thread = gossamer::spawn_thread(move || {
            let _held = theirs.lock().wait();
            pending::<()>().wait();
        });
        drop(thread);
        while lock.try_lock().is_ok() {
            yield_now().await;
        }
        let _never = lock.lock().await;
    });
    let text = failure.to_string();
    let expected = "waits for Mutex::lock on Mutex #1, called at ";
    let waits = text.lines().find(|line| line.contains(expected));
    assert!(
        waits.is_some_and(|line| line.contains(", held by task 1")),
        "{text}"
    );
}
