//! What a command gives: a text, the same as JSON, and what pictures show of it.

use gossamer::experiment::{Distribution, Probability, RBig};
use serde_json::{Value, json};

use crate::chart::Plot;
use crate::figures::{brief, fixed, nearest, percent, scientific};
use crate::table::{Row, table};

/// The result of a command.
#[derive(Debug)]
pub struct Report {
    /// For the terminal.
    pub text: String,
    /// For programs.
    pub json: Value,
    /// For pictures.
    pub plots: Vec<Plot>,
}

/// A fraction is printed if those of all rows have fewer characters: longer ones are not read.
const LONG: usize = 24;

/// Half of what may happen.
fn half() -> Probability {
    Probability::new(1, 2).unwrap_or(Probability::ZERO)
}

/// The table of a distribution: outcome, fraction where it is short, decimal, percent and bar.
pub fn outcomes_table(all: &Distribution<i64>, width: usize) -> String {
    let fractions: Vec<String> = all.iter().map(|(_, its)| its.to_string()).collect();
    let is_short = fractions.iter().all(|fraction| fraction.len() < LONG);
    let rows = all.iter().zip(fractions).map(|((outcome, its), fraction)| {
        let mut cells = vec![outcome.to_string()];
        if is_short {
            cells.push(fraction);
            cells.push(fixed(its.as_rational(), 8));
        } else {
            cells.push(scientific(its.as_rational(), 9));
        }
        cells.push(percent(its));
        let length = its.to_f64();
        Row { cells, length }
    });
    let rows: Vec<Row> = rows.collect();
    match is_short {
        true => table(&["outcome", "fraction", "decimal", "percent"], &rows, width),
        false => table(&["outcome", "probability", "percent"], &rows, width),
    }
}

/// Mean, variance, standard deviation and median.
#[derive(Debug)]
pub struct Summary {
    mean: RBig,
    variance: RBig,
    median: i64,
    outcomes: usize,
}

impl Summary {
    /// Of a distribution; `None` if a part of it is uncovered.
    pub fn of(all: &Distribution<i64>) -> Option<Summary> {
        Some(Summary {
            mean: all.mean()?,
            variance: all.variance()?,
            median: *all.quantile(&half())?,
            outcomes: all.iter().len(),
        })
    }

    /// The mean, exact.
    pub fn mean(&self) -> &RBig {
        &self.mean
    }

    /// A line for each.
    pub fn text(&self) -> String {
        let exact = |value: &RBig| {
            let (decimal, fraction) = (brief(value, 6), value.to_string());
            match decimal == fraction || fraction.len() >= LONG {
                true => decimal,
                false => format!("{decimal} ({fraction})"),
            }
        };
        let deviation = nearest(&self.variance).sqrt();
        format!(
            "  mean                {}\n  variance            {}\n  standard deviation  {deviation:.6}\n  median              {}\n  \
             outcomes            {}\n",
            exact(&self.mean),
            exact(&self.variance),
            self.median,
            self.outcomes
        )
    }

    /// The same for a JSON object.
    pub fn json(&self) -> Value {
        json!({
            "mean": {"fraction": self.mean.to_string(), "decimal": nearest(&self.mean)},
            "variance": {"fraction": self.variance.to_string(), "decimal": nearest(&self.variance)},
            "standard_deviation": nearest(&self.variance).sqrt(),
            "median": self.median,
        })
    }
}

/// A probability for a JSON object: exact as a text, since JSON's numbers are not.
pub fn probability_json(probability: &Probability) -> Value {
    json!({"fraction": probability.to_string(), "decimal": probability.to_f64()})
}

/// The outcomes of a distribution as a JSON array.
pub fn outcomes_json(all: &Distribution<i64>) -> Value {
    let outcomes = all.iter();
    let outcomes = outcomes
        .map(|(outcome, its)| json!({"outcome": outcome, "probability": probability_json(its)}));
    outcomes.collect()
}

/// The bars of a distribution.
pub fn plot(title: String, all: &Distribution<i64>) -> Plot {
    let bars = all.iter().map(|(outcome, its)| (*outcome, its.to_f64()));
    Plot {
        title,
        measure: "probability",
        bars: bars.collect(),
        points: Vec::new(),
    }
}
