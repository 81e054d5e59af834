//! The simulation that the current thread runs.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

use gossamer_core::moment::Moment;
use gossamer_core::platform::thread::ThreadId;
use gossamer_core::platform::thread_local;
use gossamer_core::shard::Shard;
use gossamer_fiber::Fibers;
use gossamer_sched::{LocalScope, SimulatedThreads, Single, SingleRuntime, set_simulated_threads};
use gossamer_time::timers::runner;

use crate::relay::{Relay, Threads};
use crate::scheduler::SimScheduler;

/// A simulation: a runtime on one thread, whose scheduler explores.
#[doc(hidden)]
pub struct Simulation {
    pub(crate) single: Arc<Single<SimScheduler>>,
    pub(crate) fibers: Option<Fibers>,
    /// When its time begins, in each of its runs.
    pub(crate) began: Moment,
    pub(crate) threads: Arc<Threads>,
    /// The thread that runs it.
    pub(crate) os: ThreadId,
}

gossamer_core::impl_debug!([] Simulation[]);

thread_local! {
    static CURRENT: RefCell<Option<Current>> = const { RefCell::new(None) };
}

/// The current simulation, and the current thread's part in it.
#[derive(Clone)]
pub(crate) struct Current {
    pub(crate) simulation: Arc<Simulation>,
    pub(crate) part: Part,
    /// Whether those find it here who ask which runtime runs.
    is_known: bool,
}

/// A thread's part in a simulation.
#[derive(Clone)]
pub(crate) enum Part {
    /// It runs it, and has the tasks that need not be `Send`.
    Runs(LocalScope),
    /// It is simulated.
    Simulated(Arc<Relay>),
}

impl Simulation {
    /// One that has ended, to be run again; `None`: somebody has it still, or not all of its tasks have gone.
    pub(crate) fn begin_anew(mut ended: Arc<Self>) -> Option<Arc<Self>> {
        let parts = Arc::get_mut(&mut ended)?;
        let single = Arc::get_mut(&mut parts.single)?;
        (parts.threads.are_gone() && single.begin_anew()).then_some(ended)
    }

    /// The one that the current thread runs the tasks of, if any: a thread of its own knows no runtime, unless it makes
    /// a call that blocks.
    pub fn current() -> Option<Arc<Self>> {
        Self::with_current(Arc::clone)
    }

    /// Where the tasks of [that one](Simulation::current) are spawned.
    pub fn current_shard() -> Option<&'static Shard> {
        Self::with_current(|simulation| simulation.single.shard())
    }

    fn with_current<R>(use_it: impl FnOnce(&Arc<Self>) -> R) -> Option<R> {
        if gossamer_core::mutant!("simulation_is_no_runtime") {
            return None;
        }
        // At the end of a thread there is none.
        CURRENT
            .try_with(|current| {
                let current = current.borrow();
                let current = current.as_ref().filter(|current| current.is_known)?;
                Some(use_it(&current.simulation))
            })
            .ok()
            .flatten()
    }

    /// The current thread, which is simulated, makes a call that blocks: such a call knows its runtime.
    pub fn know_in_call() {
        CURRENT.with(|current| {
            if let Some(current) = &mut *current.borrow_mut() {
                current.is_known = true;
            }
        });
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
    /// Who starts threads inside asks `threads`.
    pub(crate) fn new(
        simulation: Arc<Simulation>,
        part: Part,
        threads: &'static dyn SimulatedThreads,
    ) -> Self {
        let entered = Current {
            is_known: matches!(part, Part::Runs(_)),
            simulation,
            part,
        };
        CURRENT.with(|current| *current.borrow_mut() = Some(entered));
        set_simulated_threads(Some(threads));
        Self
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        set_simulated_threads(None);
        let gone = CURRENT.with(|current| current.borrow_mut().take());
        drop(gone);
    }
}
