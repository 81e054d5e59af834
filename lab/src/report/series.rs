//! Series: the same contenders under options that differ in one number only, in one file or many.

use std::collections::{BTreeMap, BTreeSet};

use crate::inputs::Source;
use crate::results::Row;
use crate::scaling::Line;
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
            let rows = points.iter().map(|(size, (_, row))| (*size, *row));
            lines.push(Line {
                contender,
                rows: rows.collect(),
            });
        }
        let last = |line: &Line<'_>| line.rows.last().and_then(|(_, row)| speed(row));
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
