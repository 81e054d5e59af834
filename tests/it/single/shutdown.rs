//! Dropping a runtime: every future is dropped, where it should be, in whatever state its task is.

use std::future::{pending, poll_fn};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::task::{Poll, Waker};
use std::thread::{self, ThreadId};

use gossamer::{JoinHandle, Runtime, Wait, sync::MVar, yield_now};

use super::{is_planned, planned, runtime};
use crate::models::watched;

/// Notes on which thread it is dropped.
struct Noted(Arc<Mutex<Vec<ThreadId>>>);

impl Drop for Noted {
    fn drop(&mut self) {
        self.0.lock().unwrap().push(thread::current().id());
    }
}

type Future = Pin<Box<dyn std::future::Future<Output = ()> + Send>>;

/// One task in each state that it can be left in. The mvar is empty.
fn in_each_state(mvar: &Arc<MVar<u32>>, wakers: &Arc<Mutex<Vec<Waker>>>) -> Vec<Future> {
    let full = Arc::new(MVar::new(0));
    let (taking, putting) = (mvar.clone(), full.clone());
    let (one, two) = (wakers.clone(), wakers.clone());
    vec![
        Box::pin(async {}),
        Box::pin(pending()),
        Box::pin(async move {
            taking.take().await;
        }),
        Box::pin(async move { putting.put(1).await }),
        Box::pin(async {
            loop {
                yield_now().await;
            }
        }),
        Box::pin(poll_fn(move |cx| {
            one.lock().unwrap().push(cx.waker().clone());
            Poll::Pending
        })),
        Box::pin(poll_fn(move |cx| {
            // Finished, and still in the run queue.
            cx.waker().wake_by_ref();
            two.lock().unwrap().push(cx.waker().clone());
            Poll::Ready(())
        })),
    ]
}

#[test]
fn with_live_tasks_in_every_state() {
    for turns in 0..4 {
        let (rt, mvar, wakers) = (runtime(), Arc::new(MVar::empty()), Arc::default());
        let noted: Arc<Mutex<Vec<ThreadId>>> = Arc::default();
        let futures = in_each_state(&mvar, &wakers);
        let count = futures.len();
        let mut handles: Vec<JoinHandle<()>> = futures
            .into_iter()
            .map(|future| {
                let noted = Noted(noted.clone());
                rt.spawn(async move {
                    let _noted = noted;
                    future.await;
                })
            })
            .collect();
        for _ in 0..turns {
            rt.block_on(yield_now());
        }
        // Another one that is joined by a task of this runtime, and one that joins.
        let joined = handles.pop().unwrap();
        handles.push(rt.spawn(async move { drop(joined.await) }));
        if turns == 3 {
            rt.block_on(yield_now());
        }
        let here = thread::spawn(move || {
            drop(rt);
            thread::current().id()
        });
        let here = here.join().unwrap();
        let threads = noted.lock().unwrap();
        assert_eq!(threads.len(), count, "{turns} turns");
        let own = thread::current().id();
        assert!(
            threads
                .iter()
                .all(|thread| *thread == here || (turns > 0 && *thread == own))
        );
        for handle in handles {
            let result = handle.wait();
            assert!(result.is_ok() || result.unwrap_err().is_cancelled());
        }
        assert_eq!(mvar.try_put(1), Ok(()), "nobody waits for it any more");
        assert_eq!(mvar.try_take(), Some(1));
        wakers.lock().unwrap().drain(..).for_each(Waker::wake);
    }
}

/// A future whose drop spawns, wakes, aborts and joins: all of it comes to nothing, and nothing hangs.
#[test]
fn a_drop_that_is_busy() {
    struct Busy {
        rt: Arc<Mutex<Option<Arc<Runtime>>>>,
        spawned: Arc<AtomicUsize>,
        waker: Option<Waker>,
        other: JoinHandle<()>,
    }
    impl Drop for Busy {
        fn drop(&mut self) {
            self.other.abort();
            self.waker.iter().for_each(Waker::wake_by_ref);
            let rt = self.rt.lock().unwrap().clone();
            if let Some(rt) = rt {
                let spawned = self.spawned.clone();
                let late = rt.spawn(async move {
                    spawned.fetch_add(1, Ordering::SeqCst);
                });
                drop(late);
            }
        }
    }
    let spawned = Arc::new(AtomicUsize::new(0));
    let rt = Arc::new(runtime());
    let slot = Arc::new(Mutex::new(Some(rt.clone())));
    for _ in 0..10 {
        let other = rt.spawn(pending());
        let mut busy = Busy {
            rt: slot.clone(),
            spawned: spawned.clone(),
            waker: None,
            other,
        };
        drop(rt.spawn(async move {
            busy.waker = poll_fn(|cx| Poll::Ready(Some(cx.waker().clone()))).await;
            pending::<()>().await;
            drop(busy);
        }));
    }
    rt.block_on(async {
        for _ in 0..5 {
            yield_now().await;
        }
    });
    // The slot keeps the runtime alive until here; the tasks cannot reach it while it ends.
    slot.lock().unwrap().take();
    drop(Arc::into_inner(rt).expect("nobody else has it"));
    assert_eq!(spawned.load(Ordering::SeqCst), 0);
}

/// What ends in one runtime spawns into another, which is dropped undriven.
#[test]
fn spawned_into_while_it_ends() {
    struct SpawnsInDrop(Option<Arc<Runtime>>, Arc<AtomicUsize>);
    impl Drop for SpawnsInDrop {
        fn drop(&mut self) {
            let value = Guard(self.1.clone());
            if let Some(rt) = self.0.take() {
                drop(rt.spawn(async move { drop(value) }));
            }
        }
    }
    struct Guard(Arc<AtomicUsize>);
    impl Drop for Guard {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let dropped = Arc::new(AtomicUsize::new(0));
    let (first, second) = (Arc::new(runtime()), Arc::new(runtime()));
    let bomb = SpawnsInDrop(Some(second.clone()), dropped.clone());
    drop(first.spawn(async move {
        let _bomb = bomb;
        pending::<()>().await;
    }));
    first.block_on(yield_now());
    drop(first);
    assert_eq!(
        dropped.load(Ordering::SeqCst),
        0,
        "it waits in the second runtime"
    );
    drop(second);
    assert_eq!(dropped.load(Ordering::SeqCst), 1);
}

#[test]
fn drops_that_panic() {
    struct Bad;
    impl Drop for Bad {
        fn drop(&mut self) {
            planned();
        }
    }
    let rt = runtime();
    let tasks: Vec<_> = (0..10)
        .map(|number| {
            let bad = (number % 2 == 0).then(|| Bad);
            rt.spawn(async move {
                let _bad = bad;
                pending::<()>().await;
            })
        })
        .collect();
    rt.block_on(yield_now());
    drop(rt);
    for (number, task) in tasks.into_iter().enumerate() {
        let error = task.wait().unwrap_err();
        if number % 2 == 0 {
            assert!(is_planned(&*error.try_into_panic().unwrap()));
        } else {
            assert!(error.is_cancelled());
        }
    }
}

/// Who waits in a thread for a task of a runtime that ends is told so.
#[test]
fn a_thread_that_joins_is_woken() {
    let rt = runtime();
    let task = rt.spawn(pending::<()>());
    let (joining, started) = (Arc::new(MVar::empty()), Arc::new(MVar::empty()));
    let joiner = thread::spawn({
        let (joining, started) = (joining.clone(), started.clone());
        move || {
            started.put(()).wait();
            let result = task.wait();
            joining.put(result.unwrap_err().is_cancelled()).wait();
        }
    });
    started.take().wait();
    drop(rt);
    assert!(joining.take().wait());
    joiner.join().unwrap();
}

/// A task spawned through a borrow that outlives the run is kept until the end.
#[test]
fn never_run_at_all() {
    let dropped = Arc::new(Mutex::new(Vec::new()));
    let rt = runtime();
    let tasks: Vec<_> = (0..100)
        .map(|_| {
            let noted = Noted(dropped.clone());
            rt.spawn(async move { drop(noted) })
        })
        .collect();
    drop(rt);
    assert_eq!(dropped.lock().unwrap().len(), 100);
    for task in tasks {
        assert!(task.wait().unwrap_err().is_cancelled());
    }
}

/// The runtime is dropped by a task of its own, and its handle keeps what is left of it.
#[test]
fn in_a_poll_of_its_own() {
    watched("own poll", || {
        let rt = runtime();
        let (handle, mvar) = (rt.handle(), Arc::new(MVar::empty()));
        let endless = rt.spawn(pending::<()>());
        let takes = mvar.clone();
        let drops = rt.spawn(async move { drop(takes.take().await) });
        mvar.put(rt).wait();
        drop(drops.wait());
        assert!(endless.wait().is_err_and(|error| error.is_cancelled()));
        assert!(handle.spawn(async {}).wait().is_err());
    });
}

/// The runtime is dropped by another thread while its own is in a poll, and does not wait for anything afterwards.
#[test]
fn in_a_turn_of_another_thread() {
    watched("turn", || {
        let rt = runtime();
        let (handle, both) = (rt.handle(), Arc::new(Barrier::new(2)));
        let endless = rt.spawn(pending::<()>());
        let meets = both.clone();
        let stuck = rt.spawn(async move {
            meets.wait();
            meets.wait();
        });
        let dropper = thread::spawn(move || {
            both.wait();
            drop(rt);
            both.wait();
        });
        stuck.wait().expect("no panic");
        dropper.join().expect("no panic");
        assert!(endless.is_finished());
        drop(handle);
    });
}
