//! Simulated threads that end late, or never: with their run, in destructors, in what the simulation does not see.

use std::cell::RefCell;
use std::env;
use std::io::{BufRead, BufReader};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use gossamer::Wait;
use gossamer::sync::MVar;
use gossamer::time::sleep as rest;

use super::threads::{Dropped, named, spawn_thread, threads_named};
use gossamer_sim::{Cause, Sim, run};

/// Waits while it is dropped.
struct WaitsAtEnd(Arc<MVar<()>>);

impl Drop for WaitsAtEnd {
    fn drop(&mut self) {
        self.0.take().wait();
    }
}

/// A destructor that waits, while its thread is to end, for what is there; and for what never comes.
#[test]
fn destructors_that_wait_at_the_end() {
    let ends = |name: &'static str, has: bool, stuck: usize| {
        let left = Arc::new(AtomicUsize::new(0));
        let dropped = Dropped(left.clone());
        let failure: Result<(), _> = run(0, || async {
            let thread = named(name, move || {
                let _last = dropped;
                let _waits = WaitsAtEnd(Arc::new(match has {
                    true => MVar::new(()),
                    false => MVar::empty(),
                }));
                MVar::<()>::empty().take().wait();
            });
            thread.await.unwrap();
        });
        let failure = failure.expect_err("the thread never ends");
        assert!(matches!(failure.cause, Cause::Deadlock(_)), "{failure}");
        (left.load(Ordering::Relaxed), threads_named(name, stuck))
    };
    // In a process of its own, as that thread stays.
    if env::var_os(CALLED).is_some() {
        assert_eq!(ends("is stuck", false, 1), (0, 1));
        return;
    }
    assert_eq!(ends("can end", true, 0), (1, 0));
    let stuck = again("destructors_that_wait_at_the_end")
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&stuck.stdout);
    assert!(
        stuck.status.success() && said.contains("1 passed"),
        "{said}"
    );
}

/// The same where the thread has not begun when the run ends, in those runs that end so.
#[test]
fn a_closure_that_waits_while_it_is_dropped() {
    for seed in 0..3 {
        let waits = WaitsAtEnd(Arc::new(MVar::empty()));
        let ran = run(seed, || async move {
            drop(named("never begins", move || drop(waits)));
        });
        ran.expect("the root ends");
    }
}

/// It is the run's, as one before the end is.
#[test]
fn a_panic_after_the_root() {
    let panics = || async {
        drop(named("late", || {
            let wait = || MVar::<()>::empty().take().wait();
            assert!(catch_unwind(AssertUnwindSafe(wait)).is_err());
            panic!("planned");
        }));
        rest(Duration::from_secs(1)).await;
    };
    for seed in 0..20 {
        let failure = run(seed, panics).unwrap_err();
        let Cause::Panicked { task: 1, message } = &failure.cause else {
            panic!("{failure}")
        };
        assert_eq!(message, "planned");
        let passed = Sim::new().expect_panics().run(seed, panics);
        passed.expect("the panic is expected");
    }
}

thread_local! {
    static AT_END: RefCell<Option<WaitsAtEnd>> = const { RefCell::new(None) };
}

/// For what is there, it does; for what would have to come, it is refused, as the simulation waits for the thread.
#[test]
fn a_thread_local_that_waits() {
    let ends = |waits: MVar<()>| {
        let mvar = Arc::new(waits);
        run(0, || async {
            let theirs = WaitsAtEnd(mvar.clone());
            let thread = spawn_thread(|| AT_END.set(Some(theirs)));
            thread.await.expect("no panic");
            rest(Duration::from_secs(1)).await;
            mvar.put(()).await;
        })
    };
    if env::var_os(CALLED).is_some() {
        ends(MVar::empty()).expect("it is refused before");
        return;
    }
    ends(MVar::new(())).expect("it waits for what is there");
    let output = again("a_thread_local_that_waits").output();
    let output = output.expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{said}");
    for part in [
        "threads_end.rs:",
        "has ended, and the destructor of a thread-local of it waits",
    ] {
        assert!(said.contains(part), "{said}");
    }
}

/// The environment variable by which a test calls itself.
const CALLED: &str = "GOSSAMER_TEST_BLOCKS";

/// A test of this file, which knows by [`CALLED`], in a process of its own.
fn again(test: &str) -> Command {
    let mut own = Command::new(env::current_exe().expect("it has a path"));
    let test = format!("sim::threads_end::{test}");
    own.args(["--exact", "--nocapture", &test]);
    own.env(CALLED, "1");
    own
}

/// What a simulation does not see is told of, and never called a deadlock.
#[test]
fn one_that_blocks_for_real_is_told_of() {
    if env::var_os(CALLED).is_some() {
        let ran = run(0, || async {
            let (_tx, rx) = mpsc::channel::<()>();
            // It is killed long before.
            let blocks = move || rx.recv_timeout(Duration::from_secs(20)).is_err();
            spawn_thread(blocks).await.unwrap()
        });
        ran.expect("it comes back in the end");
        return;
    }
    let mut own = again("one_that_blocks_for_real_is_told_of");
    let mut own = own.stderr(Stdio::piped()).spawn().expect("it runs");
    let errors = BufReader::new(own.stderr.take().expect("a pipe"));
    let mut lines = errors.lines().map_while(Result::ok);
    let said = lines.find(|line| line.contains("does not come back"));
    own.kill().expect("it is there");
    own.wait().expect("it ends");
    let said = said.expect("it is told of");
    for part in [
        "the simulated thread `simulated`, spawned at ",
        "threads_end.rs:",
    ] {
        assert!(said.contains(part), "{said}");
    }
    assert!(!said.contains("deadlock"), "{said}");
}
