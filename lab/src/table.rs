//! The table on the terminal.

use std::fmt::Write;

use crate::format::{figure, megabytes, seconds, thousands};
use crate::results::{Results, Row, Status};

/// How many columns there are.
pub const COLUMNS: usize = 14;

/// The headings, for operations of this name (one, many); the rows of the report have the same.
#[must_use]
pub fn headings([one, many]: [&str; 2]) -> [String; COLUMNS] {
    let ns = format!("ns/{one}");
    let slope = format!("slope ns/{one}");
    [
        "contender",
        &ns,
        "ratio",
        &slope,
        "min s",
        "median s",
        "max s",
        "user s",
        "sys s",
        "peak MB",
        "switches",
        many,
        "runs",
        "category",
    ]
    .map(String::from)
}

/// The rows as they are shown: the measured ones from the fastest on, then the others.
#[must_use]
pub fn sorted(results: &Results) -> Vec<&Row> {
    let mut rows: Vec<&Row> = results.results.iter().collect();
    rows.sort_by(|a, b| {
        let key = |row: &Row| speed(row).unwrap_or(f64::INFINITY);
        key(a).total_cmp(&key(b))
    });
    rows
}

/// The nanoseconds of a row that counts: one that went wrong later keeps its runs in the JSON
/// but does not compete.
#[must_use]
pub fn speed(row: &Row) -> Option<f64> {
    row.ns_per_op.filter(|_| row.status == Status::Ok)
}

/// The nanoseconds of a row that counts: of its quickest run, in the middle, of its slowest.
#[must_use]
pub fn speeds(row: &Row) -> Option<[f64; 3]> {
    let (ns, wall) = (speed(row)?, row.wall_s?);
    let [least, most] = [wall.min, wall.max].map(|seconds| seconds * 1e9 / row.ops as f64);
    Some([least, ns, most])
}

/// What stands in a row for a contender that has no figures.
#[must_use]
pub fn status_text(row: &Row) -> String {
    let reason = row.reason.as_deref().unwrap_or("no reason given");
    match row.status {
        Status::Ok => String::new(),
        Status::Skipped => format!("skipped: {reason}"),
        Status::Failed => format!("failed: {reason}"),
        Status::Timeout => format!("timeout: {reason}"),
    }
}

/// The cells of a row under [`headings`]; `None` where it has no figures.
#[must_use]
pub fn cells(row: &Row, fastest: f64) -> Option<[String; COLUMNS]> {
    let (ns, wall) = (speed(row)?, row.wall_s?);
    let optional = |value: Option<f64>| value.map(seconds).unwrap_or_default();
    Some([
        row.contender.clone(),
        figure(ns),
        format!("{} x", figure(ns / fastest)),
        row.slope_ns_per_op.map(figure).unwrap_or_default(),
        seconds(wall.min),
        seconds(wall.median),
        seconds(wall.max),
        optional(row.user_s),
        optional(row.sys_s),
        row.peak_rss_bytes.map(megabytes).unwrap_or_default(),
        row.switches.map(thousands).unwrap_or_default(),
        thousands(row.ops),
        row.runs.to_string(),
        row.category.clone(),
    ])
}

/// The least nanoseconds of all rows, which the ratios are to.
#[must_use]
pub fn fastest(results: &Results) -> f64 {
    results
        .results
        .iter()
        .filter_map(speed)
        .fold(f64::INFINITY, f64::min)
}

/// The whole table as text; `colour` marks rows without figures.
#[must_use]
pub fn render(results: &Results, op: [&str; 2], colour: bool) -> String {
    let headings = headings(op);
    let (rows, fastest) = (sorted(results), fastest(results));
    let figures: Vec<Option<[String; COLUMNS]>> =
        rows.iter().map(|row| cells(row, fastest)).collect();
    let mut widths: [usize; COLUMNS] = headings.each_ref().map(String::len);
    for row in &rows {
        widths[0] = widths[0].max(row.contender.len());
    }
    for cells in figures.iter().flatten() {
        for (width, cell) in widths.iter_mut().zip(cells) {
            *width = (*width).max(cell.len());
        }
    }
    let mut text = String::new();
    push_line(&mut text, &headings, &widths);
    for (row, cells) in rows.iter().zip(&figures) {
        match cells {
            Some(cells) => push_line(&mut text, cells, &widths),
            None => {
                let (on, off) = if colour {
                    ("\u{1b}[33m", "\u{1b}[0m")
                } else {
                    ("", "")
                };
                let line = format!("{:<1$}  {2}", row.contender, widths[0], status_text(row));
                let _ = writeln!(text, "{on}{line}{off}");
            }
        }
    }
    for row in &rows {
        let without = row.no_slope.as_ref();
        let without = without.map(|why| format!("has no slope: {why}"));
        for said in row
            .left_text()
            .into_iter()
            .chain(row.cut_text())
            .chain(without)
        {
            let _ = writeln!(text, "\n{} {said}", row.contender);
        }
    }
    text
}

fn push_line(text: &mut String, cells: &[String; COLUMNS], widths: &[usize; COLUMNS]) {
    let _ = write!(text, "{:<1$}", cells[0], widths[0]);
    for (cell, width) in cells.iter().zip(widths).skip(1) {
        let _ = write!(text, "  {cell:>width$}");
    }
    text.push('\n');
}

#[cfg(test)]
mod tests;
