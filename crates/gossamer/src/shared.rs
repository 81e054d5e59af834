//! The state that a runtime and its handles share.

use std::io;
use std::num::NonZeroUsize;
use std::panic::Location;
use std::sync::{Arc, LazyLock, OnceLock, Weak};
use std::time::Duration;

use gossamer_core::context;
use gossamer_core::fork::{Origin, refusal};
use gossamer_core::platform::thread;
use gossamer_core::shard::Shard;
use gossamer_fiber::{Fiber, Fibers};
use gossamer_par::{Help, Helpers, Team};
use gossamer_sched::{
    Blocking, BlockingOptions, Environment, HELPERS, OnPanic, Pool, SingleRuntime, SpawnError,
    Threads, simulated_threads,
};
use gossamer_structure::{ScopeTask, Spawn};
use gossamer_task::{JoinHandle, spawn, spawn_nowhere};

use crate::threads::{started, try_spawn_named};

/// A runtime, whatever its model.
pub(crate) enum Inner {
    Single {
        runtime: Arc<dyn SingleRuntime>,
        /// The runtime's, at hand for each spawn.
        shard: &'static Shard,
    },
    Pool(Pool),
    Threads(Threads),
}

impl Inner {
    pub(crate) fn single(runtime: Arc<dyn SingleRuntime>) -> Self {
        let shard = runtime.shard();
        Self::Single { runtime, shard }
    }

    pub(crate) fn environment(&self) -> &Environment {
        match self {
            Self::Single { runtime, .. } => runtime.environment(),
            Self::Pool(pool) => pool.environment(),
            Self::Threads(threads) => threads.environment(),
        }
    }
}

/// What is said of a fiber before it is spawned.
pub(crate) struct FiberOptions<'a> {
    pub(crate) name: &'a str,
    /// None: as the runtime has it.
    pub(crate) stack_size: Option<usize>,
    pub(crate) caller: &'static Location<'static>,
}

/// It ends with its [`Runtime`](crate::Runtime), not with the last who shares it: then tasks are turned away.
pub(crate) struct Shared {
    pub(crate) inner: Inner,
    /// None in a simulation, which has threads of its own.
    blocking: Option<Blocking>,
    /// In a forked child it is refused, whatever its model: its threads are not there, or others had its locks.
    pub(crate) origin: Origin,
    pub(crate) fibers: Option<Fibers>,
    /// Of those that compute, once somebody does.
    pub(crate) team: OnceLock<Arc<Team>>,
}

impl Shared {
    pub(crate) fn new(
        inner: Inner,
        fibers: Option<Fibers>,
        mut blocking: BlockingOptions,
        on_panic: OnPanic,
    ) -> Arc<Self> {
        let environment = inner.environment().clone();
        blocking.environment = environment.clone();
        let shared = Arc::new(Self {
            inner,
            blocking: Some(Blocking::with_options(blocking)),
            origin: Origin::watched(),
            fibers,
            team: OnceLock::new(),
        });
        #[cfg(all(target_os = "linux", not(any(loom, shuttle, gossamer_portable))))]
        gossamer_sched::look_for_deadlocks();
        gossamer_par::find_team_by(Self::current_team);
        let weak: Weak<Self> = Arc::downgrade(&shared);
        environment.set(weak, on_panic);
        shared
    }

    /// The runtime, or simulation, that the current thread runs tasks of, if any.
    #[inline]
    pub(crate) fn current() -> Option<Arc<Self>> {
        #[cfg(feature = "sim")]
        if let Some(simulation) = gossamer_sim::Simulation::current() {
            return Some(Arc::new(Self {
                inner: Inner::single(simulation.runtime()),
                blocking: None,
                origin: Origin::here(),
                fibers: simulation.fibers(),
                team: OnceLock::new(),
            }));
        }
        gossamer_sched::current()?.downcast().ok()
    }

    /// In a simulation each call has a simulated thread.
    #[track_caller]
    pub(crate) fn spawn_blocking<F, T>(
        &self,
        call: F,
        caller: &'static Location<'static>,
    ) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        match &self.blocking {
            Some(blocking) => blocking.spawn(call, caller),
            None if simulated_threads().is_some() => {
                let call = move || {
                    #[cfg(feature = "sim")]
                    gossamer_sim::Simulation::know_in_call();
                    call()
                };
                started(try_spawn_named("gossamer-blocking", call, caller))
            }
            // The simulation has ended.
            None => self.spawn(async { call() }, caller),
        }
    }

    /// The threads that compute together.
    pub(crate) fn team(self: &Arc<Self>) -> Arc<Team> {
        let new = || Team::new(Box::new(HelpersOf(Arc::downgrade(self))));
        self.team.get_or_init(new).clone()
    }

    /// Those that compute for the runtime that this is in. In a forked child there is nobody else.
    pub(crate) fn current_team() -> Option<Arc<Team>> {
        let runtime = Self::current()?;
        (!runtime.origin.is_elsewhere()).then(|| runtime.team())
    }

    /// Runs code of this runtime, on whatever thread.
    ///
    /// # Panics
    /// In a fiber of another runtime: it may stand still inside, and then the other tasks of its thread would run in here.
    #[track_caller]
    pub(crate) fn enter<R>(&self, body: impl FnOnce() -> R) -> R {
        if Self::current().is_some_and(|own| own.is_of(self)) {
            return body();
        }
        assert!(
            !context::with(context::Context::is_in_fiber)
                || gossamer_core::mutant!("fiber_enters_another_runtime"),
            "enter() in a fiber of another runtime, or in a simulation: give the fiber a Handle of that runtime"
        );
        let _current = self.inner.environment().enter_alone();
        body()
    }

    /// Whether both are parts of one runtime, or of one simulation.
    fn is_of(&self, other: &Self) -> bool {
        self.inner.environment().is(other.inner.environment())
    }

    /// The end of the runtime.
    pub(crate) fn end(&self) {
        // A part of a computation that drops its runtime: a worker may wait for that part.
        let is_part =
            gossamer_par::is_inside() && !gossamer_core::mutant!("part_waits_for_its_workers");
        let limit = is_part.then_some(Duration::ZERO);
        match &self.inner {
            Inner::Single { runtime, .. } => runtime.clone().end(),
            Inner::Pool(pool) => pool.end(limit),
            Inner::Threads(threads) => threads.end(limit),
        }
        if let Some(blocking) = &self.blocking {
            blocking.end();
        }
    }

    #[track_caller]
    pub(crate) fn spawn<F>(
        &self,
        future: F,
        caller: &'static Location<'static>,
    ) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.origin.check("spawn()");
        let shard = match &self.inner {
            Inner::Single { shard, .. } => shard,
            Inner::Pool(pool) => pool.shard_here(),
            Inner::Threads(threads) => match threads.shard_here() {
                Ok(Some(shard)) => shard,
                Ok(None) => return spawn_nowhere(future, caller),
                Err(error) => {
                    drop(future);
                    threads.refuse(&error, caller);
                }
            },
        };
        spawn(shard, future, caller)
    }

    pub(crate) fn try_spawn<F>(
        &self,
        future: F,
        caller: &'static Location<'static>,
    ) -> Result<JoinHandle<F::Output>, SpawnError<F>>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        if self.origin.is_elsewhere() {
            let error = io::Error::other(refusal("try_spawn()"));
            return Err(SpawnError { error, future });
        }
        match &self.inner {
            Inner::Single { shard, .. } => Ok(spawn(shard, future, caller)),
            Inner::Pool(pool) => Ok(pool.spawn(future, caller)),
            Inner::Threads(threads) => threads.try_spawn(future, caller),
        }
    }

    #[track_caller]
    pub(crate) fn spawn_fiber<F, T>(
        &self,
        body: F,
        caller: &'static Location<'static>,
    ) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        started_fiber(self.try_spawn_fiber(body, caller))
    }

    pub(crate) fn try_spawn_fiber<F, T>(
        &self,
        body: F,
        caller: &'static Location<'static>,
    ) -> Result<JoinHandle<T>, SpawnError<F>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let options = FiberOptions {
            name: "",
            stack_size: None,
            caller,
        };
        self.try_start_fiber(body, options, |fiber| self.try_spawn(fiber, caller))
    }

    /// Makes a fiber, and has `spawn` run it.
    pub(crate) fn try_start_fiber<F, T>(
        &self,
        body: F,
        options: FiberOptions<'_>,
        spawn: impl FnOnce(Fiber<F, T>) -> Result<JoinHandle<T>, SpawnError<Fiber<F, T>>>,
    ) -> Result<JoinHandle<T>, SpawnError<F>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let promised = match (self.fibers, options.stack_size) {
            (Some(fibers), Some(bytes)) => Some(fibers.stack_size(bytes)),
            (promised, _) => promised,
        };
        let fiber = match Fiber::new(body, promised, options.name, options.caller) {
            Ok(fiber) => fiber,
            Err((error, future)) => return Err(SpawnError { error, future }),
        };
        spawn(fiber)
            .map_err(|refused| refused.map(|fiber| fiber.into_body().expect("it has not begun")))
    }
}

/// Asking the system takes it some file reads.
static PROCESSORS: LazyLock<usize> =
    LazyLock::new(|| thread::available_parallelism().map_or(1, NonZeroUsize::get));

/// Those that help to compute are tasks of the runtime.
struct HelpersOf(Weak<Shared>);

impl Helpers for HelpersOf {
    fn width(&self) -> usize {
        match self.0.upgrade().as_deref() {
            Some(Shared {
                inner: Inner::Pool(pool),
                ..
            }) => pool.target(),
            Some(Shared {
                inner: Inner::Threads(_),
                ..
            }) => *PROCESSORS,
            _ => 1,
        }
    }

    fn ask(&self, help: Help) {
        match self.0.upgrade().as_deref().map(|shared| &shared.inner) {
            Some(Inner::Pool(pool)) => drop(pool.spawn_helper(help)),
            Some(Inner::Single { shard, .. }) => drop(spawn(shard, help, HELPERS)),
            // Nobody helps if there is no thread to be had.
            Some(Inner::Threads(threads)) => drop(threads.try_spawn(help, HELPERS)),
            None => drop(help),
        }
    }
}

/// A simulation is a closed world: it does not see what the threads of a runtime inside it do.
pub(crate) fn refuse_in_simulation() -> io::Result<()> {
    if simulated_threads().is_some() {
        return Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "a runtime cannot be built inside a simulation, which is one itself: spawn by gossamer::spawn() or \
             Handle::current(), or take a Handle as an argument",
        ));
    }
    Ok(())
}

/// The handle of a fiber.
///
/// # Panics
/// The builder was not given what fibers need, there is no memory for a stack, or no thread.
#[track_caller]
pub(crate) fn started_fiber<T, F>(tried: Result<JoinHandle<T>, SpawnError<F>>) -> JoinHandle<T> {
    let error = match tried {
        Ok(handle) => return handle,
        Err(refused) => refused.error,
    };
    if let io::ErrorKind::Unsupported | io::ErrorKind::InvalidInput = error.kind() {
        panic!("spawn_fiber(): {error}");
    }
    panic!(
        "spawn_fiber(): no stack or thread to be had ({error}): raise the limit (for stacks that of the \
         address space, or, before Linux 6.13, vm.max_map_count), or use try_spawn_fiber()"
    )
}

impl Spawn for Shared {
    fn try_spawn(
        &self,
        task: ScopeTask,
        caller: &'static Location<'static>,
    ) -> Result<JoinHandle<()>, SpawnError<ScopeTask>> {
        Self::try_spawn(self, task, caller)
    }

    fn fibers(&self) -> Option<Fibers> {
        self.fibers
    }
}
