//! Some schedules of a program, at random: for one that has too many to run them all.

use std::collections::BTreeMap;
use std::fmt::{self, Display};

use gossamer_sim::{Run, Sim};

use crate::schedules::{Outcome, Schedule, outcome_of};
use crate::{Error, Simulation};

/// How schedules are sampled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Sampling {
    /// Of all tasks whose next operation would take effect, each is as probable as the others to go on.
    Uniform,
    /// By priorities: each task gets one at random, and the highest of those that can go on does; `depth - 1` times in a run
    /// the one that went on gets the lowest. What needs `depth` operations in a certain order, among whatever others, is found
    /// in a run with a probability of at least 1 / (tasks × choices^(depth - 1)): so a low depth finds what is rare in a
    /// uniform sample of a long program. (Burckhardt, Kothari, Musuvathi, Nagarakatte, *A Randomized Scheduler with
    /// Probabilistic Guarantees of Finding Bugs*, 2010.)
    ///
    /// A task that has yielded goes after those that have not.
    Priorities {
        /// At least one; three are enough for most.
        depth: usize,
    },
}

/// How often each outcome of a program came in a sample of its schedules, and a schedule that leads to it.
///
/// What did not come may come all the same; how often something came is no probability of a runtime's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Samples<T> {
    seed: u64,
    sampling: Sampling,
    runs: u64,
    outcomes: Vec<(Outcome<T>, u64, Schedule)>,
}

impl Simulation {
    /// Runs a program in so many random schedules, as [`Simulation::sample_within`] does with the usual settings.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use gossamer::experiment::{Error, Outcome, Sampling, Simulation};
    /// use gossamer::sync::MVar;
    ///
    /// let found = Simulation::seeded(7).sample(100, Sampling::Priorities { depth: 2 }, async || {
    ///     let count = Arc::new(MVar::new(0));
    ///     let tasks: Vec<_> = (0..10)
    ///         .map(|_| {
    ///             let count = count.clone();
    ///             gossamer::spawn(async move {
    ///                 let before = count.read().await;
    ///                 count.replace(before + 1).await;
    ///             })
    ///         })
    ///         .collect();
    ///     for task in tasks {
    ///         task.await.expect("no panic");
    ///     }
    ///     let counted = count.take().await;
    ///     assert_eq!(counted, 10, "an update is lost");
    /// })?;
    /// let mut lost = found.iter().filter(|(outcome, ..)| matches!(outcome, Outcome::Panicked(_)));
    /// let (outcome, _, schedule) = lost.next().expect("it is found");
    /// println!("{outcome:?} by \"{schedule}\"");
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// As there.
    ///
    /// # Panics
    /// As there.
    #[track_caller]
    pub fn sample<T: Ord, F>(
        &self,
        runs: u64,
        sampling: Sampling,
        program: impl Fn() -> F,
    ) -> Result<Samples<T>, Error>
    where
        F: Future<Output = T>,
    {
        self.sample_within(Sim::new(), runs, sampling, program)
    }

    /// Runs a program in so many random schedules, in a simulation with these settings that chooses among operations alone.
    /// What it [draws](crate::draw) is drawn by its weights.
    ///
    /// The schedules depend on the seed, and on nothing that the simulation has drawn before. How long a run is, which
    /// priorities have to know, tells one run more, which is uniform and not counted; and then the longest of those so far. Of
    /// no runs there are no outcomes.
    ///
    /// # Errors
    /// The depth is zero ([`Error::NoDepth`]); the program does not depend on the schedule alone
    /// ([`Error::NotDeterministic`]): the schedule of each outcome that is found first is run again.
    ///
    /// # Panics
    /// Inside a task. (A panic of the program is an outcome.)
    #[track_caller]
    pub fn sample_within<T: Ord, F>(
        &self,
        sim: Sim,
        runs: u64,
        sampling: Sampling,
        program: impl Fn() -> F,
    ) -> Result<Samples<T>, Error>
    where
        F: Future<Output = T>,
    {
        let sim = sim.only_operations().untraced();
        let mut seeds = fastrand::Rng::with_seed(self.seed());
        let length_of = |run: &Run<T>| run.choices.len() - run.drawn;
        let mut length = match sampling {
            Sampling::Priorities { depth: 0 } => return Err(Error::NoDepth),
            Sampling::Priorities { .. } if runs > 0 => {
                length_of(&sim.run_traced(seeds.u64(..), &program))
            }
            _ => 0,
        };
        let mut seen: BTreeMap<Outcome<T>, (u64, Schedule)> = BTreeMap::new();
        for _ in 0..runs {
            let seed = seeds.u64(..);
            let run = match sampling {
                Sampling::Uniform => sim.run_traced(seed, &program),
                Sampling::Priorities { depth } => {
                    sim.run_by_priorities(seed, (depth, length), &program)
                }
            };
            length = length.max(length_of(&run));
            let (outcome, schedule) = outcome_of(run)?;
            if let Some((count, simplest)) = seen.get_mut(&outcome) {
                *count += 1;
                if schedule.is_simpler_than(simplest) {
                    *simplest = schedule;
                }
                continue;
            }
            let (again, _) = outcome_of(sim.run_recorded(schedule.choices(), &program))?;
            if again != outcome {
                let draw = schedule.choices().len();
                return Err(Error::NotDeterministic { draw });
            }
            seen.insert(outcome, (1, schedule));
        }
        let outcomes = seen.into_iter();
        Ok(Samples {
            seed: self.seed(),
            sampling,
            runs,
            outcomes: outcomes
                .map(|(outcome, (count, schedule))| (outcome, count, schedule))
                .collect(),
        })
    }
}

impl<T: Ord> Samples<T> {
    /// How often this outcome came.
    pub fn count(&self, of: &Outcome<T>) -> u64 {
        self.find(of).map_or(0, |(_, count, _)| *count)
    }

    /// A schedule that leads to this outcome, if it came: of those that were run one with the fewest preemptions, and of those
    /// the shortest.
    pub fn schedule(&self, of: &Outcome<T>) -> Option<&Schedule> {
        self.find(of).map(|(_, _, schedule)| schedule)
    }

    fn find(&self, of: &Outcome<T>) -> Option<&(Outcome<T>, u64, Schedule)> {
        let at = self
            .outcomes
            .binary_search_by(|(outcome, ..)| outcome.cmp(of));
        at.ok().map(|at| &self.outcomes[at])
    }
}

impl<T> Samples<T> {
    /// The outcomes in their order, each with how often it came, and a schedule that leads to it.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Outcome<T>, u64, &Schedule)> {
        self.outcomes
            .iter()
            .map(|(outcome, count, schedule)| (outcome, *count, schedule))
    }

    /// The seed.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// How many runs there were.
    pub fn runs(&self) -> u64 {
        self.runs
    }
}

impl Display for Sampling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uniform => f.write_str("uniform"),
            Self::Priorities { depth } => write!(f, "by priorities of depth {depth}"),
        }
    }
}

impl<T: fmt::Debug> Display for Samples<T> {
    /// A line for each outcome, and how they were found.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (outcome, count, schedule) in self.iter() {
            writeln!(f, "{outcome:?}: {count} times, such as \"{schedule}\"")?;
        }
        write!(
            f,
            "{} schedules, {}, from seed {}",
            self.runs, self.sampling, self.seed
        )
    }
}
