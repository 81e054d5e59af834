//! Tasks that have not been polled so far: the scheduler alone has them, and loses none.

use std::future::pending;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;

use gossamer::{Handle, JoinHandle, Runtime, Wait, yield_now};

use super::runtime;
use crate::models::watched;

/// Says at which tasks it has been polled and dropped.
#[derive(Clone, Default)]
struct Log {
    polled: Arc<Mutex<Vec<usize>>>,
    dropped: Arc<Mutex<Vec<usize>>>,
}

impl Log {
    /// Spawns a task that ends at its first poll.
    fn spawn(&self, rt: &Runtime, number: usize) -> JoinHandle<usize> {
        let dropped = Dropped(self.dropped.clone(), number);
        let polled = self.polled.clone();
        rt.spawn(async move {
            // All of it, and not the number alone.
            let dropped = dropped;
            polled.lock().unwrap().push(dropped.1);
            dropped.1
        })
    }

    fn spawn_many(&self, rt: &Runtime, count: usize) -> Vec<JoinHandle<usize>> {
        (0..count).map(|number| self.spawn(rt, number)).collect()
    }

    /// Which were polled, and which dropped, each in order of their numbers.
    fn sorted(&self) -> (Vec<usize>, Vec<usize>) {
        let sorted = |numbers: &Mutex<Vec<usize>>| {
            let mut numbers = numbers.lock().unwrap().clone();
            numbers.sort_unstable();
            numbers
        };
        (sorted(&self.polled), sorted(&self.dropped))
    }
}

struct Dropped(Arc<Mutex<Vec<usize>>>, usize);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.lock().unwrap().push(self.1);
    }
}

/// Of some tasks each possible choice is aborted, by `abort`, which gets them all and the choice.
fn each_choice(abort: impl Fn(&[JoinHandle<usize>], usize)) {
    const TASKS: usize = 5;
    for choice in 0_usize..1 << TASKS {
        let (rt, log) = (runtime(), Log::default());
        let is_aborted = |number: &usize| choice & 1 << number != 0;
        rt.block_on(async {
            // On the list of tasks, beside which the new ones are not.
            let parked = rt.spawn(pending::<()>());
            yield_now().await;
            let tasks = log.spawn_many(&rt, TASKS);
            abort(&tasks, choice);
            for (number, task) in tasks.into_iter().enumerate() {
                match task.await {
                    Ok(output) => assert_eq!((output, is_aborted(&number)), (number, false)),
                    Err(error) => assert!(error.is_cancelled() && is_aborted(&number), "{error}"),
                }
            }
            parked.abort();
            assert!(parked.await.unwrap_err().is_cancelled());
        });
        let all = (0..TASKS).collect::<Vec<_>>();
        let polled = (0..TASKS).filter(|number| !is_aborted(number)).collect();
        assert_eq!(log.sorted(), (polled, all));
    }
}

fn abort_chosen(tasks: &[JoinHandle<usize>], choice: usize) {
    for (number, task) in tasks.iter().enumerate() {
        if choice & 1 << number != 0 {
            task.abort();
        }
    }
}

#[test]
fn aborted_by_their_runner() {
    watched("new tasks", || each_choice(abort_chosen));
}

#[test]
fn aborted_by_another_thread() {
    watched("new tasks", || {
        each_choice(|tasks, choice| {
            thread::scope(|scope| drop(scope.spawn(|| abort_chosen(tasks, choice))));
        });
    });
}

/// The runner is at others of them when one is aborted: some are still new, some have ended.
#[test]
fn aborted_by_one_of_them() {
    watched("new tasks", || {
        for aborted in 0..8 {
            let (rt, log) = (runtime(), Log::default());
            rt.block_on(async {
                let mut tasks = log.spawn_many(&rt, 4);
                let handles: Vec<_> = tasks.iter().map(JoinHandle::abort_handle).collect();
                let aborts = rt.spawn(async move { handles.get(aborted).map(|it| it.abort()) });
                tasks.extend((4..8).map(|number| log.spawn(&rt, number)));
                tasks[aborted].abort();
                aborts.await.unwrap();
                for (number, task) in tasks.into_iter().enumerate() {
                    assert_eq!(task.await.is_ok(), number != aborted);
                }
            });
            assert_eq!(log.sorted().1, (0..8).collect::<Vec<_>>());
        }
    });
}

/// The first poll of a task aborts the task itself, which then is pending, or has yielded, or ends.
#[test]
fn aborted_in_their_first_poll() {
    watched("new tasks", || {
        for ending in 0..3 {
            let rt = runtime();
            let drops = Arc::default();
            let handle: Arc<Mutex<Option<JoinHandle<()>>>> = Arc::default();
            rt.block_on(async {
                let (its, dropped) = (handle.clone(), Dropped(Arc::clone(&drops), 0));
                let spawned = rt.spawn(async move {
                    let _dropped = dropped;
                    let abort = its.lock().unwrap().as_ref().unwrap().abort_handle();
                    abort.abort();
                    match ending {
                        0 => pending().await,
                        1 => yield_now().await,
                        _ => {}
                    }
                });
                *handle.lock().unwrap() = Some(spawned);
                yield_now().await;
                yield_now().await;
                let spawned = handle.lock().unwrap().take().unwrap();
                assert_eq!(spawned.await.is_ok(), ending == 2);
            });
            assert_eq!(*drops.lock().unwrap(), [0]);
        }
    });
}

/// The runtime ends: each is dropped once, unpolled, and its handle says so.
#[test]
fn dropped_before_their_first_poll() {
    watched("new tasks", || {
        for aborted in [None, Some(0), Some(2), Some(4)] {
            let (rt, log) = (runtime(), Log::default());
            let tasks = rt.block_on(async {
                let mut tasks = log.spawn_many(&rt, 5);
                if let Some(aborted) = aborted {
                    tasks[aborted].abort();
                }
                // One has no handle any more.
                drop(tasks.remove(3));
                tasks
            });
            assert_eq!(log.sorted(), (vec![], vec![]));
            drop(rt);
            assert_eq!(log.sorted(), (vec![], vec![0, 1, 2, 3, 4]));
            for task in tasks {
                let error = task.wait().unwrap_err();
                assert!(error.is_cancelled(), "{error}");
            }
        }
    });
}

/// The end, when the drop of one new task spawns another and aborts a third.
#[test]
fn dropped_by_each_other() {
    struct SpawnsAndAborts(Log, Option<Handle>, JoinHandle<usize>);
    impl Drop for SpawnsAndAborts {
        fn drop(&mut self) {
            self.2.abort();
            if let Some(handle) = &self.1 {
                let dropped = Dropped(self.0.dropped.clone(), 9);
                drop(handle.spawn(async move { drop(dropped) }));
            }
        }
    }
    watched("new tasks", || {
        for spawns in [false, true] {
            let (rt, log) = (runtime(), Log::default());
            rt.block_on(async {
                let first = log.spawn(&rt, 0);
                let handle = spawns.then(Handle::current);
                let does = SpawnsAndAborts(log.clone(), handle, first);
                drop(rt.spawn(async move {
                    let _does = does;
                    pending::<()>().await;
                }));
                drop(log.spawn(&rt, 1));
            });
            drop(rt);
            let all = if spawns { vec![0, 1, 9] } else { vec![0, 1] };
            assert_eq!(log.sorted(), (vec![], all));
        }
    });
}

/// The root panics, and leaves them behind; they run when the runtime does, or are dropped with it.
#[test]
fn left_by_a_root_that_panics() {
    watched("new tasks", || {
        for runs_again in [false, true] {
            let (rt, log) = (runtime(), Log::default());
            let panicked = catch_unwind(AssertUnwindSafe(|| {
                rt.block_on(async {
                    drop(log.spawn_many(&rt, 3));
                    panic!("planned");
                });
            }));
            assert!(panicked.is_err());
            let all = vec![0, 1, 2];
            let mut polled = vec![];
            if runs_again {
                rt.block_on(yield_now());
                polled.clone_from(&all);
            }
            drop(rt);
            assert_eq!(log.sorted(), (polled, all));
        }
    });
}

/// One panics in its first poll: it is dropped once, and the others go on.
#[test]
fn panicking_in_their_first_poll() {
    watched("new tasks", || {
        let (rt, log) = (runtime(), Log::default());
        rt.block_on(async {
            let before = log.spawn(&rt, 0);
            let dropped = Dropped(log.dropped.clone(), 1);
            let panics: JoinHandle<()> = rt.spawn(async move {
                let _dropped = dropped;
                panic!("planned");
            });
            let after = log.spawn(&rt, 2);
            assert_eq!(before.await.unwrap(), 0);
            assert!(panics.await.unwrap_err().is_panic());
            assert_eq!(after.await.unwrap(), 2);
        });
        assert_eq!(log.sorted(), (vec![0, 2], vec![0, 1, 2]));
    });
}

/// They are left by one thread, and the runtime then runs on another one.
#[test]
fn run_by_another_thread() {
    watched("new tasks", || {
        let (rt, log) = (runtime(), Log::default());
        let tasks = rt.block_on(async { log.spawn_many(&rt, 100) });
        let (rt, done) = (Arc::new(rt), Arc::new(Barrier::new(2)));
        let (its, is_done) = (rt.clone(), done.clone());
        let runs = thread::spawn(move || {
            its.block_on(async {
                for task in tasks {
                    task.await.unwrap();
                }
            });
            is_done.wait();
        });
        done.wait();
        runs.join().unwrap();
        assert_eq!(log.sorted().0, (0..100).collect::<Vec<_>>());
    });
}

/// Has each task of a chain spawn the next one, and end, until `left` is used up.
fn chain(rt: &Arc<Runtime>, left: &Arc<AtomicUsize>) {
    let (next, its) = (rt.clone(), left.clone());
    let link = async move {
        if its.fetch_sub(1, Ordering::SeqCst) > 1 {
            chain(&next, &its);
        }
    };
    drop(rt.spawn(link));
}

/// How many links a chain has when a task ends that `first` spawned before it.
fn links_before(first: impl FnOnce(&Runtime) -> JoinHandle<()>) -> usize {
    const LINKS: usize = 300_000;
    let (rt, left) = (Arc::new(runtime()), Arc::new(AtomicUsize::new(LINKS)));
    let at_end = rt.block_on(async {
        let task = first(&rt);
        chain(&rt, &left);
        task.await.unwrap();
        left.load(Ordering::SeqCst)
    });
    LINKS - at_end
}

/// Polls of a chain in a row: three from the run-next slot, and then one from the stack.
const CHAINED: usize = 4;

/// Ever newer tasks keep the oldest one waiting for no longer than is promised: 4,096 turns of new tasks.
#[test]
fn newer_ones_starve_no_old_one() {
    watched("new tasks", || {
        let links = links_before(|rt| rt.spawn(async {}));
        assert!(links < CHAINED * (4_096 + 2 * 64), "after {links}");
    });
}

/// Nor do several old ones keep each other waiting for longer than each its 4,096 turns.
#[test]
fn newer_ones_starve_no_old_ones() {
    watched("new tasks", || {
        let links = links_before(|rt| {
            for _ in 0..9 {
                drop(rt.spawn(async {}));
            }
            rt.spawn(async {})
        });
        assert!(links < CHAINED * 10 * (4_096 + 2 * 64), "after {links}");
    });
}

/// A task that has yielded waits for at most 64 turns of new tasks.
#[test]
fn new_ones_starve_no_other_task() {
    watched("new tasks", || {
        const YIELDS: usize = 100;
        let links = links_before(|rt| {
            rt.spawn(async {
                for _ in 0..YIELDS {
                    yield_now().await;
                }
            })
        });
        // The first poll is that of an old new task.
        let most = CHAINED * (4_096 + 2 * 64 + 64 * YIELDS);
        assert!(links < most, "after {links}");
    });
}

/// A tree of tasks that grows at random.
struct Tree {
    rng: Mutex<u64>,
    alive: AtomicUsize,
    spawned: AtomicUsize,
    rt: std::sync::Weak<Runtime>,
}

/// A task of it whose future is there.
struct Alive(Arc<Tree>);

impl Drop for Alive {
    fn drop(&mut self) {
        assert!(
            self.0.alive.fetch_sub(1, Ordering::SeqCst) > 0,
            "dropped twice"
        );
    }
}

impl Tree {
    fn random(&self, below: u64) -> u64 {
        let mut state = self.rng.lock().unwrap();
        *state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (*state >> 33) % below
    }
}

/// Spawns one more task of it, if there are few and its runtime is there.
fn grow(tree: &Arc<Tree>) -> Option<JoinHandle<()>> {
    let rt = tree.rt.upgrade()?;
    if tree.spawned.fetch_add(1, Ordering::SeqCst) >= 400 {
        return None;
    }
    tree.alive.fetch_add(1, Ordering::SeqCst);
    let alive = Alive(tree.clone());
    Some(rt.spawn(async move {
        let tree = &alive.0;
        let mut children = Vec::new();
        for _ in 0..tree.random(6) {
            children.extend(grow(tree));
            match tree.random(8) {
                0 => yield_now().await,
                1 if !children.is_empty() => {
                    let at = tree.random(children.len() as u64) as usize;
                    children[at].abort();
                }
                2 => drop(children.pop()),
                3 => {
                    if let Some(child) = children.pop() {
                        let _ended = child.await;
                    }
                }
                _ => {}
            }
        }
        assert!(tree.random(40) != 0, "planned");
    }))
}

/// Trees at random: tasks spawn, abort what they have spawned, yield, panic; and the runtime goes in the midst of it.
#[test]
fn random_trees_lose_none() {
    watched("random trees", || {
        for seed in 0..200 {
            let rt = Arc::new(runtime());
            let tree = Arc::new(Tree {
                rng: Mutex::new(seed),
                alive: AtomicUsize::new(0),
                spawned: AtomicUsize::new(0),
                rt: Arc::downgrade(&rt),
            });
            let roots: Vec<_> = rt.block_on(async {
                let roots = (0..5).filter_map(|_| grow(&tree)).collect();
                for _ in 0..tree.random(50) {
                    yield_now().await;
                }
                roots
            });
            drop(rt);
            assert_eq!(tree.alive.load(Ordering::SeqCst), 0, "seed {seed}");
            for root in roots {
                assert!(root.is_finished(), "seed {seed}");
                drop(root.wait());
            }
        }
    });
}
