//! Reads an expression: one function a line of the grammar.

use super::lexer::{Token, tokens};
use super::{
    Condition, EXPLOSIONS, Expression, Fault, Kind, MOST_ROLLS, Operator, Pool, Relation, Rule,
    Span,
};

/// Reads an expression without a comparison.
///
/// # Errors
/// It is none; the fault says where.
pub fn parse_value(text: &str) -> Result<Expression, Fault> {
    let mut parser = Parser::new(text)?;
    let value = parser.sum()?;
    if let Some((_, span)) = parser.relation() {
        let message = "unexpected comparison: the outcomes of an expression are wanted; for the probability of a comparison use `p`";
        return Err(Fault::new(message, span));
    }
    parser.end()?;
    Ok(value)
}

/// Reads a comparison of two expressions.
///
/// # Errors
/// It is none; the fault says where.
pub fn parse_condition(text: &str) -> Result<Condition, Fault> {
    let mut parser = Parser::new(text)?;
    let left = parser.sum()?;
    let Some((relation, _)) = parser.relation() else {
        let (token, span) = parser.peek();
        if *token != Token::End {
            return Err(parser.surplus());
        }
        let message = "expected a comparison: add one, such as `>= 15`";
        return Err(Fault::new(message, span));
    };
    let right = parser.sum()?;
    if let Some((_, span)) = parser.relation() {
        let message = "unexpected second comparison: `p` takes one";
        return Err(Fault::new(message, span));
    }
    parser.end()?;
    Ok(Condition {
        left,
        relation,
        right,
    })
}

/// The words that begin a rule.
const RULES: [&str; 8] = ["keep", "drop", "kh", "kl", "dh", "dl", "explode", "reroll"];

struct Parser {
    tokens: Vec<(Token, Span)>,
    at: usize,
}

impl Parser {
    fn new(text: &str) -> Result<Self, Fault> {
        let tokens = tokens(text)?;
        if tokens.len() == 1 {
            let message = "the expression is empty: expected dice and numbers, such as `3d6 + 2`";
            return Err(Fault::new(message, 0..0));
        }
        Ok(Self { tokens, at: 0 })
    }

    fn peek(&self) -> (&Token, Span) {
        let (token, span) = &self.tokens[self.at];
        (token, span.clone())
    }

    /// Where the token before this one ends.
    fn before(&self) -> usize {
        self.tokens[self.at - 1].1.end
    }

    fn take_sign(&mut self, sign: char) -> bool {
        let is_there = *self.peek().0 == Token::Sign(sign);
        self.at += usize::from(is_there);
        is_there
    }

    fn take_word(&mut self, words: &[&str]) -> bool {
        let is_there = matches!(self.peek().0, Token::Word(word) if words.contains(&&**word));
        self.at += usize::from(is_there);
        is_there
    }

    fn take_number(&mut self) -> Option<(i64, Span)> {
        let (Token::Number(number), span) = self.peek() else {
            return None;
        };
        let taken = (*number, span);
        self.at += 1;
        Some(taken)
    }

    fn relation(&mut self) -> Option<(Relation, Span)> {
        let (Token::Relation(relation), span) = self.peek() else {
            return None;
        };
        let taken = (*relation, span);
        self.at += 1;
        Some(taken)
    }

    fn end(&self) -> Result<(), Fault> {
        match self.peek().0 {
            Token::End => Ok(()),
            _ => Err(self.surplus()),
        }
    }

    /// Something stands where an operator or the end should be.
    fn surplus(&self) -> Fault {
        let (token, span) = self.peek();
        let is_rule = match token {
            Token::Word(word) => RULES.contains(&&**word),
            token => *token == Token::Sign('!'),
        };
        let message = match token {
            Token::Sign(')') => "this `)` closes nothing: leave it out, or open it with `(`",
            _ if is_rule => {
                "unexpected rule: dice take one, of keep, drop, explode and reroll, directly behind their sides"
            }
            _ => "expected an operator, `+`, `-` or `*`, or the end here",
        };
        Fault::new(message, span)
    }

    fn sum(&mut self) -> Result<Expression, Fault> {
        let mut left = self.product()?;
        loop {
            let operator = match self.peek().0 {
                Token::Sign('+') => Operator::Add,
                Token::Sign('-') => Operator::Subtract,
                _ => return Ok(left),
            };
            self.at += 1;
            left = join(operator, left, self.product()?);
        }
    }

    fn product(&mut self) -> Result<Expression, Fault> {
        let mut left = self.unary()?;
        while self.take_sign('*') {
            left = join(Operator::Multiply, left, self.unary()?);
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Expression, Fault> {
        let (token, span) = self.peek();
        let start = span.start;
        match token {
            Token::Sign('-') => {
                self.at += 1;
                let of = self.unary()?;
                let span = start..of.span.end;
                let kind = Kind::Negative(Box::new(of));
                Ok(Expression { kind, span })
            }
            Token::Sign('(') => {
                self.at += 1;
                let inner = self.sum()?;
                self.close(span)?;
                let span = start..self.before();
                Ok(Expression { span, ..inner })
            }
            Token::Number(_) => self.number_or_pool(start),
            Token::Word(word) if word == "d" => self.pool(None, start),
            _ => Err(self.no_value()),
        }
    }

    fn close(&mut self, opened: Span) -> Result<(), Fault> {
        if self.take_sign(')') {
            return Ok(());
        }
        Err(match self.peek() {
            (Token::End, _) => Fault::new("this `(` is never closed: add `)`", opened),
            (Token::Relation(_), span) => Fault::new(
                "expected `)`: a comparison stands outside of parentheses",
                span,
            ),
            (_, span) => Fault::new("expected `)`, or an operator, `+`, `-` or `*`", span),
        })
    }

    fn no_value(&self) -> Fault {
        let (_, span) = self.peek();
        let message = "expected a number, dice such as `3d6`, or `(`";
        Fault::new(message, span)
    }

    fn number_or_pool(&mut self, start: usize) -> Result<Expression, Fault> {
        let (number, span) = self.take_number().ok_or_else(|| self.no_value())?;
        match self.peek().0 {
            Token::Word(word) if word == "d" => self.pool(Some((number, span)), start),
            _ => Ok(Expression {
                kind: Kind::Number(number),
                span,
            }),
        }
    }

    /// From its `d` on.
    fn pool(&mut self, dice: Option<(i64, Span)>, start: usize) -> Result<Expression, Fault> {
        self.at += 1;
        let dice = match dice {
            Some((dice, span)) => u32::try_from(dice)
                .ok()
                .filter(|dice| u64::from(*dice) <= MOST_ROLLS)
                .ok_or_else(|| Fault::new(format!("too many dice: at most {MOST_ROLLS}"), span))?,
            None => 1,
        };
        let sides = self.sides()?;
        let rule = self.rule(dice, sides)?;
        let kind = Kind::Pool(Pool { dice, sides, rule });
        let span = start..self.before();
        Ok(Expression { kind, span })
    }

    fn sides(&mut self) -> Result<u32, Fault> {
        if self.take_sign('%') {
            return Ok(100);
        }
        let Some((sides, span)) = self.take_number() else {
            let message = "expected the number of sides after `d`";
            return Err(Fault::new(message, self.before()..self.before()));
        };
        if sides == 0 {
            let message = "a die has at least one side: expected 1 or more after `d`";
            return Err(Fault::new(message, span));
        }
        let message = format!("too many sides: a die has at most {}", u32::MAX);
        u32::try_from(sides).map_err(|_| Fault::new(message, span))
    }

    fn rule(&mut self, dice: u32, sides: u32) -> Result<Rule, Fault> {
        let start = self.at;
        let rule: fn(u32) -> Rule = if self.take_word(&["kh"]) {
            Rule::KeepHighest
        } else if self.take_word(&["kl"]) {
            Rule::KeepLowest
        } else if self.take_word(&["dh"]) {
            Rule::DropHighest
        } else if self.take_word(&["dl"]) {
            Rule::DropLowest
        } else if self.take_word(&["keep"]) {
            self.end_of_pool("keep", [Rule::KeepHighest, Rule::KeepLowest])?
        } else if self.take_word(&["drop"]) {
            self.end_of_pool("drop", [Rule::DropHighest, Rule::DropLowest])?
        } else if self.take_word(&["explode"]) || self.take_sign('!') {
            Rule::Explode
        } else if self.take_word(&["reroll"]) {
            Rule::Reroll
        } else {
            return Ok(Rule::Sum);
        };
        let usual = match rule(0) {
            Rule::Explode(_) => EXPLOSIONS,
            _ => 1,
        };
        let named = self.tokens[start].1.start;
        let rule = rule(self.count(usual)?);
        self.check(rule, dice, sides, named..self.before())?;
        Ok(rule)
    }

    fn end_of_pool(
        &mut self,
        verb: &str,
        rules: [fn(u32) -> Rule; 2],
    ) -> Result<fn(u32) -> Rule, Fault> {
        let [highest, lowest] = rules;
        if self.take_word(&["highest"]) {
            return Ok(highest);
        }
        if self.take_word(&["lowest"]) {
            return Ok(lowest);
        }
        let message = format!("expected `highest` or `lowest` after `{verb}`");
        Err(Fault::new(message, self.before()..self.before()))
    }

    /// The number of a rule, or the usual one.
    fn count(&mut self, usual: u32) -> Result<u32, Fault> {
        let Some((count, span)) = self.take_number() else {
            return Ok(usual);
        };
        let message = format!("this number is too large: the largest here is {}", u32::MAX);
        u32::try_from(count).map_err(|_| Fault::new(message, span))
    }

    /// Refuses a rule that these dice cannot follow.
    fn check(&self, rule: Rule, dice: u32, sides: u32, span: Span) -> Result<(), Fault> {
        let message = match rule {
            Rule::KeepHighest(kept) | Rule::KeepLowest(kept) if kept > dice => {
                format!("{kept} dice are to be kept of {dice}: keep at most {dice}")
            }
            Rule::DropHighest(dropped) | Rule::DropLowest(dropped) if dropped > dice => {
                format!("{dropped} dice are to be dropped of {dice}: drop at most {dice}")
            }
            Rule::Explode(_) if sides == 1 => {
                "a die with one side shows its highest side always, and would explode for ever: give it more sides"
                    .into()
            }
            _ => return Ok(()),
        };
        Err(Fault::new(message, span))
    }
}

fn join(operator: Operator, left: Expression, right: Expression) -> Expression {
    let span = left.span.start..right.span.end;
    let kind = Kind::Operation(operator, Box::new(left), Box::new(right));
    Expression { kind, span }
}
