//! Computations that a helper carries out: of fibers, and of [`par::compute`].

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Waker};
use std::thread;

use gossamer::channel::oneshot;
use gossamer::{Model, Wait, par, yield_now};

use super::fibonacci;
use crate::models::{MODELS, runtime, watched};

#[test]
fn fibers_of_one_worker_wait_between_their_computations() {
    for model in MODELS {
        watched(&model.to_string(), move || {
            let rt = runtime(model);
            let fibers: Vec<_> = (0..20u64)
                .map(|number| {
                    rt.spawn_fiber(move || {
                        let mut sum = 0;
                        for round in 0..10 {
                            let (a, b) = par::join(|| fibonacci(8), || fibonacci(number % 8));
                            sum += a + b;
                            if round % 3 == 0 {
                                yield_now().wait();
                            }
                        }
                        sum
                    })
                })
                .collect();
            for (number, fiber) in (0..).zip(fibers) {
                let sum = fiber.wait().expect("no panic");
                assert_eq!(sum, 10 * (21 + fibonacci(number % 8)));
            }
        });
    }
}

#[test]
fn an_aborted_fiber_waits_for_what_it_has_loaned() {
    for model in [Model::Pool { workers: 2 }, Model::Pool { workers: 8 }] {
        watched(&model.to_string(), move || {
            let rt = runtime(model);
            for _ in 0..50 {
                let (begun, ended) = (AtomicUsize::new(0), AtomicUsize::new(0));
                let (begun, ended) = (Arc::new(begun), Arc::new(ended));
                let goes_on = Arc::new(AtomicBool::new(false));
                let counts = (begun.clone(), ended.clone(), goes_on.clone());
                let fiber = rt.spawn_fiber(move || {
                    let (begun, ended, goes_on) = &counts;
                    par::for_each(0..4u32, |_| {
                        begun.fetch_add(1, Ordering::SeqCst);
                        while !goes_on.load(Ordering::SeqCst) {
                            thread::yield_now();
                        }
                        ended.fetch_add(1, Ordering::SeqCst);
                    });
                });
                while begun.load(Ordering::SeqCst) == 0 {
                    thread::yield_now();
                }
                fiber.abort();
                goes_on.store(true, Ordering::SeqCst);
                // Aborted, or it was at its end: no part runs on.
                let _either = fiber.wait();
                assert_eq!(begun.load(Ordering::SeqCst), ended.load(Ordering::SeqCst));
                assert_eq!(Arc::strong_count(&begun), 1);
            }
        });
    }
}

#[test]
fn an_aborted_fiber_leaves_nothing_that_has_not_begun() {
    for model in [
        Model::Single,
        Model::Pool { workers: 1 },
        Model::Pool { workers: 2 },
    ] {
        watched(&model.to_string(), move || {
            let rt = runtime(model);
            let owned = Arc::new(AtomicUsize::new(0));
            for _ in 0..300 {
                let owned = owned.clone();
                let fiber = rt.spawn_fiber(move || {
                    // On its stack, which is another fiber's soon.
                    let seen = [const { AtomicUsize::new(0) }; 16];
                    par::for_each(&seen, |seen| {
                        seen.fetch_add(1, Ordering::SeqCst);
                    });
                    assert!(seen.iter().all(|seen| seen.load(Ordering::SeqCst) == 1));
                    owned.fetch_add(1, Ordering::SeqCst);
                });
                fiber.abort();
                if let Err(error) = fiber.wait() {
                    assert!(error.is_cancelled(), "{error}");
                }
            }
            drop(rt);
            assert_eq!(Arc::strong_count(&owned), 1);
        });
    }
}

#[test]
fn a_fiber_that_unwinds_computes_itself() {
    struct Computes;
    impl Drop for Computes {
        fn drop(&mut self) {
            assert_eq!(fibonacci(10), 55);
        }
    }
    for model in MODELS {
        watched(&model.to_string(), move || {
            let rt = runtime(model);
            let fiber = rt.spawn_fiber(|| {
                let _computes = Computes;
                std::panic::panic_any(3u32);
            });
            let error = fiber.wait().expect_err("it panics");
            assert!(error.is_panic());
        });
    }
}

#[test]
fn a_fiber_does_not_enter_another_runtime() {
    watched("pool:1", || {
        let (rt, other) = (runtime(Model::Pool { workers: 1 }), runtime(Model::Single));
        let (own, other) = (rt.handle(), other.handle());
        let fiber = rt.spawn_fiber(move || {
            assert_eq!(own.enter(|| fibonacci(5)), 5);
            other.enter(|| yield_now().wait());
        });
        let error = fiber.wait().expect_err("it panics").try_into_panic();
        let payload = error.expect("it is a panic").downcast::<&str>();
        assert!(payload.expect("a text").contains("enter() in a fiber"));
    });
}

#[test]
fn a_computation_that_is_handed_over_does_not_wait_for_others() {
    watched("pool:1", || {
        let rt = runtime(Model::Pool { workers: 1 });
        let ends = AtomicBool::new(false);
        rt.scope(|s| {
            s.spawn_thread(|| {
                rt.enter(|| {
                    par::join(
                        || {
                            while !ends.load(Ordering::SeqCst) {
                                thread::yield_now();
                            }
                        },
                        || (),
                    )
                });
            });
            let fiber = s.spawn_fiber(|| fibonacci(10));
            assert_eq!(fiber.wait().expect("no panic"), 55);
            ends.store(true, Ordering::SeqCst);
        });
    });
}

#[test]
fn a_computation_is_lazy() {
    for model in MODELS {
        watched(&model.to_string(), move || {
            let rt = runtime(model);
            let called = Arc::new(AtomicUsize::new(0));
            let count = called.clone();
            rt.block_on(async move {
                drop(par::compute(move || count.fetch_add(1, Ordering::SeqCst)));
            });
            assert_eq!(called.load(Ordering::SeqCst), 0);
            assert_eq!(Arc::strong_count(&called), 1);
        });
    }
}

#[test]
fn dropped_before_it_begins_it_is_never_made() {
    watched("single", || {
        let rt = runtime(Model::Single);
        let called = Arc::new(AtomicUsize::new(0));
        let count = called.clone();
        rt.block_on(async move {
            {
                let compute = pin!(par::compute(move || count.fetch_add(1, Ordering::SeqCst)));
                let polled = compute.poll(&mut Context::from_waker(Waker::noop()));
                assert!(polled.is_pending());
            }
            // The helper runs, and finds nothing.
            for _ in 0..10 {
                yield_now().await;
            }
        });
        assert_eq!(called.load(Ordering::SeqCst), 0);
        assert_eq!(Arc::strong_count(&called), 1);
    });
}

#[test]
fn dropped_later_it_runs_to_its_end() {
    watched("pool:2", || {
        let rt = runtime(Model::Pool { workers: 2 });
        let (begins, has_begun) = oneshot();
        let (ends, may_end) = oneshot::<()>();
        let dropped = Arc::new(AtomicUsize::new(0));
        let output = dropped.clone();
        let work = move || {
            begins.send(()).expect("the test waits for it");
            while !ends.is_closed() {
                thread::yield_now();
            }
            output.fetch_add(1, Ordering::SeqCst);
            output
        };
        rt.block_on(async move {
            let mut compute = pin!(Some(par::compute(work)));
            let future = compute.as_mut().as_pin_mut().expect("it is there");
            let polled = future.poll(&mut Context::from_waker(Waker::noop()));
            assert!(polled.is_pending());
            has_begun.await.expect("it begins");
            compute.set(None);
        });
        drop(may_end);
        while Arc::strong_count(&dropped) > 1 {
            thread::yield_now();
        }
        assert_eq!(dropped.load(Ordering::SeqCst), 1);
    });
}

#[test]
fn its_panic_is_the_awaiting_tasks() {
    for model in MODELS {
        watched(&model.to_string(), move || {
            let rt = runtime(model);
            let task = rt.spawn(par::compute(|| {
                par::join(|| (), || std::panic::panic_any(5u32))
            }));
            let payload = task.wait().expect_err("it panics").try_into_panic();
            let payload = payload.expect("it is a panic").downcast::<u32>();
            assert_eq!(*payload.expect("a number"), 5);
        });
    }
}

#[test]
fn a_runtime_that_ends_leaves_nobody_waiting() {
    for model in MODELS {
        watched(&model.to_string(), move || {
            for _ in 0..20 {
                let rt = runtime(model);
                let count = Arc::new(());
                for _ in 0..10 {
                    let counted = count.clone();
                    let body = move || {
                        fibonacci(10);
                        drop(counted);
                    };
                    drop(rt.spawn(par::compute(body.clone())));
                    drop(rt.spawn_fiber(body));
                }
                drop(rt);
                assert_eq!(Arc::strong_count(&count), 1);
            }
        });
    }
}

#[test]
fn a_computation_outlives_its_runtime() {
    for model in MODELS {
        watched(&model.to_string(), move || {
            let rt = runtime(model);
            let handle = rt.handle();
            drop(rt);
            assert_eq!(handle.enter(|| fibonacci(10)), 55);
            assert_eq!(handle.enter(|| par::compute(|| fibonacci(10)).wait()), 55);
        });
    }
}
