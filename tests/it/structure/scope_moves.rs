//! Fibers that stand still in a scope while their runtime is moved, and dropped on another thread.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use gossamer::{Handle, Model, Runtime, Wait, sync::MVar, task_local};

use crate::models::{runtime, watched};

/// Says when it has gone.
#[derive(Default)]
struct Loaned(Arc<AtomicBool>);

impl Loaned {
    fn is_gone(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

impl Drop for Loaned {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// On the stack of a fiber: looks at what the fiber borrows when that is unwound.
struct Looks<'a>(&'a Loaned, &'a AtomicBool);

impl Drop for Looks<'_> {
    fn drop(&mut self) {
        assert!(!self.0.is_gone(), "what it borrows has gone");
        self.1.store(true, Ordering::SeqCst);
    }
}

task_local! {
    static VALUE: Loaned = Loaned::default();
}

/// A thread that builds a runtime, runs its tasks until `told`, hands it to a thread that drops it, and ends when it is
/// told to.
struct Builder {
    handle: Handle,
    dropped: mpsc::Receiver<()>,
    ends: mpsc::Sender<()>,
    thread: thread::JoinHandle<()>,
}

impl Builder {
    fn new(told: Arc<MVar<()>>, begin: impl FnOnce(&Runtime) + Send + 'static) -> Self {
        let (says, handle) = mpsc::channel();
        let (drops, dropped) = mpsc::channel();
        let (ends, ended) = mpsc::channel();
        let thread = thread::spawn(move || {
            let rt = runtime(Model::Single);
            says.send(rt.handle()).expect("somebody listens");
            begin(&rt);
            rt.block_on(told.take());
            let drop_it = thread::spawn(move || drop(rt));
            drop_it.join().expect("no panic");
            drops.send(()).expect("somebody listens");
            ended.recv().expect("somebody says it");
        });
        Self {
            handle: handle.recv().expect("it is built"),
            dropped,
            ends,
            thread,
        }
    }
}

/// What the outer scope loans is loaned by a fiber of it to a thread, in a scope of its own, with a value of the
/// fiber's.
#[test]
fn a_child_stands_in_a_scope_of_its_own() {
    watched("child", || {
        let (told, go) = (Arc::new(MVar::empty()), Arc::new(MVar::<()>::empty()));
        let builder = Builder::new(told.clone(), |_| {});
        let (handle, inner) = (builder.handle.clone(), runtime(Model::Pool { workers: 1 }));
        let (goes, looked) = (go.clone(), Arc::new(AtomicBool::new(false)));
        let looks = looked.clone();
        let outer = thread::spawn(move || {
            let loaned = Loaned::default();
            // What was loaned cannot be asked once it has gone.
            let gone = loaned.0.clone();
            let (inner, goes, told, looks) = (&inner, &goes, &told, &looks);
            handle.scope(|s| {
                s.spawn_fiber(move || {
                    VALUE.with(|value| {
                        let value = value.0.clone();
                        inner.scope(|s| {
                            s.spawn_thread(move || {
                                told.put(()).wait();
                                goes.take().wait();
                                let began = Instant::now();
                                let is_gone = || gone.load(Ordering::SeqCst);
                                while !is_gone() && began.elapsed() < Duration::from_millis(200) {
                                    thread::yield_now();
                                }
                                assert!(!is_gone(), "the outer scope has returned");
                                assert!(!value.load(Ordering::SeqCst), "a value has gone");
                                looks.store(true, Ordering::SeqCst);
                            });
                        });
                    });
                });
            });
        });
        builder.dropped.recv().expect("it is dropped");
        go.put(()).wait();
        builder.ends.send(()).expect("it listens");
        builder.thread.join().expect("no panic");
        outer.join().expect("no panic");
        assert!(looked.load(Ordering::SeqCst));
    });
}

/// What the outer scope loans is loaned by a fiber of it to a thread of the standard library's scope. The fiber's
/// thread ends, and so ends the fiber, though nobody has asked for it; its runtime goes afterwards, elsewhere.
#[test]
fn a_child_stands_in_a_scope_of_the_standard_library() {
    watched("standard library", || {
        let (told, looked) = (Arc::new(MVar::empty()), Arc::new(AtomicBool::new(false)));
        let ((says, handle), (go, goes)) = (mpsc::channel(), mpsc::channel::<()>());
        let tells = told.clone();
        let builder = thread::spawn(move || {
            let rt = runtime(Model::Single);
            says.send(rt.handle()).expect("somebody listens");
            rt.block_on(told.take());
            rt
        });
        let handle = handle.recv().expect("it is built");
        let (looks, loaned) = (looked.clone(), Loaned::default());
        let gone = loaned.0.clone();
        let outer = thread::spawn(move || {
            let (loaned, looks, tells) = (&loaned, &looks, &tells);
            handle.scope(|s| {
                s.spawn_fiber(move || {
                    thread::scope(|s| {
                        s.spawn(move || {
                            goes.recv().expect("somebody says it");
                            assert!(!loaned.is_gone(), "the outer scope has returned");
                            looks.store(true, Ordering::SeqCst);
                        });
                        tells.put(()).wait();
                        let () = MVar::empty().take().wait();
                    });
                });
            });
        });
        let dropped = thread::spawn(move || drop(builder.join().expect("no panic")));
        let began = Instant::now();
        while !gone.load(Ordering::SeqCst) && began.elapsed() < Duration::from_millis(200) {
            thread::yield_now();
        }
        go.send(()).expect("it listens");
        dropped.join().expect("no panic");
        outer.join().expect("no panic");
        assert!(looked.load(Ordering::SeqCst));
    });
}

/// A fiber loans a value of its own to a thread, and is leaked.
#[test]
fn a_value_of_a_leaked_fiber_is_loaned() {
    watched("value", || {
        let (told, go) = (Arc::new(MVar::empty()), Arc::new(MVar::<()>::empty()));
        let (goes, gone) = (go.clone(), Arc::new(MVar::empty()));
        let (tells, shows) = (told.clone(), gone.clone());
        let builder = Builder::new(told, move |rt| {
            let handle = rt.handle();
            drop(rt.spawn_fiber(move || {
                VALUE.with(|value| {
                    let value = value.0.clone();
                    shows.put(value.clone()).wait();
                    handle.scope(|s| {
                        s.spawn_thread(|| {
                            tells.put(()).wait();
                            goes.take().wait();
                            assert!(!value.load(Ordering::SeqCst), "the value has gone");
                        });
                    });
                });
            }));
        });
        builder.dropped.recv().expect("it is dropped");
        let gone = gone.take().wait();
        assert!(!gone.load(Ordering::SeqCst), "the value has gone");
        go.put(()).wait();
        builder.ends.send(()).expect("it listens");
        builder.thread.join().expect("no panic");
        assert!(!gone.load(Ordering::SeqCst), "its stack is there");
    });
}

/// Who waits for the scope is the thread that the fiber began on: it ends it.
#[test]
fn the_thread_that_waits_ends_its_fiber() {
    watched("waits", || {
        let rt = runtime(Model::Single);
        let (handle, told) = (rt.handle(), Arc::new(MVar::empty()));
        let tells = told.clone();
        let dropped = thread::spawn(move || {
            told.take().wait();
            drop(rt);
        });
        let (loaned, ended) = (Loaned::default(), AtomicBool::new(false));
        handle.scope(|s| {
            s.spawn_fiber(|| {
                let _looks = Looks(&loaned, &ended);
                tells.put(()).wait();
                let () = MVar::empty().take().wait();
            });
        });
        assert!(ended.load(Ordering::SeqCst), "it stands");
        dropped.join().expect("no panic");
    });
}
