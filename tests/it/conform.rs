//! What a primitive promises, to every pair of task, fiber and thread, in every world: the models, and sim.
//!
//! A rule is one body. Its actors follow scripts, a step at a time: a task awaits each step, a fiber and a thread
//! wait for it. In a simulation there are no threads.

mod rules;
mod script;

use std::sync::Arc;

use gossamer::{JoinHandle, Runtime, Wait};

use crate::contract::SIM;
use crate::exploring::looking;
use crate::models::{MODELS, runtime, watched};
use script::{MVars, Script, Seen};

/// What runs a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Task,
    Fiber,
    Thread,
}

pub(crate) const KINDS: [Kind; 3] = [Kind::Task, Kind::Fiber, Kind::Thread];

/// Where scripts run.
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
        match (self, kind) {
            (World::Real(rt), Kind::Task) => rt.spawn(body),
            (World::Real(rt), Kind::Fiber) => rt.spawn_fiber(move || body.wait()),
            (World::Real(rt), Kind::Thread) => rt.spawn_thread(move || body.wait()),
            (World::Simulated, Kind::Task) => gossamer_sim::spawn(body),
            (World::Simulated, Kind::Fiber) => gossamer_sim::spawn_fiber(move || body.wait()),
            (World::Simulated, Kind::Thread) => unreachable!("a simulation has no threads"),
        }
    }

    /// Has an actor of this kind follow a script; its output is what it saw.
    fn start(&self, kind: Kind, mvars: &MVars, script: Script) -> JoinHandle<Seen> {
        let mvars = mvars.clone();
        let awaited = {
            let (mvars, script) = (mvars.clone(), script.clone());
            async move {
                let mut seen = Seen::default();
                for step in script {
                    seen.note(step.act(&mvars).await);
                }
                seen
            }
        };
        let waited = move || {
            let mut seen = Seen::default();
            for step in script {
                seen.note(step.act(&mvars).wait());
            }
            seen
        };
        match (self, kind) {
            (World::Real(rt), Kind::Task) => rt.spawn(awaited),
            (World::Real(rt), Kind::Fiber) => rt.spawn_fiber(waited),
            (World::Real(rt), Kind::Thread) => rt.spawn_thread(waited),
            (World::Simulated, Kind::Task) => gossamer_sim::spawn(awaited),
            (World::Simulated, Kind::Fiber) => gossamer_sim::spawn_fiber(waited),
            (World::Simulated, Kind::Thread) => unreachable!("a simulation has no threads"),
        }
    }
}

/// Every pair of these.
fn pairs(kinds: &[Kind]) -> impl Iterator<Item = (Kind, Kind)> {
    let all = move |one: &Kind| {
        let one = *one;
        kinds.iter().map(move |two| (one, *two))
    };
    kinds.iter().flat_map(all)
}

/// Runs a rule, so many times, for every pair of kinds under every model.
pub(crate) fn in_models<F>(
    rounds: u64,
    rule: impl Fn(World, Kind, Kind, u64) -> F + Copy + Send + 'static,
) where
    F: Future<Output = ()>,
{
    for model in MODELS {
        for (one, two) in pairs(&KINDS) {
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

/// Runs a rule on so many seeded schedules for every pair of kinds there are in a simulation, with scheduling points
/// and without.
pub(crate) fn in_sim<F>(seeds: u64, rule: impl Fn(World, Kind, Kind, u64) -> F)
where
    F: Future<Output = ()>,
{
    for sim in [SIM, SIM.without_scheduling_points()] {
        for (one, two) in pairs(&[Kind::Task, Kind::Fiber]) {
            for seed in 0..seeds {
                let run = looking(sim, seed).run(seed, || rule(World::Simulated, one, two, seed));
                if let Err(failure) = run {
                    panic!("{sim:?}, {one:?} and {two:?}: {failure}");
                }
            }
        }
    }
}
