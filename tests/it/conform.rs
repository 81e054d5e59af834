//! What a primitive promises, to every pair of task, fiber and thread, in every world: the models, and sim.
//!
//! A rule is one body. A task awaits each operation, a fiber and a thread wait for it. The threads of a simulation are
//! simulated: each is an OS thread, of which one at a time runs.
//!
//! * [`pairs`]: each primitive and channel, with one actor at each of its two ends.
//! * [`rules`]: the rules of `MVar`, whose actors follow scripts.
//! * `locks::conform`, `pipe::anywhere`: the rules of locks, cells and pipes.

mod pairs;
mod rules;
mod script;

use std::pin::Pin;
use std::sync::Arc;

use gossamer::{JoinHandle, Runtime, Wait};

use crate::contract::SIM;
use crate::exploring::looking;
use crate::models::{MODELS, runtime, watched};
use script::{MVars, Script, Seen};

/// What runs an actor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Task,
    Fiber,
    Thread,
}

pub(crate) const KINDS: [Kind; 3] = [Kind::Task, Kind::Fiber, Kind::Thread];

impl Kind {
    /// Finishes an operation of an actor of this kind: a task awaits it, a fiber and a thread wait for it.
    pub(crate) async fn finish<O: Future>(self, operation: O) -> O::Output {
        match self {
            Kind::Task => operation.await,
            Kind::Fiber | Kind::Thread => operation.wait(),
        }
    }
}

/// Where actors run.
#[derive(Clone)]
pub(crate) enum World {
    Real(Arc<Runtime>),
    Simulated,
}

impl World {
    /// Has an actor of this kind finish a body: a task awaits it, a fiber and a thread wait for it.
    pub(crate) fn run<F>(&self, kind: Kind, body: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.run_boxed(kind, Box::pin(body))
    }

    /// All bodies by one function, which would take long to compile for each of them.
    fn run_boxed<T: Send + 'static>(
        &self,
        kind: Kind,
        body: Pin<Box<dyn Future<Output = T> + Send>>,
    ) -> JoinHandle<T> {
        match (self, kind) {
            (World::Real(rt), Kind::Task) => rt.spawn(body),
            (World::Real(rt), Kind::Fiber) => rt.spawn_fiber(move || body.wait()),
            (World::Real(rt), Kind::Thread) => rt.spawn_thread(move || body.wait()),
            (World::Simulated, Kind::Task) => gossamer_sim::spawn(body),
            (World::Simulated, Kind::Fiber) => gossamer_sim::spawn_fiber(move || body.wait()),
            (World::Simulated, Kind::Thread) => gossamer::spawn_thread(move || body.wait()),
        }
    }

    /// Has an actor of this kind follow a script; its output is what it saw.
    fn start(&self, kind: Kind, mvars: &MVars, script: Script) -> JoinHandle<Seen> {
        let mvars = mvars.clone();
        self.run(kind, async move {
            let mut seen = Seen::default();
            for step in script {
                seen.note(kind.finish(step.act(&mvars)).await);
            }
            seen
        })
    }
}

/// Every pair of kinds.
fn every_pair() -> impl Iterator<Item = (Kind, Kind)> {
    KINDS
        .into_iter()
        .flat_map(|one| KINDS.into_iter().map(move |two| (one, two)))
}

/// Runs a rule, so many times, for every pair of kinds under every model.
pub(crate) fn in_models<F>(
    rounds: u64,
    rule: impl Fn(World, Kind, Kind, u64) -> F + Send + Sync + 'static,
) where
    F: Future<Output = ()> + 'static,
{
    in_models_boxed(rounds, boxed(rule));
}

/// A rule, whichever it is: to compile for each of them what runs them would take long.
type Rule = dyn Fn(World, Kind, Kind, u64) -> Pin<Box<dyn Future<Output = ()>>> + Send + Sync;

fn boxed<F>(rule: impl Fn(World, Kind, Kind, u64) -> F + Send + Sync + 'static) -> Arc<Rule>
where
    F: Future<Output = ()> + 'static,
{
    Arc::new(move |world, one, two, round| Box::pin(rule(world, one, two, round)))
}

fn in_models_boxed(rounds: u64, rule: Arc<Rule>) {
    for model in MODELS {
        for (one, two) in every_pair() {
            let rule = rule.clone();
            watched(&format!("{model}, {one:?} and {two:?}"), move || {
                let rt = Arc::new(runtime(model));
                for round in 0..rounds {
                    rt.block_on(rule(World::Real(rt.clone()), one, two, round));
                }
            });
        }
    }
}

/// Makes two tests of each rule: in so many rounds under every model, and with so many seeds on sim.
macro_rules! everywhere {
    ($($rule:ident: $rounds:literal, $seeds:literal;)*) => {
        mod models {
            $(#[test]
            fn $rule() {
                crate::conform::in_models($rounds, super::$rule);
            })*
        }
        mod sim {
            $(#[test]
            fn $rule() {
                crate::conform::in_sim($seeds, super::$rule);
            })*
        }
    };
}
pub(crate) use everywhere;

/// As many times more schedules are run without threads: a step of a simulated thread is two switches between OS threads.
const FEWER_WITH_THREADS: u64 = 25;

/// Runs a rule on so many seeded schedules for every pair of kinds, with scheduling points and without; on fewer if one
/// of the two is a thread.
pub(crate) fn in_sim<F>(
    seeds: u64,
    rule: impl Fn(World, Kind, Kind, u64) -> F + Send + Sync + 'static,
) where
    F: Future<Output = ()> + 'static,
{
    in_sim_boxed(seeds, &*boxed(rule));
}

fn in_sim_boxed(seeds: u64, rule: &Rule) {
    for sim in [SIM, SIM.without_scheduling_points()] {
        for (one, two) in every_pair() {
            let seeds = match one == Kind::Thread || two == Kind::Thread {
                true => seeds.div_ceil(FEWER_WITH_THREADS),
                false => seeds,
            };
            for seed in 0..seeds {
                let run = looking(sim, seed).run(seed, || rule(World::Simulated, one, two, seed));
                if let Err(failure) = run {
                    panic!("{sim:?}, {one:?} and {two:?}: {failure}");
                }
            }
        }
    }
}
