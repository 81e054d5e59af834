//! The workload about exact distributions: sums of dice, and sums of the highest of them.

use crate::figures::{Figure, Of};
use crate::workload::{Kind, Opt, Usual, Values, Workload};

use super::number;

pub(super) const DICE: Workload = Workload {
    name: "dice",
    about: "the exact distribution of what some dice show, evaluated for the first time; an evaluation is one",
    op: ["evaluation", "evaluations"],
    options: &[
        Opt {
            name: "what",
            help: "Which distribution, and how",
            kind: Kind::Choice(&[
                ("sum", "of the sum of all dice, by value"),
                (
                    "keep",
                    "of the sum of the highest dice, by how many show each side",
                ),
                (
                    "paths",
                    "of the sum of all dice, by a description that is followed along each path",
                ),
            ]),
        },
        number(
            "dice",
            "How many dice are rolled",
            Usual::By("what", &[100, 20, 8]),
            DICE_MAX,
            "somebody must roll: at least one die",
        ),
        number(
            "sides",
            "How many sides a die has, from one on",
            Usual::Always(6),
            100,
            "a die has at least one side",
        ),
        number(
            "kept",
            "With --what keep: how many of the highest are added up",
            Usual::Always(10),
            DICE_MAX,
            "at least one die is kept",
        ),
    ],
    // What is calculated once is not calculated again, so a run is one.
    size: "",
    figures: &[Figure {
        name: "evaluation_us",
        heading: "us/evaluation",
        of: Of::Median,
    }],
    title: |values| {
        let [dice, sides, kept] = ["dice", "sides", "kept"].map(|name| values.number(name));
        let what = match values.choice("what") {
            "keep" => format!("the {kept} highest of {dice} dice"),
            "paths" => format!("{dice} dice, along each path"),
            _ => format!("{dice} dice, by value"),
        };
        format!(
            "Exact sum of {what}, {sides} sides each; what counts is below, the first evaluation alone"
        )
    },
    expected: |values| generating_function(values).to_string(),
};

/// More are a typing error, not a benchmark.
const DICE_MAX: u64 = 1_000;

/// The arithmetic is modulo this prime, 2⁶¹ − 1.
const PRIME: u64 = (1 << 61) - 1;
/// Where the generating function is evaluated; any number would do that is neither small nor special.
const POINT: u64 = 1_000_003;

/// The sum over all outcomes of the probability times [`POINT`] to the power of the outcome. Two distributions that differ
/// in a single probability differ in it as well, but for one in some 10¹⁵; and a fraction has one value there, in lowest
/// terms or not.
fn generating_function(values: &Values) -> u64 {
    let [dice, sides] = ["dice", "sides"].map(|name| values.number(name));
    let all = power(inverse(sides), dice);
    let kept = values.number("kept").min(dice);
    let ways = match values.choice("what") {
        "keep" => ways_to_keep(dice, sides, kept),
        // That of a sum is the product of those of its dice.
        _ => power(
            (1..=sides).fold(0, |sum, side| plus(sum, power(POINT, side))),
            dice,
        ),
    };
    times(ways, all)
}

/// The same of the highest, before it is divided by the number of rolls: side by side from the highest on, by how many
/// dice show none of them so far.
fn ways_to_keep(dice: u64, sides: u64, kept: u64) -> u64 {
    let inverses: Vec<u64> = (0..=dice + 1).map(inverse).collect();
    let mut ways = vec![0; dice as usize + 1];
    ways[dice as usize] = 1;
    for side in (1..=sides).rev() {
        let (mut after, factor) = (vec![0; ways.len()], power(POINT, side));
        for (open, before) in (0..=dice).zip(&ways) {
            let wanted = kept.saturating_sub(dice - open);
            // So many dice show this side: which of the open ones, and what those that are kept add.
            let mut shown = *before;
            for showing in 0..=open {
                let still_open = open - showing;
                let place = &mut after[still_open as usize];
                *place = plus(*place, shown);
                shown = times(times(shown, still_open), inverses[showing as usize + 1]);
                if showing < wanted {
                    shown = times(shown, factor);
                }
            }
        }
        ways = after;
    }
    ways[0]
}

fn plus(a: u64, b: u64) -> u64 {
    (a + b) % PRIME
}

fn times(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    // 2⁶¹ is 1 here.
    plus(product as u64 & PRIME, (product >> 61) as u64)
}

fn power(mut base: u64, mut exponent: u64) -> u64 {
    let mut product = 1;
    while exponent > 0 {
        if exponent % 2 == 1 {
            product = times(product, base);
        }
        base = times(base, base);
        exponent /= 2;
    }
    product
}

/// By Fermat's little theorem.
fn inverse(of: u64) -> u64 {
    power(of, PRIME - 2)
}

/// That of outcomes which are equally probable, for tests.
#[cfg(test)]
pub(super) fn of_outcomes(outcomes: impl ExactSizeIterator<Item = u64>) -> u64 {
    let all = inverse(outcomes.len() as u64);
    times(
        outcomes.fold(0, |sum, outcome| plus(sum, power(POINT, outcome))),
        all,
    )
}
