//! `sim`: how often each outcome of an expression comes in many runs, beside how often it should.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use gossamer::experiment::{Distribution, Error, Probability, RBig, Simulation, UBig};
use serde_json::{Value, json};

use crate::chart::Plot;
use crate::description::Description;
use crate::expression::{Expression, parse_value};
use crate::failure::Failure;
use crate::figures::{brief, percent};
use crate::progress::Progress;
use crate::report::{Report, probability_json};
use crate::table::{Row, table};
use crate::values::{MOST_OUTCOMES, distribution};

/// Dice that are rolled between two looks at the bar; few in tests, which have several slices then.
const SLICE: u64 = if cfg!(test) { 64 } else { 1 << 20 };
/// A run draws no more often than the expression has rolls, so this is never reached.
const MOST_DRAWS: usize = usize::MAX;

/// How often each outcome came.
type Counts = BTreeMap<i64, u64>;

/// What is simulated, and how.
#[derive(Debug)]
pub struct Simulated<'t> {
    /// The expression.
    pub text: &'t str,
    /// How often.
    pub runs: u64,
    /// From this seed.
    pub seed: u64,
    /// The width of the table.
    pub width: usize,
}

impl Simulated<'_> {
    /// Runs it.
    ///
    /// # Errors
    /// It is no expression, or rolls too many dice, or too many different outcomes came.
    pub fn report(&self, progress: &Progress) -> Result<Report, Failure> {
        let refuse = |fault| Failure::of(&fault, self.text);
        let expression = parse_value(self.text).map_err(refuse)?;
        let description = Description::of(&expression).map_err(refuse)?;
        progress.begin("simulating", self.runs);
        let counts = self.count(&description, progress)?;
        progress.wait_for("computing exact probabilities");
        // What is too large to be computed can be simulated all the same.
        let exact = distribution(&expression);
        let exact = exact.ok().map(|dist| Distribution::from(&dist));
        let rows = Rows::new(&counts, exact.as_ref(), self.runs);
        Ok(Report {
            text: self.text(&expression, &rows, &counts, exact.as_ref()),
            json: self.json(&expression, &rows, exact.as_ref()),
            plots: vec![rows.plot(format!("{expression}, {} runs", self.runs))],
        })
    }

    /// One simulation, in slices: the outcomes depend on the seed alone, not on where a slice ends.
    fn count(&self, of: &Description<'_>, progress: &Progress) -> Result<Counts, Failure> {
        let wrong = |error: Error| Failure::Other(error.to_string());
        let mut simulation = Simulation::seeded(self.seed).draws(MOST_DRAWS);
        let slice = (SLICE / (of.rolls() + 1)).max(1);
        let (mut counts, mut left) = (Counts::new(), self.runs);
        while left > 0 {
            let runs = slice.min(left);
            let more = simulation.histogram(runs, |c| of.draw(c)).map_err(wrong)?;
            for (outcome, count) in more {
                *counts.entry(outcome).or_default() += count;
            }
            if counts.len() as u64 > MOST_OUTCOMES {
                return Err(Failure::Input(format!(
                    "after {} runs {} different outcomes have come, and the table has {MOST_OUTCOMES} rows at most: take \
                     fewer sides or fewer --runs",
                    self.runs - left + runs,
                    counts.len()
                )));
            }
            progress.advance(runs);
            left -= runs;
        }
        Ok(counts)
    }

    fn text(
        &self,
        expression: &Expression,
        rows: &Rows,
        counts: &Counts,
        exact: Option<&Distribution<i64>>,
    ) -> String {
        let Self {
            text, runs, seed, ..
        } = self;
        let mut lines = format!(
            "{expression}, {runs} runs from the seed {seed}\n\n{}\n",
            rows.table(self.width)
        );
        let mean = brief(&mean(counts, *runs), 6);
        lines += &match exact.and_then(Distribution::mean) {
            Some(exact) => format!("  mean  {mean}; exactly {}\n", brief(&exact, 6)),
            None => format!(
                "  mean  {mean}\n\nThe exact probabilities are missing: this is too large for them, `roll` says why.\n"
            ),
        };
        if rows.unseen > 0 {
            lines += &format!(
                "\nBelow and above these rows are {} outcomes that did not come; their probability is {} together.\n",
                rows.unseen,
                percent(&rows.unseen_probability)
            );
        }
        let again = format!("sim \"{}\" --runs {runs} --seed {seed}", text.trim());
        lines + &format!("\nTo repeat it: {again}\n")
    }

    fn json(
        &self,
        expression: &Expression,
        rows: &Rows,
        exact: Option<&Distribution<i64>>,
    ) -> Value {
        let outcomes = rows.rows.iter().map(|(outcome, count, probability)| {
            json!({
                "outcome": outcome, "count": count, "share": *count as f64 / self.runs as f64,
                "probability": probability.as_ref().map(probability_json),
            })
        });
        let outcomes: Vec<Value> = outcomes.collect();
        json!({
            "expression": expression.to_string(), "runs": self.runs, "seed": self.seed,
            "exact": exact.is_some(), "outcomes": outcomes,
        })
    }
}

/// The outcomes from the lowest that came to the highest, with those between that did not, as far as they are known.
struct Rows {
    rows: Vec<(i64, u64, Option<Probability>)>,
    runs: u64,
    /// Outcomes that are known, and below or above the rows.
    unseen: usize,
    unseen_probability: Probability,
}

impl Rows {
    fn new(counts: &Counts, exact: Option<&Distribution<i64>>, runs: u64) -> Rows {
        let mut all = Rows {
            rows: Vec::new(),
            runs,
            unseen: 0,
            unseen_probability: Probability::ZERO,
        };
        let Some(exact) = exact else {
            let rows = counts
                .iter()
                .map(|(outcome, count)| (*outcome, *count, None));
            all.rows = rows.collect();
            return all;
        };
        let lowest = counts.keys().next().copied().unwrap_or(i64::MAX);
        let highest = counts.keys().next_back().copied().unwrap_or(i64::MIN);
        for (outcome, probability) in exact.iter() {
            if (lowest..=highest).contains(outcome) {
                let count = counts.get(outcome).copied().unwrap_or(0);
                all.rows.push((*outcome, count, Some(probability.clone())));
            } else {
                all.unseen += 1;
                all.unseen_probability = all.unseen_probability + probability.clone();
            }
        }
        all
    }

    fn share(&self, count: u64) -> Probability {
        Probability::new(count, self.runs).unwrap_or(Probability::ZERO)
    }

    fn table(&self, width: usize) -> String {
        let is_exact = self.rows.iter().any(|(_, _, exact)| exact.is_some());
        let rows = self.rows.iter().map(|(outcome, count, exact)| {
            let share = self.share(*count);
            let mut cells = vec![outcome.to_string(), count.to_string(), percent(&share)];
            cells.extend(exact.as_ref().map(percent));
            let length = share.to_f64();
            Row { cells, length }
        });
        let heads = ["outcome", "count", "share", "exact"];
        let rows: Vec<Row> = rows.collect();
        table(&heads[..if is_exact { 4 } else { 3 }], &rows, width)
    }

    fn plot(&self, title: String) -> Plot {
        let bars = self
            .rows
            .iter()
            .map(|(outcome, count, _)| (*outcome, self.share(*count).to_f64()));
        let points = self
            .rows
            .iter()
            .filter_map(|(outcome, _, exact)| Some((*outcome, exact.as_ref()?.to_f64())));
        Plot {
            title,
            measure: "share of the runs",
            bars: bars.collect(),
            points: points.collect(),
        }
    }
}

fn mean(counts: &Counts, runs: u64) -> RBig {
    let sum: i128 = counts
        .iter()
        .map(|(outcome, count)| i128::from(*outcome) * i128::from(*count))
        .sum();
    RBig::from(sum) / RBig::from(UBig::from(runs))
}
