//! An expression as a description: ordinary code that rolls each die.

use gossamer::experiment::Choices;

use crate::expression::{Bounds, End, Expression, Fault, Kind, Operator, Pool, Rule, bounds};

/// An expression of which each outcome is an `i64`.
#[derive(Debug, Clone, Copy)]
pub struct Description<'e> {
    expression: &'e Expression,
    bounds: Bounds,
}

impl<'e> Description<'e> {
    /// The description of an expression.
    ///
    /// # Errors
    /// Its outcomes are no `i64`, or it rolls too many dice; the fault says which part.
    pub fn of(expression: &'e Expression) -> Result<Self, Fault> {
        let bounds = bounds(expression)?;
        Ok(Self { expression, bounds })
    }

    /// How many dice it rolls at most.
    pub fn rolls(&self) -> u64 {
        self.bounds.rolls
    }

    /// One outcome.
    pub fn draw(&self, c: &mut Choices<'_>) -> i64 {
        draw(self.expression, c)
    }
}

fn draw(expression: &Expression, c: &mut Choices<'_>) -> i64 {
    match &expression.kind {
        Kind::Number(number) => *number,
        Kind::Pool(pool) => roll(pool, c),
        Kind::Negative(inner) => -draw(inner, c),
        Kind::Operation(operator, left, right) => {
            let (left, right) = (draw(left, c), draw(right, c));
            match operator {
                Operator::Add => left + right,
                Operator::Subtract => left - right,
                Operator::Multiply => left * right,
            }
        }
    }
}

fn roll(pool: &Pool, c: &mut Choices<'_>) -> i64 {
    let dice = 0..pool.dice;
    let Some((end, kept)) = pool.kept() else {
        return dice.map(|_| roll_one(pool, c)).sum();
    };
    let mut rolls: Vec<i64> = dice.map(|_| roll_one(pool, c)).collect();
    rolls.sort_unstable();
    if end == End::Highest {
        rolls.reverse();
    }
    rolls.iter().take(kept as usize).sum()
}

/// One die, with what its rule rolls again.
fn roll_one(pool: &Pool, c: &mut Choices<'_>) -> i64 {
    let first = c.die(pool.sides);
    match pool.rule {
        Rule::Reroll(lowest) if first <= lowest => c.die(pool.sides).into(),
        Rule::Explode(again) => {
            let (mut sum, mut last, mut left) = (i64::from(first), first, again);
            while last == pool.sides && left > 0 {
                last = c.die(pool.sides);
                sum += i64::from(last);
                left -= 1;
            }
            sum
        }
        _ => first.into(),
    }
}
