//! A runtime inside a runtime, and the calls that are refused inside a task.

use std::future::{pending, poll_fn};
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::task::Poll;

use gossamer::{Wait, local, sync, yield_now};

use super::{panic_of, runtime};

#[test]
fn wait_inside_a_poll_panics_and_names_the_line() {
    let rt = runtime();
    let mvar = Arc::new(sync::MVar::<u32>::empty());
    let line = line!() + 1;
    let (message, at) = panic_of(|| rt.block_on(async { mvar.take().wait() }));
    assert!(
        message.starts_with("wait() was called inside a task"),
        "{message}"
    );
    assert!(message.contains(".await"), "it says what to do: {message}");
    assert!(at.ends_with(&format!("nesting.rs:{line}")), "{at}");
    // Also what would not have waited, and in a task that is not the root.
    let task = rt.spawn(async { panic_of(|| std::future::ready(1).wait()).0 });
    assert!(
        task.wait()
            .unwrap()
            .starts_with("wait() was called inside a task")
    );
}

#[test]
fn block_on_inside_a_poll_is_refused() {
    let (rt, other) = (Arc::new(runtime()), Arc::new(runtime()));
    let messages = rt.block_on(async {
        [
            panic_of(|| rt.block_on(async {})),
            panic_of(|| other.block_on(async {})),
            panic_of(|| other.block_on_local(|_| async {})),
        ]
    });
    for (message, at) in messages {
        assert!(
            message.starts_with("block_on() was called inside a task"),
            "{message}"
        );
        assert!(at.contains("nesting.rs"), "{at}");
    }
    assert_eq!(
        (rt.block_on(async { 1 }), other.block_on(async { 2 })),
        (1, 2)
    );
}

/// The runtime is the thread's, though it does not run so far.
#[test]
fn block_on_before_the_runtime_runs_is_refused() {
    let (rt, other) = (runtime(), runtime());
    let (message, at) = rt.block_on_local(|_| {
        assert_eq!(other.block_on(async { 1 }), 1);
        let refused = panic_of(|| rt.block_on(async {}));
        async { refused }
    });
    assert!(
        message.starts_with("block_on() in the closure of block_on_local()"),
        "{message}"
    );
    assert!(at.contains("nesting.rs"), "{at}");
}

/// A future's drop is part of its task: nothing may block there either.
#[test]
fn wait_inside_a_drop_is_refused() {
    struct Waits(Arc<Mutex<Vec<String>>>);
    impl Drop for Waits {
        fn drop(&mut self) {
            let (message, _) = panic_of(|| yield_now().wait());
            self.0.lock().unwrap().push(message);
        }
    }
    let messages: Arc<Mutex<Vec<String>>> = Arc::default();
    let rt = runtime();
    for number in 0..4 {
        let waits = Waits(messages.clone());
        let task = rt.spawn(async move {
            let _waits = waits;
            if number % 2 == 0 {
                yield_now().await
            } else {
                pending().await
            }
        });
        if number == 1 {
            task.abort();
        }
        drop(task);
    }
    rt.block_on(async {
        for _ in 0..5 {
            yield_now().await;
        }
    });
    drop(rt);
    let messages = messages.lock().unwrap();
    assert_eq!(messages.len(), 4);
    assert!(
        messages.iter().all(|text| text.contains("inside a task")),
        "{messages:?}"
    );
}

/// Tasks that build, fill and drop runtimes of their own.
#[test]
fn a_runtime_is_dropped_inside_a_task_of_another() {
    let outer = runtime();
    let mvar = Arc::new(sync::MVar::<u32>::empty());
    let task = outer.spawn({
        let mvar = mvar.clone();
        async move {
            let inner = runtime();
            let handles: Vec<_> = (0..3)
                .map(|number| {
                    let mvar = mvar.clone();
                    inner.spawn(async move {
                        if number > 0 {
                            mvar.put(number).await
                        }
                    })
                })
                .collect();
            yield_now().await;
            drop(inner);
            let mut cancelled = 0;
            for handle in handles {
                cancelled += u32::from(handle.await.unwrap_err().is_cancelled());
            }
            cancelled
        }
    });
    assert_eq!(task.wait().unwrap(), 3);
    assert!(mvar.is_empty());
}

/// Dropping the inner runtime wakes the outer one's task, and the other way round.
#[test]
fn a_drop_inside_wakes_outside() {
    let outer = Arc::new(runtime());
    let mvar = Arc::new(sync::MVar::<u32>::empty());
    let inner = runtime();
    // First in line is a task of the inner runtime; behind it, one of the outer.
    let first = inner.spawn({
        let mvar = mvar.clone();
        async move { mvar.take().await }
    });
    inner.block_on(yield_now());
    let second = outer.spawn({
        let mvar = mvar.clone();
        async move { mvar.take().await }
    });
    outer.block_on(yield_now());
    assert_eq!(mvar.try_put(5), Ok(()));
    outer.block_on(async {
        drop(inner);
        assert!(first.await.unwrap_err().is_cancelled());
    });
    assert_eq!(second.wait().unwrap(), 5);
}

/// A runtime that is dropped by its own task's end: the task holds the last reference.
#[test]
fn a_task_holds_another_runtime() {
    let outer = runtime();
    let inner = Arc::new(runtime());
    let held = inner.clone();
    let (sender, receiver) = std::sync::mpsc::channel();
    let task = outer.spawn(async move {
        sender.send(held.spawn(pending::<()>())).unwrap();
        drop(held);
    });
    drop(inner);
    task.wait().unwrap();
    assert!(receiver.recv().unwrap().wait().unwrap_err().is_cancelled());
}

/// A simulation, whose operations yield, inside a thread that owns runtimes whose do not.
#[test]
fn a_simulation_beside_a_runtime() {
    let rt = runtime();
    let mvar = Arc::new(sync::MVar::new(1));
    let outside = rt.spawn({
        let mvar = mvar.clone();
        async move {
            let value = mvar.take().await;
            mvar.put(value + 1).await;
        }
    });
    let polls = gossamer_sim::run(0, || async {
        let mvar = Rc::new(local::MVar::new(1));
        let mut take = std::pin::pin!(mvar.take());
        let mut polls = 0;
        poll_fn(|cx| {
            polls += 1;
            take.as_mut().poll(cx)
        })
        .await;
        polls
    });
    assert_eq!(polls.unwrap(), 2);
    outside.wait().unwrap();
    assert_eq!(mvar.try_take(), Some(2));
    let polls = rt.block_on(async {
        let mut put = std::pin::pin!(mvar.put(1));
        poll_fn(|cx| Poll::Ready(put.as_mut().poll(cx).is_ready())).await
    });
    assert!(polls, "outside of the simulation nothing yields");
}
