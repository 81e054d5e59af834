//! Models of the whole `Pool`, and of `Threads` and `Blocking`: beginning, resizing, end.
//!
//! Run by `cargo xtask loom`; what loom cannot see is told in `crates/core/tests/loom.rs`. The hand-overs
//! themselves have models of their own, in `crates/sched/src/pool/tests.rs`. A model that explodes with two preemptions
//! is given fewer (`explore_within`): one, or none, and then only what blocks changes the order.
#![cfg(loom)]

use std::future::poll_fn;
use std::num::NonZeroUsize;
use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize as Count;
use std::task::{Poll, Waker};

use gossamer_core::platform::atomic::{AtomicBool, Ordering};
use gossamer_core::platform::model::{explore, explore_within, no_cell_is_left};
use gossamer_core::platform::{Mutex, thread};
use gossamer_core::shard::Shard;
use gossamer_core::wait::Wait;
use gossamer_sched::{Blocking, Pool, Threads};
use gossamer_task::JoinHandle;

fn pool(workers: usize) -> Pool {
    let workers = NonZeroUsize::new(workers).expect("at least one");
    Pool::new(workers).expect("no other pool exists")
}

/// All threads end, and then all shards are free to be used again: once, and not twice.
fn ends_clean(shards: usize) {
    thread::join_built();
    no_cell_is_left();
    shards_are_free(shards);
}

/// Closes a shard that nobody runs.
fn close(shard: &'static Shard) {
    let guard = shard.acquire(false).expect("nobody runs it");
    guard.seal();
    guard.close();
}

/// All of these shards are free, once and not twice.
fn shards_are_free(shards: usize) {
    let again = (0..=shards).map(|_| Shard::open().expect("few shards are in use"));
    let mut again: Vec<usize> = again.map(|shard| usize::from(shard.index())).collect();
    again.sort_unstable();
    let expected: Vec<usize> = (0..=shards).collect();
    assert_eq!(
        again, expected,
        "a shard is missing, or was given back twice"
    );
}

/// What a model's tasks did.
#[derive(Clone, Default)]
struct Log {
    polls: Arc<Count>,
    dropped: Arc<Count>,
}

impl Log {
    fn guard(&self) -> Guard {
        Guard(self.clone())
    }

    fn polls(&self) -> usize {
        self.polls.load(Ordering::Relaxed)
    }

    fn dropped(&self) -> usize {
        self.dropped.load(Ordering::Relaxed)
    }

    /// A task that is ready at once.
    fn once(&self) -> impl Future<Output = ()> + Send + use<> {
        let guard = self.guard();
        async move {
            guard.0.polls.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A task that gives its waker out and waits for the flag.
    fn waits(&self, gate: &Arc<Gate>) -> impl Future<Output = ()> + Send + use<> {
        let (guard, gate) = (self.guard(), gate.clone());
        poll_fn(move |cx| {
            guard.0.polls.fetch_add(1, Ordering::Relaxed);
            *gate.waker.lock() = Some(cx.waker().clone());
            // Relaxed: the lock orders it, or the wake.
            match gate.open.load(Ordering::Relaxed) {
                true => Poll::Ready(()),
                false => Poll::Pending,
            }
        })
    }
}

/// Counts when it is dropped.
struct Guard(Log);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.dropped.fetch_add(1, Ordering::Relaxed);
    }
}

/// What a task waits for.
struct Gate {
    open: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

impl Gate {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            open: AtomicBool::new(false),
            waker: Mutex::new(None),
        })
    }

    /// Opens it and wakes who waits, if anybody does yet.
    fn open(&self) {
        // Relaxed: the lock orders it, or the wake.
        self.open.store(true, Ordering::Relaxed);
        let waker = self.waker.lock().take();
        waker.into_iter().for_each(Waker::wake);
    }
}

trait Spawn {
    fn start<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static;
}

impl Spawn for Pool {
    fn start<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.spawn(future, Location::caller())
    }
}

impl Spawn for Threads {
    fn start<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.spawn(future, Location::caller())
    }
}

/// A task spawned from outside, waited for from outside; then the pool ends with its worker idle, or just going to be.
#[test]
fn spawn_and_join() {
    explore("spawn_and_join", || {
        let (pool, log) = (pool(1), Log::default());
        pool.start(log.once()).wait().expect("the task completes");
        drop(pool);
        assert_eq!((log.polls(), log.dropped()), (1, 1));
        ends_clean(2);
    });
}

/// A wake from outside of a task of the pool: it completes.
#[test]
fn wake_from_outside() {
    explore("wake_from_outside", || {
        let (pool, log, gate) = (pool(1), Log::default(), Gate::new());
        let handle = pool.start(log.waits(&gate));
        gate.open();
        handle.wait().expect("the task completes");
        drop((pool, gate));
        assert_eq!(log.dropped(), 1);
        ends_clean(2);
    });
}

/// An abort from outside, at whatever moment of the task's life: it ends, and the waiter hears of it.
#[test]
fn abort_from_outside() {
    explore("abort_from_outside", || {
        let (pool, log, gate) = (pool(1), Log::default(), Gate::new());
        let handle = pool.start(log.waits(&gate));
        handle.abort();
        let ended = handle.wait();
        assert!(ended.expect_err("it never completes").is_cancelled());
        assert_eq!(log.dropped(), 1);
        drop((pool, gate));
        ends_clean(2);
    });
}

/// A spawn against the end of the pool: the future is polled or not, and dropped once; the handle hears of it.
#[test]
fn spawn_against_the_end() {
    explore("spawn_against_the_end", || {
        let (pool, log) = (Arc::new(pool(1)), Log::default());
        let (other, its) = (pool.clone(), log.clone());
        let spawns = thread::spawn(move || {
            let handle = other.start(its.once());
            drop(other);
            handle.wait()
        });
        pool.shutdown(None);
        let ended = spawns.join().expect("the other thread does not panic");
        assert!(ended.is_ok() || ended.is_err_and(|error| error.is_cancelled()));
        drop(pool);
        assert_eq!(log.dropped(), 1);
        ends_clean(2);
    });
}

/// A wake against the end of the pool.
#[test]
fn wake_against_the_end() {
    explore("wake_against_the_end", || {
        let (pool, log, gate) = (pool(1), Log::default(), Gate::new());
        let handle = pool.start(log.waits(&gate));
        let wakes = thread::spawn(move || gate.open());
        drop(pool);
        assert_eq!(log.dropped(), 1);
        let ended = handle.wait();
        assert!(ended.is_ok() || ended.is_err_and(|error| error.is_cancelled()));
        wakes.join().expect("the waker does not panic");
        ends_clean(2);
    });
}

/// An abort against the end of the pool.
#[test]
fn abort_against_the_end() {
    explore("abort_against_the_end", || {
        let (pool, log, gate) = (pool(1), Log::default(), Gate::new());
        let handle = pool.start(log.waits(&gate));
        let aborts = thread::spawn(move || {
            handle.abort();
            handle.wait()
        });
        drop(pool);
        let ended = aborts.join().expect("the other thread does not panic");
        assert!(ended.expect_err("it never completes").is_cancelled());
        drop(gate);
        assert_eq!(log.dropped(), 1);
        ends_clean(2);
    });
}

/// A join handle is dropped while the pool ends.
#[test]
fn detach_against_the_end() {
    explore("detach_against_the_end", || {
        let (pool, log) = (pool(1), Log::default());
        let handle = pool.start(log.once());
        let detaches = thread::spawn(move || drop(handle));
        drop(pool);
        detaches.join().expect("the other thread does not panic");
        assert_eq!(log.dropped(), 1);
        ends_clean(2);
    });
}

/// A task waits for another, and the pool ends: both futures go, and what the one holds of the other.
#[test]
fn joined_tasks_against_the_end() {
    explore("joined_tasks_against_the_end", || {
        let (pool, log, gate) = (pool(1), Log::default(), Gate::new());
        let inner = pool.start(log.waits(&gate));
        let guard = log.guard();
        let outer = pool.start(async move {
            let _guard = guard;
            let _ended = inner.await;
        });
        drop(pool);
        assert!(outer.is_finished());
        drop((outer, gate));
        assert_eq!(log.dropped(), 2);
        ends_clean(2);
    });
}

/// The pool grows while a task comes from outside, and ends.
#[test]
fn grow_against_spawn() {
    explore_within(1, "grow_against_spawn", || {
        let (pool, log) = (pool(1), Log::default());
        let handle = pool.start(log.once());
        pool.resize(2).wait().expect("it grows");
        handle.wait().expect("the task completes");
        drop(pool);
        assert_eq!((log.polls(), log.dropped()), (1, 1));
        ends_clean(3);
    });
}

/// The pool shrinks with a task in it, which is woken meanwhile: it completes. Four threads: not one preemption.
#[test]
fn shrink_against_wake() {
    explore_within(0, "shrink_against_wake", || {
        let (pool, log, gate) = (pool(2), Log::default(), Gate::new());
        let handle = pool.start(log.waits(&gate));
        let wakes = thread::spawn(move || gate.open());
        pool.resize(1).wait().expect("it shrinks");
        handle.wait().expect("the task completes");
        wakes.join().expect("the waker does not panic");
        drop(pool);
        assert_eq!(log.dropped(), 1);
        ends_clean(3);
    });
}

/// The pool ends while another thread waits for it to shrink: that one hears of it.
#[test]
fn shrink_against_the_end() {
    explore_within(1, "shrink_against_the_end", || {
        let (pool, log) = (Arc::new(pool(2)), Log::default());
        drop(pool.start(log.once()));
        let resize = pool.resize(1);
        let resizes = thread::spawn(move || resize.wait());
        pool.shutdown(None);
        // Either it was in time, or not.
        let _ended = resizes.join().expect("the other thread does not panic");
        drop(pool);
        assert_eq!(log.dropped(), 1);
        ends_clean(3);
    });
}

/// The pool ends while another thread has it grow: no worker that came late is forgotten.
#[test]
fn grow_against_the_end() {
    explore_within(1, "grow_against_the_end", || {
        let (pool, log) = (Arc::new(pool(1)), Log::default());
        drop(pool.start(log.once()));
        let resize = pool.resize(2);
        let resizes = thread::spawn(move || resize.wait());
        pool.shutdown(None);
        // Either it was in time, or not.
        let _ended = resizes.join().expect("the other thread does not panic");
        drop(pool);
        assert_eq!(log.dropped(), 1);
        thread::join_built();
    });
}

/// The pool shrinks and grows again, and a task that was there is woken in between. Not one preemption.
#[test]
fn shrink_and_grow_against_wake() {
    explore_within(0, "shrink_and_grow_against_wake", || {
        let (pool, log, gate) = (pool(1), Log::default(), Gate::new());
        let handle = pool.start(log.waits(&gate));
        let wakes = thread::spawn(move || gate.open());
        pool.resize(2).wait().expect("it grows");
        pool.resize(1).wait().expect("it shrinks");
        handle.wait().expect("the task completes");
        wakes.join().expect("the waker does not panic");
        drop(pool);
        assert_eq!(log.dropped(), 1);
        ends_clean(3);
    });
}

/// Two workers and a task that spawns another: both run, wherever.
#[test]
fn task_spawns_task() {
    explore_within(1, "task_spawns_task", || {
        let (pool, log) = (Arc::new(pool(2)), Log::default());
        let (weak, its) = (Arc::downgrade(&pool), log.clone());
        let outer = pool.start(async move {
            let inner = weak.upgrade().map(|pool| pool.start(its.once()));
            if let Some(inner) = inner {
                inner.await.expect("the inner task completes");
            }
        });
        outer.wait().expect("the outer task completes");
        drop(pool);
        assert_eq!((log.polls(), log.dropped()), (1, 1));
        ends_clean(3);
    });
}

/// 1:1: a task and its thread, whose end is waited for.
#[test]
fn thread_and_join() {
    explore("thread_and_join", || {
        let (threads, log) = (Threads::default(), Log::default());
        threads
            .start(log.once())
            .wait()
            .expect("the task completes");
        drop(threads);
        assert_eq!((log.polls(), log.dropped()), (1, 1));
        ends_clean(1);
    });
}

/// 1:1: the handle and a waker of a task that has ended are kept, and keep no shard.
#[test]
fn thread_ended_and_kept() {
    explore("thread_ended_and_kept", || {
        let threads = Threads::default();
        let mut handle = threads.start(poll_fn(|cx| Poll::Ready(cx.waker().clone())));
        let waker = (&mut handle).wait().expect("the task completes");
        drop(threads);
        thread::join_built();
        shards_are_free(1);
        waker.wake();
        drop(handle);
        no_cell_is_left();
    });
}

/// 1:1: a wake against the thread's park, and the end against both.
#[test]
fn thread_wake_against_the_end() {
    explore("thread_wake_against_the_end", || {
        let (threads, log, gate) = (Threads::default(), Log::default(), Gate::new());
        let handle = threads.start(log.waits(&gate));
        let wakes = thread::spawn(move || gate.open());
        drop(threads);
        assert_eq!(log.dropped(), 1);
        wakes.join().expect("the waker does not panic");
        let ended = handle.wait();
        assert!(ended.is_ok() || ended.is_err_and(|error| error.is_cancelled()));
        ends_clean(1);
    });
}

/// 1:1: a thread that is parked, or about to be, is called at the end.
#[test]
fn thread_parks_against_the_end() {
    explore("thread_parks_against_the_end", || {
        let (threads, log, gate) = (Threads::default(), Log::default(), Gate::new());
        drop(threads.start(log.waits(&gate)));
        drop(threads);
        assert_eq!(log.dropped(), 1);
        drop(gate);
        ends_clean(1);
    });
}

/// 1:1: a spawn against the end: the thread is waited for, and waits for its task; or none is started. Whoever has the
/// shard next does not get the task.
#[test]
fn thread_spawn_against_the_end() {
    explore("thread_spawn_against_the_end", || {
        let (threads, log) = (Arc::new(Threads::default()), Log::default());
        let other = threads.clone();
        let ends = thread::spawn(move || {
            other.shutdown(None);
            Shard::open().expect("few shards are in use")
        });
        let ended = threads.start(log.once()).wait();
        assert!(ended.is_ok() || ended.is_err_and(|error| error.is_cancelled()));
        close(ends.join().expect("the other thread does not panic"));
        drop(threads);
        assert_eq!(log.dropped(), 1);
        ends_clean(1);
    });
}

/// Two blocking calls from two threads: each is made, by one thread or two, and none sleeps while one waits in line.
#[test]
fn two_blocking_calls() {
    explore("two_blocking_calls", || {
        let blocking = Arc::new(Blocking::default());
        let other = blocking.clone();
        let calls = thread::spawn(move || other.spawn(|| 1, Location::caller()).wait());
        let here = blocking.spawn(|| 2, Location::caller()).wait();
        let there = calls.join().expect("the other thread does not panic");
        assert_eq!((here.ok(), there.ok()), (Some(2), Some(1)));
        drop(blocking);
        thread::join_built();
    });
}

/// A blocking call against the end of its runtime: it is made or cancelled, and its handle hears of it.
#[test]
fn blocking_call_against_the_end() {
    explore("blocking_call_against_the_end", || {
        let (blocking, log) = (Blocking::default(), Log::default());
        let guard = log.guard();
        let handle = blocking.spawn(move || drop(guard), Location::caller());
        let waits = thread::spawn(move || handle.wait());
        drop(blocking);
        let ended = waits.join().expect("the other thread does not panic");
        assert!(ended.is_ok() || ended.is_err_and(|error| error.is_cancelled()));
        assert_eq!(log.dropped(), 1);
        thread::join_built();
    });
}
