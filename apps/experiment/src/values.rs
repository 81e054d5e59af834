//! An expression as a distribution that is a value: exact, and quick.
//!
//! What would take too long, or more memory than there is, is refused before it begins: a large pool is computed in
//! one step, which nobody can look into.

use gossamer::experiment::{Dist, Probability};

use crate::expression::{
    Bounds, Condition, End, Expression, Fault, Kind, Operator, Pool, Rule, bounds,
};

/// A distribution has so many different outcomes at most.
pub const MOST_OUTCOMES: u64 = 100_000;
/// Two distributions are joined by so many pairs of outcomes at most, which are some seconds, and some hundred
/// megabytes where they are kept.
const MOST_PAIRS: u64 = 4_000_000;
/// The weights of a pool have so many bits at most: each is a number that may have thousands.
const MOST_BITS: u64 = 70_000_000;

/// The distribution of an expression.
///
/// # Errors
/// It is too large to be computed, or its outcomes are no `i64`; the fault says which part.
pub fn distribution(of: &Expression) -> Result<Dist<i64>, Fault> {
    // Sums beyond the type would panic further on.
    bounds(of)?;
    let found = match &of.kind {
        Kind::Number(number) => Dist::always(*number),
        Kind::Pool(pool) => of_pool(pool, of)?,
        Kind::Negative(inner) => distribution(inner)?.map(|outcome| -outcome),
        Kind::Operation(operator, left, right) => {
            let (left, right) = (distribution(left)?, distribution(right)?);
            check_pairs(&left, &right, of)?;
            match operator {
                Operator::Add => left.sum(&right),
                Operator::Subtract => left.sum(&right.map(|outcome| -outcome)),
                Operator::Multiply => {
                    left.and_then(|one| right.clone().map(move |other| one * other))
                }
            }
        }
    };
    let outcomes = found.iter().len() as u64;
    match outcomes > MOST_OUTCOMES {
        true => Err(too_many(outcomes, of)),
        false => Ok(found),
    }
}

/// How probable it is that a condition holds.
///
/// # Errors
/// As of [`distribution`].
pub fn probability(of: &Condition) -> Result<Probability, Fault> {
    let (left, right) = (distribution(&of.left)?, distribution(&of.right)?);
    check_pairs(&left, &right, &of.right)?;
    let relation = of.relation;
    let holds = left.and_then(|one| right.clone().map(move |other| relation.holds(one, other)));
    Ok(holds.probability(&true))
}

fn too_many(outcomes: u64, of: &Expression) -> Fault {
    let message = format!(
        "this has up to {outcomes} outcomes, and exact probabilities are found for {MOST_OUTCOMES} at most: take fewer dice or \
         sides, or simulate it with `sim`"
    );
    Fault::new(message, of.span.clone())
}

fn too_long(of: &Expression) -> Fault {
    let message = "its exact probabilities would take too long: take fewer dice or sides, or simulate it with `sim`";
    Fault::new(message, of.span.clone())
}

fn check_pairs(left: &Dist<i64>, right: &Dist<i64>, of: &Expression) -> Result<(), Fault> {
    let pairs = left.iter().len() as u64 * right.iter().len() as u64;
    match pairs > MOST_PAIRS {
        true => Err(too_long(of)),
        false => Ok(()),
    }
}

fn of_pool(pool: &Pool, of: &Expression) -> Result<Dist<i64>, Fault> {
    let Bounds {
        lowest, highest, ..
    } = bounds(of)?;
    let outcomes = highest.abs_diff(lowest) + 1;
    if outcomes > MOST_OUTCOMES || u64::from(pool.sides) > MOST_OUTCOMES {
        return Err(too_many(outcomes.max(pool.sides.into()), of));
    }
    let Pool { dice, sides, rule } = *pool;
    let bits = u64::from(dice) * pool.rolls_each() * u64::from(sides.ilog2() + 1);
    if bits * outcomes > MOST_BITS {
        return Err(too_long(of));
    }
    let found = match (pool.kept(), rule) {
        (Some((End::Highest, kept)), _) => Dist::keep_highest(dice, sides, kept),
        (Some((End::Lowest, kept)), _) => Dist::keep_lowest(dice, sides, kept),
        (None, Rule::Explode(again)) => Dist::explode(sides, again).map(|die| repeated(die, dice)),
        (None, Rule::Reroll(lowest)) => Dist::reroll(sides, lowest).map(|die| repeated(die, dice)),
        (None, _) => Ok(repeated(Dist::die(sides), dice)),
    };
    // The dice have sides, so nothing else can be wrong.
    let found = found.map_err(|_too_large| too_long(of))?;
    Ok(found.map(i64::from))
}

/// The sum of so many dice; it is below the largest `u32`, as the bounds of the pool are.
fn repeated(die: Dist<u32>, dice: u32) -> Dist<u32> {
    die.repeat(dice)
}
