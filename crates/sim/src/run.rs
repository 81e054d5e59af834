//! The entry points: one run, many seeds, all schedules, one of them again.

use std::mem;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::process::{ExitCode, Termination};
use std::sync::Arc;

use gossamer_core::context;
use gossamer_core::header::Payload;
use gossamer_core::moment::Moment;
use gossamer_core::platform::thread;
use gossamer_core::wait::refuse_inside_poll;
use gossamer_sched::{Single, SingleRuntime, run_blocking};
use gossamer_time::timers::runner;

use crate::choice::Choice;
use crate::choose::Oracle;
use crate::chooser::{self, Chosen, Draw};
use crate::current::{Entered, Part, Simulation};
use crate::draw::draw_alike;
use crate::failure::{Failure, Origin};
use crate::relay::Threads;
use crate::scheduler::{Ended, SimScheduler};
use crate::settings::Sim;
use crate::thread::Here;
use crate::trace::Trace;
use crate::world::message;

/// A test of all schedules has so many at most.
const SCHEDULES_MAX: usize = 100_000;

const RETURNED_ERROR: &str = "the test returned an error, which is printed above";

/// One run and all that is known of it.
#[derive(Debug)]
pub struct Run<T> {
    /// The root future's output.
    pub result: Result<T, Failure>,
    /// The choices of the run: one a step, or, with [`Sim::only_operations`], one for each step at which there were
    /// several tasks to choose among; and one for each draw.
    pub choices: Vec<Choice>,
    /// Those of them that were draws of alternatives that are not alike, in their order.
    #[doc(hidden)]
    pub draws: Vec<Draw>,
    /// How many of the choices were draws.
    #[doc(hidden)]
    pub drawn: usize,
    /// With [`Sim::only_operations`]: how often another task was chosen than before, though that one could have gone on.
    pub preemptions: usize,
    /// The events of the run.
    pub trace: Trace,
}

impl<T> Run<T> {
    /// And the oracle, with nothing chosen.
    pub(crate) fn new(result: Result<T, Failure>, ended: Ended) -> (Self, Box<Chosen>) {
        let mut chosen = ended.chosen;
        let run = Self {
            result,
            choices: mem::take(&mut chosen.choices),
            draws: mem::take(&mut chosen.draws),
            drawn: chosen.drawn,
            preemptions: chosen.preemptions,
            trace: ended.trace,
        };
        chosen.clear();
        (run, chosen)
    }
}

/// The schedules that [`exhaustive`] has covered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Explored {
    /// How many schedules were run.
    pub schedules: usize,
    /// Whether these were all.
    pub complete: bool,
}

/// When a run is over, however it ends, its operations tell nobody any more.
struct ForgetsAll;

impl Drop for ForgetsAll {
    fn drop(&mut self) {
        context::simulated::forget_all();
        drop(chooser::take());
    }
}

impl Sim {
    /// One run, its choices made from `seed`.
    ///
    /// # Errors
    /// The run failed.
    #[track_caller]
    pub fn run<F: Future>(self, seed: u64, body: impl FnOnce() -> F) -> Result<F::Output, Failure> {
        self.run_traced(seed, body).result
    }

    /// As [`Sim::run`], with the trace also of a run that succeeds.
    #[track_caller]
    pub fn run_traced<F: Future>(self, seed: u64, body: impl FnOnce() -> F) -> Run<F::Output> {
        let origin = Origin::Seed(seed);
        self.go_once(Oracle::seeded(seed), origin, Location::caller(), body)
    }

    /// The run that was recorded as `choices`, again.
    ///
    /// # Errors
    /// The run failed; or differs from the one recorded ([`Cause::NonDeterministic`](crate::Cause::NonDeterministic)).
    #[track_caller]
    pub fn replay<F: Future>(
        self,
        choices: &[Choice],
        body: impl FnOnce() -> F,
    ) -> Result<F::Output, Failure> {
        let recorded = Oracle::Recorded(choices.to_vec());
        self.go_once(recorded, Origin::Recorded, Location::caller(), body)
            .result
    }

    /// A run for each seed.
    ///
    /// # Panics
    /// At the first that fails: with its seed, its report, its last steps, and how to run it again.
    #[track_caller]
    pub fn explore<F: Future>(self, seeds: Range<u64>, body: impl Fn() -> F) {
        for seed in seeds {
            if let Err(failure) = self.run(seed, &body) {
                panic!("{failure}");
            }
        }
    }

    /// A run for each schedule there is, but at most `schedules_max`.
    ///
    /// # Panics
    /// At the first that fails: with its choices, its report, its last steps.
    #[track_caller]
    pub fn exhaustive<F: Future>(self, schedules_max: usize, body: impl Fn() -> F) -> Explored {
        let mut schedules = self.schedules();
        while schedules.runs() < schedules_max {
            let Some(run) = schedules.run_next(&body) else {
                break;
            };
            if let Err(failure) = run.result {
                panic!("{failure}");
            }
        }
        Explored {
            schedules: schedules.runs(),
            complete: schedules.is_complete(),
        }
    }

    /// A run for each seed of a `#[gossamer::test(sim)]`.
    #[track_caller]
    fn test<F: Future<Output: Termination>>(
        self,
        seeds: impl IntoIterator<Item = u64>,
        body: impl Fn() -> F,
    ) {
        let caller = Location::caller();
        let mut seeds = seeds.into_iter().peekable();
        assert!(
            seeds.peek().is_some(),
            "a simulated test without seeds tests nothing: give it some"
        );
        let mut kept = None;
        for seed in seeds {
            let tested = async || {
                let reported = body().await.report();
                assert!(reported == ExitCode::SUCCESS, "{RETURNED_ERROR}");
            };
            let (run, _) = self.go(
                &mut kept,
                Chosen::nothing(Oracle::seeded(seed)),
                Origin::TestSeed(seed),
                caller,
                tested,
            );
            if let Err(failure) = run.result {
                panic!("{failure}");
            }
        }
    }

    /// A run for each schedule of a `#[gossamer::test(sim, exhaustive)]`; or of a `shortest`, which tells the failure with
    /// the fewest preemptions, and of those the shortest, instead of the first.
    #[track_caller]
    fn test_all<F: Future<Output: Termination>>(self, shortest: bool, body: impl Fn() -> F) {
        let mut schedules = self.only_operations().schedules();
        let mut simplest: Option<((usize, usize), Failure)> = None;
        let tested = async || {
            let reported = body().await.report();
            assert!(reported == ExitCode::SUCCESS, "{RETURNED_ERROR}");
        };
        while let Some(run) = schedules.run_next(tested) {
            if let Err(failure) = run.result {
                let effort = (run.preemptions, failure.choices.len());
                if simplest.as_ref().is_none_or(|(least, _)| effort < *least) {
                    simplest = Some((effort, failure));
                }
                if !shortest {
                    break;
                }
            }
            if schedules.runs() == SCHEDULES_MAX && !schedules.is_complete() {
                assert!(
                    simplest.is_some(),
                    "none of {SCHEDULES_MAX} schedules fails, but there are more: make the test smaller, or choose some by \
                     `seeds`"
                );
                break;
            }
        }
        if let Some((_, failure)) = simplest {
            panic!("{failure}");
        }
    }

    /// A run of which nothing is kept for another one.
    pub(crate) fn go_once<F: Future>(
        self,
        oracle: Oracle,
        origin: Origin,
        caller: &'static Location<'static>,
        body: impl FnOnce() -> F,
    ) -> Run<F::Output> {
        self.go(&mut None, Chosen::nothing(oracle), origin, caller, body)
            .0
    }

    /// A run. `kept` is what an earlier one has left, to be used again, and then what this one leaves.
    pub(crate) fn go<F: Future>(
        self,
        kept: &mut Option<Arc<Simulation>>,
        chosen: Box<Chosen>,
        origin: Origin,
        caller: &'static Location<'static>,
        body: impl FnOnce() -> F,
    ) -> (Run<F::Output>, Box<Chosen>) {
        let (result, ended) = self.go_as_far(kept, chosen, origin, caller, body);
        let result = result.unwrap_or_else(|| unreachable!("a run without output has a cause"));
        Run::new(result, ended)
    }

    /// Runs until the oracle does not choose any more; `None`: it has not.
    pub(crate) fn go_as_far<F: Future>(
        self,
        kept: &mut Option<Arc<Simulation>>,
        chosen: Box<Chosen>,
        origin: Origin,
        caller: &'static Location<'static>,
        body: impl FnOnce() -> F,
    ) -> (Option<Result<F::Output, Failure>>, Ended) {
        refuse_inside_poll("a simulation");
        let _forgets = ForgetsAll;
        let simulation = self.begin(kept.take(), chosen);
        let single = &simulation.single;
        let mut entered = None;
        let ran = catch_unwind(AssertUnwindSafe(|| {
            run_blocking(&**single, self.scheduling_points, caller, |scope| {
                entered = Some(Entered::new(
                    simulation.clone(),
                    Part::Runs(scope.clone()),
                    &Here,
                ));
                async { body().await }
            })
        }));
        let (output, panicked) = match ran {
            Ok(output) => (output.ok(), None),
            Err(payload) => (None, Some(payload)),
        };
        let (ended, failure) = self.ended(&simulation, origin, panicked.as_ref());
        drop(entered);
        *kept = Some(simulation);
        let result = match (output, failure) {
            (_, Some(failure)) => Some(Err(failure)),
            (output, None) => output.map(Ok),
        };
        (result, ended)
    }

    /// Ends a run: what is known of it, and its failure, if it has failed.
    fn ended(
        self,
        simulation: &Simulation,
        origin: Origin,
        panicked: Option<&Payload>,
    ) -> (Ended, Option<Failure>) {
        let panicked = panicked.filter(|payload| !chooser::is_stop(&***payload));
        let panicked = panicked.map(|payload| message(&**payload));
        let single = &simulation.single;
        let mut ended = single.finish(|scheduler| scheduler.take_ended(panicked));
        let failure = ended.cause.take().map(|cause| {
            let mut trace = ended.trace.clone();
            trace.truncate(ended.failed_at);
            Failure {
                cause,
                sim: self,
                origin,
                choices: ended.chosen.choices.clone(),
                trace,
            }
        });
        (ended, failure)
    }

    /// A simulation that can run; its time has begun.
    fn begin(self, kept: Option<Arc<Simulation>>, chosen: Box<Chosen>) -> Arc<Simulation> {
        let anew = kept.and_then(Simulation::begin_anew);
        let mut simulation = anew.unwrap_or_else(|| Arc::new(self.new_simulation()));
        let parts = Arc::get_mut(&mut simulation).expect("nobody else has it");
        let single = Arc::get_mut(&mut parts.single).expect("nobody else has it");
        let shard = single.shard();
        runner::begin_simulation(shard, parts.began);
        parts.os = thread::current().id();
        let scheduler = single.scheduler_mut();
        scheduler.begin(&chosen.oracle, shard, parts.began);
        // Each run has the same numbers of chance, or it could not be run again.
        context::seed_rng(0);
        context::simulated::forget_all();
        chooser::begin(chosen, self.steps_max);
        if self.only_operations {
            context::simulated::hold_back_operations(draw_alike);
        }
        simulation
    }

    fn new_simulation(self) -> Simulation {
        let threads = Arc::new(Threads::default());
        let scheduler = SimScheduler::new(self, threads.clone());
        let single = Single::with_scheduling_points(scheduler)
            .unwrap_or_else(|error| panic!("a simulation needs a runtime: {error}"));
        Simulation {
            single: Arc::new(single),
            fibers: self.fibers,
            began: Moment::real_now(),
            threads,
            os: thread::current().id(),
        }
    }
}

/// One run, its choices made from `seed`.
///
/// # Errors
/// The run failed.
///
/// # Examples
/// ```
/// use gossamer::sim;
///
/// let failure = sim::run(7, async || std::future::pending::<()>().await).unwrap_err();
/// assert!(failure.to_string().contains("deadlock"), "{failure}");
/// ```
#[track_caller]
pub fn run<F: Future>(seed: u64, body: impl FnOnce() -> F) -> Result<F::Output, Failure> {
    Sim::new().run(seed, body)
}

/// The run that was recorded as `choices`, again.
///
/// # Errors
/// The run failed; or differs from the one recorded ([`Cause::NonDeterministic`](crate::Cause::NonDeterministic)).
///
/// # Examples
/// ```
/// use gossamer::{channel, sim};
///
/// async fn deadlocks() {
///     let (tx, rx) = channel::bounded::<u8>(1);
///     let _never = rx.recv().await;
///     drop(tx);
/// }
///
/// let failure = sim::run(7, deadlocks).unwrap_err();
/// let again = sim::replay(&failure.choices, deadlocks).unwrap_err();
/// assert_eq!(again.cause, failure.cause);
/// // The text that a failure of `exhaustive` prints does the same.
/// assert!(sim::replay(&sim::choices("0/1 0/1"), deadlocks).is_err());
/// ```
#[track_caller]
pub fn replay<F: Future>(
    choices: &[Choice],
    body: impl FnOnce() -> F,
) -> Result<F::Output, Failure> {
    Sim::new().replay(choices, body)
}

/// A run for each seed.
///
/// # Panics
/// At the first that fails: with its seed, its report, its last steps, and how to run it again.
///
/// # Examples
/// ```
/// use std::rc::Rc;
/// use gossamer::{local::Mutex, sim};
///
/// sim::explore(0..100, async || {
///     let count = Rc::new(Mutex::new(0));
///     let other = count.clone();
///     let task = sim::spawn(async move { *other.lock().await += 1 });
///     *count.lock().await += 1;
///     task.await.unwrap();
///     assert_eq!(*count.lock().await, 2);
/// });
/// ```
#[track_caller]
pub fn explore<F: Future>(seeds: Range<u64>, body: impl Fn() -> F) {
    Sim::new().explore(seeds, body);
}

/// A run for each schedule there is, but at most `schedules_max`.
///
/// # Panics
/// At the first that fails: with its choices, its report, its last steps.
///
/// # Examples
/// ```
/// use gossamer::{local::channel, sim};
///
/// let explored = sim::exhaustive(10_000, async || {
///     let (tx, rx) = channel::bounded(1);
///     let task = sim::spawn(async move { tx.send("hello").await });
///     assert_eq!(rx.recv().await, Ok("hello"));
///     assert_eq!(task.await.unwrap(), Ok(()));
/// });
/// assert!(explored.complete);
/// ```
#[track_caller]
pub fn exhaustive<F: Future>(schedules_max: usize, body: impl Fn() -> F) -> Explored {
    Sim::new().exhaustive(schedules_max, body)
}

/// What `#[gossamer::test(sim)]` calls.
#[doc(hidden)]
#[track_caller]
pub fn test<F: Future<Output: Termination>>(
    sim: Sim,
    seeds: impl IntoIterator<Item = u64>,
    body: impl Fn() -> F,
) {
    sim.test(seeds, body);
}

/// What `#[gossamer::test(sim, exhaustive)]` calls, and `shortest`.
#[doc(hidden)]
#[track_caller]
pub fn test_all<F: Future<Output: Termination>>(sim: Sim, shortest: bool, body: impl Fn() -> F) {
    sim.test_all(shortest, body);
}
