//! Runs for experiments over schedules: to a state, on from there, and by priorities. All choose among operations alone.

use std::panic::Location;
use std::sync::Arc;

use crate::choice::Choice;
use crate::choose::Oracle;
use crate::chooser::{Chosen, Reached};
use crate::current::Simulation;
use crate::failure::Origin;
use crate::pct::Pct;
use crate::run::Run;
use crate::settings::Sim;

impl Sim {
    /// Records no trace, in which nobody looks.
    #[doc(hidden)]
    pub const fn untraced(self) -> Self {
        Self {
            is_traced: false,
            ..self
        }
    }

    /// Runs as these choices say, with [`Sim::only_operations`], until there is another one: where it is then, or what
    /// became of it if it has ended before.
    ///
    /// # Errors
    /// It has ended.
    #[track_caller]
    pub fn reach<F: Future>(
        self,
        choices: &[Choice],
        body: impl FnOnce() -> F,
    ) -> Result<Reached, Box<Run<F::Output>>> {
        let chosen = Chosen::nothing(Oracle::Prefix(choices.to_vec(), None));
        let sim = self.only_operations().untraced();
        let caller = Location::caller();
        let (result, mut ended) = sim.go_as_far(&mut None, chosen, Origin::Recorded, caller, body);
        match (result, ended.chosen.reached.take()) {
            (_, Some(reached)) => Ok(reached),
            (result, None) => {
                let result = result.unwrap_or_else(|| unreachable!("it has ended"));
                Err(Box::new(Run::new(result, ended).0))
            }
        }
    }

    /// Runs as these choices say, with [`Sim::only_operations`], and then on to the end, in an order that depends on the
    /// state and the seed alone: from equal states to equal ends.
    #[track_caller]
    pub fn go_on<F: Future>(
        self,
        choices: &[Choice],
        seed: u64,
        body: impl FnOnce() -> F,
    ) -> Run<F::Output> {
        let oracle = Oracle::Prefix(choices.to_vec(), Some(seed));
        let sim = self.only_operations().untraced();
        sim.go_once(oracle, Origin::Recorded, Location::caller(), body)
    }

    /// One run with [`Sim::only_operations`], by random priorities that change `depth - 1` times in about so many choices
    /// (see `pct.rs`).
    #[doc(hidden)]
    #[track_caller]
    pub fn run_by_priorities<F: Future>(
        self,
        seed: u64,
        (depth, length): (usize, usize),
        body: impl FnOnce() -> F,
    ) -> Run<F::Output> {
        let oracle = Oracle::Pct(Box::new(Pct::new(seed, depth, length)));
        let sim = self.only_operations().untraced();
        sim.go_once(oracle, Origin::Recorded, Location::caller(), body)
    }

    /// The run that was recorded as `choices`, again, with [`Sim::only_operations`], and all that is known of it.
    #[doc(hidden)]
    #[track_caller]
    pub fn run_recorded<F: Future>(
        self,
        choices: &[Choice],
        body: impl FnOnce() -> F,
    ) -> Run<F::Output> {
        let oracle = Oracle::Recorded(choices.to_vec());
        let sim = self.only_operations().untraced();
        sim.go_once(oracle, Origin::Recorded, Location::caller(), body)
    }
}

/// The runs of a search for all outcomes of a program, see `reduction.rs`.
#[doc(hidden)]
#[derive(Debug)]
pub struct Search {
    sim: Sim,
    /// Chooses in the next run; `None`: all have been made.
    next: Option<Box<Chosen>>,
    kept: Option<Arc<Simulation>>,
}

impl Search {
    /// Of a program that is run with these settings, and [`Sim::only_operations`].
    pub fn new(sim: Sim) -> Self {
        Self {
            sim: sim.only_operations().untraced(),
            next: Some(Chosen::nothing(Oracle::Reduced(Box::default()))),
            kept: None,
        }
    }

    /// Whether all runs have been made.
    pub fn is_complete(&self) -> bool {
        self.next.is_none()
    }

    /// Makes the next run; `None` if it was cut off, or there is none.
    #[track_caller]
    pub fn run_next<F: Future>(&mut self, body: impl FnOnce() -> F) -> Option<Run<F::Output>> {
        let (chosen, caller) = (self.next.take()?, Location::caller());
        let (result, mut ended) =
            self.sim
                .go_as_far(&mut self.kept, chosen, Origin::Recorded, caller, body);
        // What comes of one that was cut off, as it is taken down, is no outcome.
        let (run, mut used) = match result.filter(|_| !ended.chosen.is_cut) {
            Some(result) => {
                let (run, used) = Run::new(result, ended);
                (Some(run), used)
            }
            None => {
                ended.chosen.clear();
                (None, ended.chosen)
            }
        };
        self.next = used.oracle.next_path().then_some(used);
        run
    }
}
