//! Messages a second, as the seed of 2012 prints them: a column of comparison in which somebody has 100 %, and three
//! lines.

use std::fmt::Write;

use crate::format::{figure, thousands};
use crate::results::{Results, Row};
use crate::table::speed;

/// Whether a workload's messages a second are of interest.
#[must_use]
pub fn has(workload: &str) -> bool {
    matches!(workload, "msgsend" | "message-ring")
}

/// The contenders with figures and their messages a second, the quickest first, and who has the 100 %: `against`, or
/// the quickest that is not ours, as it was in the seed.
struct Rates<'a> {
    rows: Vec<(&'a Row, f64)>,
    base: Option<(&'a str, f64)>,
}

fn of<'a>(rows: impl IntoIterator<Item = &'a Row>, against: Option<&str>) -> Rates<'a> {
    let mut rows: Vec<(&Row, f64)> = rows
        .into_iter()
        .filter_map(|row| Some((row, 1e9 / speed(row)?)))
        .collect();
    rows.sort_by(|a, b| b.1.total_cmp(&a.1));
    let is_base = |row: &Row| match against {
        Some(name) => row.contender == name,
        None => !row.contender.starts_with("gossamer/"),
    };
    let base = rows.iter().find(|(row, _)| is_base(row));
    let base = base.or(rows.first().filter(|_| against.is_none()));
    let base = base.map(|(row, rate)| (row.contender.as_str(), *rate));
    Rates { rows, base }
}

/// The headings of [`compared`].
pub const HEADINGS: [&str; 3] = ["contender", "Messages per second", "Comparison"];

/// The rows of the comparison, each with its last two cells.
#[must_use]
pub fn compared<'a>(
    rows: impl IntoIterator<Item = &'a Row>,
    against: Option<&str>,
) -> Vec<(&'a Row, [String; 2])> {
    let Rates { rows, base } = of(rows, against);
    let share = |rate: f64| base.map(|(_, base)| format!("{:.1}%", 100.0 * rate / base));
    let cells = |(row, rate): (&'a Row, f64)| {
        let share = share(rate).unwrap_or_else(|| "–".into());
        (row, [thousands(rate.round() as u64), share])
    };
    rows.into_iter().map(cells).collect()
}

/// What stands below the table of times; empty for a workload without rates. `against` has the 100 %.
#[must_use]
pub fn render(workload: &str, results: &Results, against: Option<&str>) -> String {
    let rows = || {
        results
            .results
            .iter()
            .filter(|row| row.workload == workload)
    };
    let rates = of(rows(), against);
    let text = match workload {
        _ if rates.rows.is_empty() => return String::new(),
        "msgsend" => comparison(&compared(rows(), against)),
        "message-ring" => lines(&rates),
        _ => return String::new(),
    };
    match (rates.base, against) {
        (None, Some(name)) => text + &format!("{name} has no figure to compare with\n"),
        _ => text,
    }
}

fn comparison(rows: &[(&Row, [String; 2])]) -> String {
    let [name, rate, share] = HEADINGS;
    let names = rows.iter().map(|(row, _)| row.contender.len());
    let width = names.max().unwrap_or(0).max(name.len());
    let mut text = format!("\n{name:<width$}  {rate}  {share}\n");
    for (row, [rate, share]) in rows {
        let _ = writeln!(text, "{:<width$}  {rate:>19}  {share:>10}", row.contender);
    }
    text
}

fn lines(Rates { rows, base }: &Rates<'_>) -> String {
    let mut text = String::new();
    for (row, rate) in rows {
        let (sent, seconds) = (row.ops, general(row.ops as f64 / rate));
        let _ = write!(
            text,
            "\n{}\nSent {sent} messages in {seconds} seconds\n  {} messages / second\n  {} µs / message\n",
            row.contender,
            general(*rate),
            general(1e6 / rate)
        );
        if let Some((name, base)) = base.filter(|(name, _)| *name != row.contender) {
            let _ = writeln!(
                text,
                "  {} times the messages of {name}",
                figure(rate / base)
            );
        }
    }
    text
}

/// Six significant digits, as C's `%g` has them.
fn general(value: f64) -> String {
    const DIGITS: i32 = 6;
    let scientific = format!("{value:.5e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trimmed = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if (-4..DIGITS).contains(&exponent) {
        let places = (DIGITS - 1 - exponent) as usize;
        return trimmed(&format!("{value:.places$}"));
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", trimmed(digits), exponent.abs())
}

#[cfg(test)]
mod tests;
