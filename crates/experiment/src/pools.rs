//! Sums of some dice of a pool, by order statistics: over how many dice show each side, not over what each die shows; and
//! from the highest side on, so that no more dice are followed than are kept.

use dashu_int::UBig;

use crate::{Dist, Error};

/// A die that explodes has so many sums at most.
const MOST_EXPLODED: u64 = 1 << 22;

/// A pool is counted in so many steps at most, each of one word, which take some seconds.
const MOST_STEPS: u64 = 1 << 28;

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
    /// A die has no sides ([`Error::NothingToDraw`]); the sum may be no `u32`, or the pool is so large that it would be counted
    /// for more than some seconds ([`Error::TooLarge`]).
    pub fn keep_highest(dice: u32, sides: u32, kept: u32) -> Result<Self, Error> {
        let kept = kept.min(dice);
        let most = highest(sides, kept)? as usize;
        // Each is a sum of numbers of so many words.
        let words = 1 + u64::from(dice) * u64::from(sides.ilog2() + 1) / 64;
        let steps = u64::from(sides) * (u64::from(kept) + 1).pow(2);
        if steps.saturating_mul(most as u64 + 1).saturating_mul(words) > MOST_STEPS {
            return Err(Error::TooLarge("a pool of dice"));
        }
        // By how many dice have shown a side so far, fewer than are kept: the ways, by their sum. Sides from the highest on.
        let mut ways = vec![vec![UBig::ZERO; most + 1]; kept as usize];
        if let Some(first) = ways.first_mut() {
            first[0] = UBig::ONE;
        }
        let mut sums = vec![UBig::ZERO; most + 1];
        for side in (1..=sides).rev() {
            for shown in (0..kept).rev() {
                show(&mut ways, &mut sums, (dice, kept), shown, side);
            }
        }
        if kept == 0 {
            sums[0] = UBig::ONE;
        }
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
        if u64::from(highest(sides, again.saturating_add(1))?) > MOST_EXPLODED {
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

/// Of the dice that have not shown a side, each number may show this one: then there are more that have shown one; or
/// enough, and what the others show does not count.
fn show(
    ways: &mut [Vec<UBig>],
    sums: &mut [UBig],
    (dice, kept): (u32, u32),
    shown: u32,
    side: u32,
) {
    let (so_far, after) = ways.split_at_mut(shown as usize + 1);
    let so_far = &so_far[shown as usize];
    let (open, wanted) = (dice - shown, kept - shown);
    // So many ways for fewer to show this side than are wanted, the others showing lower ones.
    let mut too_few = UBig::ZERO;
    let mut choices = vec![UBig::ONE];
    for showing in 1..wanted {
        let last = &choices[showing as usize - 1];
        choices.push(last * (open - showing + 1) / showing);
    }
    let below = UBig::from(side - 1);
    let mut lower = below.pow((open - wanted + 1) as usize);
    for (showing, choices) in choices.iter().enumerate().rev() {
        too_few += choices * &lower;
        lower *= &below;
        if showing > 0 {
            add(
                &mut after[showing - 1],
                so_far,
                showing * side as usize,
                choices,
            );
        }
    }
    let enough = UBig::from(side).pow(open as usize) - too_few;
    add(sums, so_far, (wanted * side) as usize, &enough);
}

/// Adds so many ways for each of these, with sums that are so much higher.
fn add(to: &mut [UBig], ways: &[UBig], higher: usize, times: &UBig) {
    for (sum, ways) in ways.iter().enumerate() {
        if !ways.is_zero() {
            to[sum + higher] += ways * times;
        }
    }
}
