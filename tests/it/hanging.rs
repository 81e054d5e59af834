//! A test that hangs says where: what has been running, and who waits for what, since when.
//!
//! A body that is [watched](super::models::watched) has a patience of its own. All other tests hang when the whole
//! process sleeps for as long: then it ends, with the same words.

use std::fmt::Write as _;
use std::future::poll_fn;
use std::pin::pin;
use std::process::Command;
use std::sync::{Mutex, Once, PoisonError};
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};

use gossamer::{Model, Wait, channel::bounded, sync::MVar};

use crate::models::{patience, runtime, watched};
use crate::patience::{counted, until_asleep_for};

/// The bodies that are running, and since when.
static RUNNING: Mutex<Vec<(String, Instant)>> = Mutex::new(Vec::new());

/// A body runs, until this is dropped.
pub(crate) struct Runs(String);

impl Runs {
    pub(crate) fn begin(name: &str) -> Self {
        // libtest names the threads of its tests.
        let test = thread::current().name().unwrap_or("unnamed").to_owned();
        let name = format!("{test} ({name})");
        running().push((name.clone(), Instant::now()));
        Self(name)
    }
}

impl Drop for Runs {
    fn drop(&mut self) {
        let mut running = running();
        if let Some(at) = running.iter().position(|(name, _)| *name == self.0) {
            running.remove(at);
        }
    }
}

fn running() -> std::sync::MutexGuard<'static, Vec<(String, Instant)>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What there is to say of a process that hangs.
pub(crate) fn report() -> String {
    let mut said = String::from("running:");
    for (name, since) in running().iter() {
        let seconds = since.elapsed().as_secs_f64();
        write!(said, "\n  for {seconds:.1} s: {name}").expect("it is a string");
    }
    said.push_str("\nwaiting:");
    for waits in gossamer_core::waits::all() {
        write!(said, "\n  {waits}").expect("it is a string");
    }
    said
}

/// Has parks watched, and this process from now on.
pub(crate) fn watch() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        gossamer_core::parker::watch_parks();
        let watches = || {
            // Whoever is patient himself comes first.
            until_asleep_for(2 * patience());
            eprintln!("nothing has moved for a long time\n{}", report());
            std::process::abort();
        };
        thread::Builder::new()
            .name("watchdog".to_owned())
            .spawn(watches)
            .expect("one more thread");
    });
}

/// Set in the process that hangs.
const HANGS: &str = "GOSSAMER_HANGS";

/// Runs this test in a process of its own, where `body` hangs, and finds these words in what it says.
fn hangs(test: &str, body: fn(), words: &[&str]) {
    if std::env::var_os(HANGS).is_some() {
        return watched("it waits for ever", body);
    }
    let this = std::env::current_exe().expect("a test is a program");
    let ran = Command::new(this)
        .args(["--exact", test, "--nocapture", "--test-threads", "1"])
        .env(HANGS, "1")
        .env("GOSSAMER_PATIENCE", "1")
        .output()
        .expect("it can run itself");
    let cried = String::from_utf8_lossy(&ran.stderr);
    assert!(!ran.status.success(), "{cried}");
    for word in ["it waits for ever: it hangs", test].iter().chain(words) {
        assert!(cried.contains(word), "{word:?} is missing in:\n{cried}");
    }
}

#[test]
fn a_test_that_hangs_says_where() {
    const TEST: &str = "hanging::a_test_that_hangs_says_where";
    hangs(
        TEST,
        || {
            let rt = runtime(Model::Single);
            let mvar = std::sync::Arc::new(MVar::<u32>::empty());
            let from = mvar.clone();
            let task = rt.spawn(async move { from.take().await });
            let thread = rt.spawn_thread(move || mvar.read().wait());
            thread.wait().expect("no panic");
            task.wait().expect("no panic");
        },
        &[
            "MVar::take on ",
            "by a task spawned at tests/it/hanging.rs:",
            "MVar::read on ",
            "JoinHandle<u32>, called at ",
            "called at tests/it/hanging.rs:",
            " sleeps",
        ],
    );
}

/// A send that was woken and is not polled any more keeps the place from its own task, and the report says so.
#[test]
fn a_futurelock_is_named() {
    const TEST: &str = "hanging::a_futurelock_is_named";
    hangs(
        TEST,
        || {
            let rt = runtime(Model::Single);
            let (tx, rx) = bounded(1);
            tx.try_send(0).expect("there is room");
            let task = rt.spawn(async move {
                let mut first = pin!(tx.send(1));
                poll_fn(|cx| Poll::Ready(first.as_mut().poll(cx).is_ready())).await;
                tx.send(2).await
            });
            let _first = rt.block_on(async { rx.recv().await });
            task.wait().expect("no panic").expect("there is a receiver");
        },
        &[
            "Sender::send on ",
            "; it was woken, holds a reservation, and is not polled",
        ],
    );
}

#[test]
fn what_counts_of_the_time_that_passes() {
    let ms = Duration::from_millis;
    for (ran, waited, expected) in [
        (0, 0, 100),    // all asleep
        (5, 4, 100),    // as good as asleep
        (100, 0, 100),  // one runs, undisturbed
        (200, 0, 100),  // two do
        (50, 50, 50),   // somebody else has half of the processor
        (0, 100, 0),    // and all of it
        (200, 600, 25), // eight threads, two processors
    ] {
        let counts = counted(ms(100), ms(ran), ms(waited));
        assert_eq!(counts, ms(expected), "ran {ran} ms, waited {waited} ms");
    }
}
