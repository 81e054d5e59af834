//! Models of visits: an operation for one thread outlives the `block_on` in which it began to wait, and is dropped
//! while other threads run its shard, or end it.
//!
//! Run by `cargo xtask loom`; what loom cannot see is told in `crates/core/tests/loom.rs`.
#![cfg(loom)]

use std::cell::Cell;
use std::future::{pending, poll_fn};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool as Flag, AtomicUsize as Count, Ordering};
use std::task::{Poll, Waker};

use gossamer_core::context::{self, Context};
use gossamer_core::platform::model::{explore, no_cell_is_left};
use gossamer_core::platform::{Condvar, Mutex, thread, thread_local};
use gossamer_core::shard::thread_ends;
use gossamer_core::wait::{RunWhileWaiting, Wait};
use gossamer_sched::{Single, SingleRuntime};
use gossamer_sync::local;

fn runtime() -> Arc<Single> {
    Single::new().expect("no other runtime exists")
}

/// Counts how often it is dropped.
#[derive(Clone, Default)]
struct Drops(Arc<Count>);

impl Drops {
    fn guard(&self) -> Guard {
        Guard(self.0.clone())
    }

    fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

struct Guard(Arc<Count>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// An operation for one thread that has outlived the `block_on` in which it began to wait.
fn outlives(runtime: &Single) -> impl Sized + use<> {
    let mvar: &'static local::MVar<u32> = Box::leak(Box::new(local::MVar::new(1)));
    let mut put = Box::pin(mvar.put(2));
    let polled = runtime.try_block_on(poll_fn(|cx| {
        assert!(put.as_mut().poll(cx).is_pending());
        Poll::Ready(())
    }));
    polled.expect("the scheduler never stops");
    put
}

/// Such an operation is dropped, which visits the shard, while another thread drops the runtime: the end waits for the
/// visit, and is not lost. If the end comes first, that thread ends the loan.
#[test]
fn visit_against_the_drop() {
    explore("visit_against_the_drop", || {
        let (runtime, drops) = (runtime(), Drops::default());
        let shard = runtime.shard().index();
        let put = outlives(&runtime);
        let guard = drops.guard();
        let handle = runtime.spawn(async move {
            let _guard = guard;
            pending::<()>().await;
        });
        let ends = thread::spawn(move || drop(runtime));
        drop(put);
        ends.join().expect("the other thread does not panic");
        assert_eq!(drops.count(), 1);
        assert!(handle.wait().expect_err("its runtime ended").is_cancelled());
        no_cell_is_left();
        let again = [self::runtime(), self::runtime()].map(|runtime| runtime.shard().index());
        assert!(again.contains(&shard), "a shard is missing");
        assert_ne!(again[0], again[1], "a shard was given back twice");
    });
}

/// The same while another thread runs a future: a visit is no runner, so that one does not panic.
#[test]
fn visit_against_block_on() {
    explore("visit_against_block_on", || {
        let runtime = runtime();
        let put = outlives(&runtime);
        let other = runtime.clone();
        let runs = thread::spawn(move || other.try_block_on(async { 7 }));
        drop(put);
        let ran = runs.join().expect("nobody else runs");
        assert_eq!(ran.expect("the scheduler never stops"), 7);
        drop(runtime);
        no_cell_is_left();
    });
}

thread_local! {
    /// Whether this thread drops an operation, and so may visit.
    static VISITS: Cell<bool> = Cell::new(false);
}

/// Notes whether it is dropped inside a visit.
struct NotInVisit(
    #[expect(dead_code, reason = "it counts its drop")] Guard,
    Drops,
);

impl Drop for NotInVisit {
    fn drop(&mut self) {
        if VISITS.with(Cell::get) {
            drop(self.1.guard());
        }
    }
}

/// The same while another thread runs a task that ends the runtime, which somebody keeps: that thread does it then,
/// and never the visit, which may be under the lock of a primitive.
#[test]
fn visit_against_the_end_in_a_turn() {
    explore("visit_against_the_end_in_a_turn", || {
        let (runtime, drops, in_visit) = (runtime(), Drops::default(), Drops::default());
        let put = outlives(&runtime);
        let guard = NotInVisit(drops.guard(), in_visit.clone());
        let ending = runtime.clone();
        drop(runtime.spawn(async move {
            let _guard = guard;
            ending.end();
            pending::<()>().await;
        }));
        let other = runtime.clone();
        let runs_it = thread::spawn(move || other.turn(Waker::noop()));
        VISITS.with(|visits| visits.set(true));
        drop(put);
        VISITS.with(|visits| visits.set(false));
        let _turned = runs_it.join().expect("the runner does not panic");
        assert_eq!(drops.count(), 1, "the end was lost");
        assert_eq!(in_visit.count(), 0, "a visit has ended the runtime");
        drop(runtime);
        no_cell_is_left();
    });
}

/// A task stays with a thread that ends, while the owner of the runtime waits for it, and may not run before: it is
/// told, and runs.
#[test]
fn visit_against_the_end_of_a_thread() {
    explore("visit_against_the_end_of_a_thread", || {
        let (runtime, drops, begun) = (runtime(), Drops::default(), Arc::new(Flag::new(false)));
        let (guard, begins) = (drops.guard(), begun.clone());
        let handle = runtime.spawn(async move {
            let _guard = guard;
            context::with(Context::pin_polled);
            begins.store(true, Ordering::Relaxed);
            pending::<()>().await;
        });
        let run = Arc::new((Mutex::new(false), Condvar::new()));
        let (runs_it, says) = (runtime.clone(), run.clone());
        let thread = thread::spawn(move || {
            let ran_it = runs_it.try_block_on(poll_fn(|cx| {
                if begun.load(Ordering::Relaxed) {
                    return Poll::Ready(());
                }
                cx.waker().wake_by_ref();
                Poll::Pending
            }));
            ran_it.expect("the scheduler never stops");
            *says.0.lock() = true;
            says.1.notify_all();
            thread_ends();
        });
        let mut has_run = run.0.lock();
        while !*has_run {
            has_run = run.1.wait(has_run);
        }
        drop(has_run);
        assert!(handle.wait().expect_err("its thread ended").is_cancelled());
        thread.join().expect("the other thread does not panic");
        assert_eq!(drops.count(), 1);
        drop(runtime);
        no_cell_is_left();
    });
}
