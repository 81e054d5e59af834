//! An experiment at random, from a seed.

use std::collections::BTreeMap;

use dashu_int::UBig;
use dashu_int::ops::BitTest;

use crate::interpreter::sum;
use crate::{Among, Choices, Error, Interpreter, attempt};

/// Draws at random; the same seed gives the same outcomes.
#[derive(Debug, Clone)]
pub struct Simulation {
    #[cfg_attr(not(feature = "schedules"), expect(dead_code))]
    seed: u64,
    random: fastrand::Rng,
    /// In this run.
    draws: usize,
    most: usize,
}

/// A run may draw so often, unless it is said otherwise.
const MOST_DRAWS: usize = 1_000_000;

impl Simulation {
    /// A simulation from this seed.
    pub fn seeded(seed: u64) -> Self {
        Self {
            seed,
            random: fastrand::Rng::with_seed(seed),
            draws: 0,
            most: MOST_DRAWS,
        }
    }

    /// Lets each run draw so often at most, instead of a million times.
    #[must_use]
    pub fn draws(self, most: usize) -> Self {
        Self { most, ..self }
    }

    /// The seed.
    #[cfg(feature = "schedules")]
    pub(crate) fn seed(&self) -> u64 {
        self.seed
    }

    /// One outcome.
    ///
    /// # Errors
    /// The description is at fault, or draws too often, see [`Error`].
    ///
    /// # Panics
    /// As the description does.
    pub fn run<T>(&mut self, experiment: impl FnOnce(&mut Choices<'_>) -> T) -> Result<T, Error> {
        self.draws = 0;
        attempt(self, experiment)
    }

    /// How often each outcome came in so many runs.
    ///
    /// # Errors
    /// As [`Simulation::run`].
    ///
    /// # Panics
    /// As the description does.
    pub fn histogram<T: Ord>(
        &mut self,
        runs: u64,
        experiment: impl Fn(&mut Choices<'_>) -> T,
    ) -> Result<BTreeMap<T, u64>, Error> {
        let mut counts = BTreeMap::new();
        for _ in 0..runs {
            *counts.entry(self.run(&experiment)?).or_insert(0) += 1;
        }
        Ok(counts)
    }
}

/// One of these, each as probable as its weight's part of their sum, which is this and not zero: its index.
pub(crate) fn by_weight(random: &mut fastrand::Rng, weights: &[UBig], sum: &UBig) -> usize {
    let mut left = below(random, sum);
    for (index, weight) in weights.iter().enumerate() {
        if left < *weight {
            return index;
        }
        left -= weight;
    }
    unreachable!("it is below the sum of the weights")
}

/// A number below this one, which is not zero.
fn below(random: &mut fastrand::Rng, bound: &UBig) -> UBig {
    if let Ok(bound) = u64::try_from(bound) {
        return random.u64(0..bound).into();
    }
    // One of as many bits, until it is below: two tries are enough in the mean.
    let bits = bound.bit_len();
    loop {
        let mut bytes = vec![0; bits.div_ceil(8)];
        random.fill(&mut bytes);
        let number = UBig::from_le_bytes(&bytes) >> (bytes.len() * 8 - bits);
        if number < *bound {
            return number;
        }
    }
}

impl Interpreter for Simulation {
    fn choose(&mut self, among: Among<'_>) -> Result<usize, Error> {
        if self.draws == self.most {
            return Err(Error::TooManyDraws(self.most));
        }
        self.draws += 1;
        Ok(match among {
            Among::Alike(count) => self.random.u32(0..count) as usize,
            Among::Weighted(weights) => by_weight(&mut self.random, weights, &sum(weights)),
        })
    }
}
