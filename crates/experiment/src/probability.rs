//! Exact probabilities.

use std::fmt::{self, Display};
use std::iter::Sum;
use std::ops::{Add, Mul};

use dashu_int::UBig;
use dashu_int::ops::UnsignedAbs;
use dashu_ratio::RBig;

/// A fraction from 0 to 1, exact, and shown as such.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Probability(RBig);

impl Probability {
    /// Of what never happens.
    pub const ZERO: Self = Self(RBig::ZERO);
    /// Of what always happens.
    pub const ONE: Self = Self(RBig::ONE);

    /// `numerator` of `denominator`; `None` if that is no probability, being more than one or of zero.
    ///
    /// ```
    /// use gossamer::experiment::Probability;
    ///
    /// assert_eq!(Probability::new(2, 6), Probability::new(1, 3));
    /// assert_eq!(Probability::new(7, 6), None);
    /// ```
    pub fn new(numerator: u64, denominator: u64) -> Option<Self> {
        let may = denominator > 0 && numerator <= denominator;
        may.then(|| Self::ratio(numerator.into(), denominator.into()))
    }

    pub(crate) fn of_rational(rational: RBig) -> Self {
        debug_assert!(rational >= RBig::ZERO && rational <= RBig::ONE);
        Self(rational)
    }

    /// The fraction, in lowest terms.
    pub fn as_rational(&self) -> &RBig {
        &self.0
    }

    /// Its numerator, in lowest terms.
    pub fn numerator(&self) -> UBig {
        self.0.numerator().unsigned_abs()
    }

    /// Its denominator, in lowest terms.
    pub fn denominator(&self) -> &UBig {
        self.0.denominator()
    }

    /// The number nearest to it.
    pub fn to_f64(&self) -> f64 {
        self.0.to_f64().value()
    }

    /// Of the contrary.
    #[must_use]
    pub fn complement(&self) -> Self {
        Self(RBig::ONE - &self.0)
    }
}

/// Of one or the other, which exclude each other.
///
/// # Panics
/// The sum is more than one: they do not.
impl Add for Probability {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let sum = self.0 + other.0;
        assert!(sum <= RBig::ONE, "probabilities that sum up to {sum}");
        Self(sum)
    }
}

impl Sum for Probability {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::ZERO, Add::add)
    }
}

/// Of both, which do not depend on each other.
impl Mul for Probability {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        Self(self.0 * other.0)
    }
}

impl Display for Probability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Display::fmt(&self.0, f)
    }
}
