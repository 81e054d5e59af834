//! Cost against size: one line a contender, one column a size, and the exponent that fits best.

use std::fmt::Write;

use crate::format::{figure, thousands};
use crate::results::{Results, Row};
use crate::table::{speed, status_text};

/// The exponent a of cost = c · size^a that fits best: least squares on the logarithms. `None` for fewer than three
/// points, which any line fits.
#[must_use]
pub fn exponent(points: &[(f64, f64)]) -> Option<f64> {
    if points.len() < POINTS_MIN {
        return None;
    }
    let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let count = logs.len() as f64;
    let mean_x = logs.iter().map(|(x, _)| x).sum::<f64>() / count;
    let mean_y = logs.iter().map(|(_, y)| y).sum::<f64>() / count;
    let covariance: f64 = logs.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    let variance: f64 = logs.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
    (variance > 0.0).then(|| covariance / variance)
}

/// Sizes that are closer together say nothing about growth.
pub const SPAN_MIN: f64 = 4.0;
/// Fewer sizes fit every line.
pub const POINTS_MIN: usize = 3;
/// A run that is so long has little of the start of its process in it, however few operations it did.
const LONG_S: f64 = 0.05;

/// Why an exponent has a mark.
pub const ROUGH: &str = "no three of its sizes that span a factor of four did the same number of operations, so that \
     the start weighs differently in each; fitted to those that took at least 50 ms";

/// An exponent, and how it came about.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fit {
    /// The exponent.
    pub exponent: f64,
    /// Whether it is of runs with different numbers of operations.
    pub rough: bool,
}

impl Fit {
    /// The exponent, with a mark if it is rough.
    #[must_use]
    pub fn text(&self) -> String {
        format!("{}{:.2}", if self.rough { "~" } else { "" }, self.exponent)
    }
}

/// What one contender needed at each size.
#[derive(Debug)]
pub struct Line<'a> {
    /// Its name.
    pub contender: &'a str,
    /// Its rows with their sizes, in the order of the results.
    pub rows: Vec<(u64, &'a Row)>,
}

impl Line<'_> {
    /// The sizes that were measured, and the nanoseconds an operation took.
    #[must_use]
    pub fn points(&self) -> Vec<(f64, f64)> {
        let measured = |(size, row): &(u64, &Row)| Some((*size as f64, speed(row)?));
        self.rows.iter().filter_map(measured).collect()
    }

    /// The exponent of what an operation took, from rows that may be put into one fit: those that did as many
    /// operations as were asked for at their size; or as many as each other, of several such groups the one with the
    /// most sizes; or, where there is neither, those that took long.
    #[must_use]
    pub fn fit(&self) -> Option<Fit> {
        let of = |holds: &dyn Fn(&Row) -> bool| -> Vec<(f64, f64)> {
            let rows = self.rows.iter().filter(|(_, row)| holds(row));
            let measured = |(size, row): &(u64, &Row)| Some((*size as f64, speed(row)?));
            rows.filter_map(measured).collect()
        };
        let whole = of(&|row| row.note.is_none());
        let mut groups: Vec<u64> = self.rows.iter().map(|(_, row)| row.ops).collect();
        groups.sort_unstable();
        let groups = groups.iter().map(|ops| of(&|row| row.ops == *ops));
        let equal = groups.filter(|points| enough(points)).max_by_key(Vec::len);
        let long = of(&|row| speed(row).is_some_and(|ns| ns * row.ops as f64 / 1e9 >= LONG_S));
        let (points, rough) = match (enough(&whole), equal) {
            (true, _) => (whole, false),
            (false, Some(equal)) => (equal, false),
            (false, None) => (long, true),
        };
        let exponent = exponent(&points).filter(|_| enough(&points))?;
        Some(Fit { exponent, rough })
    }

    /// The bytes that one more takes, from the smallest size measured to the largest.
    #[must_use]
    pub fn bytes_each(&self) -> Option<f64> {
        let measured = self.rows.iter().filter(|(_, row)| speed(row).is_some());
        let peaks: Vec<(u64, u64)> = measured
            .filter_map(|(size, row)| Some((*size, row.peak_rss_bytes?)))
            .collect();
        let (least, most) = (peaks.first()?, peaks.last()?);
        // Below some thousands, the pages of the program itself hide what a few of them take.
        (most.0 >= 10_000 && most.0 > least.0)
            .then(|| (most.1.saturating_sub(least.1)) as f64 / (most.0 - least.0) as f64)
    }
}

/// Whether there are enough sizes, far enough apart, to speak of growth.
fn enough(points: &[(f64, f64)]) -> bool {
    let sizes = || points.iter().map(|(size, _)| *size);
    let (least, most) = (
        sizes().fold(f64::INFINITY, f64::min),
        sizes().fold(0.0, f64::max),
    );
    points.len() >= POINTS_MIN && most >= SPAN_MIN * least
}

/// The lines of results whose rows differ in `option`, in the order of the results.
#[must_use]
pub fn lines<'a>(results: &'a Results, option: &str) -> Vec<Line<'a>> {
    let mut lines: Vec<Line<'a>> = Vec::new();
    for row in &results.results {
        let Some(size) = row.params.get(option).and_then(serde_json::Value::as_u64) else {
            continue;
        };
        match lines
            .iter_mut()
            .find(|line| line.contender == row.contender)
        {
            Some(line) => line.rows.push((size, row)),
            None => lines.push(Line {
                contender: &row.contender,
                rows: vec![(size, row)],
            }),
        }
    }
    lines
}

/// The table as text: nanoseconds per operation, the exponent, bytes for each thread (or whatever there is one more
/// of); the quickest at the largest size first. A cell with `~` is of a run with fewer operations, so that more of the
/// start is in it. Below it stands what is to be said of exponents, and why cells are empty.
#[must_use]
pub fn render(results: &Results, option: &str, one: &str) -> String {
    let mut lines = lines(results, option);
    let mut sizes: Vec<u64> = lines
        .iter()
        .flat_map(|line| line.rows.iter().map(|(size, _)| *size))
        .collect();
    sizes.sort_unstable();
    sizes.dedup();
    lines.sort_by(|a, b| place(a).total_cmp(&place(b)));
    let width = lines
        .iter()
        .map(|line| line.contender.len())
        .max()
        .unwrap_or(0);
    let heading = format!("ns/{one}");
    let width = width.max(heading.len()).max("operations".len());
    let mut text = format!("{heading:<width$}");
    for size in &sizes {
        let _ = write!(text, "{:>11}", thousands(*size));
    }
    let _ = writeln!(text, "{:>10}{:>12}", "exponent", "bytes each");
    let _ = write!(text, "{:<width$}", "operations");
    for size in &sizes {
        let rows = lines.iter().flat_map(|line| &line.rows);
        let ops = rows.filter(|(own, _)| own == size).map(|(_, row)| row.ops);
        let _ = write!(text, "{:>11}", thousands(ops.max().unwrap_or(0)));
    }
    text.push('\n');
    let (mut reasons, mut rough) = (String::new(), false);
    for line in &lines {
        let _ = write!(text, "{:<width$}", line.contender);
        for size in &sizes {
            let row = line
                .rows
                .iter()
                .find(|(own, _)| own == size)
                .map(|(_, row)| row);
            let mark = |row: &Row| if row.note.is_some() { "~" } else { "" };
            let ns = row.and_then(|row| Some(mark(row).to_owned() + &figure(speed(row)?)));
            let _ = write!(text, "{:>11}", ns.as_deref().unwrap_or("-"));
            if let Some(row) = row.filter(|row| speed(row).is_none()) {
                let (name, why) = (line.contender, status_text(row));
                let _ = writeln!(reasons, "{name}, {}: {why}", thousands(*size));
            }
        }
        let fit = line.fit();
        rough |= fit.is_some_and(|fit| fit.rough);
        let fitted = fit.map(|fit| fit.text()).unwrap_or_default();
        let bytes = line.bytes_each().map(|bytes| thousands(bytes as u64));
        let bytes = bytes.unwrap_or_default();
        let _ = writeln!(text, "{fitted:>10}{bytes:>12}");
    }
    text +=
        "\n~ fewer operations than the others at that size, so that more of the start is in them\n";
    if rough {
        let _ = writeln!(text, "~ before an exponent: {ROUGH}");
    }
    text + &reasons
}

/// How far up a line stands: those that got furthest first, of these the quickest.
fn place(line: &Line<'_>) -> f64 {
    let (size, ns) = line.points().last().copied().unwrap_or((0.0, f64::MAX));
    ns - size * 1e9
}

#[cfg(test)]
mod tests;
