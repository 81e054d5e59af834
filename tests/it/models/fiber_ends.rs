//! Threads that end while fibers of theirs stand still: the fibers are ended before any thread-local goes.

use std::cell::{OnceCell, RefCell};
use std::panic::{catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use gossamer::{Model, Runtime, Wait, sync::MVar, yield_now};

use super::{runtime, watched};

/// A flag that others see.
#[derive(Clone, Default)]
struct Flag(Arc<AtomicBool>);

impl Flag {
    fn set(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    fn is_set(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

/// A thread-local that says when it goes.
struct Text(OnceCell<Flag>);

impl Text {
    fn gone(&self) -> &Flag {
        self.0.get_or_init(Flag::default)
    }
}

impl Drop for Text {
    fn drop(&mut self) {
        self.gone().set();
    }
}

thread_local! {
    static OWN: RefCell<Option<Runtime>> = const { RefCell::new(None) };
    static TEXT: Text = const { Text(OnceCell::new()) };
    static OTHER: Text = const { Text(OnceCell::new()) };
}

/// On the stack of a fiber: looks at the thread-local when that is unwound.
struct Looks<'a> {
    text: &'a Text,
    late: Flag,
    unwound: Flag,
}

impl Drop for Looks<'_> {
    fn drop(&mut self) {
        if self.text.gone().is_set() {
            self.late.set();
        }
        self.unwound.set();
    }
}

fn stand_still() {
    MVar::<()>::empty().take().wait();
}

/// What a fiber panics with.
struct Payload(Flag);

impl Drop for Payload {
    fn drop(&mut self) {
        self.0.set();
    }
}

/// Nobody is left to be told, and nothing is leaked.
#[test]
fn a_fiber_that_was_dropped_elsewhere_panics_when_its_thread_ends_it() {
    watched("a panic that nobody waits for", || {
        let (hand, handed) = mpsc::channel();
        let (end, ends) = mpsc::channel::<()>();
        let gone = Flag::default();
        let payload = Payload(gone.clone());
        let begins_it = thread::spawn(move || {
            let rt = runtime(Model::Single);
            drop(rt.spawn_fiber(move || {
                let unwound = catch_unwind(stand_still);
                assert!(unwound.is_err());
                resume_unwind(Box::new(payload))
            }));
            turns(&rt);
            hand.send(rt).expect("somebody listens");
            ends.recv().expect_err("it is dropped");
        });
        drop(handed.recv().expect("it is handed over"));
        assert!(!gone.is_set(), "its stack is the other thread's");
        drop(end);
        begins_it.join().expect("no panic");
        assert!(gone.is_set());
    });
}

/// Runs what is runnable.
fn turns(rt: &Runtime) {
    rt.block_on(async {
        for _ in 0..5 {
            yield_now().await;
        }
    });
}

/// A fiber that has stood still before loans a thread-local that nobody had used so far, by a scope of the standard
/// library's; its runtime is forgotten, and its thread ends.
fn loans_and_is_forgotten(late: &Flag, looked: &Flag) {
    let rt = runtime(Model::Single);
    let (late, looked) = (late.clone(), looked.clone());
    drop(rt.spawn_fiber(move || {
        yield_now().wait();
        TEXT.with(|text| {
            let gone = text.gone().clone();
            thread::scope(|s| {
                s.spawn(move || {
                    let began = Instant::now();
                    while !gone.is_set() && began.elapsed() < Duration::from_millis(200) {
                        thread::yield_now();
                    }
                    if gone.is_set() {
                        late.set();
                    }
                    looked.set();
                });
                stand_still();
            });
        });
    }));
    turns(&rt);
    std::mem::forget(rt);
}

#[test]
fn a_thread_ends_while_its_fiber_loans_a_thread_local() {
    watched("loans", || {
        let (late, looked) = (Flag::default(), Flag::default());
        let (lates, looks) = (late.clone(), looked.clone());
        let of_std = thread::spawn(move || loans_and_is_forgotten(&lates, &looks));
        of_std.join().expect("no panic");
        assert!(!late.is_set(), "used after its end");
        assert!(
            looked.is_set(),
            "the thread has ended before what it loans came back"
        );

        // The runtime's own threads: their handles are told before their thread-locals go.
        let (late, looked) = (Flag::default(), Arc::new(MVar::empty()));
        let (lates, looks, seen) = (late.clone(), Flag::default(), looked.clone());
        let ours = gossamer::spawn_thread(move || {
            loans_and_is_forgotten(&lates, &looks);
            let tells = OnSeen(seen);
            SEEN.with(|cell| drop(cell.set(tells)));
        });
        ours.wait().expect("no panic");
        looked.take().wait();
        assert!(!late.is_set(), "used after its end");
    });
}

/// Tells when the thread-locals of its thread go.
struct OnSeen(Arc<MVar<()>>);

impl Drop for OnSeen {
    fn drop(&mut self) {
        self.0.try_put(()).expect("nobody else puts");
    }
}

thread_local! {
    static SEEN: OnceCell<OnSeen> = const { OnceCell::new() };
}

/// The runtime is a thread-local that is younger than the thread's first fiber to stand still, and older than one that
/// a later fiber uses.
#[test]
fn a_thread_local_that_comes_late_is_not_used_after_its_end() {
    watched("late", || {
        let (late, unwound) = (Flag::default(), Flag::default());
        let (lates, unwinds) = (late.clone(), unwound.clone());
        let ended = thread::spawn(move || {
            let rt = runtime(Model::Single);
            let first = rt.spawn_fiber(|| yield_now().wait());
            first.wait().expect("no panic");
            OWN.with_borrow_mut(|slot| {
                let rt = slot.insert(rt);
                drop(rt.spawn_fiber(move || {
                    // It has stood still itself, too.
                    OTHER.with(|_| yield_now().wait());
                    TEXT.with(|text| {
                        let _looks = Looks {
                            text,
                            late: lates,
                            unwound: unwinds,
                        };
                        stand_still();
                    });
                }));
                turns(rt);
            });
        });
        ended.join().expect("it ends");
        assert!(!late.is_set(), "used after its end");
        assert!(unwound.is_set(), "left standing");
    });
}

/// A fiber whose runtime is dropped on another thread stands until its own thread ends, which ends it.
#[test]
fn a_thread_ends_a_fiber_that_nobody_has() {
    watched("nobody", || {
        let (late, unwound) = (Flag::default(), Flag::default());
        let (lates, unwinds) = (late.clone(), unwound.clone());
        let ((says, said), (ends, ended)) = (mpsc::channel(), mpsc::channel::<()>());
        let builder = thread::spawn(move || {
            let rt = runtime(Model::Single);
            let fiber = rt.spawn_fiber(move || {
                TEXT.with(|text| {
                    let _looks = Looks {
                        text,
                        late: lates,
                        unwound: unwinds,
                    };
                    stand_still();
                });
            });
            turns(&rt);
            says.send((rt, fiber)).expect("somebody listens");
            ended.recv().expect("somebody says it");
        });
        let (rt, fiber) = said.recv().expect("it is built");
        drop(rt);
        assert!(
            fiber
                .wait()
                .expect_err("its runtime has ended")
                .is_cancelled()
        );
        assert!(!unwound.is_set(), "on another thread");
        ends.send(()).expect("it listens");
        builder.join().expect("no panic");
        assert!(unwound.is_set(), "left standing");
        assert!(!late.is_set(), "used after its end");
    });
}

/// A thread runs a runtime that another one has built, and ends while fibers that have begun there stand still: who
/// waits for them is told, and all else goes on.
#[test]
fn a_thread_ends_and_the_runtime_of_its_fibers_goes_on() {
    watched("goes on", || {
        for has_ended in [false, true] {
            let rt = Arc::new(runtime(Model::Single));
            let (mvar, runs_it) = (Arc::new(MVar::empty()), rt.clone());
            let from = mvar.clone();
            let other = rt.spawn(async move { from.take().await });
            let (says, said) = mpsc::channel();
            let runner = thread::spawn(move || {
                let stands = runs_it.spawn_fiber(stand_still);
                let panics = runs_it.spawn_fiber(|| {
                    assert!(catch_unwind(stand_still).is_err(), "nothing was put");
                    resume_unwind(Box::new(7_u32));
                });
                turns(&runs_it);
                says.send((stands, panics)).expect("somebody listens");
            });
            let (stands, panics) = said.recv().expect("they have begun");
            if has_ended {
                runner.join().expect("no panic");
                thread::scope(|s| s.spawn(|| turns(&rt)).join()).expect("any thread may run");
            }
            let ended = stands.wait().expect_err("its thread has ended");
            assert!(ended.is_cancelled());
            let payload = panics.wait().expect_err("it panicked").try_into_panic();
            assert_eq!(payload.expect("a panic").downcast_ref(), Some(&7_u32));
            mvar.try_put(5).expect("empty");
            assert_eq!(other.wait().expect("no panic"), 5);
            let fiber = rt.spawn_fiber(|| yield_now().wait());
            fiber.wait().expect("fibers begin here now");
        }
    });
}

/// The same where the fiber is a child of a scope, which is over before its task is.
#[test]
fn a_thread_ends_and_the_runtime_of_a_scopes_fiber_goes_on() {
    watched("a scope's", || {
        let rt = Arc::new(runtime(Model::Single));
        let runs_it = rt.clone();
        rt.scope(|s| {
            let child = s.spawn_fiber(stand_still);
            let runner = thread::spawn(move || turns(&runs_it));
            runner.join().expect("no panic");
            let ended = child.wait().expect_err("its thread has ended");
            assert!(ended.is_cancelled());
        });
        turns(&rt);
    });
}
