//! What a forked child refuses, and that it can begin anew.
//!
//! No harness: this process forks, so it keeps its threads to itself. Each child has a watchdog, its alarm.

mod child;
mod scopes;
mod sockets;

use std::cell::RefCell;
use std::env;
use std::error::Error;
use std::future::{Future, pending};
use std::os::unix::process::CommandExt;
use std::pin::pin;
use std::process::{self, Command, ExitCode};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

use gossamer::{Fibers, JoinSet, Model, Runtime, Wait, sync::MVar, time::sleep as rest, yield_now};

use child::{end_of, exit, fork, guard, in_child, refused};

/// Forks of a busy process.
const FORKS: u32 = if cfg!(debug_assertions) { 200 } else { 1_000 };
/// In every refusal.
const REFUSAL: &str = "before fork()";
const SOON: Duration = Duration::from_millis(1);
const MODELS: [Model; 3] = [Model::Single, Model::Pool { workers: 2 }, Model::Threads];

type Checked = Result<(), Box<dyn Error>>;

type Test = fn() -> Checked;

fn main() -> ExitCode {
    with_less_of_a_lock_of_std();
    let tests: [(&str, Test); 12] = [
        // As long as there has been one thread only.
        ("one_thread_goes_on", one_thread_goes_on),
        ("what_had_threads_is_refused", what_had_threads_is_refused),
        ("scopes_are_refused", scopes::are_refused),
        ("new_runtimes_work", new_runtimes_work),
        ("sockets_are_the_childs_own", sockets::are_the_childs_own),
        (
            "sockets_are_listed_by_the_child",
            sockets::are_listed_by_the_child,
        ),
        (
            "wait_inside_of_a_runtime",
            sockets::wait_inside_of_a_runtime,
        ),
        (
            "names_are_looked_up_in_a_child",
            sockets::names_are_looked_up_in_a_child,
        ),
        ("exit_does_not_hang", exit_does_not_hang),
        ("a_task_that_forks_may_exit", a_task_that_forks_may_exit),
        (
            "a_task_that_forks_and_goes_on_ends_the_child",
            a_task_that_forks_and_goes_on_ends_the_child,
        ),
        ("children_of_a_busy_process", children_of_a_busy_process),
    ];
    // Before the runtime's own: the first to be registered is the first to be called in the child.
    // SAFETY: what it calls may be called at any time.
    let error = unsafe { libc::pthread_atfork(None, None, Some(guard)) };
    assert_eq!(error, 0, "pthread_atfork");
    for (name, test) in tests {
        if let Err(error) = test() {
            // The others may hang as well, each for its time.
            println!("test {name} ... FAILED: {error}");
            return ExitCode::FAILURE;
        }
        println!("test {name} ... ok");
    }
    ExitCode::SUCCESS
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

/// A process of one thread has nothing to lose.
fn one_thread_goes_on() -> Checked {
    let rt = Runtime::builder().model(Model::Single).build()?;
    let mvar = Arc::new(MVar::<i32>::empty());
    let taken = mvar.clone();
    let mut task = Some(rt.spawn(async move {
        rest(SOON).await;
        taken.take().await + 1
    }));
    rt.block_on(yield_now());
    let mut rt = Some(rt);
    in_child(|| {
        let rt = rt.take().expect("there");
        mvar.put(1).wait();
        assert_eq!(task.take().expect("there").wait().expect("no panic"), 2);
        assert_eq!(rt.spawn_blocking(|| 5).wait().expect("no panic"), 5);
        drop(rt);
    })?;
    mvar.put(2).wait();
    assert_eq!(task.take().expect("there").wait()?, 3);
    Ok(())
}

fn what_had_threads_is_refused() -> Checked {
    for model in MODELS {
        let rt = Runtime::builder().model(model).build()?;
        let mut waits = Some(rt.spawn(pending::<()>()));
        let mut set = JoinSet::new();
        set.push(rt.spawn(pending::<()>()));
        let mut finished = Some(rt.spawn(async { 1 }));
        while !finished.as_ref().is_some_and(|task| task.is_finished()) {
            yield_now().wait();
        }
        let (end, ended) = mpsc::channel::<()>();
        let mut blocked = Some(rt.spawn_thread(move || ended.recv().is_err()));
        let mut resize = Some(rt.resize(3));
        let handle = rt.handle();
        let mut rt = Some(rt);
        in_child(|| {
            let old = rt.take().expect("there");
            refused("spawn", || drop(old.spawn(async {})));
            refused("a handle", || drop(handle.spawn(async {})));
            refused("block_on", || old.block_on(async {}));
            refused("spawn_blocking", || drop(old.spawn_blocking(|| ())));
            refused("a scope", || old.scope(|s| drop(s.spawn(async {}))));
            refused("metrics", || assert!(old.metrics().is_none()));
            for resize in [old.resize(1), resize.take().expect("there")] {
                let error = resize.wait().expect_err("refused");
                assert!(error.to_string().contains(REFUSAL), "{error}");
            }
            let error = old.try_spawn(async {}).expect_err("refused");
            assert!(error.to_string().contains(REFUSAL), "{error}");
            refused("a join set", || drop(set.join_next().wait()));
            let waits = waits.take().expect("there");
            waits.abort();
            let mut new_set = JoinSet::new();
            refused("a task", || drop(new_set.push(waits)));
            // What is there is given.
            let mut new_set = JoinSet::new();
            new_set.push(finished.take().expect("there"));
            let finished = new_set.join_next().wait().expect("one was pushed");
            assert_eq!(finished.expect("no panic"), 1);
            refused("a thread", || drop(blocked.take().expect("there").wait()));
            old.spawn_thread(|| ()).wait().expect("a new thread");
            drop((old, set, handle));
        })?;
        in_child(|| {
            let old = rt.take().expect("there");
            assert!(old.shutdown_timeout(Duration::MAX));
        })?;
        // The parent knows nothing of it.
        drop(end);
        assert!(blocked.take().expect("there").wait()?);
        assert_eq!(rt.take().expect("there").block_on(async { 3 }), 3);
    }
    Ok(())
}

fn new_runtimes_work() -> Checked {
    let _old = Runtime::builder().model(Model::pool()).build()?;
    let _run_in_waits = Runtime::builder().model(Model::Single).build()?;
    // The parent's thread for timers is not there.
    foreign(rest(SOON));
    for model in MODELS {
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

// SAFETY: no code here, nor in the dependencies, waits while it uses a thread-local like a stack, or initialises one.
const FIBERS: Fibers = unsafe { Fibers::contract() };

/// Builds a runtime, and uses it up.
fn use_new(model: Model) {
    let builder = Runtime::builder().model(model).fibers(FIBERS);
    let rt = builder.build().expect("a runtime");
    assert_eq!(rt.spawn_fiber(|| 5).wait().expect("no panic"), 5);
    let mvar = Arc::new(MVar::empty());
    let tasks: Vec<_> = (0..10)
        .map(|number| {
            let mvar = mvar.clone();
            rt.spawn(async move {
                yield_now().await;
                mvar.put(number).await;
            })
        })
        .collect();
    let sum: i32 = (0..10).map(|_| mvar.take().wait()).sum();
    assert_eq!(sum, 45);
    for task in tasks {
        task.wait().expect("no panic");
    }
    if matches!(model, Model::Pool { .. }) {
        rt.resize(1).wait().expect("fewer workers");
    }
    rt.spawn(rest(SOON)).wait().expect("no panic");
    foreign(rest(SOON));
    assert_eq!(rt.spawn_blocking(|| 6).wait().expect("no panic"), 6);
    assert_eq!(rt.block_on(async { 7 }), 7);
}

/// A foreign executor, the smallest there is.
fn foreign<F: Future>(future: F) -> F::Output {
    struct Unpark(thread::Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

/// Not for threads that do not exist, nor for a fiber that stands still: what is on its stack is the parent's.
fn exit_does_not_hang() -> Checked {
    struct Unwinds(u32);
    impl Drop for Unwinds {
        fn drop(&mut self) {
            if process::id() != self.0 {
                exit(3);
            }
        }
    }
    static GLOBAL: OnceLock<Runtime> = OnceLock::new();
    thread_local! {
        static LOCAL: RefCell<Vec<Runtime>> = const { RefCell::new(Vec::new()) };
    }
    GLOBAL.get_or_init(|| {
        let builder = Runtime::builder().model(Model::Pool { workers: 1 });
        builder.build().expect("a pool")
    });
    let mvar = Arc::new(MVar::<()>::empty());
    let mut tasks = Vec::new();
    for model in MODELS {
        let rt = Runtime::builder().model(model).fibers(FIBERS).build()?;
        let taken = mvar.clone();
        tasks.push(rt.spawn_fiber(move || {
            let _unwinds = Unwinds(process::id());
            taken.take().wait();
        }));
        LOCAL.with(|local| local.borrow_mut().push(rt));
    }
    // The first one's fiber begins, on this thread.
    yield_now().wait();
    let child = fork();
    if child == 0 {
        process::exit(0);
    }
    assert_eq!(end_of(child), "exit 0");
    tasks.iter().for_each(|_| mvar.put(()).wait());
    for task in tasks {
        task.wait()?;
    }
    LOCAL.with(|local| local.take());
    Ok(())
}

fn a_task_that_forks_may_exit() -> Checked {
    for model in [Model::Pool { workers: 2 }, Model::Threads] {
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
    for model in MODELS {
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

/// Forks while other threads are inside every lock there is.
fn children_of_a_busy_process() -> Checked {
    let rt = Arc::new(
        Runtime::builder()
            .model(Model::Pool { workers: 3 })
            .fibers(FIBERS)
            .build()?,
    );
    let stop = Arc::new(AtomicBool::new(false));
    let mvar = Arc::new(MVar::empty());
    let busy: Vec<_> = (0..8)
        .map(|number| {
            let (mvar, stop) = (mvar.clone(), stop.clone());
            rt.spawn(async move {
                while !stop.load(Ordering::Relaxed) {
                    if number % 2 == 0 {
                        mvar.put(number).await;
                    } else {
                        mvar.take().await;
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
            theirs.spawn_fiber(|| ()).wait().expect("no panic");
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
