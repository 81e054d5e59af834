//! Aborting, shutting down, and what comes too late.

use std::future::{pending, poll_fn};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::task::{Poll, Waker};
use std::thread;
use std::time::Duration;

use gossamer::{JoinHandle, Model, Runtime, Wait, sync::MVar, yield_now};

use super::{Random, each_model, runtime, watched};

/// Counts its drops.
struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Spawns tasks in every state a task can be left in, and gives their handles.
fn in_each_state(
    rt: &Runtime,
    mvar: &Arc<MVar<u32>>,
    wakers: &Arc<Mutex<Vec<Waker>>>,
    drops: &Arc<AtomicUsize>,
) -> Vec<JoinHandle<()>> {
    let counted = || Counted(drops.clone());
    let (one, two, three, four) = (counted(), counted(), counted(), counted());
    let (taking, wakers) = (mvar.clone(), wakers.clone());
    vec![
        rt.spawn(async move { drop(one) }),
        rt.spawn(async move {
            let _kept = two;
            pending::<()>().await;
        }),
        rt.spawn(async move {
            let _kept = three;
            loop {
                taking.take().await;
                yield_now().await;
            }
        }),
        rt.spawn(async move {
            let _kept = four;
            poll_fn(|cx| {
                wakers.lock().expect("no panic").push(cx.waker().clone());
                Poll::Pending
            })
            .await
        }),
    ]
}

#[test]
fn dropped_in_every_state() {
    each_model(|model| {
        for turn in 0..20 {
            let rt = runtime(model);
            let (mvar, drops) = (Arc::new(MVar::empty()), Arc::new(AtomicUsize::new(0)));
            let wakers = Arc::default();
            let handles = in_each_state(&rt, &mvar, &wakers, &drops);
            if turn % 2 == 0 {
                mvar.put(1).wait();
            }
            for _ in 0..turn {
                thread::yield_now();
            }
            drop(rt);
            assert_eq!(
                drops.load(Ordering::Relaxed),
                4,
                "{model}: each future dropped once"
            );
            let finished = handles
                .into_iter()
                .map(Wait::wait)
                .filter(Result::is_ok)
                .count();
            assert!(
                finished <= 1,
                "{model}: only the first task can have finished"
            );
            // Late wakers find nothing.
            for waker in wakers.lock().expect("no panic").drain(..) {
                waker.wake();
            }
        }
    });
}

/// Tasks wait behind a long poll, at the worker and in the injector, when the pool ends.
#[test]
fn dropped_before_their_first_poll() {
    watched("never polled", || {
        let rt = Arc::new(runtime(Model::Pool { workers: 1 }));
        let (drops, hold) = (Arc::new(AtomicUsize::new(0)), Arc::new(Barrier::new(2)));
        let spawn = |rt: &Runtime, drops: &Arc<AtomicUsize>| -> JoinHandle<()> {
            let counted = Counted(drops.clone());
            rt.spawn(async move {
                let _kept = counted;
                panic!("the pool has ended");
            })
        };
        let (inner, held, dropped) = (rt.clone(), hold.clone(), drops.clone());
        let blocks = rt.spawn(async move {
            let here = [(); 10].map(|()| spawn(&inner, &dropped));
            drop(inner);
            held.wait();
            held.wait();
            here
        });
        hold.wait();
        let outside = [(); 10].map(|()| spawn(&rt, &drops));
        let rt = Arc::into_inner(rt).expect("the task has let go of it");
        assert!(!rt.shutdown_timeout(Duration::from_millis(1)));
        hold.wait();
        let inside = blocks.wait().expect("its poll came to its end");
        for never in inside.into_iter().chain(outside) {
            let error = never.wait().expect_err("the pool has ended");
            assert!(error.is_cancelled(), "{error}");
        }
        assert_eq!(drops.load(Ordering::Relaxed), 20);
    });
}

#[test]
fn aborted_from_outside() {
    each_model(|model| {
        let rt = runtime(model);
        let (mvar, drops) = (Arc::new(MVar::empty()), Arc::new(AtomicUsize::new(0)));
        let handles = in_each_state(&rt, &mvar, &Arc::default(), &drops);
        for handle in &handles {
            handle.abort();
        }
        let cancelled = handles
            .into_iter()
            .map(Wait::wait)
            .filter(Result::is_err)
            .count();
        assert!(cancelled >= 3, "{model}: the endless ones were cancelled");
        assert_eq!(drops.load(Ordering::Relaxed), 4);
    });
}

#[test]
fn a_runtime_dropped_by_its_own_task() {
    each_model(|model| {
        let rt = runtime(model);
        let ended = Arc::new(MVar::empty());
        let told = ended.clone();
        let given = Arc::new(MVar::<Runtime>::empty());
        let taken = given.clone();
        drop(rt.spawn(async move {
            drop(taken.take().await);
            told.put(()).await;
        }));
        if model == Model::Single {
            // Its tasks run only while somebody runs it, and nobody can while it is given away.
            return;
        }
        given.put(rt).wait();
        ended.take().wait();
    });
}

#[test]
fn mvars_survive_aborts_and_shutdowns_at_random() {
    watched("random ends", || {
        for seed in 1..=200_u64 {
            let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
            let model = super::MODELS[1 + random.below(4) as usize];
            let rt = runtime(model);
            let mvars: Vec<_> = (0..4).map(|_| Arc::new(MVar::<u64>::empty())).collect();
            let handles: Vec<_> = (0..8)
                .map(|_| {
                    let (from, to) = (random.below(4) as usize, random.below(4) as usize);
                    let (from, to) = (mvars[from].clone(), mvars[to].clone());
                    rt.spawn(async move {
                        for _ in 0..50 {
                            let token = from.take().await;
                            yield_now().await;
                            to.put(token + 1).await;
                        }
                    })
                })
                .collect();
            for mvar in &mvars {
                mvar.try_put(0).unwrap_or_default();
            }
            for handle in handles {
                match random.below(3) {
                    0 => handle.abort(),
                    1 => drop(handle),
                    _ => thread::yield_now(),
                }
            }
            drop(rt);
            for mvar in mvars {
                mvar.try_take();
                mvar.put(1).wait();
                assert_eq!(mvar.take().wait(), 1, "seed {seed}: a mvar is stuck");
            }
        }
    });
}
