//! What a workload looks at beside time: figures that a contender says of itself, as how late a ticker was, and the
//! memory of one operation, which the lab measures.
//!
//! A contender says them in a line of its error output, `figures: name=number …`, under the names of the workload.

use std::fmt::Write;

use serde_json::{Map, Value};

use crate::format::figure;
use crate::launch::Outcome;
use crate::results::{Results, Row, Status, spread};

/// How a line of error output begins that has figures.
pub const FIGURES: &str = "figures:";

/// One of them; a column.
#[derive(Debug)]
pub struct Figure {
    /// Its name, as a contender says it and as the results have it.
    pub name: &'static str,
    /// Its heading, with the unit.
    pub heading: &'static str,
    /// What stands for all runs.
    pub of: Of,
}

/// What stands for all runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Of {
    /// The middle one.
    Median,
    /// The middle one, of those who say it; the others have none.
    MedianIfSaid,
    /// The most.
    Most,
    /// The most, of those who say it; the others have none.
    MostIfSaid,
    /// No contender says it: the peak memory above that of a run with one operation, over the operations more.
    MemoryEach,
}

/// The figures that a run of a contender said, in its last such line.
#[must_use]
pub fn said(stderr: &str) -> Map<String, Value> {
    let mut lines = stderr.lines().rev();
    let line = lines.find_map(|line| line.strip_prefix(FIGURES));
    line.map(pairs).unwrap_or_default()
}

/// The pairs of a line `name=value …`; what is no number stays text.
#[must_use]
pub fn pairs(line: &str) -> Map<String, Value> {
    let figures = line.split_whitespace().filter_map(|word| {
        let (name, value) = word.split_once('=')?;
        let number = serde_json::from_str(value).ok().filter(Value::is_number);
        Some((name.to_owned(), number.unwrap_or_else(|| value.into())))
    });
    figures.collect()
}

/// What a run did not say and must, in words.
///
/// # Errors
/// The first such figure.
pub fn check(figures: &[Figure], stderr: &str) -> Result<(), String> {
    let said = said(stderr);
    let must = |figure: &&Figure| matches!(figure.of, Of::Median | Of::Most);
    let number = |name: &str| said.get(name).and_then(Value::as_f64);
    match figures
        .iter()
        .filter(must)
        .find(|one| number(one.name).is_none())
    {
        None => Ok(()),
        Some(one) => Err(format!(
            "did not say {name}: expected a line '{FIGURES} {name}=NUMBER …' among its errors",
            name = one.name
        )),
    }
}

/// The figures of some runs together; `alone_bytes` is the peak memory of a run with one operation.
#[must_use]
pub fn of_runs(
    figures: &[Figure],
    runs: &[Outcome],
    ops: u64,
    alone_bytes: Option<u64>,
) -> Option<Map<String, Value>> {
    let said: Vec<Map<String, Value>> = runs.iter().map(|run| said(&run.stderr)).collect();
    let values = figures.iter().filter_map(|one| {
        let each: Vec<f64> = said
            .iter()
            .filter_map(|run| run.get(one.name)?.as_f64())
            .collect();
        let value = match one.of {
            Of::Median | Of::MedianIfSaid => spread(&each)?.median,
            Of::Most | Of::MostIfSaid => spread(&each)?.max,
            Of::MemoryEach => {
                let peak = runs.iter().map(|run| run.peak_rss_bytes).max()?;
                let more = peak as f64 - alone_bytes? as f64;
                (ops > 1).then(|| more / (ops - 1) as f64)?
            }
        };
        Some((one.name.to_owned(), Value::from(value)))
    });
    let values: Map<String, Value> = values.collect();
    (!values.is_empty()).then_some(values)
}

/// A row's figures in the order of the workload; empty where it has none.
#[must_use]
pub fn cells(row: &Row, figures: &[Figure]) -> Vec<String> {
    let value = |one: &Figure| row.figures.as_ref()?.get(one.name)?.as_f64();
    let cell = |one| value(one).map(rounded).unwrap_or_default();
    figures.iter().map(cell).collect()
}

/// Thousandths are as fine as anybody says them.
fn rounded(value: f64) -> String {
    if value.abs() < 1.0 {
        format!("{value:.3}")
    } else {
        figure(value)
    }
}

/// The rows that have figures, from the least of the first one on.
#[must_use]
pub fn sorted<'a>(rows: impl IntoIterator<Item = &'a Row>, figures: &[Figure]) -> Vec<&'a Row> {
    let Some(first) = figures.first() else {
        return Vec::new();
    };
    let value = |row: &Row| {
        let figures = row.figures.as_ref().filter(|_| row.status == Status::Ok);
        figures?.get(first.name)?.as_f64()
    };
    let mut rows: Vec<(f64, &Row)> = rows
        .into_iter()
        .filter_map(|row| Some((value(row)?, row)))
        .collect();
    rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    rows.into_iter().map(|(_, row)| row).collect()
}

/// A table below that of times; empty if there is none.
#[must_use]
pub fn render(results: &Results, figures: &[Figure]) -> String {
    let rows = sorted(&results.results, figures);
    if rows.is_empty() {
        return String::new();
    }
    let headings = figures.iter().map(|one| one.heading.to_owned());
    let mut lines: Vec<Vec<String>> = vec![
        std::iter::once("contender".into())
            .chain(headings)
            .collect(),
    ];
    for row in rows {
        let name = std::iter::once(row.contender.clone());
        lines.push(name.chain(cells(row, figures)).collect());
    }
    let columns = lines[0].len();
    let width = |column: usize| {
        lines
            .iter()
            .map(|line| line[column].len())
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::from("\n");
    for line in &lines {
        let _ = write!(text, "{:<1$}", line[0], widths[0]);
        for (cell, width) in line.iter().zip(&widths).skip(1) {
            let _ = write!(text, "  {cell:>width$}");
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests;
