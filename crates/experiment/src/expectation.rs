//! How probable it is that an experiment's outcome is as a condition says.

use dashu_ratio::RBig;

use crate::enumeration::{Collect, Found, enumerate};
use crate::weight::{Tally, Weight};
use crate::{Choices, Error, Limit, Limits, Probability};

/// How probable it is that a condition holds of the outcome (the seed's word: the expected value of "it holds", 0 or 1; of
/// numbers, [`Distribution::mean`](crate::Distribution::mean)). It keeps no outcomes, so that their number needs no memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expectation {
    probability: Probability,
    uncovered: Probability,
    stopped_by: Option<Limit>,
}

/// Of the outcomes so far: those for which it holds, and the others.
#[derive(Default)]
struct Odds {
    holds: Tally,
    not: Tally,
}

impl Collect<bool> for Odds {
    fn add(&mut self, holds: bool, weight: &Weight) {
        let tally = if holds {
            &mut self.holds
        } else {
            &mut self.not
        };
        tally.add(weight);
    }

    fn merge(&mut self, other: Self, _: &Limits) -> Result<(), Limit> {
        self.holds.merge(&other.holds);
        self.not.merge(&other.not);
        Ok(())
    }

    fn covered(&self) -> RBig {
        self.holds.sum() + self.not.sum()
    }
}

impl Expectation {
    /// Enumerates an experiment, within the usual [`Limits`].
    ///
    /// # Errors
    /// The description is at fault, see [`Error`].
    ///
    /// # Panics
    /// As the description, and the condition, do.
    pub fn that<T>(
        experiment: impl Fn(&mut Choices<'_>) -> T + Sync,
        condition: impl Fn(&T) -> bool + Sync,
    ) -> Result<Self, Error> {
        Self::within(&Limits::new(), experiment, condition)
    }

    /// [`Expectation::that`], within these limits.
    ///
    /// # Errors
    /// As there.
    ///
    /// # Panics
    /// As there.
    pub fn within<T>(
        limits: &Limits,
        experiment: impl Fn(&mut Choices<'_>) -> T + Sync,
        condition: impl Fn(&T) -> bool + Sync,
    ) -> Result<Self, Error> {
        let found: Found<Odds> = enumerate(limits, |c| condition(&experiment(c)))?;
        Ok(Self {
            probability: Probability::of_rational(found.all.holds.sum()),
            uncovered: found.uncovered(),
            stopped_by: found.stopped_by,
        })
    }

    /// How probable it is, at least: what is [uncovered](Expectation::uncovered) may come to it.
    pub fn probability(&self) -> &Probability {
        &self.probability
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
}
