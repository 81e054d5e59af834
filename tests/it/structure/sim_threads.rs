//! Threads in simulations, as users spawn them: by the facade, and in scopes.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use gossamer::{
    Handle, Model, Runtime, Wait, blocking, channel::bounded, spawn_thread, sync::MVar,
};
use gossamer::{time::sleep as pause, yield_now};
use gossamer_sim as sim;
use gossamer_structure::scope;

use super::sim::InSim;
use crate::contract::SIM;
use crate::exploring::{explore_seeds, schedules};

/// A run for each seed, which the body is told.
fn explore<F: Future>(body: impl Fn(u64) -> F) {
    explore_seeds(SIM, 0..schedules().div_ceil(5), body);
}

#[test]
fn spawned_by_the_facade() {
    explore(|_| async {
        let (tx, rx) = bounded(1);
        let sends = spawn_thread(move || {
            for number in 0..4_u64 {
                tx.send(number).wait().expect("somebody receives");
                pause(Duration::from_secs(number)).wait();
            }
        });
        let sums = spawn_thread(move || rx.into_iter().sum::<u64>());
        assert_eq!(sums.await.unwrap(), 6);
        sends.await.unwrap();
        assert_eq!(sim::now(), Duration::from_secs(6));
    });
}

/// A call that blocks has a thread of its own, on which it may wait; and a thread makes it itself.
#[test]
fn calls_that_block() {
    let rt = Runtime::builder().model(Model::Single).build().unwrap();
    explore(|_| async {
        let mvar = Arc::new(MVar::empty());
        let (puts, takes) = (mvar.clone(), mvar.clone());
        let task = sim::spawn(async move {
            let here = thread::current().id();
            blocking(move || {
                assert_ne!(thread::current().id(), here);
                assert!(Handle::try_current().is_some());
                puts.put(thread::current().name().map(str::to_owned)).wait();
            })
            .await;
        });
        let of_a_runtime = rt.spawn_blocking(move || takes.take().wait());
        let name = of_a_runtime.await.unwrap();
        assert_eq!(name.as_deref(), Some("gossamer-blocking"));
        task.await.unwrap();
        let thread = spawn_thread(|| {
            assert!(Handle::try_current().is_none());
            let here = thread::current().id();
            blocking(move || assert_eq!(thread::current().id(), here)).wait();
        });
        thread.await.unwrap();
    });
}

/// Threads that borrow from a thread, which borrows from nobody.
#[test]
fn scopes_of_threads() {
    explore(|_| async {
        let thread = spawn_thread(|| {
            let mut values = [0; 2];
            let mvar = MVar::empty();
            let (first, second) = values.split_at_mut(1);
            scope(&InSim, |s| {
                let takes = s.spawn_thread(|| first[0] = mvar.take().wait());
                s.spawn_thread(|| {
                    mvar.put(1).wait();
                    mvar.put(2).wait();
                });
                second[0] = mvar.take().wait();
                takes.wait().unwrap();
            });
            values[0] + values[1]
        });
        assert_eq!(thread.await.unwrap(), 3);
    });
}

/// Counts itself, while it is there.
struct Alive(Arc<AtomicUsize>);

impl Alive {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(count.clone())
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A scope whose threads wait for what never comes.
fn never_ends(alive: &Arc<AtomicUsize>) {
    let _owner = Alive::new(alive);
    let mvar = MVar::<()>::empty();
    scope(&InSim, |s| {
        for _ in 0..2 {
            s.spawn_thread(|| {
                let _child = Alive::new(alive);
                scope(&InSim, |s| {
                    s.spawn_thread(|| {
                        let _grandchild = Alive::new(alive);
                        mvar.take().wait();
                    });
                });
            });
        }
        mvar.take().wait();
    });
}

/// The run ends in the midst of scopes of threads, in a thread's scope or in a fiber's: all of them end, the threads that
/// borrow before those that they borrow from.
#[test]
fn runs_that_end_in_scopes() {
    let alive = Arc::new(AtomicUsize::new(0));
    explore(|seed| {
        let alive = alive.clone();
        async move {
            let owner = alive.clone();
            let handle = match seed % 2 {
                0 => spawn_thread(move || never_ends(&owner)),
                _ => sim::spawn_fiber(move || never_ends(&owner)),
            };
            for _ in 0..seed % 20 {
                yield_now().await;
            }
            if seed % 3 == 0 {
                // Of a fiber: at once. Of a thread: nothing.
                handle.abort();
                yield_now().await;
            }
        }
    });
    assert_eq!(alive.load(Ordering::SeqCst), 0);
}

/// The same with a fiber in the innermost scope: it stands on the thread that runs the simulation, and ends first.
#[test]
fn fibers_in_scopes_of_threads() {
    let alive = Arc::new(AtomicUsize::new(0));
    explore(|seed| {
        let alive = alive.clone();
        async move {
            let (handle, mvar) = (Handle::current(), MVar::<()>::empty());
            let innermost = move |alive: &Arc<AtomicUsize>, mvar: &MVar<()>| {
                let _thread = Alive::new(alive);
                handle.scope(|s| {
                    s.spawn_fiber(|| {
                        let _fiber = Alive::new(alive);
                        mvar.take().wait();
                    });
                });
            };
            let fiber = sim::spawn_fiber(move || {
                scope(&InSim, |s| {
                    s.spawn_thread(|| innermost(&alive, &mvar));
                    s.spawn_thread(|| {
                        scope(&InSim, |s| {
                            s.spawn_thread(|| innermost(&alive, &mvar));
                        });
                    });
                    mvar.take().wait();
                });
            });
            for _ in 0..seed % 40 {
                yield_now().await;
            }
            if seed % 3 == 0 {
                fiber.abort();
                assert!(fiber.await.unwrap_err().is_cancelled());
            }
        }
    });
    assert_eq!(alive.load(Ordering::SeqCst), 0);
}
