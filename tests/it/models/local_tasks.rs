//! Tasks that need not be `Send`, under every model: `spawn_local`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::thread;

use gossamer::local::MVar as LocalMVar;
use gossamer::sync::MVar;
use gossamer::{JoinSet, Model, Wait, spawn, spawn_local};

use super::{each_model, runtime};
use crate::contract::panic_text;

/// Whether it was refused, with a message that says what to do.
fn is_refused(spawns: impl FnOnce()) -> bool {
    let Err(payload) = catch_unwind(AssertUnwindSafe(spawns)) else {
        return false;
    };
    let text = panic_text(&*payload);
    assert!(text.contains("call it in block_on()"), "{text}");
    true
}

#[test]
fn in_a_blocking_call_and_in_local_tasks() {
    each_model(|model| {
        let rt = runtime(model);
        let here = thread::current().id();
        let sum = rt.block_on(async {
            let mvar = Rc::new(LocalMVar::empty());
            let from = mvar.clone();
            let outer = spawn_local(async move {
                let inner = spawn_local(async move { from.take().await });
                let elsewhere = spawn(async { 1 });
                assert_eq!(thread::current().id(), here);
                inner.await.expect("no panic") + elsewhere.await.expect("no panic")
            });
            mvar.put(40).await;
            let mut set = JoinSet::new();
            let one = Rc::new(1);
            set.spawn_local(async move { *one });
            outer.await.expect("no panic") + set.join_all().await[0]
        });
        assert_eq!(sum, 42);
    });
}

/// What is left is dropped with the call, on its thread.
#[test]
fn they_end_with_the_call() {
    each_model(|model| {
        let rt = runtime(model);
        let kept = Rc::new(());
        let mut handle = None;
        rt.block_on(async {
            let kept = kept.clone();
            handle = Some(spawn_local(async move {
                let _kept = kept;
                std::future::pending::<()>().await;
            }));
        });
        assert_eq!(Rc::strong_count(&kept), 1);
        let handle = handle.expect("it was spawned");
        assert!(handle.wait().expect_err("dropped").is_cancelled());
    });
}

/// A task that may run on any thread has no say about this one, also where it happens to run here.
#[test]
fn only_what_is_bound_to_the_thread() {
    each_model(|model| {
        let rt = runtime(model);
        let refused = || is_refused(|| drop(spawn_local(async {})));
        let (task, fiber) = (rt.spawn(async move { refused() }), rt.spawn_fiber(refused));
        let (task, fiber) = rt.block_on(async { (task.await, fiber.await) });
        assert!(task.expect("no panic"));
        assert!(fiber.expect("no panic"));
        assert!(refused());
    });
}

#[test]
fn the_innermost_call_has_them() {
    each_model(|model| {
        let (rt, other) = (runtime(model), runtime(Model::Single));
        let three = rt.block_on_local(|_| {
            let one = other.block_on(async { spawn_local(async { 1 }).await.expect("no panic") });
            async move { one + spawn_local(async { 2 }).await.expect("no panic") }
        });
        assert_eq!(three, 3);
    });
}

#[test]
fn ids_and_abort_handles() {
    use gossamer::task::{Id, id, try_id};
    use std::collections::HashSet;

    each_model(|model| {
        let rt = runtime(model);
        assert_eq!(try_id(), None);
        let gate = Arc::new(MVar::<()>::empty());
        let tasks: Vec<_> = (0..10)
            .map(|_| {
                let gate = gate.clone();
                rt.spawn(async move {
                    gate.read().await;
                    id()
                })
            })
            .collect();
        let ids: HashSet<Id> = tasks.iter().map(|task| task.id()).collect();
        assert_eq!(ids.len(), 10);
        let aborts: Vec<_> = tasks.iter().map(|task| task.abort_handle()).collect();
        gate.put(()).wait();
        for (task, abort) in tasks.into_iter().zip(&aborts) {
            let known = task.id();
            assert_eq!(abort.id(), known);
            assert_eq!(task.wait().expect("no panic"), known);
            assert!(abort.is_finished());
            // It is over: nothing happens, now and later.
            abort.abort();
        }
        rt.block_on(async {
            let fiber = rt.spawn_fiber(id);
            let known = fiber.id();
            assert_ne!(id(), known);
            assert_eq!(fiber.await.expect("no panic"), known);
        });
        // What has a handle, and is no task, knows its id as well; a task inside it is itself.
        let inner = runtime(Model::Single);
        let ids = move || (id(), inner.block_on(async { id() }), id());
        let call = rt.spawn_blocking(ids);
        let known = call.id();
        let (before, task, after) = call.wait().expect("no panic");
        assert_eq!((before, after), (known, known));
        assert_ne!(task, known);
        let thread = rt.spawn_thread(id);
        let known = thread.id();
        assert_eq!(thread.wait().expect("no panic"), known);
        let task = rt.spawn(std::future::pending::<()>());
        let (known, abort) = (task.id(), task.abort_handle());
        let aborts = rt.spawn(async move { abort.clone().abort() });
        let error = task.wait().expect_err("aborted");
        assert!(error.is_cancelled() && error.id() == known);
        aborts.wait().expect("no panic");
        let thread = rt.spawn_thread(|| panic!("planned"));
        let known = thread.id();
        let error = thread.wait().expect_err("it panics");
        assert_eq!(
            (error.id(), format!("{error:?}")),
            (known, "the task panicked: planned".into())
        );
        assert_eq!(error.into_panic().downcast_ref(), Some(&"planned"));
    });
}
