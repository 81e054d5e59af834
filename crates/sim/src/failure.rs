//! Why a run failed, and all that is needed to run it again.

use std::fmt;

use crate::choice::Choice;
use crate::report::Report;
use crate::settings::Sim;
use crate::trace::Trace;

/// Events of the trace that a failure prints.
const EVENTS_PRINTED: usize = 50;

/// Choices that a failure prints; a longer run is not typed in by hand.
const CHOICES_PRINTED: usize = 500;

/// A run that failed.
#[derive(Clone)]
pub struct Failure {
    /// Why.
    pub cause: Cause,
    /// The settings that it was run with.
    pub sim: Sim,
    /// Where its choices came from.
    pub origin: Origin,
    /// Its choices, for [`replay`](crate::replay).
    pub choices: Vec<Choice>,
    /// The events up to the failure.
    pub trace: Trace,
}

/// Where the choices of a run came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// From this seed.
    Seed(u64),
    /// From this seed, in a `#[gossamer::test(sim)]`.
    TestSeed(u64),
    /// From a recorded list.
    Recorded,
    /// From the enumeration of all; this was the n-th, from 0.
    Schedule(usize),
}

/// Why a run failed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cause {
    /// Nothing is enabled, and what the waiters wait for has not come.
    Deadlock(Report),
    /// Nothing is enabled, and a waiter waits for a thread outside, or for another runtime's task. A simulation is a
    /// closed world, and does not wait for them.
    WaitsOutside(Report),
    /// A waiter could go on, because what it waits for has come, but it was not woken.
    LostWakeup(Report),
    /// The run reached its limit of steps without an end.
    StepLimit {
        /// The limit.
        steps: usize,
    },
    /// The run does not depend on its choices alone.
    NonDeterministic {
        /// The first step that differs, from 0.
        step: usize,
        /// How many tasks were enabled when the choices were recorded (`None`: it ended before).
        recorded: Option<usize>,
        /// How many there are now (`None`: it ended before).
        found: Option<usize>,
    },
    /// A task panicked.
    Panicked {
        /// Its number; the root is 0.
        task: usize,
        /// The panic's message.
        message: String,
    },
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Deadlock(report) => {
                write!(
                    f,
                    "deadlock: nothing is enabled, and somebody waits{report}"
                )
            }
            Self::WaitsOutside(report) => {
                write!(
                    f,
                    "the simulation waits for what is outside of it, and does not see it: use gossamer::spawn() and \
                     spawn_thread() inside{report}"
                )
            }
            Self::LostWakeup(report) => {
                write!(
                    f,
                    "lost wake-up: a waiter could go on, and nobody has woken it{report}"
                )
            }
            Self::StepLimit { steps } => {
                write!(
                    f,
                    "no end after {steps} steps: a livelock? (Sim::steps_max allows more)"
                )
            }
            Self::NonDeterministic {
                step,
                recorded,
                found,
            } => {
                let tasks = |count: &Option<usize>| match count {
                    Some(count) => format!("{count} enabled"),
                    None => "no such step".to_owned(),
                };
                let (recorded, found) = (tasks(recorded), tasks(found));
                write!(
                    f,
                    "not deterministic: step {step} had {recorded}, and now has {found}"
                )
            }
            Self::Panicked { task, message } => write!(f, "task {task} panicked: {message}"),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.origin {
            Origin::Seed(seed) | Origin::TestSeed(seed) => {
                write!(f, "simulation with seed {seed}: {}", self.cause)?;
            }
            Origin::Recorded => write!(f, "replayed simulation: {}", self.cause)?,
            Origin::Schedule(count) => write!(f, "schedule {count}: {}", self.cause)?,
        }
        write!(f, "\nthe last of {} events:", self.trace.events().len())?;
        self.trace.write_last(f, EVENTS_PRINTED)?;
        f.write_str("\nto run it again: ")?;
        let (sim, count) = (self.sim, self.choices.len());
        match self.origin {
            Origin::Seed(seed) => write!(f, "{}run({seed}, …)", sim.before_a_call()),
            Origin::TestSeed(seed) => {
                let settings = match sim.is_usual() {
                    true => String::new(),
                    false => format!(" = {sim}"),
                };
                let after = seed.saturating_add(1);
                write!(
                    f,
                    "#[gossamer::test(sim{settings}, seeds = {seed}..{after})]"
                )
            }
            _ if count > CHOICES_PRINTED => {
                write!(
                    f,
                    "{}replay(…) with its {count} choices",
                    sim.before_a_call()
                )
            }
            _ => {
                let choices: Vec<String> = self.choices.iter().map(Choice::to_string).collect();
                let choices = choices.join(" ");
                write!(
                    f,
                    "{}replay(&sim::choices(\"{choices}\"), …)",
                    sim.before_a_call()
                )
            }
        }
    }
}

impl fmt::Debug for Failure {
    /// As [`Display`](fmt::Display), so that `unwrap` shows something readable.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Failure {}
