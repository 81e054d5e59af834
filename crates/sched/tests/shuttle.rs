//! The whole pool under shuttle: more threads and more steps than loom can explore, at random and by PCT (Burckhardt
//! et al., ASPLOS 2010: a bug that needs three ordered steps is met with known probability).
//!
//! Run by `cargo xtask shuttle`. Memory is sequentially consistent here: what only a weak one shows, the loom models
//! must find. A failure prints the schedule that replays it (`shuttle::replay`).
#![cfg(shuttle)]

use std::future::poll_fn;
use std::num::NonZeroUsize;
use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize as Count, Ordering};
use std::task::Poll;

use gossamer_core::wait::Wait;
use gossamer_sched::Pool;
use gossamer_sync::sync::MVar;
use gossamer_task::JoinHandle;
use shuttle::scheduler::{PctScheduler, RandomScheduler};
use shuttle::{Config, Runner, thread};

/// Executions of each test under each scheduler.
const RUNS: usize = 10_000;

/// Ordered steps that a bug found by PCT may need.
const DEPTH: usize = 3;

/// Runs `body` so many times under each of the two schedulers (times `GOSSAMER_SHUTTLE`, if that is set).
fn explore(runs: usize, body: fn()) {
    let times = std::env::var("GOSSAMER_SHUTTLE").ok();
    let runs = runs * times.and_then(|times| times.parse().ok()).unwrap_or(1);
    let mut config = Config::new();
    config.silence_warnings = true;
    Runner::new(RandomScheduler::new(runs), config.clone()).run(body);
    Runner::new(PctScheduler::new(DEPTH, runs), config).run(body);
}

fn pool(workers: usize) -> Arc<Pool> {
    let workers = NonZeroUsize::new(workers).expect("at least one");
    Arc::new(Pool::new(workers).expect("few pools exist"))
}

fn spawn<F>(pool: &Pool, future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    pool.spawn(future, Location::caller())
}

/// Counts when it is dropped.
struct Guard(Arc<Count>);

impl Guard {
    fn new(count: &Arc<Count>) -> Self {
        Self(count.clone())
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Yields once.
async fn yield_to_others() {
    let mut polled = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut polled, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

type Tree = std::pin::Pin<Box<dyn Future<Output = usize> + Send>>;

/// A task that spawns two, and these two each, and so on; gives how many there were.
fn tree(pool: Arc<Pool>, depth: usize, dropped: Arc<Count>) -> Tree {
    Box::pin(async move {
        let _guard = Guard::new(&dropped);
        if depth == 0 {
            return 1;
        }
        let children = [0, 1].map(|_| spawn(&pool, tree(pool.clone(), depth - 1, dropped.clone())));
        let mut count = 1;
        for child in children {
            count += child.await.expect("the child completes");
        }
        count
    })
}

/// A tree of tasks over three workers: each runs exactly once.
#[test]
fn spawn_tree() {
    explore(RUNS, || {
        let (pool, dropped) = (pool(3), Arc::new(Count::new(0)));
        let root = spawn(&pool, tree(pool.clone(), 3, dropped.clone()));
        assert_eq!(root.wait().expect("the root completes"), 15);
        drop(pool);
        // The root's own future may still be on its way out when its output is there.
        assert!(dropped.load(Ordering::Relaxed) <= 15);
    });
}

/// Two tasks hand a value to and fro, while the pool's other workers steal them from each other.
#[test]
fn ping_pong() {
    const ROUNDS: usize = 5;
    explore(RUNS, || {
        let pool = pool(2);
        let mvars = Arc::new([MVar::empty(), MVar::empty()]);
        let tasks = [0, 1].map(|me| {
            let mvars = mvars.clone();
            spawn(&pool, async move {
                for round in 0..ROUNDS {
                    if me == 0 {
                        mvars[0].put(round).await;
                        assert_eq!(mvars[1].take().await, round);
                    } else {
                        let value = mvars[0].take().await;
                        mvars[1].put(value).await;
                    }
                }
            })
        });
        for task in tasks {
            task.wait().expect("the task completes");
        }
    });
}

/// Tasks of many kinds of life while the pool shrinks and grows under them: each completes.
#[test]
fn resize_under_load() {
    explore(RUNS, || {
        let (pool, dropped) = (pool(2), Arc::new(Count::new(0)));
        let meet = Arc::new(MVar::<usize>::empty());
        let tasks: Vec<_> = (0..6)
            .map(|number| {
                let (meet, guard) = (meet.clone(), Guard::new(&dropped));
                spawn(&pool, async move {
                    let _guard = guard;
                    yield_to_others().await;
                    if number % 2 == 0 {
                        meet.put(number).await;
                    } else {
                        let _number = meet.take().await;
                    }
                })
            })
            .collect();
        for workers in [1, 3, 2] {
            pool.resize(workers).wait().expect("nobody else resizes");
        }
        for task in tasks {
            task.wait().expect("the task completes");
        }
        drop(pool);
        assert_eq!(dropped.load(Ordering::Relaxed), 6);
    });
}

/// Two threads resize at once, over a pool at work: the last word counts, and no task is lost.
#[test]
fn resizes_at_once() {
    explore(RUNS, || {
        let pool = pool(2);
        let tasks: Vec<_> = (0..3).map(|_| spawn(&pool, yield_to_others())).collect();
        let threads = [1, 3].map(|workers| {
            let resize = pool.resize(workers);
            // The one that is overtaken says so.
            thread::spawn(move || resize.wait().is_ok())
        });
        for task in tasks {
            task.wait().expect("the task completes");
        }
        let told = threads.map(|thread| thread.join().expect("it does not panic"));
        assert!(told.contains(&true), "nobody's resize was completed");
    });
}

/// The pool ends while tasks run, wait, are spawned and resized under: every future is dropped, once.
#[test]
fn end_in_the_middle() {
    explore(RUNS, || {
        let (pool, dropped) = (pool(2), Arc::new(Count::new(0)));
        let never = Arc::new(MVar::<usize>::empty());
        for number in 0..4 {
            let (never, guard) = (never.clone(), Guard::new(&dropped));
            drop(spawn(&pool, async move {
                let _guard = guard;
                yield_to_others().await;
                if number % 2 == 0 {
                    never.take().await;
                }
            }));
        }
        let (other, guard) = (pool.clone(), Guard::new(&dropped));
        let spawns = thread::spawn(move || {
            drop(spawn(&other, async move {
                let _guard = guard;
                yield_to_others().await;
            }));
            other.resize(3).wait().is_ok()
        });
        assert!(pool.shutdown(None));
        let _grown = spawns.join().expect("the other thread does not panic");
        drop(pool);
        assert_eq!(dropped.load(Ordering::Relaxed), 5);
    });
}

/// Tasks are aborted while they wait for each other, are woken, stolen and polled: each ends, and no value is lost
/// but with the one that had it.
#[test]
fn aborts() {
    explore(RUNS, || {
        let (pool, dropped) = (pool(2), Arc::new(Count::new(0)));
        let mvar = Arc::new(MVar::<usize>::empty());
        let tasks: Vec<_> = (0..3)
            .map(|_| {
                let (mvar, guard) = (mvar.clone(), Guard::new(&dropped));
                spawn(&pool, async move {
                    let _guard = guard;
                    mvar.take().await
                })
            })
            .collect();
        let puts = {
            let mvar = mvar.clone();
            thread::spawn(move || mvar.put(7).wait())
        };
        tasks[0].abort();
        tasks[1].abort();
        puts.join().expect("the other thread does not panic");
        let mut taken = 0;
        // The last one takes it, unless one of the aborted was quicker; then it waits in vain.
        let mut tasks = tasks.into_iter();
        let last = tasks.next_back().expect("three tasks");
        for task in tasks {
            taken += usize::from(task.wait().is_ok());
        }
        if taken == 1 {
            last.abort();
            assert!(last.wait().expect_err("nothing is left").is_cancelled());
        } else {
            assert_eq!(last.wait().expect("it was not aborted"), 7);
        }
        drop(pool);
        assert_eq!(dropped.load(Ordering::Relaxed), 3);
    });
}

/// The pool has shrunk, and ends while what its former workers left behind is woken and stolen.
#[test]
fn end_with_unowned() {
    explore(RUNS, || {
        let (pool, dropped) = (pool(3), Arc::new(Count::new(0)));
        let mvars = Arc::new([MVar::<usize>::empty(), MVar::empty()]);
        for number in 0..4 {
            let (mvars, guard) = (mvars.clone(), Guard::new(&dropped));
            drop(spawn(&pool, async move {
                let _guard = guard;
                mvars[number % 2].take().await;
                yield_to_others().await;
            }));
        }
        pool.resize(1).wait().expect("nobody else resizes");
        let puts = thread::spawn(move || {
            // Each has room for one, whoever is still there to take it.
            for mvar in &*mvars {
                mvar.put(7).wait();
            }
        });
        assert!(pool.shutdown(None));
        puts.join().expect("the other thread does not panic");
        drop(pool);
        assert_eq!(dropped.load(Ordering::Relaxed), 4);
    });
}
