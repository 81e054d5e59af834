//! Both forms of an expression agree: as a value, and as a description that is run along all its paths.

use gossamer::experiment::{Choices, Distribution, Limits, Simulation};

use crate::description::Description;
use crate::expression::{Expression, parse_condition, parse_value};
use crate::values::{distribution, probability};

fn read(text: &str) -> Expression {
    parse_value(text).expect("it is an expression")
}

fn exact(text: &str) -> Distribution<i64> {
    Distribution::from(&distribution(&read(text)).expect("it is small"))
}

/// `None`: it has too many paths.
fn by_paths(expression: &Expression) -> Option<Distribution<i64>> {
    let description = Description::of(expression).expect("it is small");
    let limits = Limits::new().paths(20_000);
    let found = Distribution::within(&limits, |c| description.draw(c)).expect("it is sound");
    found.stopped_by().is_none().then_some(found)
}

/// A random expression, which is an experiment as well.
fn expression(c: &mut Choices<'_>, depth: u32) -> String {
    let operators = ["+", "-", "*"];
    match c.below(if depth == 0 { 4 } else { 8 }) {
        0 => c.below(5).to_string(),
        1..=3 => pool(c),
        4 => format!("-{}", expression(c, depth - 1)),
        5 => format!("({})", expression(c, depth - 1)),
        _ => {
            let left = expression(c, depth - 1);
            let operator = c.pick(&operators);
            format!("{left} {operator} {}", expression(c, depth - 1))
        }
    }
}

fn pool(c: &mut Choices<'_>) -> String {
    let (dice, sides) = (c.below(4), c.die(5));
    let kept = c.below(dice + 1);
    let rule = match c.below(8) {
        0 => format!("keep highest {kept}"),
        1 => format!("keep lowest {kept}"),
        2 => format!("drop highest {kept}"),
        3 => format!("dl{kept}"),
        4 if sides > 1 => format!("!{}", c.below(3)),
        5 => format!("reroll {}", c.below(7)),
        _ => String::new(),
    };
    format!("{dice}d{sides} {rule}")
}

#[test]
fn both_forms_of_random_expressions_agree() {
    let mut compared = 0;
    for seed in 0..400 {
        let drawn = Simulation::seeded(seed).run(|c| expression(c, 3));
        let text = drawn.expect("the generator is sound");
        let parsed = read(&text);
        let Some(expected) = by_paths(&parsed) else {
            continue;
        };
        compared += 1;
        assert_eq!(exact(&text), expected, "seed {seed}: {text}");
        let written = parsed.to_string();
        assert_eq!(
            exact(&written),
            expected,
            "seed {seed}: {text} as {written}"
        );
    }
    assert!(compared > 200, "{compared} were small enough");
}

#[test]
fn both_forms_of_random_comparisons_agree() {
    let mut compared = 0;
    for seed in 1_000..1_200 {
        let relations = [">=", ">", "<=", "<", "=", "!="];
        let drawn = Simulation::seeded(seed).run(|c| {
            let left = expression(c, 1);
            let relation = c.pick(&relations);
            format!("{left} {relation} {}", expression(c, 1))
        });
        let text = drawn.expect("the generator is sound");
        let condition = parse_condition(&text).expect("it is a comparison");
        let (left, right) = (by_paths(&condition.left), by_paths(&condition.right));
        let (Some(left), Some(right)) = (left, right) else {
            continue;
        };
        compared += 1;
        let pairs = left.iter().flat_map(|(one, its)| {
            let others = right.iter();
            others.map(move |(other, their)| (*one, *other, its.clone() * their.clone()))
        });
        let holding = pairs.filter(|(one, other, _)| condition.relation.holds(*one, *other));
        let expected = holding.map(|(_, _, both)| both).sum();
        let found = probability(&condition).expect("it is small");
        assert_eq!(found, expected, "seed {seed}: {text}");
    }
    assert!(compared > 150, "{compared} were small enough");
}

#[test]
fn what_is_too_large_is_refused_before_it_begins() {
    for text in [
        "5000d6",
        "2d100001",
        "1000d20 kh 500",
        "10d6 explode 900",
        "d3000 * d3000",
        "d1000 * d1000",
        "1000d6 + 1000d6",
    ] {
        let fault = distribution(&read(text)).expect_err(text);
        assert!(fault.message.contains("`sim`"), "{text}: {fault:?}");
        assert_eq!(fault.span, 0..text.len(), "{text}");
        assert!(Description::of(&read(text)).is_ok(), "{text}");
    }
}
