//! A fiber that is to end while it is in a scope, and what it loans until then.

use std::future::poll_fn;
use std::panic::Location;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex, mpsc};
use std::task::Poll;
use std::thread;

use gossamer::{
    Fibers, JoinHandle, Model, Runtime, Wait, runtime::SpawnError, scope::ScopedHandle, sync::MVar,
    yield_now,
};
use gossamer_fiber::Fiber;
use gossamer_structure::{ScopeTask, Spawn, scope};

use super::each_runtime;
use crate::contract::FIBERS;
use crate::hand::Hand;
use crate::models::{MODELS, runtime, watched};

/// What a fiber loans: whoever uses it after the fiber's end is found out, by this or by the sanitizers.
struct Loaned {
    gone: Arc<AtomicBool>,
    used: AtomicUsize,
}

impl Loaned {
    fn new() -> (Self, Arc<AtomicBool>) {
        let gone = Arc::new(AtomicBool::new(false));
        let loaned = Self {
            gone: gone.clone(),
            used: AtomicUsize::new(0),
        };
        (loaned, gone)
    }

    fn uses(&self) {
        assert!(!self.gone.load(Ordering::SeqCst), "used after its end");
        self.used.fetch_add(1, Ordering::SeqCst);
    }
}

impl Drop for Loaned {
    fn drop(&mut self) {
        self.gone.store(true, Ordering::SeqCst);
    }
}

/// Uses what is loaned when it is dropped.
struct UsesLate<'a>(&'a Loaned);

impl Drop for UsesLate<'_> {
    fn drop(&mut self) {
        self.0.uses();
    }
}

/// A fiber in a scope with children of every kind that never end by themselves; `told` is put to when all have begun.
fn in_a_scope(rt: &Arc<Runtime>, told: &Arc<MVar<()>>) -> (JoinHandle<()>, Arc<AtomicBool>) {
    let (loaned, gone) = Loaned::new();
    let (rt, told, inner) = (rt.clone(), told.clone(), rt.clone());
    let fiber = rt.spawn_fiber(move || {
        let never = MVar::<u32>::empty();
        inner.scope(|s| {
            let begun = AtomicUsize::new(0);
            for _ in 0..3 {
                s.spawn(async {
                    let _late = UsesLate(&loaned);
                    never.take().await;
                });
                s.spawn_fiber(|| {
                    let _late = UsesLate(&loaned);
                    never.take().wait();
                });
                s.spawn(async {
                    loop {
                        loaned.uses();
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
                        let (loaned, gone) = Loaned::new();
                        let (told, of_children) = (told.clone(), of_children.clone());
                        let fiber = rt.spawn_fiber(move || {
                            let never = MVar::<u32>::empty();
                            of_children.scope(|s| {
                                s.spawn(async {
                                    let _late = UsesLate(&loaned);
                                    never.take().await;
                                });
                                s.spawn_fiber(|| {
                                    let _late = UsesLate(&loaned);
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
            let (handle, told) = (rt.handle(), Arc::new(MVar::empty()));
            let fibers: Vec<_> = (0..16)
                .map(|_| {
                    let (loaned, gone) = Loaned::new();
                    let (handle, told) = (handle.clone(), told.clone());
                    let fiber = rt.spawn_fiber(move || {
                        handle.scope(|s| {
                            for _ in 0..4 {
                                s.spawn_fiber(|| {
                                    let _late = UsesLate(&loaned);
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

/// Gives the tasks of a scope to whoever listens.
struct Gives(Mutex<mpsc::Sender<ScopeTask>>);

impl Spawn for Gives {
    fn try_spawn(
        &self,
        task: ScopeTask,
        caller: &'static Location<'static>,
    ) -> Result<JoinHandle<()>, SpawnError<ScopeTask>> {
        let to = self.0.lock().expect("no panic");
        to.send(task).expect("somebody listens");
        Ok(gossamer_task::promise(caller).1)
    }

    fn fibers(&self) -> Option<Fibers> {
        Some(FIBERS)
    }
}

/// Meets its like when it is dropped.
struct Meets(Arc<Barrier>);

impl Drop for Meets {
    fn drop(&mut self) {
        self.0.wait();
    }
}

/// A fiber in a scope, one of whose children is a fiber of the other thread; ended when the other thread's is.
fn one_of_two(gives: Gives, takes: &mpsc::Receiver<ScopeTask>, meets: Meets) {
    let body = move || {
        scope(&gives, |s| {
            s.spawn(async move {
                let _meets = meets;
                std::future::pending::<()>().await;
            });
            s.spawn_fiber(|| MVar::<u32>::empty().take().wait());
        });
    };
    let fiber = Fiber::new(body, Some(FIBERS), "", Location::caller());
    let mut fiber = Hand::new(fiber.map_err(|(error, _)| error).expect("a stack"));
    assert!(fiber.poll().is_pending());
    let _not_begun = takes.recv().expect("the other's first child");
    let mut begun = Hand::new(takes.recv().expect("the other's second child"));
    assert!(begun.poll().is_pending());
    drop(fiber);
}

/// Two threads, each of which takes back the children of a fiber of its own, one of them a fiber of the other: neither
/// does anything else, so each has to ask.
#[test]
fn two_threads_end_each_other_s_fibers() {
    watched("two threads", || {
        let both = Arc::new(Barrier::new(2));
        let ((one, from_one), (two, from_two)) = (mpsc::channel(), mpsc::channel());
        let meets = Meets(both.clone());
        let other =
            thread::spawn(move || one_of_two(Gives(Mutex::new(two)), &from_one, Meets(both)));
        one_of_two(Gives(Mutex::new(one)), &from_two, meets);
        other.join().expect("no panic");
    });
}

/// A child that is being polled is ended when its poll ends, and the fiber waits for that.
#[test]
fn a_child_in_the_midst_of_a_poll() {
    watched("long poll", || {
        let rt = Arc::new(runtime(Model::Pool { workers: 2 }));
        let (loaned, gone) = Loaned::new();
        let (inside, out) = (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)));
        let (enters, leaves, inner) = (inside.clone(), out.clone(), rt.clone());
        let fiber = rt.spawn_fiber(move || {
            inner.scope(|s| {
                s.spawn(async {
                    let _late = UsesLate(&loaned);
                    enters.wait();
                    leaves.wait();
                    loaned.uses();
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
            let (loaned, gone) = Loaned::new();
            let inner = rt.clone();
            let fiber = rt.spawn_fiber(move || {
                inner.scope(|s| {
                    let loaned = &loaned;
                    for _ in 0..4 {
                        s.spawn(async move {
                            loop {
                                s.spawn(async {
                                    let _late = UsesLate(loaned);
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

/// The runtime is moved, and dropped on another thread, which leaks the fiber; its children end.
#[test]
fn a_fiber_in_a_scope_is_leaked() {
    watched("leaked", || {
        let rt = runtime(Model::Single);
        let handle = rt.handle();
        let (loaned, _gone) = Loaned::new();
        drop(rt.spawn_fiber(move || {
            handle.scope(|s| {
                s.spawn(async {
                    let _late = UsesLate(&loaned);
                    std::future::pending::<()>().await;
                });
                s.spawn_fiber(|| {
                    let _late = UsesLate(&loaned);
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

/// Two children that are joined by each other's siblings, while all are aborted again and again.
#[test]
fn aborts_at_random_moments() {
    each_runtime(|rt| {
        let rt = Arc::new(rt);
        let (sends, ends) = mpsc::channel();
        for turns in 0..60 {
            let (inner, sends) = (rt.clone(), sends.clone());
            let (loaned, gone) = Loaned::new();
            let fiber = rt.spawn_fiber(move || {
                let mvar = MVar::<u32>::empty();
                inner.scope(|s| {
                    let (loaned, mvar) = (&loaned, &mvar);
                    let one: ScopedHandle<'_, u32> = s.spawn(async move {
                        let _late = UsesLate(loaned);
                        mvar.take().await
                    });
                    s.spawn_fiber(move || {
                        let _late = UsesLate(loaned);
                        mvar.put(3).wait();
                        one.wait().unwrap_or(0)
                    });
                    let mut polls = 0;
                    s.spawn(poll_fn(move |cx| {
                        loaned.uses();
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
