//! All outcomes of an experiment, each with its probability.

use std::collections::BTreeMap;

use dashu_ratio::RBig;

use crate::enumeration::{Collect, Found, enumerate};
use crate::weight::{Tally, Weight};
use crate::{Choices, Dist, Error, Limit, Limits, Probability};

/// The outcomes of an experiment, in their order, each with its exact probability.
///
/// Two are equal if their outcomes are, and are as probable, whatever paths led to them.
#[derive(Debug, Clone)]
pub struct Distribution<T> {
    outcomes: Vec<(T, Probability)>,
    uncovered: Probability,
    stopped_by: Option<Limit>,
    paths: u64,
}

/// The outcomes so far.
struct Tallies<T>(BTreeMap<T, Tally>);

impl<T> Default for Tallies<T> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<T: Ord + Send> Collect<T> for Tallies<T> {
    fn add(&mut self, outcome: T, weight: &Weight) {
        self.0.entry(outcome).or_default().add(weight);
    }

    fn merge(&mut self, other: Self, limits: &Limits) -> Result<(), Limit> {
        let mut merged = Ok(());
        for (outcome, tally) in other.0 {
            if let Some(known) = self.0.get_mut(&outcome) {
                known.merge(&tally);
            } else if self.0.len() < limits.most_outcomes() {
                self.0.insert(outcome, tally);
            } else {
                merged = Err(Limit::Outcomes);
            }
        }
        merged
    }

    fn covered(&self) -> RBig {
        self.0
            .values()
            .fold(RBig::ZERO, |sum, tally| sum + tally.sum())
    }
}

impl<T: PartialEq> PartialEq for Distribution<T> {
    fn eq(&self, other: &Self) -> bool {
        self.outcomes == other.outcomes
    }
}

impl<T: Eq> Eq for Distribution<T> {}

/// The same outcomes; nothing was run for them.
impl<T: Clone> From<&Dist<T>> for Distribution<T> {
    fn from(dist: &Dist<T>) -> Self {
        let outcomes = dist.iter();
        Self {
            outcomes: outcomes
                .map(|(outcome, its)| (outcome.clone(), its))
                .collect(),
            uncovered: Probability::ZERO,
            stopped_by: None,
            paths: 0,
        }
    }
}

impl<T: Ord + Send> Distribution<T> {
    /// Enumerates an experiment, within the usual [`Limits`].
    ///
    /// # Errors
    /// The description is at fault, see [`Error`].
    ///
    /// # Panics
    /// As the description does.
    pub fn of(experiment: impl Fn(&mut Choices<'_>) -> T + Sync) -> Result<Self, Error> {
        Self::within(&Limits::new(), experiment)
    }

    /// [`Distribution::of`], within these limits.
    ///
    /// # Errors
    /// As there. What the limits leave out is none: [`uncovered`](Distribution::uncovered) says how probable it is.
    ///
    /// # Panics
    /// As there.
    pub fn within(
        limits: &Limits,
        experiment: impl Fn(&mut Choices<'_>) -> T + Sync,
    ) -> Result<Self, Error> {
        let found: Found<Tallies<T>> = enumerate(limits, experiment)?;
        let uncovered = found.uncovered();
        let outcomes = found.all.0.into_iter();
        let outcomes = outcomes.map(|(its, tally)| (its, Probability::of_rational(tally.sum())));
        Ok(Self {
            outcomes: outcomes.collect(),
            uncovered,
            stopped_by: found.stopped_by,
            paths: found.paths,
        })
    }
}

impl<T: Ord> Distribution<T> {
    /// How probable this outcome is, of what was covered.
    pub fn probability(&self, of: &T) -> Probability {
        let found = self
            .outcomes
            .binary_search_by(|(outcome, _)| outcome.cmp(of));
        found.map_or(Probability::ZERO, |at| self.outcomes[at].1.clone())
    }
}

impl<T> Distribution<T> {
    /// The outcomes that were found.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&T, &Probability)> {
        self.outcomes
            .iter()
            .map(|(outcome, probability)| (outcome, probability))
    }

    /// How probable it is that the experiment takes a path that was not followed to its end: zero, unless a limit was
    /// reached.
    pub fn uncovered(&self) -> &Probability {
        &self.uncovered
    }

    /// The limit that was reached, if one was.
    pub fn stopped_by(&self) -> Option<Limit> {
        self.stopped_by
    }

    /// How many paths were run, in the round that counts: others had fewer draws.
    pub fn paths(&self) -> u64 {
        self.paths
    }

    /// The smallest outcome that is, with all smaller ones, at least so probable. `None`: a part is uncovered.
    pub fn quantile(&self, probability: &Probability) -> Option<&T> {
        if self.uncovered != Probability::ZERO {
            return None;
        }
        let mut sum = RBig::ZERO;
        self.outcomes.iter().find_map(|(outcome, its)| {
            sum += its.as_rational();
            (sum >= *probability.as_rational()).then_some(outcome)
        })
    }
}

/// Of numbers. `None`: a part is uncovered, and nothing is known of it.
impl<T> Distribution<T>
where
    T: Clone + Into<RBig>,
{
    /// The sum of the outcomes, each times its probability.
    pub fn mean(&self) -> Option<RBig> {
        let whole = self.uncovered == Probability::ZERO;
        whole.then(|| self.expected(|value| value))
    }

    /// The mean square of the distance from the mean.
    pub fn variance(&self) -> Option<RBig> {
        let mean = self.mean()?;
        Some(self.expected(|value| {
            let distance = value - &mean;
            distance.clone() * distance
        }))
    }

    fn expected(&self, of: impl Fn(RBig) -> RBig) -> RBig {
        let parts = self
            .outcomes
            .iter()
            .map(|(outcome, probability)| of(outcome.clone().into()) * probability.as_rational());
        parts.fold(RBig::ZERO, |sum, part| sum + part)
    }
}
