//! `seed`: what "Warm fuzzy things for random simulations" (eigenclass.org, 2008) shows, in its order.
//!
//! The two experiments are ordinary functions; each of the library's interpreters runs them, and nothing else is known
//! of them.

use gossamer::experiment::{Choices, Distribution, Error, Expectation, Probability, Simulation};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::figures::fixed;
use crate::report::{Report, outcomes_json, outcomes_table, plot, probability_json};
use crate::table::{Row, table};

/// Three dice.
fn roll_3d6(c: &mut Choices<'_>) -> i64 {
    let [first, second, third] = [c.die(6), c.die(6), c.die(6)];
    i64::from(first + second + third)
}

/// Three dice, and one more if any of these shows a six.
fn roll_3d6_b(c: &mut Choices<'_>) -> i64 {
    let dice = [c.die(6), c.die(6), c.die(6)];
    let sum: u32 = dice.iter().sum();
    match dice.contains(&6) {
        true => i64::from(sum + c.die(6)),
        false => i64::from(sum),
    }
}

/// All that the seed shows; the one simulation is from this seed.
///
/// # Errors
/// None, unless the library is at fault.
pub fn report(seed: u64, width: usize) -> Result<Report, Failure> {
    let wrong = |error: Error| Failure::Other(error.to_string());
    let once = Simulation::seeded(seed).run(roll_3d6).map_err(wrong)?;
    let three = Distribution::of(roll_3d6).map_err(wrong)?;
    let expected = expectations().map_err(wrong)?;
    let extra = Distribution::of(roll_3d6_b).map_err(wrong)?;
    let plots = vec![
        plot("roll_3d6: the sum of three dice".into(), &three),
        plot("roll_3d6_b: an extra roll for a six".into(), &extra),
    ];
    let sections = [
        (
            "roll_3d6(Simulation.init).run",
            format!(
                "One roll of three dice, drawn from the seed {seed}; --seed {seed} draws it again."
            ),
            format!("  {once}\n"),
        ),
        (
            "roll_3d6(Distribution.init).run",
            format!(
                "All outcomes, from {} runs along all paths; the bars are the plot roll_3d6.png.",
                three.paths()
            ),
            outcomes_table(&three, width),
        ),
        (
            "(1..21).each{|n| p roll_3d6(Expectation.init).run(n) }",
            "How probable each number from 1 to 21 is, asked for one after the other.".into(),
            expectations_table(&expected, width),
        ),
        (
            "roll_3d6_b(Distribution.init).run",
            format!(
                "An extra roll if any of the first three dice shows a six, from {} paths; the bars are the plot roll_3d6_b.png.",
                extra.paths()
            ),
            outcomes_table(&extra, width),
        ),
    ];
    let sections = sections.map(|(call, sentence, shown)| format!("{call}\n{sentence}\n\n{shown}"));
    Ok(Report {
        text: sections.join("\n"),
        json: json!({
            "seed": seed, "simulation": once,
            "roll_3d6": outcomes_json(&three),
            "expectations": expectations_json(&expected),
            "roll_3d6_b": outcomes_json(&extra),
        }),
        plots,
    })
}

/// Asks for each number from 1 to 21, which no table answers: the description is run along all its paths each time.
fn expectations() -> Result<Vec<(i64, Probability)>, Error> {
    let ask = |number| {
        let found = Expectation::that(roll_3d6, |sum| *sum == number)?;
        Ok((number, found.probability().clone()))
    };
    (1..=21).map(ask).collect()
}

fn expectations_table(expected: &[(i64, Probability)], width: usize) -> String {
    let rows = expected.iter().map(|(number, its)| {
        let decimal = fixed(its.as_rational(), 8);
        let cells = vec![number.to_string(), its.to_string(), decimal];
        let length = its.to_f64();
        Row { cells, length }
    });
    let rows: Vec<Row> = rows.collect();
    table(&["n", "fraction", "decimal"], &rows, width)
}

fn expectations_json(expected: &[(i64, Probability)]) -> Value {
    let all = expected.iter();
    all.map(|(number, its)| json!({"outcome": number, "probability": probability_json(its)}))
        .collect()
}
