//! Models of what the workers of a pool do to each other: theft, wakes, idling, resizing.
//!
//! Run by `cargo xtask loom`; what loom cannot see is told in `crates/core/tests/loom.rs`. Beyond that: a task's
//! `place` is no loom object, so a look at it is always the latest; a model that needs another order there would
//! miss it.
//!
//! Here nobody works in the background: the threads of a model act as workers ([`Acting`]), step by step, with the
//! code of the pool. So a model explores one hand-over and nothing else. When all have stopped, one thread does what
//! is left ([`settle`]): whatever was woken must then have been polled, once. That memory goes, and goes once, is
//! counted, and so are the shards, which are given back exactly when their last task has left ([`ends_clean`]). The
//! whole pool is explored in `crates/sched/tests/loom_pool.rs`.

mod aborting;
mod ending;
mod evacuating;
mod idling;
mod injecting;
mod polling;
mod resizing;
mod taking;
mod waking;

use std::future::poll_fn;
use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize as Count;
use std::task::{Poll, Waker};

use gossamer_core::context;
use gossamer_core::platform::atomic::{AtomicBool, Ordering};
use gossamer_core::platform::model::{explore, no_cell_is_left};
use gossamer_core::shard::{Shard, ShardGuard};
use gossamer_core::waker::wake_owned;
use gossamer_task::{JoinHandle, spawn};

use super::queue::{Queue, take_share};
use super::worker::sleep_and_take as worker_sleeps;
use super::worker_shard::WorkerShard;
use super::workers::Started;
use super::{Shared, Watching, worker};
use crate::single::{hand_over, run};
use crate::thread_options::ThreadOptions;

/// A pool that has the shards of so many workers, and no threads.
fn pool(workers: usize) -> Arc<Shared> {
    let shared = Shared::new(workers, Watching::new(), ThreadOptions::default())
        .expect("no other pool exists");
    while let Some(Started::New(number)) = shared.workers.start() {
        shared.shard_for(number).expect("few shards are in use");
    }
    shared
}

/// Ends the pool, whose shards must then be free to be used again: once, and not twice.
fn ends_clean(shared: Arc<Shared>) {
    let count = 1 + shared.shards().count();
    assert_eq!(Arc::strong_count(&shared), 1, "a worker still acts");
    drop(shared);
    no_cell_is_left();
    let again = (0..=count).map(|_| Shard::open().expect("few shards are in use"));
    let mut again: Vec<usize> = again.map(|shard| usize::from(shard.index())).collect();
    again.sort_unstable();
    let expected: Vec<usize> = (0..=count).collect();
    assert_eq!(
        again, expected,
        "a shard is missing, or was given back twice"
    );
}

/// The current thread as a worker.
struct Acting {
    shared: Arc<Shared>,
    number: usize,
    queue: Queue,
    /// Not there while it sleeps.
    guard: Option<ShardGuard>,
}

impl Acting {
    fn begin(shared: &Arc<Shared>, number: usize) -> Self {
        let shard = shared.shard_for(number).expect("it has one");
        Self {
            queue: Queue::new(shared.clone(), shard),
            shared: shared.clone(),
            number,
            guard: Some(shard.acquire_again()),
        }
    }

    fn shard(&self) -> &'static WorkerShard {
        self.queue.shard
    }

    fn acquire(&self) -> &ShardGuard {
        self.guard.as_ref().expect("it does not sleep")
    }

    /// Spawns as a task of this worker does.
    fn spawn<T: Send + 'static>(
        &self,
        future: impl Future<Output = T> + Send + 'static,
    ) -> JoinHandle<T> {
        spawn(self.shard(), future, Location::caller())
    }

    /// Puts what is woken into the queue: the last one in the slot, the others where thieves find them.
    fn hand_over(&mut self) {
        let queue = &mut self.queue;
        context::with(|context| hand_over(context, queue));
    }

    /// Polls what is runnable here.
    fn run(&mut self) {
        let guard = self.guard.as_ref().expect("it does not sleep");
        run(guard, &mut self.queue, u32::MAX, None);
    }

    fn steal(&mut self) -> bool {
        let guard = self.guard.as_ref().expect("it does not sleep");
        worker::steal(&self.shared, guard, &mut self.queue)
    }

    fn take_share(&self) -> bool {
        take_share(&self.shared, self.acquire())
    }

    /// Searches, as a worker that has been called does: takes something, and ends the search.
    fn search(&mut self) {
        let guard = self.guard.as_ref().expect("it does not sleep");
        worker::take_and_end_search(&self.shared, guard, &mut self.queue);
    }

    fn steal_from_unowned(&mut self) -> bool {
        let guard = self.guard.as_ref().expect("it does not sleep");
        worker::steal_from_unowned(&self.shared, guard, &mut self.queue)
    }

    /// As a worker sleeps: without the guard.
    fn fall_asleep(&mut self) {
        let guard = self.guard.take().expect("it does not sleep");
        let guard = worker_sleeps(&self.shared, self.number, guard, &mut self.queue);
        self.guard = Some(guard);
    }

    /// Runs the loop of a worker until `done`. It deadlocks if nobody calls the worker.
    fn work_until(&mut self, done: impl Fn() -> bool) {
        loop {
            self.run();
            if done() {
                return;
            }
            let unowned = self.steal_from_unowned();
            if self.take_share() || unowned || self.steal() {
                continue;
            }
            self.fall_asleep();
        }
    }
}

impl Drop for Acting {
    fn drop(&mut self) {
        if self.guard.is_some() {
            self.hand_over();
            self.queue.leave();
        }
    }
}

/// Does what is left to be done, as each worker in turn, until there is nothing.
fn settle(shared: &Arc<Shared>) {
    let mut quiet = 0;
    let workers = shared.shards().count();
    for number in (0..workers).cycle() {
        let mut acting = Acting::begin(shared, number);
        acting.run();
        let any = acting.take_share() || acting.steal_from_unowned() || acting.steal();
        acting.run();
        quiet = if any { 0 } else { quiet + 1 };
        if quiet > 2 * workers {
            break;
        }
    }
}

/// Counts the polls, completions and drops of a model's tasks.
#[derive(Clone, Default)]
struct Log(Arc<[Count; 3]>);

impl Log {
    fn guard(&self) -> Guard {
        Guard(self.clone())
    }

    fn polls(&self) -> usize {
        self.0[0].load(Ordering::Relaxed)
    }

    fn completed(&self) -> usize {
        self.0[1].load(Ordering::Relaxed)
    }

    fn dropped(&self) -> usize {
        self.0[2].load(Ordering::Relaxed)
    }

    /// A task that is ready at once.
    fn once(&self) -> impl Future<Output = ()> + Send + use<> {
        let guard = self.guard();
        async move {
            guard.0.0[0].fetch_add(1, Ordering::Relaxed);
            guard.0.0[1].fetch_add(1, Ordering::Relaxed);
        }
    }

    /// One that yields once, and is ready then.
    fn twice(&self) -> impl Future<Output = ()> + Send + use<> {
        let guard = self.guard();
        let mut first = true;
        poll_fn(move |cx| {
            guard.0.0[0].fetch_add(1, Ordering::Relaxed);
            if std::mem::take(&mut first) {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            guard.0.0[1].fetch_add(1, Ordering::Relaxed);
            Poll::Ready(())
        })
    }
}

/// Counts when it is dropped.
struct Guard(Log);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.0[2].fetch_add(1, Ordering::Relaxed);
    }
}

/// The flags that a task waits for; only the wakes make them visible.
type Flags = Arc<[AtomicBool; 2]>;

fn flags() -> Flags {
    Arc::new([AtomicBool::new(false), AtomicBool::new(false)])
}

/// Sets a flag and wakes who waits for it.
fn set(flags: &Flags, place: usize, waker: &Waker) {
    // Relaxed: only the wake makes it visible.
    flags[place].store(true, Ordering::Relaxed);
    waker.wake_by_ref();
}

/// Sets a flag and wakes who waits for it, as a primitive does.
fn set_and_give_up(flags: &Flags, place: usize, waker: Waker) {
    // Relaxed: only the wake makes it visible.
    flags[place].store(true, Ordering::Relaxed);
    if let Some(runner) = wake_owned(waker) {
        runner.wake();
    }
}

/// A task of this worker that has been polled once, and waits until every flag is set.
fn parked(acting: &mut Acting, flags: &Flags, log: &Log) -> (JoinHandle<()>, Waker) {
    // Not a loom mutex: it must not order what the flags leave open. Nobody else has it at that time.
    let slot = Arc::new(std::sync::Mutex::new(None));
    let (flags, guard, out) = (flags.clone(), log.guard(), slot.clone());
    let handle = acting.spawn(async move {
        let log = guard;
        poll_fn(|cx| {
            log.0.0[0].fetch_add(1, Ordering::Relaxed);
            if let Ok(mut slot) = out.try_lock() {
                slot.get_or_insert_with(|| cx.waker().clone());
            }
            // Relaxed: only the wake makes it visible.
            match flags.iter().all(|flag| flag.load(Ordering::Relaxed)) {
                true => Poll::Ready(()),
                false => Poll::Pending,
            }
        })
        .await;
        log.0.0[1].fetch_add(1, Ordering::Relaxed);
    });
    acting.run();
    let waker = slot.lock().expect("nobody panicked").clone();
    (handle, waker.expect("the task was polled"))
}
