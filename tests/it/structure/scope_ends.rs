//! A fiber that is to end while it is in a scope, and what it lends until then.

use std::cell::RefCell;
use std::future::poll_fn;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, mpsc};
use std::task::Poll;
use std::thread;

use gossamer::{JoinHandle, Model, Runtime, ScopedHandle, Wait, sync::MVar, yield_now};

use super::each_runtime;
use crate::models::{MODELS, runtime, watched};

/// What a fiber lends: whoever uses it after the fiber's end is found out, by this or by the sanitizers.
struct Lent {
    gone: Arc<AtomicBool>,
    used: AtomicUsize,
}

impl Lent {
    fn new() -> (Self, Arc<AtomicBool>) {
        let gone = Arc::new(AtomicBool::new(false));
        let lent = Self {
            gone: gone.clone(),
            used: AtomicUsize::new(0),
        };
        (lent, gone)
    }

    fn uses(&self) {
        assert!(!self.gone.load(Ordering::SeqCst), "used after its end");
        self.used.fetch_add(1, Ordering::SeqCst);
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        self.gone.store(true, Ordering::SeqCst);
    }
}

/// Uses what is lent when it is dropped.
struct UsesLate<'a>(&'a Lent);

impl Drop for UsesLate<'_> {
    fn drop(&mut self) {
        self.0.uses();
    }
}

/// A fiber in a scope with children of every kind that never end by themselves; `told` is put to when all have begun.
fn in_a_scope(rt: &Arc<Runtime>, told: &Arc<MVar<()>>) -> (JoinHandle<()>, Arc<AtomicBool>) {
    let (lent, gone) = Lent::new();
    let (rt, told, inner) = (rt.clone(), told.clone(), rt.clone());
    let fiber = rt.spawn_fiber(move || {
        let never = MVar::<u32>::empty();
        inner.scope(|s| {
            let begun = AtomicUsize::new(0);
            for _ in 0..3 {
                s.spawn(async {
                    let _late = UsesLate(&lent);
                    never.take().await;
                });
                s.spawn_fiber(|| {
                    let _late = UsesLate(&lent);
                    never.take().wait();
                });
                s.spawn(async {
                    loop {
                        lent.uses();
                        yield_now().await;
                    }
                });
            }
            begun.fetch_add(1, Ordering::SeqCst);
            for _ in 0..10 {
                yield_now().wait();
            }
            told.put(()).wait();
        });
    });
    (fiber, gone)
}

#[test]
fn an_aborted_fiber_ends_its_children_first() {
    each_runtime(|rt| {
        let rt = Arc::new(rt);
        for _ in 0..10 {
            let told = Arc::new(MVar::empty());
            let (fiber, gone) = in_a_scope(&rt, &told);
            told.take().wait();
            fiber.abort();
            assert!(fiber.wait().expect_err("aborted").is_cancelled());
            assert!(gone.load(Ordering::SeqCst));
        }
    });
}

/// The fibers are of one runtime, the children of another; the first ends.
#[test]
fn the_fiber_s_runtime_ends() {
    for model in MODELS {
        watched(&model.to_string(), move || {
            for children in [model, Model::Pool { workers: 2 }] {
                let of_children = Arc::new(runtime(children));
                let rt = runtime(model);
                let told = Arc::new(MVar::empty());
                let fibers: Vec<_> = (0..4)
                    .map(|_| {
                        let (lent, gone) = Lent::new();
                        let (told, of_children) = (told.clone(), of_children.clone());
                        let fiber = rt.spawn_fiber(move || {
                            let never = MVar::<u32>::empty();
                            of_children.scope(|s| {
                                s.spawn(async {
                                    let _late = UsesLate(&lent);
                                    never.take().await;
                                });
                                s.spawn_fiber(|| {
                                    let _late = UsesLate(&lent);
                                    never.take().wait();
                                });
                                told.put(()).wait();
                            });
                        });
                        (fiber, gone)
                    })
                    .collect();
                for _ in &fibers {
                    told.take().wait();
                }
                drop(rt);
                for (fiber, gone) in fibers {
                    assert!(fiber.wait().expect_err("the runtime ended").is_cancelled());
                    assert!(gone.load(Ordering::SeqCst), "{model}, {children}");
                }
            }
        });
    }
}

/// Fibers of two workers, each with a child that is a fiber of the other's: they end each other's.
#[test]
fn the_pool_ends_around_scopes_that_cross() {
    watched("crossing", || {
        for round in 0..40 {
            let rt = runtime(Model::Pool { workers: 4 });
            let (spawner, told) = (rt.spawner(), Arc::new(MVar::empty()));
            let fibers: Vec<_> = (0..16)
                .map(|_| {
                    let (lent, gone) = Lent::new();
                    let (spawner, told) = (spawner.clone(), told.clone());
                    let fiber = rt.spawn_fiber(move || {
                        spawner.scope(|s| {
                            for _ in 0..4 {
                                s.spawn_fiber(|| {
                                    let _late = UsesLate(&lent);
                                    loop {
                                        yield_now().wait();
                                    }
                                });
                            }
                            told.put(()).wait();
                            for _ in 0..round {
                                yield_now().wait();
                            }
                        });
                    });
                    (fiber, gone)
                })
                .collect();
            for _ in &fibers {
                told.take().wait();
            }
            drop(rt);
            for (fiber, gone) in fibers {
                assert!(fiber.wait().expect_err("the runtime ended").is_cancelled());
                assert!(gone.load(Ordering::SeqCst));
            }
        }
    });
}

/// A child that is being polled is ended when its poll ends, and the fiber waits for that.
#[test]
fn a_child_in_the_midst_of_a_poll() {
    watched("long poll", || {
        let rt = Arc::new(runtime(Model::Pool { workers: 2 }));
        let (lent, gone) = Lent::new();
        let (inside, out) = (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)));
        let (enters, leaves, inner) = (inside.clone(), out.clone(), rt.clone());
        let fiber = rt.spawn_fiber(move || {
            inner.scope(|s| {
                s.spawn(async {
                    let _late = UsesLate(&lent);
                    enters.wait();
                    leaves.wait();
                    lent.uses();
                    std::future::pending::<()>().await;
                });
            });
        });
        inside.wait();
        fiber.abort();
        for _ in 0..1_000 {
            thread::yield_now();
        }
        assert!(!fiber.is_finished() && !gone.load(Ordering::SeqCst));
        out.wait();
        assert!(fiber.wait().expect_err("aborted").is_cancelled());
        assert!(gone.load(Ordering::SeqCst));
    });
}

/// A child that spawns while it is taken back: the new one is turned away.
#[test]
fn children_that_spawn_while_they_are_taken_back() {
    each_runtime(|rt| {
        let rt = Arc::new(rt);
        for turns in 0..20 {
            let (lent, gone) = Lent::new();
            let inner = rt.clone();
            let fiber = rt.spawn_fiber(move || {
                inner.scope(|s| {
                    let lent = &lent;
                    for _ in 0..4 {
                        s.spawn(async move {
                            loop {
                                s.spawn(async {
                                    let _late = UsesLate(lent);
                                    yield_now().await;
                                });
                                yield_now().await;
                            }
                        });
                    }
                });
            });
            let turn = rt.spawn(async move {
                for _ in 0..turns {
                    yield_now().await;
                }
            });
            turn.wait().expect("no panic");
            fiber.abort();
            let _cancelled = fiber.wait().expect_err("aborted").is_cancelled();
            assert!(gone.load(Ordering::SeqCst));
        }
    });
}

#[test]
fn destructors_panic_while_children_are_taken_back() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("planned");
        }
    }
    each_runtime(|rt| {
        let rt = Arc::new(rt);
        let (inner, told) = (rt.clone(), Arc::new(MVar::empty()));
        let tells = told.clone();
        let fiber = rt.spawn_fiber(move || {
            let never = MVar::<u32>::empty();
            inner.scope(|s| {
                for _ in 0..3 {
                    s.spawn(async {
                        let _bomb = Bomb;
                        never.take().await;
                    });
                }
                tells.put(()).wait();
            });
        });
        told.take().wait();
        fiber.abort();
        assert!(fiber.wait().is_err());
    });
}

/// The closure panics, and while the scope waits the fiber is aborted.
#[test]
fn an_abort_after_a_panic() {
    each_runtime(|rt| {
        let rt = Arc::new(rt);
        let (inner, told) = (rt.clone(), Arc::new(MVar::empty()));
        let tells = told.clone();
        let fiber = rt.spawn_fiber(move || {
            let never = MVar::<u32>::empty();
            inner.scope(|s| {
                s.spawn(async { never.take().await });
                tells.put(()).wait();
                std::panic::resume_unwind(Box::new("planned"));
            });
        });
        told.take().wait();
        rt.spawn(yield_now()).wait().expect("no panic");
        fiber.abort();
        let error = fiber.wait().expect_err("it panicked");
        assert!(error.is_panic() || error.is_cancelled());
    });
}

static LATE: AtomicBool = AtomicBool::new(false);
static GONE: AtomicBool = AtomicBool::new(false);

struct OfThread(AtomicUsize);

impl Drop for OfThread {
    fn drop(&mut self) {
        GONE.store(true, Ordering::SeqCst);
    }
}

thread_local! {
    static OF_THREAD: OfThread = const { OfThread(AtomicUsize::new(0)) };
    static OWN: RefCell<Option<Runtime>> = const { RefCell::new(None) };
}

/// A fiber lends a thread-local to tasks of a pool, and its thread ends without ending the fiber.
#[test]
fn a_thread_ends_with_a_fiber_in_a_scope() {
    watched("thread", || {
        let pool = Arc::new(runtime(Model::Pool { workers: 2 }));
        let told = Arc::new(MVar::empty());
        let (of_children, tells) = (pool.clone(), told.clone());
        let ended = thread::spawn(move || {
            let rt = runtime(Model::Single);
            drop(rt.spawn_fiber(move || {
                OF_THREAD.with(|lent| {
                    of_children.scope(|s| {
                        for _ in 0..4 {
                            s.spawn(async {
                                loop {
                                    LATE.fetch_or(GONE.load(Ordering::SeqCst), Ordering::SeqCst);
                                    lent.0.fetch_add(1, Ordering::SeqCst);
                                    yield_now().await;
                                }
                            });
                            s.spawn_fiber(|| {
                                loop {
                                    LATE.fetch_or(GONE.load(Ordering::SeqCst), Ordering::SeqCst);
                                    lent.0.fetch_add(1, Ordering::SeqCst);
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
    let test = "structure::scope_ends::a_thread_ends_and_a_child_does_not";
    let ran = Command::new(this)
        .args(["--exact", test, "--nocapture", "--test-threads", "1"])
        .env(STAYS, "1")
        .output()
        .expect("it can run itself");
    let cried = String::from_utf8_lossy(&ran.stderr);
    assert!(!ran.status.success(), "{cried}");
    assert!(cried.contains("have not ended within"), "{cried}");
}

/// The runtime is moved, and dropped on another thread, which leaks the fiber; its children end.
#[test]
fn a_fiber_in_a_scope_is_leaked() {
    watched("leaked", || {
        let rt = runtime(Model::Single);
        let spawner = rt.spawner();
        let (lent, _gone) = Lent::new();
        drop(rt.spawn_fiber(move || {
            spawner.scope(|s| {
                s.spawn(async {
                    let _late = UsesLate(&lent);
                    std::future::pending::<()>().await;
                });
                s.spawn_fiber(|| {
                    let _late = UsesLate(&lent);
                    MVar::<u32>::empty().take().wait();
                });
            });
        }));
        rt.block_on(async {
            for _ in 0..5 {
                yield_now().await;
            }
        });
        thread::spawn(move || drop(rt)).join().expect("dropped");
    });
}

/// A child's poll ends the runtime of the fiber that waits for it: found out, and the process ends.
#[test]
fn a_runtime_with_a_scope_is_dropped_while_its_thread_ends() {
    let ended = thread::spawn(|| {
        OWN.with_borrow_mut(|slot| {
            let rt = slot.insert(runtime(Model::Single));
            let spawner = rt.spawner();
            drop(rt.spawn_fiber(move || {
                OF_THREAD.with(|lent| {
                    spawner.scope(|s| {
                        s.spawn(async {
                            loop {
                                lent.0.fetch_add(1, Ordering::SeqCst);
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

/// Two children that are joined by each other's siblings, while all are aborted again and again.
#[test]
fn aborts_at_random_moments() {
    each_runtime(|rt| {
        let rt = Arc::new(rt);
        let (sends, ends) = mpsc::channel();
        for turns in 0..60 {
            let (inner, sends) = (rt.clone(), sends.clone());
            let (lent, gone) = Lent::new();
            let fiber = rt.spawn_fiber(move || {
                let place = MVar::<u32>::empty();
                inner.scope(|s| {
                    let (lent, place) = (&lent, &place);
                    let one: ScopedHandle<'_, u32> = s.spawn(async move {
                        let _late = UsesLate(lent);
                        place.take().await
                    });
                    s.spawn_fiber(move || {
                        let _late = UsesLate(lent);
                        place.put(3).wait();
                        one.wait().unwrap_or(0)
                    });
                    let mut polls = 0;
                    s.spawn(poll_fn(move |cx| {
                        lent.uses();
                        cx.waker().wake_by_ref();
                        polls += 1;
                        if polls < 10 {
                            Poll::Pending
                        } else {
                            Poll::Ready(())
                        }
                    }));
                });
            });
            let turn = rt.spawn(async move {
                for _ in 0..turns % 12 {
                    yield_now().await;
                }
            });
            turn.wait().expect("no panic");
            fiber.abort();
            let _either = fiber.wait().is_ok();
            assert!(gone.load(Ordering::SeqCst));
            sends.send(()).expect("there");
        }
        assert_eq!(ends.try_iter().count(), 60);
    });
}
