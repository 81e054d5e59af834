//! Series: the same contenders under options that differ in one number only, in one file or many.

use std::collections::{BTreeMap, BTreeSet};

use crate::inputs::Source;
use crate::results::Row;
use crate::table::speed;

use super::races::{Setting, setting, show, size_option};

/// Fewer points fit every line.
const POINTS_MIN: usize = 3;
/// Sizes that are closer together say nothing about growth.
const SPAN_MIN: f64 = 4.0;

/// Cost against one option.
#[derive(Debug)]
pub struct Series<'a> {
    /// The workload's name.
    pub workload: &'a str,
    /// The option that differs.
    pub option: String,
    /// The options that do not.
    pub fixed: Setting,
    /// One for each contender with enough points, the cheapest at the largest size first.
    pub lines: Vec<Line<'a>>,
    /// The files it is from.
    pub files: BTreeSet<&'a str>,
}

/// One contender in a series.
#[derive(Debug)]
pub struct Line<'a> {
    /// Its name.
    pub contender: &'a str,
    /// Its category.
    pub category: &'a str,
    /// Size and row, from the smallest on.
    pub points: Vec<(f64, &'a Row)>,
}

/// `cost ~ size^exponent`, by least squares on the logarithms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fit {
    /// The exponent: 0 for a cost that does not depend on the size.
    pub exponent: f64,
    /// How much of the variation of the logarithms the line explains, 0 to 1; 1 where there is none.
    pub r_squared: f64,
}

/// What growth by size makes of these points; `None` of fewer than two sizes.
#[must_use]
pub fn fit(points: &[(f64, f64)]) -> Option<Fit> {
    let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let count = logs.len() as f64;
    let mean_x = logs.iter().map(|(x, _)| x).sum::<f64>() / count;
    let mean_y = logs.iter().map(|(_, y)| y).sum::<f64>() / count;
    let sum = |part: fn(f64, f64) -> f64| -> f64 {
        logs.iter().map(|(x, y)| part(x - mean_x, y - mean_y)).sum()
    };
    let (xx, xy, yy) = (sum(|x, _| x * x), sum(|x, y| x * y), sum(|_, y| y * y));
    (xx > 0.0).then(|| Fit {
        exponent: xy / xx,
        r_squared: if yy > 0.0 { xy * xy / (xx * yy) } else { 1.0 },
    })
}

impl Line<'_> {
    /// Growth of nanoseconds an operation with the size.
    #[must_use]
    pub fn cost(&self) -> Option<Fit> {
        let points: Vec<(f64, f64)> = self
            .points
            .iter()
            .filter_map(|(size, row)| Some((*size, speed(row)?)))
            .collect();
        fit(&points)
    }

    /// Bytes of peak memory for one more, between the smallest size and the largest.
    #[must_use]
    pub fn bytes_each(&self) -> Option<f64> {
        let peak = |(size, row): &(f64, &Row)| Some((*size, row.peak_rss_bytes? as f64));
        let (few, small) = peak(self.points.first()?)?;
        let (many, large) = peak(self.points.last()?)?;
        (many > few).then(|| (large - small) / (many - few))
    }
}

/// All series of a workload.
#[must_use]
pub fn of<'a>(workload: &'a str, sources: &'a [Source]) -> Vec<Series<'a>> {
    let rows: Vec<(&Source, &Row)> = sources
        .iter()
        .flat_map(|source| source.results.results.iter().map(move |row| (source, row)))
        .filter(|(_, row)| row.workload == workload && speed(row).is_some())
        .collect();
    let numeric: BTreeSet<&str> = rows
        .iter()
        .flat_map(|(_, row)| row.params.iter())
        .filter(|(_, value)| value.as_f64().is_some_and(|value| value > 0.0))
        .map(|(name, _)| name.as_str())
        .collect();
    let along = |option: &str| along(workload, option, &rows);
    numeric.into_iter().flat_map(along).collect()
}

/// Rows by their fixed options, then by contender, then by size; of several, the latest.
type Points<'a> = BTreeMap<&'a str, BTreeMap<u64, (&'a Source, &'a Row)>>;

fn along<'a>(workload: &'a str, option: &str, rows: &[(&'a Source, &'a Row)]) -> Vec<Series<'a>> {
    let size = size_option(workload);
    let mut groups: BTreeMap<String, (Setting, Points<'a>)> = BTreeMap::new();
    for (source, row) in rows {
        // A contender that got fewer operations because it is slow is no point of a series.
        let cut = option == size && row.note.is_some();
        let Some(value) = row.params.get(option).and_then(serde_json::Value::as_u64) else {
            continue;
        };
        if cut {
            continue;
        }
        let fixed = setting(row, &[option, size]);
        let (_, points) = groups
            .entry(show(&fixed))
            .or_insert_with(|| (fixed, Points::new()));
        let old = points.entry(&row.contender).or_default();
        let later = |(before, _): &(&Source, &Row)| {
            before.results.machine.date <= source.results.machine.date
        };
        if old.get(&value).is_none_or(later) {
            old.insert(value, (source, row));
        }
    }
    let series = |(fixed, points): (Setting, Points<'a>)| {
        let mut files = BTreeSet::new();
        let mut lines: Vec<Line<'a>> = Vec::new();
        for (contender, points) in points {
            let sizes = || points.keys().map(|size| *size as f64);
            let span = sizes().fold(0.0, f64::max) / sizes().fold(f64::INFINITY, f64::min);
            if points.len() < POINTS_MIN || span < SPAN_MIN {
                continue;
            }
            files.extend(points.values().map(|(source, _)| source.name.as_str()));
            let category = points.values().next().map_or("", |(_, row)| &row.category);
            let points = points.iter().map(|(size, (_, row))| (*size as f64, *row));
            lines.push(Line {
                contender,
                category,
                points: points.collect(),
            });
        }
        let last = |line: &Line<'_>| line.points.last().and_then(|(_, row)| speed(row));
        lines.sort_by(|a, b| {
            last(a)
                .partial_cmp(&last(b))
                .unwrap_or(std::cmp::Ordering::Equal)
        });
        (!lines.is_empty()).then(|| Series {
            workload,
            option: option.to_owned(),
            fixed,
            lines,
            files,
        })
    };
    groups.into_values().filter_map(series).collect()
}

#[cfg(test)]
mod tests;
