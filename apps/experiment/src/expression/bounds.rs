//! The lowest and the highest outcome, and how many rolls there are, before anything is rolled.

use super::{Expression, Fault, Kind, Operator, Pool, Rule};

/// One evaluation of an expression may roll so many dice.
pub const MOST_ROLLS: u64 = 10_000;

/// What an expression's outcomes are between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// No outcome is lower.
    pub lowest: i64,
    /// No outcome is higher.
    pub highest: i64,
    /// How many dice are rolled at most.
    pub rolls: u64,
}

/// The bounds of an expression.
///
/// # Errors
/// An outcome may be no `i64`, or there are too many rolls; the fault says in which part.
pub fn bounds(of: &Expression) -> Result<Bounds, Fault> {
    let (lowest, highest, rolls) = match &of.kind {
        Kind::Number(number) => (i128::from(*number), i128::from(*number), 0),
        Kind::Pool(pool) => of_pool(pool),
        Kind::Negative(inner) => {
            let inner = bounds(inner)?;
            (
                -i128::from(inner.highest),
                -i128::from(inner.lowest),
                inner.rolls,
            )
        }
        Kind::Operation(operator, left, right) => {
            let (left, right) = (bounds(left)?, bounds(right)?);
            let (lowest, highest) = joined(*operator, left, right);
            (lowest, highest, left.rolls + right.rolls)
        }
    };
    if rolls > MOST_ROLLS {
        let message = format!(
            "this rolls up to {rolls} dice, counting those that are rolled again: at most {MOST_ROLLS}"
        );
        return Err(Fault::new(message, of.span.clone()));
    }
    match (i64::try_from(lowest), i64::try_from(highest)) {
        (Ok(lowest), Ok(highest)) => Ok(Bounds {
            lowest,
            highest,
            rolls,
        }),
        _ => {
            let message = format!(
                "this may be as low as {lowest} or as high as {highest}: outcomes are from {} to {}",
                i64::MIN,
                i64::MAX
            );
            Err(Fault::new(message, of.span.clone()))
        }
    }
}

fn of_pool(pool: &Pool) -> (i128, i128, u64) {
    let counted = pool.kept().map_or(pool.dice, |(_, kept)| kept);
    let each = match pool.rule {
        Rule::Explode(again) => i128::from(pool.sides) * (i128::from(again) + 1),
        _ => i128::from(pool.sides),
    };
    let highest = i128::from(counted) * each;
    let rolls = u64::from(pool.dice) * pool.rolls_each();
    (counted.into(), highest, rolls)
}

fn joined(operator: Operator, left: Bounds, right: Bounds) -> (i128, i128) {
    let [a, b] = [left.lowest, left.highest].map(i128::from);
    let [c, d] = [right.lowest, right.highest].map(i128::from);
    match operator {
        Operator::Add => (a + c, b + d),
        Operator::Subtract => (a - d, b - c),
        Operator::Multiply => {
            let corners = [a * c, a * d, b * c, b * d];
            let lowest = corners.into_iter().min().unwrap_or_default();
            let highest = corners.into_iter().max().unwrap_or_default();
            (lowest, highest)
        }
    }
}
