//! Who answers the draws of a description.

use dashu_int::UBig;
use dashu_ratio::RBig;

use crate::{Error, Probability};

/// Answers the draws of a description.
///
/// An interpreter of one's own counts what is drawn, or asks somebody; it runs a description by
/// [`attempt`](crate::attempt).
pub trait Interpreter {
    /// Chooses one of these alternatives, by its index: one that is not impossible.
    ///
    /// # Errors
    /// The path ends here: the description unwinds, and [`attempt`](crate::attempt) gives the error.
    fn choose(&mut self, among: Among<'_>) -> Result<usize, Error>;
}

/// The alternatives of a draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Among<'a> {
    /// So many, at least one, each as probable as the others.
    Alike(u32),
    /// Each as probable as its weight's part of the sum; not all are zero.
    Weighted(&'a [UBig]),
}

impl Among<'_> {
    /// How many there are.
    // Of none nobody is asked.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        match self {
            Self::Alike(count) => *count as usize,
            Self::Weighted(weights) => weights.len(),
        }
    }

    /// How probable the one with this index is.
    ///
    /// # Panics
    /// There is none.
    pub fn probability(&self, index: usize) -> Probability {
        assert!(index < self.len(), "alternative {index} of {}", self.len());
        match self {
            Self::Alike(count) => Probability::ratio(UBig::ONE, UBig::from(*count)),
            Self::Weighted(weights) => Probability::ratio(weights[index].clone(), sum(weights)),
        }
    }

    /// Whether the one with this index can be chosen: it is there, and its weight is not zero.
    pub fn is_possible(&self, index: usize) -> bool {
        match self {
            Self::Alike(count) => index < *count as usize,
            Self::Weighted(weights) => weights.get(index).is_some_and(|weight| !weight.is_zero()),
        }
    }
}

pub(crate) fn sum(weights: &[UBig]) -> UBig {
    weights.iter().sum()
}

impl Probability {
    pub(crate) fn ratio(numerator: UBig, denominator: UBig) -> Self {
        Self::of_rational(RBig::from_parts(numerator.into(), denominator))
    }
}
