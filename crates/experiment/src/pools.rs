//! Sums of some dice of a pool, by order statistics: over how many dice show each side, not over what each die shows.

use dashu_int::UBig;

use crate::{Dist, Error};

/// A pool is counted in so many numbers at most, which are some hundred megabytes.
const MOST_COUNTS: u64 = 1 << 22;

impl Dist<u32> {
    /// The sum of the `kept` highest of so many dice; of all, if there are not so many.
    ///
    /// ```
    /// use gossamer::experiment::{Dist, Error, Probability};
    ///
    /// let ability = Dist::keep_highest(4, 6, 3)?;
    /// assert_eq!(Some(ability.probability(&18)), Probability::new(21, 1296));
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// A die has no sides ([`Error::NothingToDraw`]); the sum may be no `u32`, or there are some millions of dice times sums
    /// ([`Error::TooLarge`]).
    pub fn keep_highest(dice: u32, sides: u32, kept: u32) -> Result<Self, Error> {
        let kept = kept.min(dice);
        let most = highest(sides, kept)? as usize;
        let counts = (u64::from(dice) + 1) * (most as u64 + 1);
        if counts > MOST_COUNTS {
            return Err(Error::TooLarge("a pool of dice"));
        }
        // By how many dice show none of the sides so far: the ways, by the sum of what is kept. Sides from the highest on.
        let none = || vec![vec![UBig::ZERO; most + 1]; dice as usize + 1];
        let mut ways = none();
        ways[dice as usize][0] = UBig::ONE;
        for side in (1..=sides).rev() {
            let mut after = none();
            for open in 0..=dice {
                let before = &ways[open as usize];
                show(
                    &mut after,
                    before,
                    open,
                    side,
                    kept.saturating_sub(dice - open),
                );
            }
            ways = after;
        }
        let sums = std::mem::take(&mut ways[0]);
        Ok(Self::of((0..).zip(sums)))
    }

    /// The sum of the `kept` lowest of so many dice; of all, if there are not so many.
    ///
    /// # Errors
    /// As [`Dist::keep_highest`].
    pub fn keep_lowest(dice: u32, sides: u32, kept: u32) -> Result<Self, Error> {
        // Seen from below, the lowest are the highest.
        let both = highest(sides, kept.min(dice))? + kept.min(dice);
        Ok(Self::keep_highest(dice, sides, kept)?.map(|sum| both - sum))
    }

    /// A die that is rolled again when it shows its highest side, `again` times at most; the sum.
    ///
    /// # Errors
    /// As [`Dist::keep_highest`].
    pub fn explode(sides: u32, again: u32) -> Result<Self, Error> {
        if u64::from(highest(sides, again.saturating_add(1))?) > MOST_COUNTS {
            return Err(Error::TooLarge("a die that explodes"));
        }
        let rolls = (0..=again).flat_map(|roll| {
            let shown = if roll == again { sides } else { sides - 1 };
            let weight = UBig::from(sides).pow((again - roll) as usize);
            (1..=shown).map(move |side| (roll * sides + side, weight.clone()))
        });
        Ok(Self::of(rolls))
    }

    /// A die that is rolled once more, and then stays, if it shows `lowest` or less.
    ///
    /// # Errors
    /// It has no sides ([`Error::NothingToDraw`]).
    pub fn reroll(sides: u32, lowest: u32) -> Result<Self, Error> {
        highest(sides, 1)?;
        let again = lowest.min(sides);
        let kept = |side| if side > again { sides } else { 0 };
        let weights = (1..=sides).map(|side| (side, UBig::from(kept(side)) + UBig::from(again)));
        Ok(Self::of(weights))
    }
}

/// The highest sum of so many dice.
fn highest(sides: u32, dice: u32) -> Result<u32, Error> {
    if sides == 0 {
        return Err(Error::NothingToDraw("a die without sides"));
    }
    // One more side is needed to see a sum from below.
    let most = dice.checked_mul(sides.saturating_add(1));
    most.map(|most| most - dice)
        .ok_or(Error::TooLarge("a pool of dice"))
}

/// Each number of the `open` dice may show this side; of those that do, `wanted` are kept at most.
fn show(after: &mut [Vec<UBig>], before: &[UBig], open: u32, side: u32, wanted: u32) {
    let mut choices = UBig::ONE;
    for showing in 0..=open {
        let adds = (showing.min(wanted) * side) as usize;
        for (sum, ways) in before.iter().enumerate() {
            if !ways.is_zero() {
                after[(open - showing) as usize][sum + adds] += ways * &choices;
            }
        }
        choices = choices * (open - showing) / (showing + 1);
    }
}
