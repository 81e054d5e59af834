//! Sums of exact fractions, quick as long as they are small.

use dashu_int::UBig;
use dashu_ratio::RBig;

/// The probability of a path.
#[derive(Debug, Clone)]
pub(crate) enum Weight {
    /// Numerator and denominator, not in lowest terms.
    Small(u128, u128),
    Big(RBig),
}

impl Weight {
    pub(crate) const ONE: Self = Self::Small(1, 1);

    /// After one of so many alternatives that are alike.
    pub(crate) fn one_of(&self, count: u32) -> Self {
        if let Self::Small(numerator, denominator) = self
            && let Some(denominator) = denominator.checked_mul(count.into())
        {
            return Self::Small(*numerator, denominator);
        }
        self.times(UBig::ONE, count.into())
    }

    /// After an alternative with this weight of a total.
    pub(crate) fn part(&self, weight: &UBig, total: &UBig) -> Self {
        if let Self::Small(numerator, denominator) = self
            && let (Ok(small), Ok(all)) = (u128::try_from(weight), u128::try_from(total))
            && let (Some(numerator), Some(denominator)) =
                (numerator.checked_mul(small), denominator.checked_mul(all))
        {
            return Self::Small(numerator, denominator);
        }
        self.times(weight.clone(), total.clone())
    }

    fn times(&self, weight: UBig, total: UBig) -> Self {
        Self::Big(self.to_rational() * RBig::from_parts(weight.into(), total))
    }

    pub(crate) fn to_rational(&self) -> RBig {
        match self {
            Self::Small(numerator, denominator) => rational(*numerator, *denominator),
            Self::Big(rational) => rational.clone(),
        }
    }
}

fn rational(numerator: u128, denominator: u128) -> RBig {
    RBig::from_parts(UBig::from(numerator).into(), UBig::from(denominator))
}

/// A sum of weights: of those whose denominators have a small common one in two words, and of the others.
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
        match weight {
            Weight::Small(numerator, denominator) => self.add_small(*numerator, *denominator),
            Weight::Big(rational) => self.rest += rational,
        }
    }

    /// Adds all that another one has.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.add_small(other.numerator, other.denominator);
        self.rest += &other.rest;
    }

    #[inline]
    fn add_small(&mut self, numerator: u128, denominator: u128) {
        if denominator == self.denominator
            && let Some(sum) = self.numerator.checked_add(numerator)
        {
            self.numerator = sum;
            return;
        }
        self.add_other(numerator, denominator);
    }

    #[cold]
    fn add_other(&mut self, numerator: u128, denominator: u128) {
        if let Some((sum, common)) = self.sum_over_common(numerator, denominator) {
            (self.numerator, self.denominator) = (sum, common);
            return;
        }
        self.rest += rational(self.numerator, self.denominator);
        (self.numerator, self.denominator) = (numerator, denominator);
    }

    /// The sum of its two words and another fraction over their least common denominator, if those are two words again.
    fn sum_over_common(&self, numerator: u128, denominator: u128) -> Option<(u128, u128)> {
        let times = self.denominator / denominator;
        if times * denominator == self.denominator {
            let sum = self.numerator.checked_add(numerator.checked_mul(times)?)?;
            return Some((sum, self.denominator));
        }
        let divisor = gcd(self.denominator, denominator);
        let (ours, theirs) = (denominator / divisor, self.denominator / divisor);
        let sum = self
            .numerator
            .checked_mul(ours)?
            .checked_add(numerator.checked_mul(theirs)?)?;
        Some((sum, self.denominator.checked_mul(ours)?))
    }

    pub(crate) fn sum(&self) -> RBig {
        &self.rest + rational(self.numerator, self.denominator)
    }
}

/// The greatest common divisor (Euclid), which is the smaller one at once where that divides the other.
fn gcd(mut one: u128, mut other: u128) -> u128 {
    while other > 0 {
        (one, other) = (other, one % other);
    }
    one
}
