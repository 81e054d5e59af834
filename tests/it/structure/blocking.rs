//! Calls that block, moved off the worker.

use std::panic::panic_any;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;

use gossamer::{Model, Wait, blocking, yield_now};

use super::each_runtime;
use crate::hand::Hand;
use crate::models::{runtime, watched};

#[test]
fn off_the_worker_in_tasks_and_fibers() {
    each_runtime(|rt| {
        let ids = || {
            let here = thread::current().id();
            (here, blocking(|| thread::current().id()))
        };
        let task = rt.spawn(async move {
            let (here, there) = ids();
            here != there.await
        });
        let fiber = rt.spawn_fiber(move || {
            let (here, there) = ids();
            here != there.wait()
        });
        assert!(task.wait().expect("no panic") && fiber.wait().expect("no panic"));
        assert!(rt.block_on(async move {
            let (here, there) = ids();
            here != there.await
        }));
        // A thread has nobody to hold up.
        let (here, there) = ids();
        assert_eq!(here, there.wait());
    });
}

#[test]
fn the_worker_goes_on() {
    watched("one worker", || {
        let rt = runtime(Model::Pool { workers: 1 });
        let meet = Arc::new(Barrier::new(2));
        let meets = meet.clone();
        let task = rt.spawn(async move { blocking(move || meets.wait().is_leader()).await });
        let other = rt.spawn(async move {
            yield_now().await;
            blocking(move || meet.wait().is_leader()).await
        });
        let (one, two) = (
            task.wait().expect("no panic"),
            other.wait().expect("no panic"),
        );
        assert!(one != two);
    });
}

#[test]
fn a_panic_comes_back() {
    each_runtime(|rt| {
        let task = rt.spawn(async { blocking(|| -> u32 { panic_any(7_u32) }).await });
        let payload = task.wait().expect_err("it panics").try_into_panic();
        assert_eq!(payload.expect("a panic").downcast_ref(), Some(&7_u32));
    });
}

/// Counts its drops.
struct Counts(Arc<AtomicUsize>);

impl Drop for Counts {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// One that is in line when it is dropped is never made; one that has begun runs to its end.
#[test]
fn dropped_before_and_after_it_begins() {
    watched("single", || {
        let rt = runtime(Model::Single);
        let (made, drops) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        // All threads that there may be.
        let hold = Arc::new(Barrier::new(513));
        let held: Vec<_> = (0..512)
            .map(|_| {
                let hold = hold.clone();
                rt.spawn_blocking(move || {
                    hold.wait();
                    hold.wait();
                })
            })
            .collect();
        hold.wait();
        rt.block_on(async {
            let (makes, counts) = (made.clone(), Counts(drops.clone()));
            let mut call = Hand::new(blocking(move || {
                let _counts = counts;
                makes.fetch_add(1, Ordering::SeqCst);
            }));
            assert!(call.poll().is_pending());
            drop(call);
            assert_eq!(drops.load(Ordering::SeqCst), 1);
            // And one that is never polled.
            let counts = Counts(drops.clone());
            drop(blocking(move || drop(counts)));
            assert_eq!(drops.load(Ordering::SeqCst), 2);
        });
        hold.wait();
        for call in held {
            call.wait().expect("no panic");
        }
        // Every thread has looked at the line since then, or will not find it there.
        rt.spawn_blocking(|| ()).wait().expect("no panic");
        assert_eq!(made.load(Ordering::SeqCst), 0);
        let (begun, ends) = (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)));
        rt.block_on(async {
            let (begins, end, counts) = (begun.clone(), ends.clone(), Counts(drops.clone()));
            let mut call = Hand::new(blocking(move || {
                begins.wait();
                end.wait();
                counts
            }));
            assert!(call.poll().is_pending());
            begun.wait();
            drop(call);
            assert_eq!(drops.load(Ordering::SeqCst), 2);
        });
        ends.wait();
        while drops.load(Ordering::SeqCst) < 3 {
            thread::yield_now();
        }
    });
}

#[test]
fn the_runtime_ends_meanwhile() {
    each_runtime(|rt| {
        let (begun, ends) = (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)));
        let (begins, end) = (begun.clone(), ends.clone());
        let task = rt.spawn(async move {
            blocking(move || {
                begins.wait();
                end.wait();
            })
            .await;
        });
        let turns = rt.spawn(async {
            for _ in 0..3 {
                yield_now().await;
            }
        });
        turns.wait().expect("no panic");
        begun.wait();
        drop(rt);
        assert!(task.wait().expect_err("ended").is_cancelled());
        ends.wait();
    });
}
