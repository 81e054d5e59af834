//! First-class OS threads beside the tasks.

use std::panic::panic_any;
use std::sync::Arc;

use gossamer::{Wait, sync::MVar, yield_now};

use super::{each_model, runtime};

#[test]
fn threads_use_the_same_mvars() {
    each_model(|model| {
        let rt = runtime(model);
        let (there, back) = (Arc::new(MVar::<u32>::empty()), Arc::new(MVar::empty()));
        let (from, to) = (there.clone(), back.clone());
        let thread = rt.spawn_thread(move || {
            for _ in 0..100 {
                to.put(from.take().wait() + 1).wait();
            }
            "done"
        });
        let task = rt.spawn(async move {
            for number in 0..100 {
                there.put(number).await;
                assert_eq!(back.take().await, number + 1);
            }
        });
        task.wait().expect("no panic");
        assert_eq!(thread.wait().expect("no panic"), "done");
    });
}

#[test]
fn a_thread_s_panic_comes_back() {
    each_model(|model| {
        let rt = runtime(model);
        let thread = rt.spawn_thread(|| panic_any(5_u8));
        let payload = thread.wait().expect_err("it panicked").try_into_panic();
        assert_eq!(payload.expect("a panic").downcast_ref(), Some(&5_u8));
    });
}

#[test]
fn a_task_joins_a_thread_and_the_other_way_round() {
    each_model(|model| {
        let rt = Arc::new(runtime(model));
        let thread = rt.spawn_thread(|| 1);
        let task = rt.spawn(async move { thread.await.expect("no panic") + 1 });
        if model == gossamer::Model::Single {
            // The task runs only while this thread waits for it.
            assert_eq!(task.wait().expect("no panic"), 2);
            return;
        }
        let joins = rt.spawn_thread(move || task.wait().expect("no panic") + 1);
        assert_eq!(joins.wait().expect("no panic"), 3);
    });
}

#[test]
fn aborting_and_detaching_leave_a_thread_alone() {
    each_model(|model| {
        let rt = runtime(model);
        let mvar = Arc::new(MVar::<u32>::empty());
        let (one, two) = (mvar.clone(), mvar.clone());
        let aborted = rt.spawn_thread(move || one.take().wait());
        aborted.abort();
        drop(rt.spawn_thread(move || two.put(4).wait()));
        assert_eq!(aborted.wait().expect("not aborted"), 4);
    });
}

#[test]
fn blocking_calls_run_beside_the_tasks() {
    each_model(|model| {
        let rt = Arc::new(runtime(model));
        // More than the workers there are: each waits for the next, and the first for a task.
        let mvars: Vec<_> = (0..20).map(|_| Arc::new(MVar::<u32>::empty())).collect();
        let calls: Vec<_> = (1..mvars.len())
            .map(|at| {
                let (from, to) = (mvars[at - 1].clone(), mvars[at].clone());
                rt.spawn_blocking(move || to.put(from.take().wait() + 1).wait())
            })
            .collect();
        let (first, last) = (mvars[0].clone(), mvars[19].clone());
        let task = rt.spawn(async move {
            first.put(0).await;
            last.take().await
        });
        assert_eq!(task.wait().expect("no panic"), 19);
        for call in calls {
            call.wait().expect("no panic");
        }
    });
}

struct PanicsDropped;

impl Drop for PanicsDropped {
    fn drop(&mut self) {
        std::panic::resume_unwind(Box::new("planned"));
    }
}

/// Whoever drops the handles drops the outputs, if the tasks have ended.
#[test]
fn handles_are_dropped_in_peace() {
    each_model(|model| {
        let rt = runtime(model);
        let handles: Vec<_> = (0..4).map(|_| rt.spawn(async { PanicsDropped })).collect();
        let thread = rt.spawn_thread(|| PanicsDropped);
        rt.block_on(async {
            let all = || handles.iter().chain([&thread]);
            while !all().all(|handle| handle.is_finished()) {
                yield_now().await;
            }
        });
        drop(thread);
        drop(handles);
        // While they end, too.
        drop(
            (0..100)
                .map(|_| rt.spawn(async { PanicsDropped }))
                .collect::<Vec<_>>(),
        );
        assert_eq!(rt.spawn(async { 1 }).wait().expect("unharmed"), 1);
    });
}

#[test]
fn an_output_nobody_wants_may_panic_when_dropped() {
    each_model(|model| {
        let rt = runtime(model);
        let go = Arc::new(MVar::<()>::empty());
        let waits = go.clone();
        drop(rt.spawn_thread(move || {
            waits.take().wait();
            PanicsDropped
        }));
        go.put(()).wait();
        assert_eq!(rt.spawn_thread(|| 1).wait().expect("unharmed"), 1);
    });
}
