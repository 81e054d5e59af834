//! Changing the number of workers while they work: nothing stranded, nothing done twice.

use std::future::Future;
use std::io::ErrorKind;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Wake, Waker};
use std::thread;
use std::time::Duration;

use gossamer::{JoinHandle, Model, Runtime, Wait, sync::MVar, yield_now};

use super::{MODELS, Random, runtime, watched};

fn workers(rt: &Runtime) -> usize {
    rt.metrics().expect("a pool").workers
}

#[test]
fn errors_say_what_is_wrong() {
    for model in MODELS {
        let rt = runtime(model);
        let error = rt.resize(0).wait().expect_err("nothing has no workers");
        match model {
            Model::Pool { workers } => {
                assert_eq!(
                    error.to_string(),
                    "resize to 0 workers: a pool has 1 to 1024"
                );
                assert!(rt.resize(5_000).wait().is_err());
                assert_eq!(rt.metrics().expect("a pool").workers, workers);
            }
            _ => assert_eq!(error.kind(), ErrorKind::Unsupported),
        }
    }
}

#[test]
fn from_inside() {
    watched("from inside", || {
        let rt = Arc::new(runtime(Model::Pool { workers: 4 }));
        for to in [1, 8, 2, 64, 1] {
            let inner = rt.clone();
            let task = rt.spawn(async move { inner.resize(to).await });
            task.wait().expect("no panic").expect("resized");
            assert_eq!(workers(&rt), to);
        }
    });
}

#[test]
fn parked_tasks_of_retired_workers_are_woken() {
    watched("parked tasks", || {
        for _ in 0..20 {
            let rt = runtime(Model::Pool { workers: 8 });
            let mvars: Vec<_> = (0..64).map(|_| Arc::new(MVar::<usize>::empty())).collect();
            let tasks: Vec<JoinHandle<usize>> = mvars
                .iter()
                .map(|mvar| {
                    let mvar = mvar.clone();
                    rt.spawn(async move { mvar.take().await + mvar.take().await })
                })
                .collect();
            rt.resize(1).wait().expect("resized");
            // From outside, and by a task.
            for mvar in &mvars {
                mvar.put(1).wait();
            }
            let inside = mvars.clone();
            drop(rt.spawn(async move {
                for mvar in &inside {
                    mvar.put(2).await;
                }
            }));
            for task in tasks {
                assert_eq!(task.wait().expect("no panic"), 3);
            }
        }
    });
}

#[test]
fn a_pool_that_has_shrunk_drops_everything() {
    watched("shrunk and dropped", || {
        for _ in 0..20 {
            let rt = runtime(Model::Pool { workers: 6 });
            let kept = Arc::new(());
            let tasks: Vec<JoinHandle<()>> = (0..32)
                .map(|_| {
                    let kept = kept.clone();
                    rt.spawn(async move {
                        let _kept = kept;
                        yield_now().await;
                        std::future::pending().await
                    })
                })
                .collect();
            rt.resize(1).wait().expect("resized");
            drop(rt);
            assert_eq!(Arc::strong_count(&kept), 1, "every future was dropped");
            assert!(tasks.into_iter().all(|task| task.wait().is_err()));
        }
    });
}

#[test]
fn ten_thousand_resizes_under_load() {
    watched("10,000 resizes", || {
        let rt = Arc::new(runtime(Model::Pool { workers: 2 }));
        let (stop, done) = (
            Arc::new(AtomicBool::new(false)),
            Arc::new(AtomicUsize::new(0)),
        );
        // Two rings, jobs that yield, and jobs spawned from outside, all the time.
        let load: Vec<_> = (0..2)
            .map(|_| {
                let (rt, stop, done) = (rt.clone(), stop.clone(), done.clone());
                thread::spawn(move || {
                    let mut spawned = 0;
                    while !stop.load(Ordering::Relaxed) {
                        let (there, back) = (Arc::new(MVar::empty()), Arc::new(MVar::empty()));
                        let (from, to) = (there.clone(), back.clone());
                        let echo = rt.spawn(async move {
                            for _ in 0..20 {
                                to.put(from.take().await).await;
                            }
                        });
                        let asks = rt.spawn(async move {
                            for number in 0..20 {
                                there.put(number).await;
                                assert_eq!(back.take().await, number);
                                yield_now().await;
                            }
                        });
                        let tasks = [echo, asks];
                        spawned += tasks.len();
                        for task in tasks {
                            task.wait().expect("no panic");
                            done.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                    spawned
                })
            })
            .collect();
        let mut random = Random(42);
        for _ in 0..10_000 {
            let to = 1 + usize::try_from(random.below(8)).expect("small");
            rt.resize(to).wait().expect("resized");
        }
        stop.store(true, Ordering::Relaxed);
        let spawned: usize = load
            .into_iter()
            .map(|load| load.join().expect("no panic"))
            .sum();
        assert_eq!(done.load(Ordering::Relaxed), spawned);
    });
}

#[test]
fn the_first_wake_after_a_worker_retired_asleep_arrives() {
    watched("first wake", || {
        for _ in 0..5 {
            let rt = runtime(Model::Pool { workers: 2 });
            let mvar = Arc::new(MVar::<u32>::empty());
            let tasks: Vec<_> = (0..8)
                .map(|_| {
                    let mvar = mvar.clone();
                    rt.spawn(async move { mvar.read().await })
                })
                .collect();
            rt.resize(1).wait().expect("resized");
            // One wake-up, after which everybody is asleep again.
            mvar.put(1).wait();
            for task in tasks {
                assert_eq!(task.wait().expect("no panic"), 1);
            }
        }
    });
}

#[test]
fn a_resize_that_is_superseded_says_so() {
    watched("superseded", || {
        let rt = Arc::new(runtime(Model::Pool { workers: 2 }));
        let hold = Arc::new(std::sync::Barrier::new(3));
        for _ in 0..2 {
            let hold = hold.clone();
            drop(rt.spawn(async move {
                hold.wait();
                hold.wait();
            }));
        }
        hold.wait();
        let inner = rt.clone();
        let shrinks = rt.spawn_thread(move || inner.resize(1).wait());
        while rt.metrics().expect("a pool").target != 1 {
            thread::yield_now();
        }
        rt.resize(2).wait().expect("still two");
        let error = shrinks.wait().expect("no panic").expect_err("superseded");
        assert!(error.to_string().contains("another resize"), "{error}");
        hold.wait();
    });
}

/// However often it is polled, and by whatever waker, a resize keeps one waker; and when it is dropped, none.
#[test]
fn a_resize_that_waits_keeps_one_waker() {
    /// Wakes nobody.
    struct Noted;
    impl Wake for Noted {
        fn wake(self: Arc<Self>) {}
    }
    watched("one waker", || {
        let builder = Runtime::builder().model(Model::Pool { workers: 2 });
        // A spare wakes those that wait for a resize.
        let rt = builder.stuck_after(Duration::from_secs(3_000)).build();
        let rt = rt.expect("a runtime can be built");
        let hold = Arc::new(std::sync::Barrier::new(3));
        for _ in 0..2 {
            let hold = hold.clone();
            drop(rt.spawn(async move {
                hold.wait();
                hold.wait();
            }));
        }
        hold.wait();
        // The surplus one retires later.
        let (mut first, mut second) = (rt.resize(1), rt.resize(1));
        let noted = [Arc::new(Noted), Arc::new(Noted)];
        let wakers = noted.clone().map(Waker::from);
        let mut poll_both = |times: usize| {
            for waker in wakers.iter().cycle().take(times) {
                for resize in [&mut first, &mut second] {
                    let polled = Pin::new(resize).poll(&mut Context::from_waker(waker));
                    assert!(polled.is_pending());
                }
            }
        };
        poll_both(100);
        let kept = allocation_counter::measure(|| poll_both(10_000));
        let held = || noted.each_ref().map(|noted| Arc::strong_count(noted) - 2);
        let polled = held();
        drop(first);
        let one_dropped = held();
        drop(second);
        // Before anything is found wrong: the runtime ends when they do.
        hold.wait();
        assert!(kept.bytes_current < 100, "{} bytes", kept.bytes_current);
        assert_eq!((polled, one_dropped, held()), ([0, 2], [0, 1], [0, 0]));
    });
}
