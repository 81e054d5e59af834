//! Expressions on dice: what they say, and where in the text they say it.
//!
//! ```text
//! condition  = sum relation sum            relation = ">=" | ">" | "<=" | "<" | "=" | "==" | "!="
//! sum        = product { ("+" | "-") product }
//! product    = unary { "*" unary }
//! unary      = "-" unary | number | "(" sum ")" | pool
//! pool       = [number] "d" (number | "%") [rule]
//! rule       = ("keep" | "drop") ("highest" | "lowest") [number]     also kh, kl, dh, dl
//!            | ("explode" | "!") [number] | "reroll" [number]
//! ```
//!
//! Letters may be large or small, and spaces may stand between any two of these.

mod bounds;
mod fault;
mod lexer;
mod parser;
#[cfg(test)]
mod tests;

use std::fmt::{self, Display};

pub use self::bounds::{Bounds, MOST_ROLLS, bounds};
pub use self::fault::{Fault, Span};
pub use self::parser::{parse_condition, parse_value};

/// A die that explodes is rolled again so often at most, unless the expression says otherwise.
pub const EXPLOSIONS: u32 = 5;

/// An integer that may be random.
#[derive(Debug, Clone)]
pub struct Expression {
    /// What it says.
    pub kind: Kind,
    /// Where it stands in the text.
    pub span: Span,
}

/// What an expression says.
#[derive(Debug, Clone)]
pub enum Kind {
    /// This number.
    Number(i64),
    /// The sum of some dice.
    Pool(Pool),
    /// The negative of another one.
    Negative(Box<Expression>),
    /// Two others, which are random on their own, joined.
    Operation(Operator, Box<Expression>, Box<Expression>),
}

/// What joins two expressions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// Their sum.
    Add,
    /// Their difference.
    Subtract,
    /// Their product.
    Multiply,
}

/// Dice that are rolled together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pool {
    /// How many.
    pub dice: u32,
    /// The highest side of each; the lowest is 1.
    pub sides: u32,
    /// Which of them count, and which are rolled again.
    pub rule: Rule,
}

/// What becomes of the dice of a pool before they are summed up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// Nothing.
    Sum,
    /// So many of the highest count.
    KeepHighest(u32),
    /// So many of the lowest count.
    KeepLowest(u32),
    /// All but so many of the highest count.
    DropHighest(u32),
    /// All but so many of the lowest count.
    DropLowest(u32),
    /// A die that shows its highest side is rolled again, so often at most, and the rolls add up.
    Explode(u32),
    /// A die that shows this side or a lower one is rolled once more, and then stays.
    Reroll(u32),
}

/// Which end of a pool counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The highest dice.
    Highest,
    /// The lowest dice.
    Lowest,
}

impl Pool {
    /// How many dice count, and which, if a rule says so. More may be dropped than there are: then none counts.
    pub fn kept(&self) -> Option<(End, u32)> {
        match self.rule {
            Rule::KeepHighest(kept) => Some((End::Highest, kept)),
            Rule::DropLowest(dropped) => Some((End::Highest, self.dice.saturating_sub(dropped))),
            Rule::KeepLowest(kept) => Some((End::Lowest, kept)),
            Rule::DropHighest(dropped) => Some((End::Lowest, self.dice.saturating_sub(dropped))),
            Rule::Sum | Rule::Explode(_) | Rule::Reroll(_) => None,
        }
    }

    /// How often each die is rolled at most.
    pub fn rolls_each(&self) -> u64 {
        match self.rule {
            Rule::Explode(again) => u64::from(again) + 1,
            Rule::Reroll(_) => 2,
            _ => 1,
        }
    }
}

/// A comparison of two expressions, which holds or does not.
#[derive(Debug, Clone)]
pub struct Condition {
    /// What is compared.
    pub left: Expression,
    /// How.
    pub relation: Relation,
    /// With what.
    pub right: Expression,
}

/// How two numbers are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// `>=`
    AtLeast,
    /// `>`
    Above,
    /// `<=`
    AtMost,
    /// `<`
    Below,
    /// `=`
    Equal,
    /// `!=`
    Unequal,
}

impl Relation {
    /// Whether it holds of these.
    pub fn holds(self, left: i64, right: i64) -> bool {
        match self {
            Self::AtLeast => left >= right,
            Self::Above => left > right,
            Self::AtMost => left <= right,
            Self::Below => left < right,
            Self::Equal => left == right,
            Self::Unequal => left != right,
        }
    }
}

impl Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AtLeast => ">=",
            Self::Above => ">",
            Self::AtMost => "<=",
            Self::Below => "<",
            Self::Equal => "=",
            Self::Unequal => "!=",
        })
    }
}

impl Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.left, self.relation, self.right)
    }
}

impl Display for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { dice, sides, rule } = self;
        write!(f, "{dice}d{sides}")?;
        match rule {
            Rule::Sum => Ok(()),
            Rule::KeepHighest(kept) => write!(f, " keep highest {kept}"),
            Rule::KeepLowest(kept) => write!(f, " keep lowest {kept}"),
            Rule::DropHighest(dropped) => write!(f, " drop highest {dropped}"),
            Rule::DropLowest(dropped) => write!(f, " drop lowest {dropped}"),
            Rule::Explode(again) => write!(f, " explode {again}"),
            Rule::Reroll(lowest) => write!(f, " reroll {lowest}"),
        }
    }
}

/// Written in full, with the numbers that the text left out, so that a reader sees how it was understood.
impl Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Number(number) => write!(f, "{number}"),
            Kind::Pool(pool) => write!(f, "{pool}"),
            Kind::Negative(of) => within(f, "-", of, 3),
            Kind::Operation(operator, left, right) => {
                let (sign, binds) = match operator {
                    Operator::Add => (" + ", 1),
                    Operator::Subtract => (" - ", 1),
                    Operator::Multiply => (" * ", 2),
                };
                within(f, "", left, binds)?;
                // The right side of an operator groups tighter than the left one, as operators group from the left.
                within(f, sign, right, binds + 1)
            }
        }
    }
}

/// Writes a part of an expression, in parentheses if it binds less than this.
fn within(f: &mut fmt::Formatter<'_>, before: &str, part: &Expression, least: u8) -> fmt::Result {
    let binds = match part.kind {
        Kind::Operation(Operator::Add | Operator::Subtract, ..) => 1,
        Kind::Operation(Operator::Multiply, ..) => 2,
        Kind::Negative(_) => 3,
        Kind::Number(_) | Kind::Pool(_) => 4,
    };
    match binds < least {
        true => write!(f, "{before}({part})"),
        false => write!(f, "{before}{part}"),
    }
}
