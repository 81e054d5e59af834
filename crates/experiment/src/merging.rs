//! Schedules that lead to the same state are one: their probabilities add up, and one of them goes on.
//!
//! States are told apart by their happens-before graphs (see `Sim::reach`). A program is run from its beginning to each
//! state once for each choice that leads there. States come in the order of how many operations they have behind them, so
//! that all that lead to one are known when it goes on.

use std::collections::BTreeMap;

use dashu_ratio::RBig;
use gossamer_sim::{Choice, Reached, Sim, Weights};

use crate::drawing::DrawWeights;
use crate::schedules::{Found, Outcome, Schedule, Schedules, outcome_of};
use crate::weight::Weight;
use crate::{Error, Limits};

/// So many merges are tried out, the first ones; and of the others each that has such a number.
const FIRST_TRIED: u64 = 1_000;
const EACH_TRIED: u64 = 16;

/// A state, by how many operations it has behind it, and its hash.
type State = (usize, u64);

/// What is known of a state.
struct Class {
    probability: RBig,
    next: Next,
    /// A way to it, with few preemptions.
    schedule: Schedule,
}

/// What is chosen next in a state.
struct Next {
    among: usize,
    /// It is a draw, of alternatives that are not alike.
    weights: Option<Weights>,
}

impl Next {
    fn parts(&self) -> Option<&DrawWeights> {
        self.weights.as_ref().and_then(DrawWeights::of)
    }

    /// How probable a state was, and then the alternative with this index.
    fn part(&self, before: &RBig, index: usize) -> Weight {
        let before = Weight::Big(before.clone());
        match self.parts() {
            Some(parts) => parts.part(&before, index),
            None => before.one_of(self.among as u32),
        }
    }
}

impl PartialEq for Next {
    fn eq(&self, other: &Self) -> bool {
        self.among == other.among && self.parts() == other.parts()
    }
}

/// All states that have not gone on so far.
struct Merging<'a, F> {
    sim: Sim,
    program: &'a F,
    open: BTreeMap<State, Class>,
    merges: u64,
}

/// See [`Distribution::of_merged_schedules`](crate::Distribution::of_merged_schedules).
#[track_caller]
pub(crate) fn merge<T: Ord, F: Future<Output = T>>(
    limits: &Limits,
    sim: Sim,
    program: impl Fn() -> F,
) -> Result<Schedules<T>, Error> {
    let deadline = limits.deadline();
    let mut merging = Merging {
        sim,
        program: &program,
        open: BTreeMap::new(),
        merges: 0,
    };
    let mut found = Found::default();
    // From the beginning there is nothing to choose.
    let first = Next {
        among: 1,
        weights: None,
    };
    let mut next = Some((RBig::ONE, Vec::new(), first));
    while let Some((probability, before, alternatives)) = next {
        let among = alternatives.among;
        for chosen in 0..among {
            if let Some(limit) = found.limit(limits, deadline) {
                return Ok(found.into_schedules(Some(limit)));
            }
            found.paths += 1;
            let weight = alternatives.part(&probability, chosen);
            let mut choices: Vec<Choice> = before.clone();
            if among > 1 {
                choices.push(Choice {
                    enabled: among,
                    chosen,
                });
            }
            match sim.reach(&choices, &program) {
                Ok(reached) => merging.add(reached, weight.to_rational(), choices)?,
                Err(run) => {
                    let (outcome, schedule) = outcome_of(*run)?;
                    if let Err(limit) = found.add(outcome, &weight, schedule, limits) {
                        return Ok(found.into_schedules(Some(limit)));
                    }
                }
            }
        }
        next = merging.open.pop_first().map(|(_, class)| {
            let choices = class.schedule.choices().to_vec();
            (class.probability, choices, class.next)
        });
    }
    Ok(found.into_schedules(None))
}

impl<T: Ord, F: Future<Output = T>, P: Fn() -> F> Merging<'_, P> {
    /// A way to a state.
    #[track_caller]
    fn add(
        &mut self,
        reached: Reached,
        probability: RBig,
        choices: Vec<Choice>,
    ) -> Result<(), Error> {
        let schedule = Schedule::new(choices, reached.preemptions);
        let state = (reached.operations, reached.state);
        let next = Next {
            among: reached.among,
            weights: reached.weights,
        };
        let Some(known) = self.open.get_mut(&state) else {
            let class = Class {
                probability,
                next,
                schedule,
            };
            self.open.insert(state, class);
            return Ok(());
        };
        self.merges += 1;
        let is_tried = self.merges <= FIRST_TRIED || self.merges.is_multiple_of(EACH_TRIED);
        let mut is_same = known.next == next;
        if is_same && is_tried && !cfg!(mutant = "merges_untried") {
            let both = [&known.schedule, &schedule];
            is_same = ends_alike(self.sim, self.program, both, self.merges)?;
        }
        if !is_same {
            return Err(Error::NotMerged {
                one: known.schedule.to_string(),
                other: schedule.to_string(),
            });
        }
        known.probability += probability;
        if schedule.is_simpler_than(&known.schedule) {
            known.schedule = schedule;
        }
        Ok(())
    }
}

/// Whether the program goes on alike from these schedules, in an order that this number chooses.
#[track_caller]
fn ends_alike<T: Ord, F: Future<Output = T>>(
    sim: Sim,
    program: &impl Fn() -> F,
    schedules: [&Schedule; 2],
    seed: u64,
) -> Result<bool, Error> {
    let [one, other] = schedules.map(|schedule| -> Result<(Outcome<T>, Vec<usize>), Error> {
        let before = schedule.choices().len();
        let (outcome, schedule) = outcome_of(sim.go_on(schedule.choices(), seed, program))?;
        let after = schedule.choices()[before..].iter();
        Ok((outcome, after.map(|choice| choice.enabled).collect()))
    });
    Ok(one? == other?)
}
