//! Fibers and the thread that they stay on: what each may use of the other, and what ends with which.

use std::cell::RefCell;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::task::Poll;
use std::thread;

use gossamer::{Model, Runtime, Wait, sync::MVar, yield_now};

use super::{each_model, runtime, watched};

/// Runs what is runnable.
fn turns(rt: &Runtime) {
    rt.block_on(async {
        for _ in 0..5 {
            yield_now().await;
        }
    });
}

#[inline(never)]
fn deep<R>(calls: u32, bottom: &mut dyn FnMut() -> R) -> R {
    let filler = std::hint::black_box([0xAA_u8; 512]);
    let result = if calls == 0 {
        bottom()
    } else {
        deep(calls - 1, bottom)
    };
    std::hint::black_box(filler);
    result
}

/// The poll that resumed the fiber is over before the future's poll is, which has its waker.
#[test]
fn a_waker_outlasts_a_wait_inside_a_poll() {
    watched("single", || {
        let rt = runtime(Model::Single);
        let mvar = Arc::new(MVar::<u32>::empty());
        let from = mvar.clone();
        let mut fiber = Some(rt.spawn_fiber(move || {
            poll_fn(|cx| {
                let value = from.take().wait();
                cx.waker().wake_by_ref();
                Poll::Ready(value)
            })
            .wait()
        }));
        turns(&rt);
        mvar.try_put(1).expect("empty");
        let output = deep(200, &mut || fiber.take().expect("one").wait());
        assert_eq!(output.expect("it ends"), 1);
    });
}

#[test]
fn a_shard_whose_fiber_was_leaked_is_as_good_as_new() {
    watched("single", || {
        let rt = runtime(Model::Single);
        drop(rt.spawn_fiber(|| {
            loop {
                yield_now().wait();
            }
        }));
        turns(&rt);
        thread::spawn(move || drop(rt)).join().expect("dropped");
        let one = thread::spawn(|| runtime(Model::Single).block_on(async { 1 }));
        assert_eq!(one.join().expect("a new runtime works"), 1);
    });
}

/// The owner waits while fibers keep it from running; once they have ended, it runs.
#[test]
fn the_owner_is_told_when_the_fibers_have_gone() {
    watched("single", || {
        let (built, build) = mpsc::channel();
        let (go, goes) = mpsc::channel::<()>();
        let (last, gate) = (
            Arc::new(MVar::<u32>::empty()),
            Arc::new(MVar::<u32>::empty()),
        );
        let from = last.clone();
        let owner = thread::spawn(move || {
            let rt = Arc::new(runtime(Model::Single));
            let task = rt.spawn(async move { from.take().await });
            built.send(rt).expect("there");
            goes.recv().expect("there");
            task.wait().expect("no panic")
        });
        let rt = build.recv().expect("built");
        let opens = gate.clone();
        let fiber = rt.spawn_fiber(move || opens.take().wait());
        turns(&rt);
        go.send(()).expect("there");
        for _ in 0..10_000 {
            // The owner has parked by now, mostly.
            thread::yield_now();
        }
        rt.block_on(async {
            gate.put(1).await;
            fiber.await.expect("no panic");
            last.try_put(5).expect("empty");
        });
        assert_eq!(owner.join().expect("no panic"), 5);
    });
}

static GONE: AtomicBool = AtomicBool::new(false);
static SEEN_GONE: AtomicBool = AtomicBool::new(false);

struct Data;
impl Drop for Data {
    fn drop(&mut self) {
        GONE.store(true, Ordering::SeqCst);
    }
}
struct Uses<'a>(&'a Data);
impl Drop for Uses<'_> {
    fn drop(&mut self) {
        let Data = self.0;
        SEEN_GONE.fetch_or(GONE.load(Ordering::SeqCst), Ordering::SeqCst);
    }
}
thread_local! {
    static RUNTIME: RefCell<Option<Runtime>> = const { RefCell::new(None) };
    static DATA: Data = const { Data };
}

#[test]
fn a_thread_local_is_not_used_after_its_end() {
    let ended = thread::spawn(|| {
        RUNTIME.with_borrow_mut(|slot| {
            let rt = slot.insert(runtime(Model::Single));
            drop(rt.spawn_fiber(|| {
                DATA.with(|data| {
                    let _uses = Uses(data);
                    MVar::<u32>::empty().take().wait()
                })
            }));
            turns(rt);
        });
    });
    ended.join().expect("it ends");
    assert!(GONE.load(Ordering::SeqCst));
    assert!(
        !SEEN_GONE.load(Ordering::SeqCst),
        "used after its destructor"
    );
}

#[test]
fn a_fiber_ends_while_its_thread_unwinds() {
    watched("single", || {
        let ended = catch_unwind(AssertUnwindSafe(|| {
            let rt = runtime(Model::Single);
            let never = Arc::new(MVar::<u32>::empty());
            drop(rt.spawn_fiber(move || {
                let caught = catch_unwind(AssertUnwindSafe(|| never.take().wait()));
                assert!(caught.is_err());
                never.take().wait()
            }));
            turns(&rt);
            resume_unwind(Box::new("planned"));
        }));
        assert!(ended.is_err());
    });
}

/// A fiber that stands still is ended, and what it does then: a panic of its own is what its handle says, and anything
/// else was cancelled.
#[test]
fn what_a_fiber_reports_that_panics_while_it_is_ended() {
    each_model(|model| {
        for by_the_runtime in [false, true] {
            let rt = runtime(model);
            let never = Arc::new(MVar::<u32>::empty());
            let standing = |then: fn() -> u32| {
                let begun = Arc::new(MVar::<()>::empty());
                let (begins, from) = (begun.clone(), never.clone());
                let fiber = rt.spawn_fiber(move || {
                    begins.put(()).wait();
                    let caught = catch_unwind(AssertUnwindSafe(|| from.take().wait()));
                    assert!(caught.is_err(), "nothing was put");
                    then()
                });
                begun.take().wait();
                fiber
            };
            let panics = standing(|| resume_unwind(Box::new(7_u32)));
            let returns = standing(|| 3);
            if by_the_runtime {
                drop(rt);
            } else {
                panics.abort();
                returns.abort();
            }
            let payload = panics.wait().expect_err("it panicked").try_into_panic();
            assert_eq!(payload.expect("a panic").downcast_ref(), Some(&7_u32));
            assert!(returns.wait().expect_err("ended").is_cancelled());
        }
    });
}
