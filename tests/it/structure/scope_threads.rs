//! A thread that ends while a fiber of it stands still in a scope.

use std::cell::RefCell;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use gossamer::{Model, Runtime, Wait, sync::MVar, yield_now};

use crate::models::{patience, runtime, watched};

static LATE: AtomicBool = AtomicBool::new(false);
static GONE: AtomicBool = AtomicBool::new(false);

struct OfThread(AtomicUsize);

impl Drop for OfThread {
    fn drop(&mut self) {
        GONE.store(true, Ordering::SeqCst);
    }
}

/// As [`OfThread`], but nobody looks whether it has gone: other tests run beside this one.
struct Quiet(AtomicUsize);

impl Drop for Quiet {
    fn drop(&mut self) {
        self.0.store(0, Ordering::SeqCst);
    }
}

thread_local! {
    static QUIET: Quiet = const { Quiet(AtomicUsize::new(0)) };
    static OF_THREAD: OfThread = const { OfThread(AtomicUsize::new(0)) };
    static OWN: RefCell<Option<Runtime>> = const { RefCell::new(None) };
}

/// A fiber loans a thread-local to tasks of a pool, and its thread ends without ending the fiber.
#[test]
fn a_thread_ends_with_a_fiber_in_a_scope() {
    watched("thread", || {
        let pool = Arc::new(runtime(Model::Pool { workers: 2 }));
        let told = Arc::new(MVar::empty());
        let (of_children, tells) = (pool.clone(), told.clone());
        let ended = thread::spawn(move || {
            let rt = runtime(Model::Single);
            drop(rt.spawn_fiber(move || {
                OF_THREAD.with(|loaned| {
                    of_children.scope(|s| {
                        for _ in 0..4 {
                            s.spawn(async {
                                loop {
                                    LATE.fetch_or(GONE.load(Ordering::SeqCst), Ordering::SeqCst);
                                    loaned.0.fetch_add(1, Ordering::SeqCst);
                                    yield_now().await;
                                }
                            });
                            s.spawn_fiber(|| {
                                loop {
                                    LATE.fetch_or(GONE.load(Ordering::SeqCst), Ordering::SeqCst);
                                    loaned.0.fetch_add(1, Ordering::SeqCst);
                                    yield_now().wait();
                                }
                            });
                        }
                        tells.put(()).wait();
                    });
                });
            }));
            told.take().wait();
            std::mem::forget(rt);
        });
        ended.join().expect("it ends");
        assert!(GONE.load(Ordering::SeqCst));
        pool.spawn(yield_now()).wait().expect("no panic");
        assert!(!LATE.load(Ordering::SeqCst), "used after its destructor");
    });
}

/// Set in the process that is to abort.
const STAYS: &str = "GOSSAMER_STAYS";

/// A child that does not end: the process does, before the thread-local goes.
#[test]
fn a_thread_ends_and_a_child_does_not() {
    if std::env::var_os(STAYS).is_some() {
        let told = Arc::new(MVar::empty());
        let tells = told.clone();
        let ended = thread::spawn(move || {
            let (rt, other) = (runtime(Model::Single), runtime(Model::Single));
            drop(rt.spawn_fiber(move || {
                other.scope(|s| {
                    s.spawn_thread(|| {
                        tells.put(()).wait();
                        MVar::<u32>::empty().take().wait();
                    });
                });
            }));
            told.take().wait();
            std::mem::forget(rt);
        });
        ended.join().expect("not reached");
        return;
    }
    let this = std::env::current_exe().expect("a test is a program");
    let test = "structure::scope_threads::a_thread_ends_and_a_child_does_not";
    let mut child = Command::new(this)
        .args(["--exact", test, "--nocapture", "--test-threads", "1"])
        .env(STAYS, "1")
        .stderr(Stdio::piped())
        .spawn()
        .expect("it can run itself");
    let began = Instant::now();
    while child.try_wait().expect("it is ours").is_none() {
        if began.elapsed() > patience() {
            child.kill().expect("it is ours");
        }
        thread::park_timeout(Duration::from_millis(10));
    }
    let ran = child.wait_with_output().expect("it is ours");
    let cried = String::from_utf8_lossy(&ran.stderr);
    assert!(!ran.status.success(), "{cried}");
    assert!(cried.contains("have not ended within"), "{cried}");
}

/// The runtime is a thread-local itself, and goes with the others.
#[test]
fn a_runtime_with_a_scope_is_dropped_while_its_thread_ends() {
    let ended = thread::spawn(|| {
        OWN.with_borrow_mut(|slot| {
            let rt = slot.insert(runtime(Model::Single));
            let handle = rt.handle();
            drop(rt.spawn_fiber(move || {
                QUIET.with(|loaned| {
                    handle.scope(|s| {
                        s.spawn(async {
                            loop {
                                loaned.0.fetch_add(1, Ordering::SeqCst);
                                yield_now().await;
                            }
                        });
                    });
                });
            }));
            rt.block_on(async {
                for _ in 0..5 {
                    yield_now().await;
                }
            });
        });
    });
    ended.join().expect("it ends");
}

/// Uses a scope when it is destroyed, with whatever thread-locals are left then.
struct Scopes(RefCell<Option<Arc<Runtime>>>);

impl Drop for Scopes {
    fn drop(&mut self) {
        let Some(pool) = self.0.take() else { return };
        let (count, done) = (AtomicUsize::new(0), MVar::empty());
        pool.scope(|s| {
            s.spawn(async {
                count.fetch_add(1, Ordering::SeqCst);
                done.put(()).await;
            });
            s.spawn_thread(|| {
                done.take().wait();
                count.fetch_add(1, Ordering::SeqCst);
            });
        });
        assert_eq!(count.into_inner(), 2);
        SCOPED.fetch_add(1, Ordering::SeqCst);
    }
}

static SCOPED: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static EARLIER: Scopes = const { Scopes(RefCell::new(None)) };
    static LATER: Scopes = const { Scopes(RefCell::new(None)) };
}

/// The runtime's own thread-locals go before the one, and after the other.
#[test]
fn a_scope_in_the_destructor_of_a_thread_local() {
    watched("destructor", || {
        let pool = Arc::new(runtime(Model::Pool { workers: 1 }));
        let ended = thread::spawn(move || {
            EARLIER.with(|scopes| scopes.0.replace(Some(pool.clone())));
            pool.scope(|s| drop(s.spawn(yield_now())));
            pool.spawn(yield_now()).wait().expect("no panic");
            LATER.with(|scopes| scopes.0.replace(Some(pool)));
        });
        ended.join().expect("it ends");
        assert_eq!(SCOPED.load(Ordering::SeqCst), 2);
    });
}
