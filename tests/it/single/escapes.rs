//! Wakers, operations and tasks that get where they are not expected: each case once was a bug.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::{pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::thread;

use gossamer::{
    JoinHandle, Model, Runtime, Wait, local, runtime::LocalScope, scheduler::Idle,
    scheduler::Reason, scheduler::Runnable, scheduler::Scheduler, scheduler::Tasks, sync,
    yield_now,
};

use super::{panic_of, runtime};

/// Sets a flag when it is dropped.
struct Told(Arc<Mutex<bool>>);

impl Drop for Told {
    fn drop(&mut self) {
        *self.0.lock().unwrap() = true;
    }
}

thread_local! {
    static SCOPE: RefCell<Option<LocalScope>> = const { RefCell::new(None) };
    static HANDLE: RefCell<Option<JoinHandle<thread::ThreadId>>> = const { RefCell::new(None) };
}

/// Spawns a task into `SCOPE` when it is dropped.
struct Spawns;

impl Drop for Spawns {
    fn drop(&mut self) {
        let scope = SCOPE.with(|scope| scope.borrow().clone()).unwrap();
        let not_send = Rc::new(());
        let task = scope.spawn_local(async move {
            drop(not_send);
            thread::current().id()
        });
        HANDLE.with(|handle| handle.replace(Some(task)));
    }
}

/// A runtime whose one task spawns into `SCOPE` when the runtime is dropped.
fn spawning_runtime() -> Runtime {
    let inner = runtime();
    let spawns = Spawns;
    drop(inner.spawn(async move {
        let _spawns = spawns;
        pending::<()>().await;
    }));
    inner
}

#[test]
fn a_finished_task_is_not_loaned_again() {
    runtime().block_on_local(|scope| {
        let kept: Rc<RefCell<Option<Waker>>> = Rc::default();
        let keep = kept.clone();
        let ends = scope.spawn_local(poll_fn(move |cx| {
            keep.replace(Some(cx.waker().clone()));
            Poll::Ready(())
        }));
        async move {
            ends.await.unwrap();
            yield_now().await;
            let mvar = local::MVar::<u32>::empty();
            let waker = kept.take().unwrap();
            let mut take = Box::pin(mvar.take());
            assert!(
                take.as_mut()
                    .poll(&mut Context::from_waker(&waker))
                    .is_pending()
            );
            drop(waker);
            drop(take);
        }
    });
}

#[test]
fn a_finished_task_has_no_hold_in_store() {
    let rt = runtime();
    let kept: Arc<Mutex<Option<Waker>>> = Arc::default();
    let (keep, mvar) = (kept.clone(), Arc::new(sync::MVar::<u32>::empty()));
    let theirs = mvar.clone();
    rt.block_on(async {
        let ends = rt.spawn(async move {
            theirs.take().await;
            poll_fn(|cx| {
                *keep.lock().unwrap() = Some(cx.waker().clone());
                Poll::Ready(())
            })
            .await;
        });
        yield_now().await;
        mvar.put(1).await;
        ends.await.unwrap();
        let waker = kept.lock().unwrap().take().unwrap();
        let mut take = Box::pin(mvar.take());
        assert!(
            take.as_mut()
                .poll(&mut Context::from_waker(&waker))
                .is_pending()
        );
        drop(waker);
        mvar.put(2).await;
        drop(take);
        assert_eq!(mvar.try_take(), Some(2));
    });
}

#[test]
fn a_scope_that_is_ending_takes_no_tasks() {
    let rt = runtime();
    rt.block_on_local(|scope| {
        SCOPE.with(|kept| kept.replace(Some(scope.clone())));
        let inner = spawning_runtime();
        drop(scope.spawn_local(async move {
            let _inner = inner;
            pending::<()>().await;
        }));
        yield_now()
    });
    let task = HANDLE.with(RefCell::take).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| rt.block_on(async { yield_now().await }));
    });
    assert!(task.wait().unwrap_err().is_cancelled());
}

#[test]
fn a_task_that_was_turned_away_may_be_aborted() {
    let rt = runtime();
    let closed = rt.block_on_local(|scope| {
        let scope = scope.clone();
        async move { scope }
    });
    let outside = closed.spawn_local(async {});
    outside.abort();
    assert!(outside.wait().unwrap_err().is_cancelled());
    rt.block_on(async {
        let inside = closed.spawn_local(async {});
        inside.abort();
        assert!(inside.await.unwrap_err().is_cancelled());
    });
}

#[test]
fn an_abort_before_the_inbox_is_read_forgets_nobody() {
    let rt = Arc::new(runtime());
    let dropped = Arc::new(Mutex::new(false));
    let told = Told(dropped.clone());
    drop(rt.spawn(async move {
        let _told = told;
        pending::<()>().await;
    }));
    let theirs = rt.clone();
    rt.block_on(async {
        yield_now().await;
        let spawned = thread::spawn(move || theirs.spawn(pending::<()>()));
        let task = spawned.join().unwrap();
        task.abort();
        assert!(task.await.unwrap_err().is_cancelled());
    });
    drop(Arc::into_inner(rt).unwrap());
    assert!(
        *dropped.lock().unwrap(),
        "the runtime's end drops every future"
    );
}

/// First in, first out; never parks.
struct Stops(VecDeque<Runnable>);

impl Scheduler for Stops {
    fn push(&mut self, task: Runnable, _reason: Reason) {
        self.0.push_back(task);
    }

    fn pop(&mut self) -> Option<Runnable> {
        self.0.pop_front()
    }

    fn idle(&mut self, _tasks: &Tasks<'_>) -> Idle {
        Idle::Stop
    }
}

#[test]
fn a_root_that_is_stopped_is_never_polled_again() {
    let rt = Runtime::builder()
        .model(Model::Single)
        .scheduler(Stops(VecDeque::new()))
        .build()
        .unwrap();
    let (mut waker, mut polls) = (None, 0);
    let ran = catch_unwind(AssertUnwindSafe(|| {
        rt.block_on_local(|scope| {
            SCOPE.with(|kept| kept.replace(Some(scope.clone())));
            let mut inner = Some(spawning_runtime());
            let (waker, polls) = (&mut waker, &mut polls);
            poll_fn(move |cx| {
                *polls += 1;
                *waker = Some(cx.waker().clone());
                drop(inner.take());
                HANDLE.with(|handle| handle.borrow().as_ref().unwrap().abort());
                Poll::<()>::Pending
            })
        });
    }));
    assert!(ran.is_err(), "the scheduler stopped");
    waker.unwrap().wake();
    drop(catch_unwind(AssertUnwindSafe(|| rt.block_on(yield_now()))));
    assert_eq!(polls, 1);
}

/// Wakes a waker when there is nothing else to do.
struct Timer(VecDeque<Runnable>, Arc<Mutex<Option<Waker>>>);

impl Scheduler for Timer {
    fn push(&mut self, task: Runnable, _reason: Reason) {
        self.0.push_back(task);
    }

    fn pop(&mut self) -> Option<Runnable> {
        self.0.pop_front()
    }

    fn idle(&mut self, _tasks: &Tasks<'_>) -> Idle {
        match self.1.lock().unwrap().take() {
            Some(waker) => {
                waker.wake();
                Idle::Again
            }
            None => Idle::Park,
        }
    }
}

#[test]
fn a_task_woken_by_an_idle_scheduler_runs() {
    let timer: Arc<Mutex<Option<Waker>>> = Arc::default();
    let scheduler = Timer(VecDeque::new(), timer.clone());
    let rt = Runtime::builder()
        .model(Model::Single)
        .scheduler(scheduler)
        .build()
        .unwrap();
    let mut polls = 0;
    let task = rt.spawn(poll_fn(move |cx| {
        polls += 1;
        if polls == 2 {
            return Poll::Ready(7);
        }
        *timer.lock().unwrap() = Some(cx.waker().clone());
        Poll::Pending
    }));
    assert_eq!(task.wait().unwrap(), 7);
}

#[test]
fn every_runtime_of_a_thread_has_its_turn() {
    let (oldest, second, last) = (runtime(), runtime(), runtime());
    let built = Arc::new(Mutex::new(None));
    let theirs = built.clone();
    drop(second.spawn(async move {
        drop(oldest);
        *theirs.lock().unwrap() = Some(runtime());
    }));
    assert_eq!(last.spawn(async { 3 }).wait().unwrap(), 3);
}

/// More runtimes than there are shards: each must give its own back.
const MORE_THAN_SHARDS: u32 = 65_600;

#[test]
fn an_operation_that_outlives_its_runtime_gives_the_shard_back() {
    let mvar = local::MVar::<u32>::empty();
    for _ in 0..MORE_THAN_SHARDS {
        let rt = runtime();
        let mut take = Box::pin(mvar.take());
        rt.block_on(poll_fn(|cx| {
            assert!(take.as_mut().poll(cx).is_pending());
            Poll::Ready(())
        }));
        drop(rt);
        drop(take);
    }
}

#[test]
fn two_loans_in_one_poll_give_the_shard_back() {
    for _ in 0..MORE_THAN_SHARDS {
        runtime().block_on_local(|scope| {
            let mvar = local::MVar::<u32>::empty();
            let task = scope.spawn_local(poll_fn(move |cx| {
                for round in 0..2 {
                    let mut take = pin!(mvar.take());
                    assert!(take.as_mut().poll(cx).is_pending());
                    if round == 0 {
                        mvar.try_put(1).unwrap();
                        assert!(take.as_mut().poll(cx).is_ready());
                    }
                }
                Poll::Ready(())
            }));
            async move { task.await.unwrap() }
        });
    }
}

#[test]
fn waiting_in_the_closure_of_block_on_local_is_refused() {
    let rt = runtime();
    let (message, _) = panic_of(|| {
        rt.block_on_local(|scope| {
            drop(scope.spawn_local(async {}).wait());
            async {}
        });
    });
    assert!(message.contains("before the runtime runs"), "{message}");
}

/// Waits when it is dropped.
struct Waits(Arc<sync::MVar<u32>>);

impl Drop for Waits {
    fn drop(&mut self) {
        self.0.take().wait();
    }
}

#[test]
fn waiting_in_the_drop_of_an_output_is_refused() {
    let rt = runtime();
    let mvar = Arc::new(sync::MVar::new(0));
    assert_eq!(mvar.try_take(), Some(0));
    let (theirs, ours) = (mvar.clone(), mvar.clone());
    drop(rt.spawn(async move { Waits(theirs) }));
    rt.spawn(async move {
        yield_now().await;
        ours.put(1).await;
    })
    .wait()
    .unwrap();
    assert_eq!(
        mvar.try_take(),
        Some(1),
        "the drop was refused, so it took nothing"
    );
}
