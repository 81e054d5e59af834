//! The model M:1: tasks run on the thread that waits for them. No thread is started.
//!
//! # Who runs
//!
//! A `Single` has one [`Shard`]; whoever acquires it runs it: [`block_on`](Single::block_on) for the time
//! of the call, and any `.wait()` of the thread that built it, turn by turn. Between two runs
//! nothing runs; wakes and spawns from outside collect in the inbox.
//!
//! A fiber stays with the thread it began on, so while there are some, no other thread can run; until that thread ends,
//! which ends them: whoever runs next cancels their tasks.
//!
//! # A panicking task
//!
//! One `catch_unwind` stands around the whole loop, not around each poll: the context says which
//! task was being polled, that task takes the payload, and the loop is entered again.
//!
//! # The end
//!
//! Dropping a `Single` closes the inbox, drops every future on the dropping thread, in whatever
//! state its task is, then empties the queues. A waker that fires later finds its task finished,
//! or the inbox closed, and does nothing.

mod acquiring;
mod handing_over;
mod run;
mod scope;
mod sleeping;

use std::fmt;
use std::io;
use std::panic::{Location, resume_unwind};
use std::ptr::NonNull;
use std::sync::{Arc, Weak};
use std::task::{Wake, Waker};

use gossamer_core::context;
use gossamer_core::dump::Deadlock;
use gossamer_core::fork::Origin;
use gossamer_core::header::Header;
use gossamer_core::moment::Moment;
use gossamer_core::panics;
use gossamer_core::platform::atomic::{AtomicBool, Ordering};
use gossamer_core::poller::own_cell;
use gossamer_core::shard::{Shard, ShardGuard};
use gossamer_core::wait::{RunWhileWaiting, Turned, refuse_inside_poll, run_while_waiting};
use gossamer_task::{JoinHandle, spawn};
use gossamer_time::timers::runner;

use crate::environment::Environment;
use crate::fifo::Fifo;
use crate::scheduler::{Idle, Scheduler, Tasks};
pub(crate) use acquiring::acquire_again;
use acquiring::acquire_patiently;
pub(crate) use handing_over::hand_over;
use run::Guarded;
pub(crate) use run::{Ran, run, shut_down};
pub use scope::LocalScope;

/// Polls of one [`turn`](RunWhileWaiting::turn), so that the thread that waits can look at what it waits for; and
/// between two looks at the timers. (And after each poll that used up what its operations may take.)
const TURN_POLLS: u32 = if cfg!(shuttle) { 4 } else { 256 };

/// Polls between two looks while there are no timers: so late, at most, is the first one registered.
const POLLS_WITHOUT_TIMERS: u32 = 4_096;

/// A runtime of the model M:1, with its scheduler.
pub struct Single<S: Scheduler = Fifo> {
    scheduling_points: bool,
    /// Its tasks are to be ended, by who runs next.
    ends: AtomicBool,
    environment: Environment,
    /// In a forked child it is not run.
    origin: Origin,
    /// And its shard. Touched outside polls.
    scheduler: Guarded<S>,
}

/// Why a blocking call has no output.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stopped {
    /// The scheduler gave up ([`Idle::Stop`]).
    ByScheduler,
    /// All threads of the process sleep, and none is left that could wake one.
    Deadlock(Deadlock),
}

gossamer_core::impl_debug_as_display!([] Stopped[]);

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ByScheduler => {
                f.write_str("the scheduler stopped: nothing is runnable, and nothing ever will be")
            }
            Self::Deadlock(deadlock) => deadlock.fmt(f),
        }
    }
}

impl std::error::Error for Stopped {}

/// The interface that the facade requires of a runtime, whatever its scheduler.
pub trait SingleRuntime: RunWhileWaiting + Send + Sync {
    /// Where its tasks live.
    fn shard(&self) -> &'static Shard;

    /// Returns the environment that the runtime's tasks run in.
    fn environment(&self) -> &Environment;

    /// Drops the futures of all tasks, on this thread, and turns those away that come later. While somebody runs (which
    /// may be this thread, in a poll), whoever runs last or next does so.
    fn end(self: Arc<Self>);

    /// Runs tasks until `root`, one of them, has finished.
    ///
    /// # Errors
    /// The scheduler stopped.
    ///
    /// # Panics
    /// `guard` is of another runtime's shard.
    fn run_root(&self, guard: &ShardGuard, root: NonNull<Header>) -> Result<(), Stopped>;

    /// Gives the tasks that were woken outside of a run to the scheduler.
    ///
    /// # Panics
    /// `guard` is of another runtime's shard.
    fn hand_over(&self, guard: &ShardGuard);
}

impl Single<Fifo> {
    /// A runtime with the default order.
    ///
    /// # Errors
    /// 65,535 runtimes exist in this process.
    pub fn new() -> io::Result<Arc<Self>> {
        Self::with_scheduler(Fifo::new())
    }
}

impl<S: Scheduler> Single<S> {
    /// A runtime with this scheduler, owned by the current thread: every `.wait()` of this thread
    /// runs it.
    ///
    /// # Errors
    /// 65,535 runtimes exist in this process.
    pub fn with_scheduler(scheduler: S) -> io::Result<Arc<Self>> {
        let environment = Environment::with_poller(own_cell());
        let single = Arc::new(Self::unowned(scheduler, false, environment)?);
        single.shard().set_owned();
        let weak = Arc::downgrade(&single);
        run_while_waiting(weak);
        Ok(single)
    }

    /// A runtime in which every operation on a primitive is a scheduling point. For simulations.
    ///
    /// # Errors
    /// 65,535 runtimes exist in this process.
    pub fn with_scheduling_points(scheduler: S) -> io::Result<Self> {
        const { assert!(S::IS_SIMULATED, "a poll would have its whole budget") };
        Self::unowned(scheduler, true, Environment::default())
    }

    /// A runtime for one blocking call: no thread owns it.
    ///
    /// # Errors
    /// 65,535 shards are in use in this process.
    pub fn for_one_call() -> io::Result<Self>
    where
        S: Default,
    {
        Self::unowned(S::default(), false, Environment::default())
    }

    fn unowned(
        scheduler: S,
        scheduling_points: bool,
        environment: Environment,
    ) -> io::Result<Self> {
        let shard = Shard::open().ok_or_else(|| {
            io::Error::other("65,535 runtimes exist in this process: drop one to build another")
        })?;
        shard.watch(scheduling_points);
        shard.set_lists_late(S::KEEPS_ALL);
        Ok(Self {
            scheduling_points,
            ends: AtomicBool::new(false),
            environment,
            origin: Origin::here(),
            scheduler: Guarded::new(shard, scheduler),
        })
    }

    /// Spawns a task that runs when this runtime is run.
    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        spawn(self.shard(), future, Location::caller())
    }

    /// Runs tasks on this thread until `future`, itself one of them, is complete.
    ///
    /// # Blocking
    /// Blocks the thread; parks it while nothing is runnable.
    ///
    /// # Errors
    /// The scheduler stopped; the future has been dropped.
    ///
    /// # Panics
    /// As the future does; inside a task; or if another thread runs this runtime.
    #[track_caller]
    pub fn try_block_on<F: Future>(&self, future: F) -> Result<F::Output, Stopped> {
        run_blocking(self, self.scheduling_points, Location::caller(), |_| future)
    }

    /// Asks the scheduler what to do, and gives it what it has woken meanwhile.
    fn idle(guard: &ShardGuard, scheduler: &mut S) -> Idle {
        let idle = scheduler.idle(&Tasks::new(guard));
        let woken = context::with(|context| hand_over(context, scheduler));
        if woken && idle == Idle::Park {
            Idle::Again
        } else {
            idle
        }
    }

    /// Fires the timers that are due, and gives what they woke to the scheduler; `true` if there were any. The guard
    /// is held.
    fn serve(&self, scheduler: &mut S) -> bool {
        let fired = runner::serve(self.shard());
        if fired {
            context::with(|context| hand_over(context, scheduler));
        }
        fired
    }

    /// The end, which may come twice. The guard is of this shard.
    fn end_tasks(&self, guard: &ShardGuard) {
        let _tasks_of = self.environment.enter();
        guard.seal();
        shut_down(guard, &mut *self.scheduler.borrow(guard));
    }

    /// The scheduler, as nobody runs.
    pub fn scheduler_mut(&mut self) -> &mut S {
        self.scheduler.get_mut()
    }

    /// Drops the futures of all tasks, on this thread, and turns those away that come later; then calls `look` with the
    /// scheduler.
    ///
    /// # Panics
    /// Somebody runs.
    pub fn finish<R>(&self, look: impl FnOnce(&mut S) -> R) -> R {
        let guard = self.shard().acquire(false).expect("nobody runs");
        self.end_tasks(&guard);
        look(&mut *self.scheduler.borrow(&guard))
    }

    /// Makes a runtime that has [finished](Single::finish) as good as new; `false`: it cannot, as not all tasks have gone.
    #[must_use]
    pub fn begin_anew(&mut self) -> bool {
        let guard = self.shard().acquire(false);
        guard.is_some_and(|guard| {
            runner::end(self.shard());
            !self.origin.is_elsewhere() && guard.open_anew()
        })
    }
}

/// Acquires `runtime`, runs the future that `make` makes as the root task, and ends the local scope.
///
/// # Errors
/// The scheduler stopped.
///
/// # Panics
/// See [`Single::try_block_on`]; or there are fibers that began on another thread.
#[track_caller]
pub fn run_blocking<F: Future>(
    runtime: &dyn SingleRuntime,
    scheduling_points: bool,
    caller: &'static Location<'static>,
    make: impl FnOnce(&LocalScope) -> F,
) -> Result<F::Output, Stopped> {
    let guard = begin_blocking(runtime.shard(), scheduling_points);
    let _woken = HandOver {
        runtime,
        guard: &guard,
    };
    guard.displace();
    let scope = scope::Scope::begin(&guard);
    let future = {
        let _tasks_of = runtime.environment().enter();
        make(scope.handle())
    };
    let output = scope.run_root(future, caller, |root| runtime.run_root(&guard, root));
    runner::rest(runtime.shard());
    match output? {
        Some(Ok(output)) => Ok(output),
        Some(Err(error)) => match error.try_into_panic() {
            Ok(payload) => resume_unwind(payload),
            Err(error) => panic!("the future of block_on() did not complete: {error}"),
        },
        None => unreachable!("the root task has finished, so its output is published"),
    }
}

/// Acquires the shard for a blocking call.
#[track_caller]
fn begin_blocking(shard: &'static Shard, scheduling_points: bool) -> ShardGuard {
    refuse_inside_poll("block_on()");
    assert!(
        !context::runs(shard.index()),
        "block_on() in the closure of block_on_local() of the same runtime, before it runs, or in its scheduler: await in the future"
    );
    let Some(guard) = acquire_patiently(shard, scheduling_points) else {
        panic!("block_on() on a runtime that another thread is running: wait there, or spawn()");
    };
    if !guard.may_run() {
        drop(guard);
        panic!(
            "block_on() on a runtime with fibers that began on another thread: only that thread may run them"
        );
    }
    guard
}

/// Ends a runtime when nobody runs it. (A thread that waits to run it may take this one's place: that ends it too.)
struct Ends<S: Scheduler>(Weak<Single<S>>);

impl<S: Scheduler> Wake for Ends<S> {
    fn wake(self: Arc<Self>) {
        if let Some(single) = self.0.upgrade() {
            single.end();
        }
    }
}

/// Gives to the scheduler, when dropped, the tasks that the end of a scope has woken and that live on.
struct HandOver<'a> {
    runtime: &'a dyn SingleRuntime,
    guard: &'a ShardGuard,
}

impl Drop for HandOver<'_> {
    fn drop(&mut self) {
        // The scheduler may panic, and we may be unwinding already.
        panics::end(|| self.runtime.hand_over(self.guard));
    }
}

impl<S: Scheduler> SingleRuntime for Single<S> {
    fn shard(&self) -> &'static Shard {
        self.scheduler.shard()
    }

    fn environment(&self) -> &Environment {
        &self.environment
    }

    fn end(self: Arc<Self>) {
        // Release pairs with the acquire in `turn`.
        self.ends.store(true, Ordering::Release);
        let guard = self.shard().acquire(false).or_else(|| {
            let ends = Waker::from(Arc::new(Ends(Arc::downgrade(&self))));
            if !gossamer_core::mutant!("end_forgotten_in_a_turn") {
                self.shard().wait_to_run(&ends);
            }
            self.shard().acquire(false)
        });
        match guard {
            Some(guard) => self.end_tasks(&guard),
            None => self.shard().call(),
        }
    }

    fn run_root(&self, guard: &ShardGuard, root: NonNull<Header>) -> Result<(), Stopped> {
        let _tasks_of = self.environment.enter();
        loop {
            let scheduler = &mut *self.scheduler.borrow(guard);
            let polls = if runner::may_have_any(self.shard()) || self.environment.poller().is_used()
            {
                TURN_POLLS
            } else {
                POLLS_WITHOUT_TIMERS
            };
            let ran = run(guard, scheduler, polls, Some(root));
            if ran == Ran::Root {
                return Ok(());
            }
            let has_run = ran == Ran::Budget;
            if self.serve(scheduler) | (has_run && self.look(scheduler, true)) || has_run {
                continue;
            }
            match Self::idle(guard, scheduler) {
                Idle::Again => {}
                Idle::Stop => return Err(Stopped::ByScheduler),
                Idle::Park => self.sleep(scheduler).map_err(Stopped::Deadlock)?,
            }
        }
    }

    fn hand_over(&self, guard: &ShardGuard) {
        let scheduler = &mut *self.scheduler.borrow(guard);
        context::with(|context| hand_over(context, scheduler));
    }
}

impl<S: Scheduler> RunWhileWaiting for Single<S> {
    fn turn(&self, waker: &Waker) -> Turned {
        assert!(
            !context::runs(self.shard().index()),
            "wait() in the closure of block_on_local(), before the runtime runs: wait in the future"
        );
        if self.origin.is_elsewhere() {
            return Turned::Parked(Moment::NEVER);
        }
        let visit = self.shard().visit().or_else(|| {
            // Somebody else runs, and may stop before it has run what this thread waits for.
            self.shard().wait_to_run(waker);
            self.shard().visit()
        });
        let Some(visit) = visit else {
            return Turned::Parked(Moment::NEVER);
        };
        // Acquire pairs with the release in `end`.
        if self.ends.load(Ordering::Acquire) {
            // Relaxed: under the guard; a second time would do nothing.
            self.ends.store(false, Ordering::Relaxed);
            self.end_tasks(&visit.upgrade());
            return Turned::More;
        }
        if !visit.may_run() {
            // Fibers that began on another thread run only when that one runs; and when it has, look again. A
            // thread that comes to run, or to end the runtime, waits until this visit is over.
            self.shard().wait_to_run(waker);
            // Its thread may have ended just before.
            if gossamer_core::mutant!("left_shard_looked_at_once") || !visit.may_run() {
                return Turned::Parked(Moment::NEVER);
            }
        }
        let guard = visit.upgrade();
        let _tasks_of = self.environment.enter();
        let scheduler = &mut *self.scheduler.borrow(&guard);
        self.look(scheduler, false);
        let ran = run(&guard, scheduler, TURN_POLLS, None);
        let has_run = ran == Ran::Budget;
        if self.serve(scheduler) | (has_run && self.look(scheduler, true)) || has_run {
            return Turned::More;
        }
        match Self::idle(&guard, scheduler) {
            Idle::Park | Idle::Stop if self.shard().park(waker) => {
                Turned::Parked(runner::next_deadline(self.shard()))
            }
            _ => Turned::More,
        }
    }

    fn rest(&self) {
        // Else somebody else runs, and will rest then.
        if runner::may_have_any(self.shard())
            && !self.origin.is_elsewhere()
            && let Some(_visit) = self.shard().visit()
        {
            runner::rest(self.shard());
        }
    }

    fn owner_ends(&self) {
        self.shard().owner_ends();
    }
}

impl<S: Scheduler> Drop for Single<S> {
    fn drop(&mut self) {
        let Some(guard) = self.shard().acquire(false) else {
            // Only who borrows or shares the runtime runs it, so nobody does now.
            debug_assert!(false, "a runtime was dropped while a thread ran it");
            return;
        };
        self.end_tasks(&guard);
        runner::end(self.shard());
        guard.close();
    }
}

gossamer_core::impl_debug!([S: Scheduler] Single[S], this => shard: this.shard().index());
