//! Schedulers of a user's own that wake a task, or panic, where the run loop calls them: no task is lost.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};

use gossamer::scheduler::{Idle, Reason, Runnable, Scheduler, Tasks};
use gossamer::{Model, Runtime, yield_now};

type Parked = Arc<Mutex<Option<Waker>>>;

/// Wakes a task when it is asked whether it has any; it stops when there is nothing to do.
struct WakesWhenAsked(VecDeque<Runnable>, Parked);

impl Scheduler for WakesWhenAsked {
    fn push(&mut self, task: Runnable, _reason: Reason) {
        self.0.push_back(task);
    }

    fn pop(&mut self) -> Option<Runnable> {
        self.0.pop_front()
    }

    fn is_empty(&self) -> bool {
        if let Some(waker) = self.1.lock().unwrap().take() {
            waker.wake();
        }
        self.0.is_empty()
    }

    fn idle(&mut self, _tasks: &Tasks<'_>) -> Idle {
        Idle::Stop
    }
}

/// Panics, once, when it is given a task that was woken.
struct PanicsOnce(VecDeque<Runnable>, Arc<AtomicBool>);

impl Scheduler for PanicsOnce {
    fn push(&mut self, task: Runnable, reason: Reason) {
        self.0.push_back(task);
        let panics = reason == Reason::Woken && self.1.swap(false, Ordering::SeqCst);
        assert!(!panics, "as it was told to");
    }

    fn pop(&mut self) -> Option<Runnable> {
        self.0.pop_front()
    }
}

fn runtime(scheduler: impl Scheduler) -> Runtime {
    let builder = Runtime::builder().model(Model::Single);
    builder.scheduler(scheduler).build().unwrap()
}

/// Waits until the waker that it puts there wakes it.
async fn waits(waker: Parked) {
    let mut is_woken = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut is_woken, true) {
            return Poll::Ready(());
        }
        *waker.lock().unwrap() = Some(cx.waker().clone());
        Poll::Pending
    })
    .await;
}

#[test]
fn a_task_that_it_wakes_after_its_poll_runs() {
    let waker = Parked::default();
    let rt = runtime(WakesWhenAsked(VecDeque::new(), waker.clone()));
    rt.block_on(waits(waker));
}

#[test]
fn a_task_that_yields_outlives_its_panic() {
    let (waker, panics) = (Parked::default(), Arc::default());
    let rt = runtime(PanicsOnce(VecDeque::new(), Arc::clone(&panics)));
    let ends = Arc::new(AtomicBool::new(false));
    let woken = rt.spawn(waits(waker.clone()));
    let yields = rt.spawn({
        let ends = ends.clone();
        async move {
            while waker.lock().unwrap().is_none() {
                yield_now().await;
            }
            panics.store(true, Ordering::SeqCst);
            waker.lock().unwrap().take().unwrap().wake();
            yield_now().await;
            ends.store(true, Ordering::SeqCst);
        }
    });
    let told = catch_unwind(AssertUnwindSafe(|| rt.block_on(yields)));
    assert!(told.is_err() && !ends.load(Ordering::SeqCst));
    rt.block_on(woken).unwrap();
    rt.block_on(async {
        for _ in 0..100 {
            yield_now().await;
        }
    });
    assert!(ends.load(Ordering::SeqCst));
}
