//! A concurrent program as a random experiment: its dice are the choices of a scheduler.

use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::mem;

use dashu_ratio::RBig;
use gossamer_sim::{Cause, Choice, Run};

use crate::limits::Deadline;
use crate::weight::{Tally, Weight};
use crate::{Error, Limit, Limits, Probability};

/// What becomes of a program.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Outcome<T> {
    /// Its root returned this.
    Returned(T),
    /// A task panicked, with this message.
    Panicked(String),
    /// Tasks wait for each other, or for what never comes.
    Deadlock,
    /// A task could go on, and nobody wakes it.
    LostWakeup,
    /// A task waits for what is outside of the program, such as a thread that it did not start by Gossamer.
    WaitsOutside,
    /// It took more steps than are allowed.
    NoEnd,
}

/// The choices of one run of a program. As text, each is the index of what was chosen, and among how many.
///
/// `Sim::new().only_operations().replay(schedule.choices(), program)` runs it again, and tells how it failed;
/// `sim::choices("0/2 1/3")` reads the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    choices: Vec<Choice>,
    preemptions: usize,
}

/// The outcomes of a program over all schedules, each with its exact probability and a schedule that leads to it.
///
/// The model is a uniform scheduler: of all tasks whose next operation would take effect, each is as probable as the
/// others to go on. That is no claim about how a runtime schedules. What comes out here may come out there; but not the
/// other way round, as what is no operation is no choice
/// ([`Sim::only_operations`](https://docs.rs/gossamer-rt/latest/gossamer/sim/struct.Sim.html#method.only_operations)).
#[derive(Debug, Clone)]
pub struct Schedules<T> {
    outcomes: Vec<(Outcome<T>, Probability, Schedule)>,
    uncovered: Probability,
    stopped_by: Option<Limit>,
    paths: u64,
}

/// What is known of an outcome so far.
struct Seen {
    probability: Tally,
    schedule: Schedule,
}

/// What was found so far.
pub(crate) struct Found<T> {
    seen: BTreeMap<Outcome<T>, Seen>,
    pub(crate) paths: u64,
}

impl<T> Default for Found<T> {
    fn default() -> Self {
        Self {
            seen: BTreeMap::new(),
            paths: 0,
        }
    }
}

impl<T: Ord> Found<T> {
    /// The limit that is reached before the next run, if one is.
    pub(crate) fn limit(&self, limits: &Limits, deadline: Deadline) -> Option<Limit> {
        if self.paths == limits.most_paths() {
            return Some(Limit::Paths);
        }
        deadline.is_over().then_some(Limit::Time)
    }

    /// Adds an outcome of this probability; gives back the schedule that is not kept.
    ///
    /// # Errors
    /// The limit that would be passed.
    pub(crate) fn add(
        &mut self,
        outcome: Outcome<T>,
        weight: &Weight,
        schedule: Schedule,
        limits: &Limits,
    ) -> Result<Option<Schedule>, Limit> {
        if let Some(seen) = self.seen.get_mut(&outcome) {
            seen.probability.add(weight);
            let is_simpler = schedule.is_simpler_than(&seen.schedule);
            return Ok(Some(match is_simpler {
                true => mem::replace(&mut seen.schedule, schedule),
                false => schedule,
            }));
        }
        if self.seen.len() == limits.most_outcomes() {
            return Err(Limit::Outcomes);
        }
        let mut probability = Tally::default();
        probability.add(weight);
        let seen = Seen {
            probability,
            schedule,
        };
        self.seen.insert(outcome, seen);
        Ok(None)
    }

    pub(crate) fn into_schedules(self, stopped_by: Option<Limit>) -> Schedules<T> {
        let outcomes = self.seen.into_iter().map(|(outcome, seen)| {
            let probability = Probability::of_rational(seen.probability.sum());
            (outcome, probability, seen.schedule)
        });
        let outcomes: Vec<_> = outcomes.collect();
        let covered = outcomes
            .iter()
            .fold(RBig::ZERO, |sum, (_, its, _)| sum + its.as_rational());
        Schedules {
            outcomes,
            uncovered: Probability::of_rational(RBig::ONE - covered),
            stopped_by,
            paths: self.paths,
        }
    }
}

/// What became of a run, and its schedule.
pub(crate) fn outcome_of<T>(run: Run<T>) -> Result<(Outcome<T>, Schedule), Error> {
    let outcome = match run.result {
        Ok(output) => Outcome::Returned(output),
        Err(failure) => match failure.cause {
            Cause::Panicked { message, .. } => Outcome::Panicked(message),
            Cause::Deadlock(_) => Outcome::Deadlock,
            Cause::LostWakeup(_) => Outcome::LostWakeup,
            Cause::WaitsOutside(_) => Outcome::WaitsOutside,
            Cause::StepLimit { .. } => Outcome::NoEnd,
            Cause::NonDeterministic { step, .. } => {
                return Err(Error::NotDeterministic { draw: step });
            }
            other => Outcome::Panicked(other.to_string()),
        },
    };
    let schedule = Schedule {
        choices: run.choices,
        preemptions: run.preemptions,
    };
    Ok((outcome, schedule))
}

impl<T: Ord> Schedules<T> {
    /// How probable this outcome is.
    pub fn probability(&self, of: &Outcome<T>) -> Probability {
        self.find(of)
            .map_or(Probability::ZERO, |(_, probability, _)| probability.clone())
    }

    /// A schedule that leads to this outcome, if one does: one with the fewest preemptions, and of those the shortest. (With
    /// merging it may have some more.)
    pub fn schedule(&self, of: &Outcome<T>) -> Option<&Schedule> {
        self.find(of).map(|(_, _, schedule)| schedule)
    }

    fn find(&self, of: &Outcome<T>) -> Option<&(Outcome<T>, Probability, Schedule)> {
        let at = self
            .outcomes
            .binary_search_by(|(outcome, ..)| outcome.cmp(of));
        at.ok().map(|at| &self.outcomes[at])
    }
}

impl<T> Schedules<T> {
    /// The outcomes in their order, each with its probability and a schedule that leads to it.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Outcome<T>, &Probability, &Schedule)> {
        self.outcomes
            .iter()
            .map(|(outcome, probability, schedule)| (outcome, probability, schedule))
    }

    /// How probable the schedules are that were not run: zero, unless a limit was reached.
    pub fn uncovered(&self) -> &Probability {
        &self.uncovered
    }

    /// The limit that was reached, if one was.
    pub fn stopped_by(&self) -> Option<Limit> {
        self.stopped_by
    }

    /// How many schedules were run; with merging, parts of them.
    pub fn paths(&self) -> u64 {
        self.paths
    }
}

impl<T: fmt::Debug> Display for Schedules<T> {
    /// A line for each outcome, and what the probabilities are those of.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (outcome, probability, schedule) in self.iter() {
            let percent = probability.to_f64() * 100.0;
            writeln!(
                f,
                "{outcome:?}: {probability} ({percent:.4} %), such as \"{schedule}\""
            )?;
        }
        if let Some(limit) = self.stopped_by {
            writeln!(f, "not covered, as {limit}: {}", self.uncovered)?;
        }
        write!(
            f,
            "{} schedules, of a scheduler that chooses uniformly among the tasks that can go on",
            self.paths
        )
    }
}

impl Schedule {
    /// The choices, for a replay.
    pub fn choices(&self) -> &[Choice] {
        &self.choices
    }

    /// How often another task was chosen than before, though that one could have gone on.
    pub fn preemptions(&self) -> usize {
        self.preemptions
    }

    pub(crate) fn into_choices(self) -> Vec<Choice> {
        self.choices
    }

    pub(crate) fn new(choices: Vec<Choice>, preemptions: usize) -> Self {
        Self {
            choices,
            preemptions,
        }
    }

    pub(crate) fn is_simpler_than(&self, other: &Self) -> bool {
        let effort = |schedule: &Self| (schedule.preemptions, schedule.choices.len());
        effort(self) < effort(other)
    }
}

impl Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let choices: Vec<String> = self.choices.iter().map(Choice::to_string).collect();
        f.write_str(&choices.join(" "))
    }
}
