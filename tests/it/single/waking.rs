//! Wakes: thousands during one poll, during a drop, late, from elsewhere; and exactly one poll for them.

use std::future::{pending, poll_fn};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::thread;

use gossamer::{Wait, sync::MVar, yield_now};

use super::runtime;

type Kept = Arc<Mutex<Option<Waker>>>;

/// Counts its polls, keeps its waker, and is ready when told.
fn watched(
    polls: &Arc<AtomicUsize>,
    kept: &Kept,
    ready: &Arc<AtomicUsize>,
) -> impl Future<Output = ()> + Send + 'static {
    let (polls, kept, ready) = (polls.clone(), kept.clone(), ready.clone());
    poll_fn(move |cx| {
        polls.fetch_add(1, Ordering::SeqCst);
        kept.lock().unwrap().replace(cx.waker().clone());
        if ready.load(Ordering::SeqCst) == 0 {
            Poll::Pending
        } else {
            Poll::Ready(())
        }
    })
}

#[test]
fn thousands_of_wakes_during_one_poll_are_one() {
    let rt = runtime();
    let polls = Arc::new(AtomicUsize::new(0));
    let task = rt.spawn({
        let polls = polls.clone();
        poll_fn(move |cx| {
            if polls.fetch_add(1, Ordering::SeqCst) == 0 {
                for _ in 0..10_000 {
                    cx.waker().wake_by_ref();
                    let clone = cx.waker().clone();
                    clone.wake();
                }
                return Poll::Pending;
            }
            Poll::Ready(())
        })
    });
    task.wait().unwrap();
    assert_eq!(polls.load(Ordering::SeqCst), 2);
}

/// One poll wakes thousands of others, each many times.
#[test]
fn one_poll_wakes_thousands() {
    const TASKS: usize = 5000;
    let rt = runtime();
    let polls = Arc::new(AtomicUsize::new(0));
    let wakers: Arc<Mutex<Vec<Waker>>> = Arc::default();
    let tasks: Vec<_> = (0..TASKS)
        .map(|_| {
            let (polls, wakers) = (polls.clone(), wakers.clone());
            let mut first = true;
            rt.spawn(poll_fn(move |cx| {
                polls.fetch_add(1, Ordering::SeqCst);
                if std::mem::take(&mut first) {
                    wakers.lock().unwrap().push(cx.waker().clone());
                    return Poll::Pending;
                }
                Poll::Ready(())
            }))
        })
        .collect();
    let waker = rt.spawn(async move {
        while wakers.lock().unwrap().len() < TASKS {
            yield_now().await;
        }
        for _ in 0..3 {
            wakers.lock().unwrap().iter().for_each(Waker::wake_by_ref);
        }
    });
    waker.wait().unwrap();
    for task in tasks {
        task.wait().unwrap();
    }
    assert_eq!(polls.load(Ordering::SeqCst), 2 * TASKS);
}

/// A wake that comes while a task's future is being dropped, by the future itself and for another.
#[test]
fn a_wake_during_a_drop() {
    struct WakesInDrop(Vec<Waker>);
    impl Drop for WakesInDrop {
        fn drop(&mut self) {
            self.0.iter().for_each(Waker::wake_by_ref);
        }
    }
    let rt = runtime();
    let (polls, kept, ready) = (Arc::default(), Kept::default(), Arc::default());
    let other = rt.spawn(watched(&polls, &kept, &ready));
    let dying = rt.spawn({
        let kept = kept.clone();
        async move {
            let own = poll_fn(|cx| Poll::Ready(cx.waker().clone())).await;
            while kept.lock().unwrap().is_none() {
                yield_now().await;
            }
            let others = kept.lock().unwrap().clone();
            let _wakes = WakesInDrop(others.into_iter().chain([own]).collect());
            pending::<()>().await;
        }
    });
    rt.block_on(async {
        for _ in 0..10 {
            yield_now().await;
        }
    });
    let before = polls.load(Ordering::SeqCst);
    ready.store(1, Ordering::SeqCst);
    dying.abort();
    assert!(dying.wait().unwrap_err().is_cancelled());
    other.wait().unwrap();
    assert_eq!(polls.load(Ordering::SeqCst), before + 1);
}

#[test]
fn a_waker_of_a_finished_task_does_nothing() {
    let rt = runtime();
    let (polls, kept, ready) = (
        Arc::default(),
        Kept::default(),
        Arc::new(AtomicUsize::new(1)),
    );
    rt.spawn(watched(&polls, &kept, &ready)).wait().unwrap();
    let waker = kept.lock().unwrap().take().unwrap();
    let clone = waker.clone();
    waker.wake_by_ref();
    thread::scope(|scope| scope.spawn(move || clone.wake()).join()).unwrap();
    rt.block_on(yield_now());
    drop(rt);
    waker.wake_by_ref();
    let clone = waker.clone();
    assert!(clone.will_wake(&waker));
    thread::scope(|scope| scope.spawn(move || drop((waker, clone))).join()).unwrap();
    assert_eq!(polls.load(Ordering::SeqCst), 1);
}

/// Wakers that outlive their runtime, fired from several threads while it ends.
#[test]
fn wakers_fire_while_the_runtime_ends() {
    for _ in 0..200 {
        let rt = runtime();
        let kepts: Vec<Kept> = (0..8).map(|_| Kept::default()).collect();
        for kept in &kepts {
            drop(rt.spawn(watched(&Arc::default(), kept, &Arc::default())));
        }
        rt.block_on(yield_now());
        let wakers: Vec<Waker> = kepts
            .iter()
            .map(|kept| kept.lock().unwrap().take().expect("polled"))
            .collect();
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| wakers.iter().for_each(Waker::wake_by_ref));
            }
            drop(rt);
        });
        wakers.into_iter().for_each(Waker::wake);
    }
}

/// The same, with the last reference dropped by another thread.
#[test]
fn a_waker_is_the_last_to_hold_its_task() {
    let kept = Kept::default();
    let rt = runtime();
    drop(rt.spawn(watched(&Arc::default(), &kept, &Arc::default())));
    rt.block_on(yield_now());
    drop(rt);
    let waker = kept.lock().unwrap().take().unwrap();
    thread::spawn(move || waker.wake()).join().unwrap();
}

/// One wake-up is one poll: counted over a whole exchange.
#[test]
fn polls_are_counted_exactly() {
    const ROUNDS: usize = 100;
    let rt = runtime();
    let (request, reply) = (Arc::new(MVar::empty()), Arc::new(MVar::empty()));
    let polls = Arc::new(AtomicUsize::new(0));
    let server = rt.spawn({
        let (request, reply, polls) = (request.clone(), reply.clone(), polls.clone());
        let mut serve = Box::pin(async move {
            for _ in 0..ROUNDS {
                let asked: usize = request.take().await;
                reply.put(asked + 1).await;
            }
        });
        poll_fn(move |cx: &mut Context<'_>| {
            polls.fetch_add(1, Ordering::SeqCst);
            serve.as_mut().poll(cx)
        })
    });
    rt.block_on(async {
        for round in 0..ROUNDS {
            request.put(round).await;
            assert_eq!(reply.take().await, round + 1);
        }
    });
    server.wait().unwrap();
    // Parked once before each request at most; the reply is never waited for.
    let polls = polls.load(Ordering::SeqCst);
    assert!((ROUNDS..=ROUNDS + 1).contains(&polls), "{polls} polls");
}
