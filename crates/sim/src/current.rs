//! The simulation that the current thread runs.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

use gossamer_core::moment::Moment;
use gossamer_core::platform::thread_local;
use gossamer_fiber::Fibers;
use gossamer_sched::{LocalScope, Single, SingleRuntime};
use gossamer_time::timers::runner;

use crate::scheduler::SimScheduler;

/// A simulation: a runtime on one thread, whose scheduler explores.
#[doc(hidden)]
pub struct Simulation {
    pub(crate) single: Arc<Single<SimScheduler>>,
    pub(crate) fibers: Option<Fibers>,
    pub(crate) began: Moment,
}

gossamer_core::impl_debug!([] Simulation[]);

thread_local! {
    static CURRENT: RefCell<Option<Current>> = const { RefCell::new(None) };
}

/// The current simulation, and where tasks go that need not be `Send`.
#[derive(Clone)]
pub(crate) struct Current {
    pub(crate) simulation: Arc<Simulation>,
    pub(crate) scope: LocalScope,
}

impl Simulation {
    /// The one that the current thread runs, if any.
    pub fn current() -> Option<Arc<Self>> {
        if gossamer_core::mutant!("simulation_is_no_runtime") {
            return None;
        }
        // At the end of a thread there is none.
        CURRENT
            .try_with(|current| Some(current.borrow().as_ref()?.simulation.clone()))
            .ok()
            .flatten()
    }

    /// Where its tasks are spawned.
    pub fn runtime(&self) -> Arc<dyn SingleRuntime> {
        self.single.clone()
    }

    /// What it was promised of its fibers.
    pub fn fibers(&self) -> Option<Fibers> {
        self.fibers
    }

    /// The virtual time since its start.
    pub(crate) fn now(&self) -> Duration {
        let now = runner::virtual_now(self.single.shard());
        now.map_or(Duration::ZERO, |now| now.since(self.began))
    }
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
    pub(crate) fn new(simulation: Arc<Simulation>, scope: LocalScope) -> Self {
        let entered = Current { simulation, scope };
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
