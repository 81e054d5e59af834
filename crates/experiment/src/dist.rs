//! Distributions as values: equal outcomes are one, whatever led to them.

use std::collections::BTreeMap;

use dashu_int::UBig;
use dashu_int::ops::{BitTest, Gcd};

use crate::{Error, Probability};

/// A distribution as a value, made of others: equal outcomes are one, so that it is no larger than the number of them.
/// Its mean and the like has the [`Distribution`](crate::Distribution) that it makes.
///
/// ```
/// use gossamer::experiment::{Dist, Probability};
///
/// let sum = Dist::die(6).repeat(3);
/// assert_eq!(Some(sum.probability(&3)), Probability::new(1, 216));
/// // An extra roll for a six among the first two.
/// let extra = Dist::die(6).and_then(|first| {
///     Dist::die(6).and_then(move |second| match first.max(second) {
///         6 => Dist::die(6).map(move |third| first + second + third),
///         _ => Dist::always(first + second),
///     })
/// });
/// assert_eq!(Some(extra.probability(&2)), Probability::new(1, 36));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dist<T> {
    /// In their order, each once.
    outcomes: Vec<T>,
    /// Of each; none is zero.
    weights: Vec<UBig>,
    /// Their sum, which is not zero.
    total: UBig,
}

impl Dist<u32> {
    /// A die with so many sides, from one on.
    ///
    /// # Panics
    /// It has none.
    pub fn die(sides: u32) -> Self {
        assert!(sides > 0, "a die without sides has nothing to draw from");
        Self::of((1..=sides).map(|side| (side, UBig::ONE)))
    }
}

impl<T: Ord> Dist<T> {
    /// One outcome, always.
    pub fn always(outcome: T) -> Self {
        Self::of([(outcome, UBig::ONE)])
    }

    /// Each of these with its weight's part of the sum. The weights of equal ones add up.
    ///
    /// # Errors
    /// No weight is above zero ([`Error::NothingToDraw`]).
    pub fn weighted(outcomes: impl IntoIterator<Item = (T, u64)>) -> Result<Self, Error> {
        let weights = outcomes
            .into_iter()
            .map(|(outcome, weight)| (outcome, weight.into()));
        let dist = Self::of(weights);
        match dist.total.is_zero() {
            true => Err(Error::NothingToDraw("a distribution without weights")),
            false => Ok(dist),
        }
    }

    /// The weights are not all zero.
    pub(crate) fn of(outcomes: impl IntoIterator<Item = (T, UBig)>) -> Self {
        let (mut weights, mut total) = (BTreeMap::new(), UBig::ZERO);
        for (outcome, weight) in outcomes {
            if !weight.is_zero() {
                total += &weight;
                *weights.entry(outcome).or_insert(UBig::ZERO) += weight;
            }
        }
        let (outcomes, mut weights): (_, Vec<UBig>) = weights.into_iter().unzip();
        // In lowest terms, so that equal ones are equal, and small.
        let divisor = weights
            .iter()
            .fold(UBig::ZERO, |divisor, weight| divisor.gcd(weight));
        if divisor > UBig::ONE {
            weights.iter_mut().for_each(|weight| *weight /= &divisor);
            total /= divisor;
        }
        Self {
            outcomes,
            weights,
            total,
        }
    }

    /// What becomes of each outcome; what becomes of several is as probable as they are together.
    pub fn map<U: Ord>(self, mut to: impl FnMut(T) -> U) -> Dist<U> {
        let outcomes = self.outcomes.into_iter().map(&mut to);
        Dist::of(outcomes.zip(self.weights))
    }

    /// Another distribution, which depends on the outcome of this one.
    pub fn and_then<U: Ord>(self, next: impl FnMut(T) -> Dist<U>) -> Dist<U> {
        let branches: Vec<Dist<U>> = self.outcomes.into_iter().map(next).collect();
        let common = branches
            .iter()
            .fold(UBig::ONE, |common, branch| lcm(common, &branch.total));
        let branches = branches.into_iter().zip(self.weights);
        Dist::of(branches.flat_map(|(branch, weight)| {
            let factor = weight * (&common / branch.total);
            let weights = branch.weights.into_iter();
            branch
                .outcomes
                .into_iter()
                .zip(weights.map(move |weight| weight * &factor))
        }))
    }

    /// How probable this outcome is.
    pub fn probability(&self, of: &T) -> Probability {
        match self.outcomes.binary_search(of) {
            Ok(at) => Probability::ratio(self.weights[at].clone(), self.total.clone()),
            Err(_) => Probability::ZERO,
        }
    }
}

impl<T> Dist<T> {
    /// The outcomes in their order, each with its probability.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&T, Probability)> {
        let probability = |weight: &UBig| Probability::ratio(weight.clone(), self.total.clone());
        self.outcomes
            .iter()
            .zip(self.weights.iter().map(probability))
    }

    /// The outcomes, and their weights.
    pub(crate) fn parts(&self) -> (&[T], &[UBig]) {
        (&self.outcomes, &self.weights)
    }
}

fn lcm(one: UBig, other: &UBig) -> UBig {
    let divisor = (&one).gcd(other);
    one / divisor * other
}

/// The integers that can be summed up.
pub trait Number: Ord + Copy + sealed::Sealed {}

mod sealed {
    pub trait Sealed: Sized {
        fn to_wide(self) -> i128;

        fn from_wide(wide: i128) -> Option<Self>;
    }
}

macro_rules! numbers {
    ($($number:ty)*) => {$(
        impl Number for $number {}
        impl sealed::Sealed for $number {
            fn to_wide(self) -> i128 {
                self as i128
            }

            fn from_wide(wide: i128) -> Option<Self> {
                Self::try_from(wide).ok()
            }
        }
    )*};
}

numbers!(u8 u16 u32 u64 usize i8 i16 i32 i64 isize);

/// Numbers are laid side by side in one of so many bytes at most.
const MOST_BYTES: i128 = 64 << 20;

impl<T: Number> Dist<T> {
    /// The sum of an outcome of this and one of the other, which do not depend on each other.
    ///
    /// # Panics
    /// A sum is none of the type's numbers.
    #[must_use]
    pub fn sum(&self, other: &Self) -> Self {
        let pairs = self.wide().flat_map(|(one, its)| {
            let others = other.wide();
            others.map(move |(another, their)| (narrow(one + another), its * their))
        });
        Self::of(pairs)
    }

    /// The sum of so many outcomes of this, none of which depends on another.
    ///
    /// # Panics
    /// A sum is none of the type's numbers.
    #[must_use]
    pub fn repeat(&self, times: u32) -> Self {
        if times == 0 {
            return Self::always(narrow(0));
        }
        let lowest = self.outcomes[0].to_wide();
        let span = self.outcomes[self.outcomes.len() - 1].to_wide() - lowest;
        // Each coefficient is at most their sum.
        let slot = (self.total.bit_len() * times as usize).div_ceil(8).max(1);
        let slots = span * i128::from(times) + 1;
        if slots * (slot as i128) <= MOST_BYTES {
            return self.repeat_in_slots(times, slot, slots as usize);
        }
        let (mut sum, mut power, mut left) = (Self::always(narrow(0)), self.clone(), times);
        while left > 0 {
            if left % 2 == 1 {
                sum = sum.sum(&power);
            }
            left /= 2;
            if left > 0 {
                power = power.sum(&power);
            }
        }
        sum
    }

    /// The weights of a sum are the coefficients of a product of polynomials; a polynomial with its coefficients side by
    /// side in the digits of one number is multiplied by multiplying that (Kronecker, 1882).
    fn repeat_in_slots(&self, times: u32, slot: usize, slots: usize) -> Self {
        let lowest = self.outcomes[0].to_wide();
        let mut digits = vec![0; (slots / times as usize + 1) * slot];
        for (outcome, weight) in self.wide() {
            let weight = weight.to_le_bytes();
            let place = (outcome - lowest) as usize * slot;
            digits[place..place + weight.len()].copy_from_slice(&weight);
        }
        let bytes = UBig::from_le_bytes(&digits)
            .pow(times as usize)
            .to_le_bytes();
        let first = lowest * i128::from(times);
        let weights = bytes.chunks(slot).take(slots).enumerate();
        Self::of(weights.filter_map(|(place, digits)| {
            let weight = UBig::from_le_bytes(digits);
            (!weight.is_zero()).then(|| (narrow(first + place as i128), weight))
        }))
    }

    fn wide(&self) -> impl Iterator<Item = (i128, &UBig)> {
        self.outcomes
            .iter()
            .map(|outcome| outcome.to_wide())
            .zip(&self.weights)
    }
}

fn narrow<T: Number>(sum: i128) -> T {
    T::from_wide(sum).unwrap_or_else(|| {
        panic!(
            "{sum} is not a {}: map() to a larger type first",
            std::any::type_name::<T>()
        )
    })
}
