//! All schedules of a program.

use std::panic::Location;
use std::sync::Arc;

use crate::choice::Choice;
use crate::choose::Oracle;
use crate::chooser::Chosen;
use crate::current::Simulation;
use crate::failure::Origin;
use crate::run::Run;
use crate::settings::Sim;

/// The schedules of a program, each run once, in the order of their choices.
#[derive(Debug)]
pub struct EachSchedule {
    sim: Sim,
    /// Chooses the next one; `None`: all have been run.
    next: Option<Box<Chosen>>,
    run: usize,
    kept: Option<Arc<Simulation>>,
}

impl Sim {
    /// All schedules there are, to be run one by one.
    pub fn schedules(self) -> EachSchedule {
        EachSchedule {
            sim: self,
            next: Some(Chosen::nothing(Oracle::DepthFirst(Vec::new()))),
            run: 0,
            kept: None,
        }
    }
}

impl EachSchedule {
    /// How many have been run.
    pub(crate) fn runs(&self) -> usize {
        self.run
    }

    /// Whether all have been run.
    pub fn is_complete(&self) -> bool {
        self.next.is_none()
    }

    /// Runs the next one; `None` if there is none.
    #[track_caller]
    pub fn run_next<F: Future>(&mut self, body: impl FnOnce() -> F) -> Option<Run<F::Output>> {
        let origin = Origin::Schedule(self.run);
        let next = self.next.take()?;
        let (run, mut used) = self
            .sim
            .go(&mut self.kept, next, origin, Location::caller(), body);
        self.run += 1;
        self.next = used.oracle.next_path().then_some(used);
        Some(run)
    }

    /// Gives the choices of a run back, to be written anew in the next one.
    #[doc(hidden)]
    pub fn give_back(&mut self, mut choices: Vec<Choice>) {
        if let Some(next) = &mut self.next {
            choices.clear();
            next.choices = choices;
        }
    }
}
