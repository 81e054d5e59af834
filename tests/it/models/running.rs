//! Spawning, waking, joining, yielding.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::thread;

use gossamer::{JoinHandle, Model, Wait, local, sync::MVar, yield_now};

use super::{each_model, runtime};

#[test]
fn the_ring() {
    each_model(|model| {
        let rt = runtime(model);
        let mvars: Vec<_> = (0..20).map(|_| Arc::new(MVar::<u32>::empty())).collect();
        let winner = Arc::new(MVar::empty());
        for at in 0..mvars.len() {
            let own = mvars[at].clone();
            let next = mvars[(at + 1) % mvars.len()].clone();
            let winner = winner.clone();
            drop(rt.spawn(async move {
                loop {
                    match own.take().await {
                        0 => return winner.put(at + 1).await,
                        token => next.put(token - 1).await,
                    }
                }
            }));
        }
        mvars[0].put(2_005).wait();
        assert_eq!(winner.take().wait(), 2_005 % 20 + 1);
    });
}

#[test]
fn tasks_spawn_tasks() {
    each_model(|model| {
        let rt = Arc::new(runtime(model));
        let tasks: Vec<_> = (0..100_u64)
            .map(|number| {
                let inner = Arc::downgrade(&rt);
                rt.spawn(async move {
                    let child = inner.upgrade().map(|rt| rt.spawn(async move { number }));
                    child.expect("the runtime lives").await.expect("no panic") + 1
                })
            })
            .collect();
        let sum: u64 = tasks
            .into_iter()
            .map(|task| task.wait().expect("no panic"))
            .sum();
        assert_eq!(sum, 99 * 100 / 2 + 100);
    });
}

#[test]
fn every_task_is_polled_to_its_end_once() {
    each_model(|model| {
        let rt = runtime(model);
        let ended = Arc::new(AtomicUsize::new(0));
        let tasks: Vec<JoinHandle<()>> = (0..300)
            .map(|_| {
                let ended = ended.clone();
                rt.spawn(async move {
                    for _ in 0..3 {
                        yield_now().await;
                    }
                    ended.fetch_add(1, Ordering::Relaxed);
                })
            })
            .collect();
        for task in tasks {
            task.wait().expect("no panic");
        }
        assert_eq!(ended.load(Ordering::Relaxed), 300);
    });
}

#[test]
fn a_panic_is_the_task_s_own() {
    each_model(|model| {
        let rt = runtime(model);
        let well = rt.spawn(async {
            yield_now().await;
            1
        });
        let ill = rt.spawn(async {
            yield_now().await;
            std::panic::panic_any(7_u8);
        });
        let payload = ill.wait().expect_err("it panicked").try_into_panic();
        assert_eq!(payload.expect("a panic").downcast_ref(), Some(&7_u8));
        assert_eq!(well.wait().expect("unharmed"), 1);
    });
}

#[test]
fn woken_by_a_foreign_thread() {
    each_model(|model| {
        let rt = runtime(model);
        let task = rt.spawn(async {
            let mut asked = false;
            poll_fn(|cx| {
                if asked {
                    return Poll::Ready(());
                }
                asked = true;
                let waker = cx.waker().clone();
                drop(thread::spawn(move || waker.wake()));
                Poll::Pending
            })
            .await;
        });
        task.wait().expect("woken");
    });
}

#[test]
fn threads_and_tasks_share_a_mvar() {
    each_model(|model| {
        let rt = runtime(model);
        let mvar = Arc::new(MVar::<u32>::empty());
        let writer = mvar.clone();
        let task = rt.spawn(async move {
            for number in 0..500 {
                writer.put(number).await;
            }
        });
        for number in 0..500 {
            assert_eq!(mvar.take().wait(), number);
        }
        task.wait().expect("no panic");
    });
}

#[test]
fn blocking_calls_borrow_and_have_local_tasks() {
    each_model(|model| {
        let rt = runtime(model);
        let mut text = String::from("a");
        rt.block_on(async { text.push('b') });
        assert_eq!(text, "ab");
        let got = rt.block_on_local(|scope| {
            let mvar = std::rc::Rc::new(local::MVar::empty());
            let writer = mvar.clone();
            drop(scope.spawn_local(async move { writer.put(3).await }));
            let task = rt.spawn(async { 4 });
            async move { mvar.take().await + task.await.expect("no panic") }
        });
        assert_eq!(got, 7);
    });
}

#[test]
fn a_blocking_call_inside_a_task_is_refused() {
    each_model(|model| {
        let rt = Arc::new(runtime(model));
        let inner = Arc::downgrade(&rt);
        let task = rt.spawn(async move {
            inner.upgrade().expect("it lives").block_on(async {});
        });
        let payload = task.wait().expect_err("refused").try_into_panic();
        let text = payload
            .expect("a panic")
            .downcast::<String>()
            .expect("a text");
        assert!(text.contains("inside a task"), "{text}");
    });
}

#[test]
fn two_runtimes_of_two_models_talk() {
    each_model(|model| {
        let (one, two) = (runtime(model), runtime(Model::Pool { workers: 2 }));
        let (there, back) = (Arc::new(MVar::<u32>::empty()), Arc::new(MVar::empty()));
        let (from, to) = (there.clone(), back.clone());
        let echo = two.spawn(async move {
            for _ in 0..200 {
                to.put(from.take().await + 1).await;
            }
        });
        let asks = one.spawn(async move {
            for number in 0..200 {
                there.put(number).await;
                assert_eq!(back.take().await, number + 1);
            }
        });
        asks.wait().expect("no panic");
        echo.wait().expect("no panic");
    });
}
