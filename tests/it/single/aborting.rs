//! Abort, in every state a task can be in.

use std::cell::Cell;
use std::future::{pending, poll_fn};
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::thread;

use gossamer::{JoinHandle, Wait, sync::MVar, yield_now};

use super::{is_planned, planned, runtime};

/// Counts its polls and drops.
#[derive(Default)]
struct Counts {
    polls: AtomicUsize,
    drops: AtomicUsize,
}

impl Counts {
    fn get(&self) -> (usize, usize) {
        (
            self.polls.load(Ordering::SeqCst),
            self.drops.load(Ordering::SeqCst),
        )
    }
}

struct Counted(Arc<Counts>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.drops.fetch_add(1, Ordering::SeqCst);
    }
}

/// Polled so often it is ready; it wakes itself if asked to.
fn counted(
    counts: &Arc<Counts>,
    polls: usize,
    wakes_itself: bool,
) -> impl Future<Output = ()> + Send + 'static {
    let counted = Counted(counts.clone());
    poll_fn(move |cx| {
        let done = counted.0.polls.fetch_add(1, Ordering::SeqCst) + 1;
        if wakes_itself {
            cx.waker().wake_by_ref();
        }
        if done == polls {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
}

fn assert_cancelled<T: std::fmt::Debug>(task: JoinHandle<T>) {
    let error = task.wait().unwrap_err();
    assert!(error.is_cancelled() && !error.is_panic(), "{error}");
    assert_eq!(error.to_string(), "the task was cancelled");
}

#[test]
fn before_its_first_poll() {
    let (rt, counts) = (runtime(), Arc::new(Counts::default()));
    let task = rt.spawn(counted(&counts, 1, false));
    task.abort();
    assert_cancelled(task);
    assert_eq!(counts.get(), (0, 1));

    rt.block_on_local(|scope| {
        let task = scope.spawn_local(counted(&counts, 1, false));
        task.abort();
        async { assert!(task.await.unwrap_err().is_cancelled()) }
    });
    assert_eq!(counts.get(), (0, 2));
}

#[test]
fn while_parked() {
    let (rt, counts) = (runtime(), Arc::new(Counts::default()));
    let task = rt.spawn(counted(&counts, 9, false));
    rt.block_on(yield_now());
    assert_eq!(counts.get(), (1, 0));
    task.abort();
    task.abort();
    assert_eq!(
        counts.get(),
        (1, 0),
        "it is dropped by who runs, not by who aborts"
    );
    assert_cancelled(task);
    assert_eq!(counts.get(), (1, 1));
}

#[test]
fn while_scheduled() {
    let (rt, counts) = (runtime(), Arc::new(Counts::default()));
    let task = rt.spawn(counted(&counts, usize::MAX, true));
    let polls = rt.block_on(async {
        yield_now().await;
        yield_now().await;
        task.abort();
        counts.get().0
    });
    assert!(polls > 0);
    assert_cancelled(task);
    assert_eq!(counts.get(), (polls, 1));
}

#[test]
fn after_it_has_finished() {
    let (rt, counts) = (runtime(), Arc::new(Counts::default()));
    let task = rt.spawn(counted(&counts, 1, false));
    rt.block_on(yield_now());
    assert!(task.is_finished());
    task.abort();
    assert!(task.wait().is_ok());
    assert_eq!(counts.get(), (1, 1));
}

/// Finished, but still in the run queue: it woke itself in its last poll.
#[test]
fn after_it_has_finished_and_while_scheduled() {
    let (rt, counts) = (runtime(), Arc::new(Counts::default()));
    let task = rt.spawn(counted(&counts, 1, true));
    rt.block_on(yield_now());
    task.abort();
    assert!(task.wait().is_ok());
    rt.block_on(yield_now());
    assert_eq!(counts.get(), (1, 1));
}

#[test]
fn by_itself() {
    let (rt, counts) = (runtime(), Arc::new(Counts::default()));
    let own = Arc::new(Mutex::new(None::<JoinHandle<u32>>));
    let task = rt.spawn({
        let (own, counted) = (own.clone(), Counted(counts.clone()));
        async move {
            own.lock().unwrap().as_ref().unwrap().abort();
            counted.0.polls.fetch_add(1, Ordering::SeqCst);
            yield_now().await;
            counted.0.polls.fetch_add(1, Ordering::SeqCst);
            1
        }
    });
    own.lock().unwrap().replace(task);
    rt.block_on(yield_now());
    rt.block_on(yield_now());
    assert_eq!(counts.get(), (1, 1), "it ends at its next suspension");
    assert_cancelled(own.lock().unwrap().take().unwrap());

    // One that aborts itself and returns has returned.
    let task = rt.spawn({
        let own = own.clone();
        async move {
            own.lock().unwrap().as_ref().unwrap().abort();
            2
        }
    });
    own.lock().unwrap().replace(task);
    rt.block_on(yield_now());
    let task = own.lock().unwrap().take().unwrap();
    assert_eq!(task.wait().unwrap(), 2);
}

/// From other threads, in whatever state it is by then.
#[test]
fn from_another_thread() {
    let rt = runtime();
    let counts = Arc::new(Counts::default());
    for round in 0..300 {
        let task = rt.spawn(counted(&counts, usize::MAX, round % 2 == 0));
        let task = thread::scope(|scope| {
            let aborter = scope.spawn(move || {
                task.abort();
                task
            });
            for _ in 0..round % 5 {
                rt.block_on(yield_now());
            }
            aborter.join().unwrap()
        });
        assert_cancelled(task);
        assert_eq!(counts.get().1, round + 1);
    }
}

/// The one who joins is aborted, and the one who is joined.
#[test]
fn of_both_ends_of_a_join() {
    let rt = runtime();
    let inner = rt.spawn(pending::<()>());
    let outer = rt.spawn(inner);
    rt.block_on(yield_now());
    outer.abort();
    assert_cancelled(outer);

    let inner = rt.spawn(pending::<()>());
    let handle = Arc::new(Mutex::new(Some(inner)));
    let outer = rt.spawn({
        let handle = handle.clone();
        async move {
            poll_fn(|cx| {
                let mut handle = handle.lock().unwrap();
                std::pin::Pin::new(handle.as_mut().unwrap()).poll(cx)
            })
            .await
        }
    });
    rt.block_on(yield_now());
    handle.lock().unwrap().as_ref().unwrap().abort();
    assert!(outer.wait().unwrap().unwrap_err().is_cancelled());
}

/// Aborted while it waits in a line, it passes its turn on.
#[test]
fn in_a_line() {
    let (rt, mvar) = (runtime(), Arc::new(MVar::<u32>::empty()));
    let spawn = || {
        let mvar = mvar.clone();
        rt.spawn(async move { mvar.take().await })
    };
    let (first, second, third) = (spawn(), spawn(), spawn());
    rt.block_on(yield_now());
    first.abort();
    assert_eq!(mvar.try_put(1), Ok(()));
    third.abort();
    assert_eq!(second.wait().unwrap(), 1);
    assert_cancelled(first);
    assert_cancelled(third);
    assert!(mvar.is_empty());
}

/// The panic of an aborted future's drop is what its join says.
#[test]
fn of_a_future_whose_drop_panics() {
    struct Bad(Rc<Cell<u32>>);
    impl Drop for Bad {
        fn drop(&mut self) {
            self.0.set(self.0.get() + 1);
            planned();
        }
    }
    let drops = Rc::new(Cell::new(0));
    runtime().block_on_local(|scope| {
        let bad = Bad(drops.clone());
        let task = scope.spawn_local(async move {
            let _bad = bad;
            pending::<()>().await;
        });
        let other = scope.spawn_local(async {
            yield_now().await;
            3
        });
        async {
            yield_now().await;
            task.abort();
            assert!(is_planned(
                &*task.await.unwrap_err().try_into_panic().unwrap()
            ));
            assert_eq!(other.await.unwrap(), 3);
        }
    });
    assert_eq!(drops.get(), 1);
}

/// A waker that is left over from an aborted task wakes nobody.
#[test]
fn leaves_wakers_that_do_nothing() {
    let rt = runtime();
    let kept = Arc::new(Mutex::new(None::<Waker>));
    let task = rt.spawn({
        let kept = kept.clone();
        poll_fn(move |cx| {
            kept.lock().unwrap().replace(cx.waker().clone());
            Poll::<()>::Pending
        })
    });
    rt.block_on(yield_now());
    task.abort();
    assert_cancelled(task);
    let waker = kept.lock().unwrap().take().unwrap();
    waker.wake_by_ref();
    thread::scope(|scope| scope.spawn(|| waker.wake_by_ref()).join()).unwrap();
    rt.block_on(yield_now());
    drop(rt);
    waker.wake();
}
