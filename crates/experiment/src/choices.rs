//! What a description draws from.

use std::fmt;

use dashu_int::UBig;

use crate::interpreter::{Among, Interpreter};
use crate::path_end::unwind;
use crate::{Dist, Error, Probability};

/// What a description draws its chances from.
///
/// A draw from nothing ends the description: who runs it gets [`Error::NothingToDraw`].
pub struct Choices<'a> {
    interpreter: &'a mut dyn Interpreter,
    /// The path has ended: each further draw unwinds as well.
    error: Option<Error>,
}

impl fmt::Debug for Choices<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Choices")
            .field("error", &self.error)
            .finish_non_exhaustive()
    }
}

impl<'a> Choices<'a> {
    pub(crate) fn new(interpreter: &'a mut dyn Interpreter) -> Self {
        Self {
            interpreter,
            error: None,
        }
    }

    /// Why the path has ended, if it has before its description returned.
    pub(crate) fn into_error(self) -> Option<Error> {
        self.error
    }

    #[cold]
    fn end(&mut self, error: Error) -> ! {
        self.error.get_or_insert(error);
        unwind()
    }

    #[inline]
    fn choose(&mut self, among: Among<'_>, what: &'static str) -> usize {
        let is_empty = match among {
            Among::Alike(count) => count == 0,
            Among::Weighted(weights) => weights.iter().all(UBig::is_zero),
        };
        if self.error.is_some() {
            unwind();
        }
        if is_empty {
            self.end(Error::NothingToDraw(what));
        }
        match self.interpreter.choose(among) {
            Ok(index) => {
                assert!(
                    among.is_possible(index),
                    "the interpreter chose {index} of {among:?}"
                );
                index
            }
            Err(error) => self.end(error),
        }
    }

    /// A number from 0 up to, and not, `count`.
    #[inline]
    pub fn below(&mut self, count: u32) -> u32 {
        self.choose(Among::Alike(count), "below(0)") as u32
    }

    /// A number from 1 to `sides`.
    #[inline]
    pub fn die(&mut self, sides: u32) -> u32 {
        1 + self.choose(Among::Alike(sides), "a die without sides") as u32
    }

    /// Whether a coin that so probably shows heads does.
    pub fn coin(&mut self, heads: &Probability) -> bool {
        let (heads, all) = (heads.numerator(), heads.denominator());
        let tails = all - &heads;
        self.choose(Among::Weighted(&[tails, heads]), "a coin") == 1
    }

    /// One of these, each as probable as the others.
    ///
    /// # Panics
    /// There are more than `u32::MAX`.
    pub fn pick<'t, T>(&mut self, from: &'t [T]) -> &'t T {
        let count = u32::try_from(from.len()).expect("fewer than four thousand million");
        &from[self.choose(Among::Alike(count), "pick() of an empty list")]
    }

    /// One of these, each as probable as its weight's part of the sum.
    pub fn weighted<'t, T>(&mut self, from: &'t [(T, u64)]) -> &'t T {
        let weights: Vec<UBig> = from.iter().map(|(_, weight)| (*weight).into()).collect();
        &from[self.choose(Among::Weighted(&weights), "weighted() without weights")].0
    }

    /// An outcome of this.
    pub fn outcome<T: Clone>(&mut self, of: &Dist<T>) -> T {
        let (outcomes, weights) = of.parts();
        outcomes[self.choose(Among::Weighted(weights), "a distribution")].clone()
    }

    /// Puts these into one of all their orders (Fisher and Yates, 1938).
    ///
    /// # Panics
    /// There are more than `u32::MAX`.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for left in (2..=items.len()).rev() {
            let count = u32::try_from(left).expect("fewer than four thousand million");
            items.swap(left - 1, self.below(count) as usize);
        }
    }

    /// The sum of the `kept` highest of so many dice: an outcome of [`Dist::keep_highest`]. Who draws from a large pool
    /// often makes that once.
    pub fn keep_highest(&mut self, dice: u32, sides: u32, kept: u32) -> u32 {
        self.pool(Dist::keep_highest(dice, sides, kept))
    }

    /// The sum of the `kept` lowest of so many dice: an outcome of [`Dist::keep_lowest`].
    pub fn keep_lowest(&mut self, dice: u32, sides: u32, kept: u32) -> u32 {
        self.pool(Dist::keep_lowest(dice, sides, kept))
    }

    /// The sum of a die that is rolled again when it shows its highest side: an outcome of [`Dist::explode`].
    pub fn explode(&mut self, sides: u32, again: u32) -> u32 {
        self.pool(Dist::explode(sides, again))
    }

    /// A die that is rolled once more if it shows `lowest` or less: an outcome of [`Dist::reroll`].
    pub fn reroll(&mut self, sides: u32, lowest: u32) -> u32 {
        self.pool(Dist::reroll(sides, lowest))
    }

    fn pool(&mut self, pool: Result<Dist<u32>, Error>) -> u32 {
        match pool {
            Ok(pool) => self.outcome(&pool),
            Err(error) => self.end(error),
        }
    }
}
