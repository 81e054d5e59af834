//! Spawning into the current simulation, and watching how its tasks end.

use std::any::Any;
use std::cell::RefCell;
use std::future::poll_fn;
use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::pin::pin;

use gossamer_core::platform::thread_local;
use gossamer_fiber::{Fiber, Fibers};
use gossamer_sched::LocalScope;
use gossamer_task::JoinHandle;

use crate::trace::End;
use crate::world::Shared;

/// The simulation that the current thread runs.
#[derive(Clone)]
pub(crate) struct Current {
    pub(crate) world: Shared,
    pub(crate) scope: LocalScope,
    fibers: Option<Fibers>,
}

thread_local! {
    static CURRENT: RefCell<Option<Current>> = const { RefCell::new(None) };
}

/// The current simulation, for `caller`, which needs one.
#[track_caller]
pub(crate) fn current(caller: &str) -> Current {
    match CURRENT.with(|current| current.borrow().clone()) {
        Some(current) => current,
        None => panic!("{caller} was called outside of a simulation: use it inside sim::run()"),
    }
}

/// Makes a simulation the current one, until dropped.
pub(crate) struct Entered;

impl Entered {
    pub(crate) fn new(world: Shared, scope: LocalScope, fibers: Option<Fibers>) -> Self {
        let entered = Current {
            world,
            scope,
            fibers,
        };
        CURRENT.with(|current| *current.borrow_mut() = Some(entered));
        Self
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        let gone = CURRENT.with(|current| current.borrow_mut().take());
        drop(gone);
    }
}

/// Spawns a task into the current simulation. The future need not be `Send`.
///
/// A task that panics fails the run, also if nobody joins it; see
/// [`Sim::expect_panics`](crate::Sim::expect_panics).
///
/// # Panics
/// Outside of a simulation.
#[track_caller]
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    let Current { world, scope, .. } = current("sim::spawn()");
    let (number, future) = watch(world.clone(), Location::caller(), future);
    let handle = scope.spawn_local(future);
    world
        .lock()
        .set_address(number, handle.task().as_ptr().addr());
    handle
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
    match Fiber::new(body, current("sim::spawn_fiber()").fibers) {
        Ok(fiber) => spawn(fiber),
        Err((error, _body)) if error.kind() == ErrorKind::Unsupported => {
            panic!(
                "sim::spawn_fiber(): {error}; here the builder is `Sim`, of which all runs are methods"
            );
        }
        Err((error, _body)) => panic!("sim::spawn_fiber(): no memory for a stack: {error}"),
    }
}

/// Gives a new task its number, and notes how its future ends.
pub(crate) fn watch<F: Future>(
    world: Shared,
    spawned: &'static Location<'static>,
    future: F,
) -> (usize, impl Future<Output = F::Output>) {
    /// Notes the end when it is dropped, with the future or after it.
    struct Watched {
        world: Shared,
        task: usize,
        how: End,
    }
    impl Drop for Watched {
        fn drop(&mut self) {
            self.world.lock().end_task(self.task, self.how);
        }
    }
    let task = world.lock().add_task(spawned);
    let mut watched = Watched {
        world,
        task,
        how: End::Dropped,
    };
    let future = async move {
        let watched = &mut watched;
        let mut future = pin!(future);
        let output =
            poll_fn(
                |cx| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
                    Ok(polled) => polled,
                    Err(payload) => {
                        watched.how = End::Panicked;
                        let mut world = watched.world.lock();
                        world
                            .panicked
                            .get_or_insert_with(|| (task, message(&*payload)));
                        drop(world);
                        resume_unwind(payload);
                    }
                },
            );
        let output = output.await;
        watched.how = End::Returned;
        output
    };
    (task, future)
}

/// Returns the message in a panic's payload.
pub(crate) fn message(payload: &(dyn Any + Send)) -> String {
    if let Some(text) = payload.downcast_ref::<&'static str>() {
        (*text).to_owned()
    } else if let Some(text) = payload.downcast_ref::<String>() {
        text.clone()
    } else {
        "(the payload is no text)".to_owned()
    }
}
