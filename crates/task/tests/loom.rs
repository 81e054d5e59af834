//! Models of a task's end between threads: the join word, the holds on the memory, abort.
//!
//! Run by `cargo xtask loom`; what loom cannot see is told in `crates/core/tests/loom.rs`. The runner is a
//! `Single` that is given single turns, so that nothing but the task itself is explored. That the memory
//! goes, and goes once, is counted ([`ends_clean`]).
#![cfg(loom)]

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize as Count;
use std::task::{Context, Poll, Waker};

use gossamer_core::parker::Parker;
use gossamer_core::platform::atomic::{AtomicU32, Ordering};
use gossamer_core::platform::model::{explore, no_cell_is_left};
use gossamer_core::platform::{Mutex, thread};
use gossamer_core::wait::{RunWhileWaiting, Turned, Wait};
use gossamer_sched::{Single, SingleRuntime};
use gossamer_task::JoinHandle;

fn runtime() -> Arc<Single> {
    Single::new().expect("no other runtime exists")
}

/// Ends the runtime, whose shard must then be free to be used again: once, and not twice.
fn ends_clean(ending: Arc<Single>) {
    let shard = ending.shard().index();
    drop(ending);
    no_cell_is_left();
    let again = [runtime(), runtime()];
    assert_eq!(again[0].shard().index(), shard, "a shard is missing");
    assert_ne!(
        again[1].shard().index(),
        shard,
        "a shard was given back twice"
    );
}

/// Runs what is runnable.
fn turn(runtime: &Single) {
    while runtime.turn(Waker::noop()) == Turned::More {}
}

/// Counts what was made and dropped.
#[derive(Clone, Default)]
struct Drops(Arc<Count>);

impl Drops {
    fn value(&self) -> Value {
        Value {
            dropped: self.0.clone(),
            // Relaxed, and no loom lock anywhere near: only the join word shows it.
            written: Arc::new(AtomicU32::new(0)),
        }
    }

    fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

/// An output that notices a second drop, and whether it was written before it was read.
struct Value {
    dropped: Arc<Count>,
    written: Arc<AtomicU32>,
}

impl Value {
    fn write(&self) {
        self.written.store(1, Ordering::Relaxed);
    }

    fn check(&self) {
        let written = self.written.load(Ordering::Relaxed);
        assert_eq!(written, 1, "the output was read before it was published");
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        self.dropped.fetch_add(1, Ordering::Relaxed);
    }
}

/// A task whose output is one `Value`, written by its only poll.
fn answer(runtime: &Single, drops: &Drops) -> JoinHandle<Value> {
    let value = drops.value();
    runtime.spawn(async move {
        value.write();
        value
    })
}

/// Finish against the first registration: either the runner finds the waker, or the handle's exchange finds
/// `DONE`; the output is seen as written (`Join::finish` and `Join::register`).
#[test]
fn finish_against_register() {
    explore("finish_against_register", || {
        let (runtime, drops) = (runtime(), Drops::default());
        let handle = answer(&runtime, &drops);
        let waits = thread::spawn(move || {
            let value = handle.wait().expect("the task completes");
            value.check();
        });
        turn(&runtime);
        waits.join().expect("the waiting thread does not panic");
        assert_eq!(drops.count(), 1);
        ends_clean(runtime);
    });
}

/// Finish against a handle that changes its waker: the last one registered is woken, and the word's old
/// content is dropped once (the second exchange in `Join::register`).
#[test]
fn finish_against_another_waker() {
    explore("finish_against_another_waker", || {
        let (runtime, drops) = (runtime(), Drops::default());
        let mut handle = answer(&runtime, &drops);
        let waits = thread::spawn(move || {
            let mut polled = |waker: &Waker| {
                let cx = &mut Context::from_waker(waker);
                Pin::new(&mut handle).poll(cx)
            };
            let first = polled(Waker::noop());
            let output = match first {
                Poll::Ready(output) => output,
                Poll::Pending => Parker::with(|parker| {
                    loop {
                        if let Poll::Ready(output) = polled(parker.waker()) {
                            break output;
                        }
                        parker.park(&mut || false);
                    }
                }),
            };
            output.expect("the task completes").check();
        });
        turn(&runtime);
        waits.join().expect("the waiting thread does not panic");
        assert_eq!(drops.count(), 1);
        ends_clean(runtime);
    });
}

/// Finish against a handle that is dropped, registered before or not: the output is dropped once, by the
/// runner (`Finish::Detached`) or by the handle (`Join::detach`).
#[test]
fn finish_against_detach() {
    explore("finish_against_detach", || {
        let (runtime, drops) = (runtime(), Drops::default());
        let (fresh, mut registered) = (answer(&runtime, &drops), answer(&runtime, &drops));
        let detaches = thread::spawn(move || {
            let cx = &mut Context::from_waker(Waker::noop());
            let _ = Pin::new(&mut registered)
                .poll(cx)
                .map_ok(|value| value.check());
            drop(registered);
            drop(fresh);
        });
        turn(&runtime);
        detaches
            .join()
            .expect("the detaching thread does not panic");
        assert_eq!(drops.count(), 2);
        ends_clean(runtime);
    });
}

/// A thread that looks, without registering: `is_finished` shows the output as well (acquire in
/// `Join::is_done`).
#[test]
fn finish_against_a_look() {
    explore("finish_against_a_look", || {
        let (runtime, drops) = (runtime(), Drops::default());
        let mut handle = answer(&runtime, &drops);
        let looks = thread::spawn(move || {
            if let Some(output) = handle.try_take() {
                output.expect("the task completes").check();
            }
        });
        turn(&runtime);
        looks.join().expect("the looking thread does not panic");
        assert_eq!(drops.count(), 1);
        ends_clean(runtime);
    });
}

/// A task joins a task of another runtime, on another thread: the join word holds a task, not a box, and
/// the wake goes through the other shard's inbox.
#[test]
fn task_joins_a_task_elsewhere() {
    explore("task_joins_a_task_elsewhere", || {
        let (here, drops) = (runtime(), Drops::default());
        let handle = answer(&here, &drops);
        let joins = thread::spawn(move || {
            let there = runtime();
            let joined = there
                .try_block_on(handle)
                .expect("the scheduler never stops");
            joined.expect("the task completes").check();
        });
        turn(&here);
        joins.join().expect("the joining thread does not panic");
        assert_eq!(drops.count(), 1);
        drop(here);
        no_cell_is_left();
        // Both shards are free.
        let again = [runtime(), runtime()].map(|runtime| runtime.shard().index());
        assert!(again.iter().all(|shard| *shard < 2), "a shard is missing");
        assert_ne!(again[0], again[1], "a shard was given back twice");
    });
}

/// A task that gives its waker away and waits for `polls_left` more polls.
struct Polled {
    polls_left: u32,
    waker: Arc<std::sync::Mutex<Option<Waker>>>,
    _value: Value,
}

impl Future for Polled {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if let Ok(mut slot) = self.waker.try_lock() {
            slot.get_or_insert_with(|| cx.waker().clone());
        }
        let last = self.polls_left == 0;
        self.polls_left = self.polls_left.saturating_sub(1);
        if last { Poll::Ready(()) } else { Poll::Pending }
    }
}

/// Such a task, polled once, and its waker.
fn polled(runtime: &Single, drops: &Drops, polls_left: u32) -> (JoinHandle<()>, Waker) {
    // Not a loom mutex: nobody else has it when it is used.
    let slot = Arc::new(std::sync::Mutex::new(None));
    let handle = runtime.spawn(Polled {
        polls_left: polls_left + 1,
        waker: slot.clone(),
        _value: drops.value(),
    });
    turn(runtime);
    let waker = slot.lock().expect("nobody panicked").take();
    (handle, waker.expect("the task was polled"))
}

/// Wakers are cloned and dropped on another thread while the task ends: the last reference frees the memory,
/// whoever has it (`RefCount::ref_inc`, `RefCount::ref_dec`).
#[test]
fn waker_drops_against_the_end_of_its_task() {
    explore("waker_drops_against_the_end_of_its_task", || {
        let (runtime, drops) = (runtime(), Drops::default());
        let (handle, waker) = polled(&runtime, &drops, 0);
        waker.wake_by_ref();
        turn(&runtime);
        let (one, two) = (waker.clone(), waker.clone());
        let threads = [one, two].map(|waker| {
            thread::spawn(move || {
                let more = waker.clone();
                drop(waker);
                drop(more);
            })
        });
        drop(waker);
        drop(handle);
        for thread in threads {
            thread.join().expect("the other thread does not panic");
        }
        assert_eq!(drops.count(), 1);
        ends_clean(runtime);
    });
}

/// A waker wakes, late, a task that the runner finishes and releases: the inbox's reference, the waker's and
/// the runner's go in any order (`Queue::Gone`, `Drained::Gone`).
#[test]
fn late_wake_against_the_end_of_its_task() {
    explore("late_wake_against_the_end_of_its_task", || {
        let (runtime, drops) = (runtime(), Drops::default());
        let (handle, waker) = polled(&runtime, &drops, 0);
        let late = waker.clone();
        let wakes = thread::spawn(move || late.wake());
        drop(handle);
        waker.wake();
        turn(&runtime);
        wakes.join().expect("the waking thread does not panic");
        turn(&runtime);
        assert_eq!(drops.count(), 1);
        ends_clean(runtime);
    });
}

/// Abort against the poll that finishes: the future is dropped once, and the handle says which of the two
/// came first.
#[test]
fn abort_against_finish() {
    explore("abort_against_finish", || {
        let (runtime, drops) = (runtime(), Drops::default());
        let (handle, waker) = polled(&runtime, &drops, 0);
        let aborts = thread::spawn(move || {
            handle.abort();
            handle
        });
        waker.wake();
        turn(&runtime);
        let mut handle = aborts.join().expect("the aborting thread does not panic");
        turn(&runtime);
        let ended = handle
            .try_take()
            .expect("it has finished, or was cancelled");
        assert!(ended.is_ok() || ended.is_err_and(|error| error.is_cancelled()));
        drop(handle);
        assert_eq!(drops.count(), 1);
        ends_clean(runtime);
    });
}

/// Abort against a wake from a third thread: one of them finds the task queued already; the abort counts.
#[test]
fn abort_against_wake() {
    explore("abort_against_wake", || {
        let (runtime, drops) = (runtime(), Drops::default());
        let (handle, waker) = polled(&runtime, &drops, 9);
        let wakes = thread::spawn(move || waker.wake());
        let aborts = thread::spawn(move || {
            handle.abort();
            handle
        });
        turn(&runtime);
        wakes.join().expect("the waking thread does not panic");
        let mut handle = aborts.join().expect("the aborting thread does not panic");
        turn(&runtime);
        let ended = handle.try_take().expect("it was cancelled");
        assert!(ended.is_err_and(|error| error.is_cancelled()));
        drop(handle);
        assert_eq!(drops.count(), 1);
        ends_clean(runtime);
    });
}

/// An abort wakes a runner that is parked, or about to be: whoever joins the task gets on.
#[test]
fn abort_against_park() {
    explore("abort_against_park", || {
        let (runtime, drops) = (runtime(), Drops::default());
        let (handle, waker) = polled(&runtime, &drops, 9);
        drop(waker);
        let handle = Arc::new(Mutex::new(handle));
        let other = handle.clone();
        let aborts = thread::spawn(move || other.lock().abort());
        let joins = std::future::poll_fn(|cx| Pin::new(&mut *handle.lock()).poll(cx));
        let ended = runtime
            .try_block_on(joins)
            .expect("the scheduler never stops");
        assert!(ended.is_err_and(|error| error.is_cancelled()));
        aborts.join().expect("the aborting thread does not panic");
        drop(handle);
        assert_eq!(drops.count(), 1);
        ends_clean(runtime);
    });
}
