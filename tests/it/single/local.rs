//! Tasks that are not `Send`: where they live, and where they are dropped.

use std::cell::{Cell, RefCell};
use std::future::{pending, poll_fn};
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::thread;

use gossamer::{Wait, local, runtime::LocalScope, sync, yield_now};

use super::{is_planned, planned, runtime};

struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

#[test]
fn dropped_when_the_call_ends_whatever_they_do() {
    let rt = runtime();
    let dropped = Rc::new(Cell::new(0));
    let output = rt.block_on_local(|scope| {
        let mvar = Rc::new(local::MVar::<u32>::empty());
        for number in 0..4 {
            let (dropped, mvar) = (dropped.clone(), mvar.clone());
            let noted = OnDrop(move || dropped.set(dropped.get() + 1));
            drop(scope.spawn_local(async move {
                let _noted = noted;
                match number {
                    0 => pending().await,
                    1 => drop(mvar.take().await),
                    2 => loop {
                        yield_now().await;
                    },
                    _ => {}
                }
            }));
        }
        async {
            yield_now().await;
            "over"
        }
    });
    assert_eq!((output, dropped.get()), ("over", 4));
}

/// Never polled: spawned last thing before the call ends, or by a task's drop.
#[test]
fn dropped_unpolled() {
    let rt = runtime();
    let dropped = Rc::new(Cell::new(0));
    let count = || {
        let dropped = dropped.clone();
        move || dropped.set(dropped.get() + 1)
    };
    rt.block_on_local(|scope| {
        let (scope, late) = (scope.clone(), OnDrop(count()));
        let in_drop = OnDrop(count());
        let again = scope.clone();
        let mut in_drop = Some(in_drop);
        let handle = OnDrop(move || {
            let in_drop = in_drop.take();
            drop(again.spawn_local(async move { drop(in_drop) }));
        });
        drop(scope.spawn_local(async move {
            let _handle = handle;
            pending::<()>().await;
        }));
        async move {
            yield_now().await;
            drop(scope.spawn_local(async move {
                let _late = late;
                panic!("it is polled after the end");
            }));
        }
    });
    assert_eq!(dropped.get(), 2);
}

#[test]
fn a_scope_used_after_its_end_cancels_at_once() {
    let rt = runtime();
    let mut kept: Option<LocalScope> = None;
    rt.block_on_local(|scope| {
        kept = Some(scope.clone());
        async {}
    });
    let scope = kept.unwrap();
    let dropped = Rc::new(Cell::new(false));
    let noted = OnDrop({
        let dropped = dropped.clone();
        move || dropped.set(true)
    });
    let task = scope.spawn_local(async move { drop(noted) });
    assert!(dropped.get() && task.is_finished());
    assert!(task.wait().unwrap_err().is_cancelled());
    // Also while a later call of the same runtime runs: that one has a scope of its own.
    rt.block_on(async {
        assert!(
            scope
                .spawn_local(async {})
                .await
                .unwrap_err()
                .is_cancelled()
        )
    });
    drop(rt);
    assert!(
        scope
            .spawn_local(async {})
            .wait()
            .unwrap_err()
            .is_cancelled()
    );
    assert!(format!("{scope:?}").contains("open: false"));
}

/// The end of the scope wakes tasks that are not of the scope: they go on in the next call.
#[test]
fn the_end_wakes_others() {
    let rt = runtime();
    let mvar = Arc::new(sync::MVar::<u32>::empty());
    let global = rt.spawn({
        let mvar = mvar.clone();
        async move { mvar.take().await }
    });
    rt.block_on_local(|scope| {
        // In line before the global task, promised the value, and dropped with it.
        let local = mvar.clone();
        drop(scope.spawn_local(async move { local.take().await }));
        let waker = Rc::new(RefCell::new(None::<Waker>));
        let fires = OnDrop({
            let waker = waker.clone();
            move || waker.borrow().iter().for_each(Waker::wake_by_ref)
        });
        drop(scope.spawn_local(async move {
            waker.replace(Some(poll_fn(|cx| Poll::Ready(cx.waker().clone())).await));
            let _fires = fires;
            pending::<()>().await;
        }));
        async {
            for _ in 0..3 {
                yield_now().await;
            }
            assert_eq!(mvar.try_put(5), Ok(()));
        }
    });
    assert_eq!(global.wait().unwrap(), 5);
}

/// The closure panics after it has spawned: the scope ends, and the caller gets the panic.
#[test]
fn a_closure_that_panics() {
    let rt = runtime();
    let dropped = Rc::new(Cell::new(0));
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        rt.block_on_local(|scope| -> std::future::Ready<()> {
            for _ in 0..3 {
                let dropped = dropped.clone();
                let noted = OnDrop(move || dropped.set(dropped.get() + 1));
                drop(scope.spawn_local(async move { drop(noted) }));
            }
            planned()
        });
    }));
    assert!(is_planned(&*caught.unwrap_err()));
    assert_eq!(dropped.get(), 3);
    assert_eq!(rt.block_on(async { 1 }), 1);
}

/// A waker of a local task may go anywhere; the task stays here.
#[test]
fn woken_from_another_thread() {
    let (rt, here) = (runtime(), thread::current().id());
    let kept: Arc<Mutex<Option<Waker>>> = Arc::default();
    let polls = Rc::new(Cell::new(0));
    let done = rt.block_on_local(|scope| {
        let (kept, polls) = (kept.clone(), polls.clone());
        let task = scope.spawn_local(poll_fn(move |cx| {
            assert_eq!(thread::current().id(), here);
            polls.set(polls.get() + 1);
            if polls.get() == 1 {
                let waker = cx.waker().clone();
                let other = thread::spawn(move || waker.wake());
                kept.lock().unwrap().replace(cx.waker().clone());
                drop(other);
                return Poll::Pending;
            }
            Poll::Ready("woken")
        }));
        async { task.await.unwrap() }
    });
    assert_eq!((done, polls.get()), ("woken", 2));
    let waker = kept.lock().unwrap().take().unwrap();
    thread::spawn(move || waker.wake()).join().unwrap();
}

/// A join handle outlives the scope, with an output that was made in time or not at all.
#[test]
fn handles_outlive_the_scope() {
    let rt = runtime();
    let mut handles = Vec::new();
    rt.block_on_local(|scope| {
        handles.push(scope.spawn_local(async { Rc::new(1) }));
        handles.push(scope.spawn_local(pending()));
        yield_now()
    });
    let unfinished = handles.pop().unwrap();
    assert!(unfinished.wait().unwrap_err().is_cancelled());
    assert_eq!(*handles.pop().unwrap().wait().unwrap(), 1);
}
