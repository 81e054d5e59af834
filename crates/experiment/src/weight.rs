//! Sums of exact fractions, quick as long as they are small.

use dashu_int::UBig;
use dashu_ratio::RBig;

use crate::Among;
use crate::interpreter::sum;

/// The probability of a path.
#[derive(Debug, Clone)]
pub(crate) enum Weight {
    /// Numerator and denominator, not in lowest terms.
    Small(u128, u128),
    Big(RBig),
}

impl Weight {
    pub(crate) const ONE: Self = Self::Small(1, 1);

    /// After the alternative with this index.
    pub(crate) fn then(&self, among: Among<'_>, index: usize) -> Self {
        if let (Self::Small(numerator, denominator), Among::Alike(count)) = (self, among)
            && let Some(denominator) = denominator.checked_mul(count.into())
        {
            return Self::Small(*numerator, denominator);
        }
        if let (Self::Small(numerator, denominator), Among::Weighted(weights)) = (self, among)
            && let (Ok(weight), Ok(sum)) = (
                u128::try_from(&weights[index]),
                u128::try_from(&sum(weights)),
            )
            && let (Some(numerator), Some(denominator)) =
                (numerator.checked_mul(weight), denominator.checked_mul(sum))
        {
            return Self::Small(numerator, denominator);
        }
        Self::Big(self.to_rational() * among.probability(index).as_rational())
    }

    fn to_rational(&self) -> RBig {
        match self {
            Self::Small(numerator, denominator) => rational(*numerator, *denominator),
            Self::Big(rational) => rational.clone(),
        }
    }
}

fn rational(numerator: u128, denominator: u128) -> RBig {
    RBig::from_parts(UBig::from(numerator).into(), UBig::from(denominator))
}

/// A sum of weights: of those of one denominator in two words, and what came before.
#[derive(Debug)]
pub(crate) struct Tally {
    numerator: u128,
    denominator: u128,
    rest: RBig,
}

impl Default for Tally {
    fn default() -> Self {
        Self {
            numerator: 0,
            denominator: 1,
            rest: RBig::ZERO,
        }
    }
}

impl Tally {
    #[inline]
    pub(crate) fn add(&mut self, weight: &Weight) {
        if let Weight::Small(numerator, denominator) = weight
            && *denominator == self.denominator
            && let Some(sum) = self.numerator.checked_add(*numerator)
        {
            self.numerator = sum;
            return;
        }
        self.add_other(weight);
    }

    #[cold]
    fn add_other(&mut self, weight: &Weight) {
        match weight {
            Weight::Small(numerator, denominator) => {
                self.rest += rational(self.numerator, self.denominator);
                (self.numerator, self.denominator) = (*numerator, *denominator);
            }
            Weight::Big(rational) => self.rest += rational,
        }
    }

    pub(crate) fn sum(&self) -> RBig {
        &self.rest + rational(self.numerator, self.denominator)
    }
}
