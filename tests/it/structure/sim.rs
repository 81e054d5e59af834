//! The same in simulations: many schedules of small programs.

use std::cell::RefCell;
use std::panic::Location;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use gossamer::{Fibers, Wait, blocking, runtime::SpawnError, sync::MVar, yield_now};
use gossamer_sim as sim;
use gossamer_structure::{
    CancellationToken, ConcurrencyLimit, JoinSet, ScopeTask, Spawn, async_scope, scope,
};
use gossamer_task::JoinHandle;

use crate::contract::{FIBERS, SIM};
use crate::exploring::{explore_seeds, schedules};

/// A run for each seed, which the body is told.
fn explore<F: Future>(seeds: std::ops::Range<u64>, body: impl Fn(u64) -> F) {
    explore_seeds(SIM, seeds, body);
}

/// Spawns into the current simulation.
pub(super) struct InSim;

impl Spawn for InSim {
    fn try_spawn(
        &self,
        task: ScopeTask,
        _: &'static Location<'static>,
    ) -> Result<JoinHandle<()>, SpawnError<ScopeTask>> {
        Ok(sim::spawn(task))
    }

    fn fibers(&self) -> Option<Fibers> {
        Some(FIBERS)
    }
}

/// A fiber in a scope, aborted at any moment: its children end before it does.
#[test]
fn scopes_and_aborts() {
    explore(0..2_000, |seed| async move {
        let used = Arc::new(AtomicUsize::new(0));
        let uses = used.clone();
        let fiber = sim::spawn_fiber(move || {
            let mut values = [0; 3];
            let mvar = MVar::<u32>::empty();
            scope(&InSim, |s| {
                let (first, rest) = values.split_at_mut(1);
                let (second, third) = rest.split_at_mut(1);
                let mvar = &mvar;
                s.spawn(async { first[0] = mvar.take().await });
                s.spawn_fiber(|| second[0] = mvar.take().wait());
                let puts = s.spawn(async {
                    mvar.put(1).await;
                    mvar.put(2).await;
                    third[0] = 3;
                    uses.fetch_add(1, Ordering::SeqCst);
                });
                puts.wait().expect("no panic");
            });
            values.iter().sum::<u32>()
        });
        let turn = seed % 7;
        for _ in 0..turn {
            yield_now().await;
        }
        fiber.abort();
        match fiber.await {
            Ok(sum) => assert_eq!(sum, 6),
            Err(error) => assert!(error.is_cancelled()),
        }
        assert!(Arc::strong_count(&used) == 1, "something of it lives");
    });
}

/// Polled, and dropped at any moment: no child outlives it by more than its next turn.
#[test]
fn async_scopes_that_are_dropped() {
    explore(0..2_000, |seed| async move {
        let mvar = Arc::new(MVar::<u32>::empty());
        let inner = mvar.clone();
        let task = sim::spawn(async_scope(Arc::new(InSim), inner, async |s, mvar| {
            let from = mvar.clone();
            let takes = s.spawn(async move { from.take().await });
            s.spawn(async move { mvar.put(4).await });
            takes.await.expect("no panic")
        }));
        for _ in 0..seed % 7 {
            yield_now().await;
        }
        task.abort();
        match task.await {
            Ok(value) => assert_eq!(value, 4),
            Err(error) => assert!(error.is_cancelled()),
        }
    });
}

#[test]
fn join_sets() {
    explore(0..schedules(), |_| async {
        let ended = Rc::new(RefCell::new(Vec::new()));
        let mut set = JoinSet::new();
        for number in 0..3 {
            let ended = ended.clone();
            set.push(sim::spawn(async move {
                for _ in 0..number {
                    yield_now().await;
                }
                ended.borrow_mut().push(number);
                number
            }));
        }
        let mut joined = Vec::new();
        while let Some(number) = set.join_next().await {
            joined.push(number.expect("no panic"));
        }
        assert_eq!(
            *ended.borrow(),
            joined,
            "not in the order in which they ended"
        );
    });
}

#[test]
fn tokens() {
    explore(0..schedules(), |seed| async move {
        let root = CancellationToken::new();
        let tasks: Vec<_> = (0..3)
            .map(|number| {
                let token = if number == 0 {
                    root.clone()
                } else {
                    root.child()
                };
                sim::spawn(async move {
                    let below = token.child();
                    if number == 1 {
                        return below.run_until_cancelled(yield_now()).await.is_some();
                    }
                    below.cancelled().await;
                    token.is_cancelled()
                })
            })
            .collect();
        let cancels = sim::spawn(async move {
            for _ in 0..seed % 4 {
                yield_now().await;
            }
            root.cancel();
        });
        cancels.await.expect("no panic");
        for (number, task) in tasks.into_iter().enumerate() {
            let told = task.await.expect("no panic");
            assert!(told || number == 1);
        }
    });
}

/// One who has the permit.
struct One(Rc<AtomicUsize>);

impl Drop for One {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Whoever waits for a permit, and is dropped at any moment, keeps nobody from it.
#[test]
fn permits() {
    explore(0..schedules(), |seed| async move {
        let bounded = ConcurrencyLimit::new(1);
        let now = Rc::new(AtomicUsize::new(0));
        let tasks: Vec<_> = (0..4)
            .map(|_| {
                let (bounded, now) = (bounded.clone(), now.clone());
                sim::spawn(async move {
                    let _place = bounded.acquire().await;
                    assert_eq!(now.fetch_add(1, Ordering::SeqCst), 0);
                    let _one = One(now);
                    yield_now().await;
                })
            })
            .collect();
        let turns = seed % 6;
        for _ in 0..turns {
            yield_now().await;
        }
        for task in tasks.iter().take(2) {
            task.abort();
        }
        for (number, task) in tasks.into_iter().enumerate() {
            assert!(task.await.is_ok() || number < 2);
        }
        assert_eq!(bounded.free(), 1);
    });
}

/// In a closed world a call that blocks is made by a simulated thread, and in a fiber in place.
#[test]
fn calls_that_block() {
    let sum = SIM.run(1, || async {
        let task = sim::spawn(async { blocking(|| 2).await });
        let fiber = sim::spawn_fiber(|| blocking(|| 3).wait());
        task.await.expect("no panic") + fiber.await.expect("no panic")
    });
    assert_eq!(sum.expect("it ends"), 5);
}
