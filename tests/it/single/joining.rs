//! Spawning and joining: from inside and outside, once, or never.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use gossamer::{JoinHandle, Wait, sync::MVar, yield_now};

use super::{is_planned, planned, runtime};

struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn joined_from_inside_and_outside() {
    let rt = Arc::new(runtime());
    assert_eq!(rt.spawn(async { 1 }).wait().unwrap(), 1);
    assert_eq!(rt.block_on(rt.spawn(async { 2 })).unwrap(), 2);
    let inner = rt.clone();
    let sum = rt.block_on(async move {
        let tasks: Vec<JoinHandle<u32>> = (0..100)
            .map(|value| {
                inner.spawn(async move {
                    yield_now().await;
                    value
                })
            })
            .collect();
        let mut sum = 0;
        for task in tasks {
            sum += task.await.unwrap();
        }
        sum
    });
    assert_eq!(sum, 4950);
}

#[test]
fn joined_after_it_has_finished() {
    let rt = runtime();
    let task = rt.spawn(async { "done" });
    rt.block_on(async {
        while !task.is_finished() {
            yield_now().await;
        }
    });
    assert!(task.is_finished());
    assert_eq!(task.wait().unwrap(), "done");
}

#[test]
fn a_dropped_handle_detaches() {
    let (rt, done) = (runtime(), Arc::new(MVar::empty()));
    let dropped = Arc::new(AtomicUsize::new(0));
    drop(rt.spawn({
        let (done, output) = (done.clone(), Counted(dropped.clone()));
        async move {
            yield_now().await;
            done.put(()).await;
            output
        }
    }));
    done.take().wait();
    rt.block_on(yield_now());
    assert_eq!(
        dropped.load(Ordering::SeqCst),
        1,
        "nobody wants the output: it is dropped"
    );
}

/// The output is dropped once: by the task, the handle or the joiner.
#[test]
fn an_output_is_dropped_once() {
    let rt = runtime();
    let dropped = Arc::new(AtomicUsize::new(0));
    let spawn = || {
        let output = Counted(dropped.clone());
        rt.spawn(async move { output })
    };
    let (joined, late, never) = (spawn(), spawn(), spawn());
    drop(joined.wait());
    rt.block_on(async {
        yield_now().await;
        yield_now().await;
    });
    assert!(late.is_finished());
    assert_eq!(dropped.load(Ordering::SeqCst), 1);
    drop(late);
    assert_eq!(dropped.load(Ordering::SeqCst), 2);
    drop(rt);
    drop(never);
    assert_eq!(dropped.load(Ordering::SeqCst), 3);
}

#[test]
fn a_panic_comes_back_with_its_payload_and_harms_no_other() {
    let rt = runtime();
    let before = rt.spawn(async {
        yield_now().await;
        1
    });
    let bad = rt.spawn(async {
        yield_now().await;
        planned()
    });
    let after = rt.spawn(async {
        yield_now().await;
        yield_now().await;
        2
    });
    let error = bad.wait().map(|never: ()| never).unwrap_err();
    assert!(error.is_panic() && !error.is_cancelled());
    assert_eq!(error.to_string(), "the task panicked: planned");
    assert!(is_planned(&*error.try_into_panic().unwrap()));
    assert_eq!((before.wait().unwrap(), after.wait().unwrap()), (1, 2));
    assert_eq!(rt.block_on(async { 3 }), 3);
}

/// The root of `block_on` panics on the caller's stack; the runtime and its tasks live on.
#[test]
fn a_panic_of_the_root_is_the_callers() {
    let rt = runtime();
    let other = rt.spawn(async {
        yield_now().await;
        5
    });
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        rt.block_on(async { planned() });
    }));
    assert!(is_planned(&*caught.unwrap_err()));
    assert_eq!(other.wait().unwrap(), 5);
}

/// Thousands of panicking tasks, detached: each is one payload freed and nothing else.
#[test]
fn many_panics_one_after_the_other() {
    let rt = runtime();
    for _ in 0..5000 {
        drop(rt.spawn(async { planned() }));
    }
    let handles: Vec<_> = (0..5000).map(|_| rt.spawn(async { planned() })).collect();
    for handle in handles {
        assert!(handle.wait().map(|never: ()| never).unwrap_err().is_panic());
    }
}

#[test]
fn an_output_whose_drop_panics_ends_nothing_else() {
    struct Bad;
    impl Drop for Bad {
        fn drop(&mut self) {
            planned();
        }
    }
    let rt = runtime();
    drop(rt.spawn(async { Bad }));
    assert_eq!(rt.spawn(async { 1 }).wait().unwrap(), 1);
    // A future whose drop panics after it has returned: that is how its task ends.
    let bad = rt.spawn(async {
        let _bad = Bad;
        7
    });
    let error = bad.wait().unwrap_err();
    assert!(is_planned(&*error.try_into_panic().unwrap()));
    assert_eq!(rt.spawn(async { 2 }).wait().unwrap(), 2);
}

/// A chain of joins, and a join of a task that is itself joined by nobody else.
#[test]
fn joins_in_a_chain() {
    let rt = Arc::new(runtime());
    let mut last = rt.spawn(async { 0_u32 });
    for _ in 0..1000 {
        let before = last;
        last = rt.spawn(async move { before.await.unwrap() + 1 });
    }
    assert_eq!(last.wait().unwrap(), 1000);
}
