//! Runs for experiments over schedules: to a state, on from there, and by priorities. All choose among operations alone.

use std::panic::Location;

use crate::choose::{Choice, Oracle};
use crate::chooser::Reached;
use crate::failure::Origin;
use crate::pct::Pct;
use crate::run::Run;
use crate::settings::Sim;

impl Sim {
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
        let oracle = Oracle::Prefix(choices.to_vec(), None);
        let sim = self.only_operations();
        let (result, mut ended) = sim.go_as_far(oracle, Origin::Recorded, Location::caller(), body);
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
        let sim = self.only_operations();
        sim.go(oracle, Origin::Recorded, Location::caller(), body).0
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
        let oracle = Oracle::Pct(Pct::new(seed, depth, length));
        let sim = self.only_operations();
        sim.go(oracle, Origin::Recorded, Location::caller(), body).0
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
        let sim = self.only_operations();
        sim.go(oracle, Origin::Recorded, Location::caller(), body).0
    }
}
