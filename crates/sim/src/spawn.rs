//! Spawning into the current simulation.

use std::io::ErrorKind;
use std::panic::Location;

use gossamer_fiber::Fiber;
use gossamer_task::JoinHandle;

use crate::current::{Part, current};

/// Spawns a task into the current simulation. The future need not be `Send`.
///
/// A task that panics fails the run, also if nobody joins it; see
/// [`Sim::expect_panics`](crate::Sim::expect_panics).
///
/// # Panics
/// Outside of a simulation; in a simulated thread, whence only what is `Send` goes to others: there a
/// [`Handle`](https://docs.rs/gossamer-rt/latest/gossamer/runtime/struct.Handle.html) spawns.
///
/// # Examples
/// ```
/// use std::{cell::Cell, rc::Rc};
/// use gossamer::sim;
///
/// sim::explore(0..10, async || {
///     let count = Rc::new(Cell::new(0));
///     let theirs = count.clone();
///     let task = sim::spawn(async move { theirs.set(theirs.get() + 1) });
///     task.await.unwrap();
///     assert_eq!(count.get(), 1);
/// });
/// ```
#[track_caller]
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    let Part::Runs(scope) = current("sim::spawn()").part else {
        panic!(
            "sim::spawn() was called in a simulated thread, and the future need not be Send: spawn it by a Handle, or in \
             a task"
        );
    };
    scope.spawn_local(future)
}

/// Spawns a fiber into the current simulation: each wait of its closure is a scheduling point, as an await of a task
/// is. The closure need not be `Send`.
///
/// It is a real fiber, and what it may do wrong with thread-locals it does wrong here too: so the simulation has to be
/// run with [`Sim::fibers`](crate::Sim::fibers).
///
/// # Panics
/// Outside of a simulation, in one without fibers, or if the system grants no memory for its stack.
#[track_caller]
pub fn spawn_fiber<F, T>(body: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + 'static,
    T: 'static,
{
    let fibers = current("sim::spawn_fiber()").simulation.fibers;
    match Fiber::new(body, fibers, "", Location::caller()) {
        Ok(fiber) => spawn(fiber),
        Err((error, _body)) if error.kind() == ErrorKind::Unsupported => {
            panic!(
                "sim::spawn_fiber(): {error}; here the builder is `Sim`, of which all runs are methods"
            );
        }
        Err((error, _body)) => panic!("sim::spawn_fiber(): no memory for a stack: {error}"),
    }
}
