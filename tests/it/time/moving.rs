//! Timers that are registered in one place, and dropped or polled in another.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use gossamer::time::{Sleep, sleep as rest, sleep_until};
use gossamer::{Model, Wait};

use super::{FAR, NEAR, begin};
use crate::hand::Hand;
use crate::models::{MODELS, runtime, watched};

/// A sleep that a task of this model has begun.
fn begun_under(model: Model, make: impl FnOnce() -> Sleep + Send + 'static) -> Pin<Box<Sleep>> {
    let rt = runtime(model);
    let begun = rt.spawn(async move {
        let mut sleep = Box::pin(make());
        begin(sleep.as_mut()).await;
        Some(sleep)
    });
    begun.wait().expect("no panic").expect("it has begun")
}

/// Also if its runtime is gone, and nobody runs where it was registered.
#[test]
fn a_sleep_goes_on_where_it_is_polled() {
    for model in MODELS {
        watched(&model.to_string(), move || {
            let began = Instant::now();
            begun_under(model, || rest(NEAR)).wait();
            assert!(began.elapsed() >= NEAR);
            let elsewhere = begun_under(model, || rest(NEAR));
            for other in MODELS {
                runtime(other)
                    .spawn(begun_under(model, || rest(NEAR)))
                    .wait()
                    .expect("no panic");
            }
            runtime(model).block_on(elsewhere);
        });
    }
}

/// The runtime is there, but nobody runs it any more.
#[test]
fn a_sleep_leaves_a_runtime_that_stands_still() {
    watched("it stands still", || {
        let rt = runtime(Model::Single);
        let mut stays = Box::pin(rest(NEAR));
        rt.block_on(begin(stays.as_mut()));
        let other = thread::spawn(move || stays.wait());
        other.join().expect("no panic");
    });
}

/// A foreign waker is called by the process's own timers, if the runner has ended.
#[test]
fn a_timer_outlives_its_runner() {
    for model in MODELS {
        watched(&model.to_string(), move || {
            let rt = runtime(model);
            let task = rt.spawn(async {
                let mut hand = Hand::new(rest(10 * NEAR));
                assert!(hand.poll().is_pending());
                hand
            });
            let mut hand = task.wait().expect("no panic");
            drop(rt);
            while hand.wakes() == 0 {
                thread::yield_now();
            }
            assert!(hand.poll().is_ready());
            assert_eq!(hand.wakers_held(), 0);
        });
    }
}

/// Nor has a thread that waits no more, nor one that runs no more: the operation is polled again only when its own
/// waker is called, as inside `FuturesUnordered`.
#[test]
fn a_timer_outlives_a_wait() {
    async fn begun() -> Hand<Sleep> {
        let mut hand = Hand::new(rest(10 * NEAR));
        assert!(hand.poll().is_pending());
        hand
    }
    fn is_woken(mut hand: Hand<Sleep>) {
        while hand.wakes() == 0 {
            thread::yield_now();
        }
        assert!(hand.poll().is_ready());
    }
    watched("before it, a wait that is over at once", || {
        std::future::ready(()).wait();
        let mut hand = Hand::new(rest(10 * NEAR));
        assert!(hand.poll().is_pending());
        is_woken(hand);
    });
    watched("a wait", || is_woken(begun().wait()));
    watched("a wait that panics", || {
        let mut mvar = None;
        let wait = std::panic::AssertUnwindSafe(|| {
            async {
                mvar = Some(begun().await);
                std::panic::resume_unwind(Box::new("planned"));
            }
            .wait()
        });
        assert!(std::panic::catch_unwind(wait).is_err());
        is_woken(mvar.expect("it has begun"));
    });
    watched("block_on", || {
        let rt = runtime(Model::Single);
        is_woken(rt.block_on(begun()));
    });
    watched("a turn", || {
        let rt = runtime(Model::Single);
        is_woken(rt.spawn(begun()).wait().expect("no panic"));
    });
}

/// What has been polled by a wait directly stays where it is: the next one polls it again.
#[test]
fn a_sleep_goes_on_in_the_next_wait() {
    watched("two waits", || {
        let began = Instant::now();
        let mut sleep = Box::pin(rest(NEAR));
        begin(sleep.as_mut()).wait();
        sleep.as_mut().wait();
        assert!(began.elapsed() >= NEAR);
    });
}

/// A worker registers; another thread drops, often just when the time comes.
#[test]
fn cancelled_by_another_thread() {
    for model in MODELS {
        watched(&model.to_string(), move || {
            let rt = runtime(model);
            let (send, receive) = mpsc::channel::<Pin<Box<Sleep>>>();
            let dropping = thread::spawn(move || receive.into_iter().for_each(drop));
            let registering = rt.spawn(async move {
                for round in 0..2_000 {
                    let soon = Duration::from_micros(round % 50);
                    let mut victim = Box::pin(rest(soon + Duration::from_nanos(1)));
                    begin(victim.as_mut()).await;
                    send.send(victim).expect("somebody listens");
                    if round % 16 == 0 {
                        rest(Duration::from_micros(20)).await;
                    }
                }
            });
            registering.wait().expect("no panic");
            dropping.join().expect("no panic");
        });
    }
}

/// Of a forgotten operation nobody takes anything back; its task is not harmed.
#[test]
fn polled_again_with_another_waker() {
    watched("two wakers", || {
        let rt = runtime(Model::Pool { workers: 2 });
        let mvar = Arc::new(gossamer::sync::MVar::empty());
        let (there, back) = (mvar.clone(), Arc::new(gossamer::sync::MVar::empty()));
        let done = back.clone();
        let first = rt.spawn(async move {
            let mut sleep = Box::pin(sleep_until(Instant::now() + 5 * NEAR));
            begin(sleep.as_mut()).await;
            there.put(sleep).await;
            done.take().await
        });
        let second = rt.spawn(async move {
            mvar.take().await.await;
            back.put(7).await;
        });
        second.wait().expect("no panic");
        assert_eq!(first.wait().expect("no panic"), 7);
        drop(rt.spawn(rest(FAR)));
    });
}
