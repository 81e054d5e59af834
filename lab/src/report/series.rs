//! Series: the same contenders under options that differ in one number only, in one file or many.

use std::collections::{BTreeMap, BTreeSet};

use crate::inputs::Source;
use crate::results::Row;
use crate::scaling::{Line, POINTS_MIN, SPAN_MIN};
use crate::table::speed;

use super::races::{Setting, setting, show, size_option};

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

/// By contender, by size, the row; of several the latest.
type Points<'a> = BTreeMap<&'a str, BTreeMap<u64, Place<'a>>>;
/// A row and the file it is from.
type Place<'a> = (&'a Source, &'a Row);

fn along<'a>(workload: &'a str, option: &str, rows: &[Place<'a>]) -> Vec<Series<'a>> {
    let size = size_option(workload);
    let mut groups: BTreeMap<String, (Setting, Vec<Place<'a>>)> = BTreeMap::new();
    for place in rows {
        // A contender that got fewer operations because it is slow is no point of a series.
        let cut = option == size && place.1.note.is_some();
        if !cut && value(place.1, option).is_some() {
            let fixed = setting(place.1, &[option, size]);
            let group = groups
                .entry(show(&fixed))
                .or_insert_with(|| (fixed, Vec::new()));
            group.1.push(*place);
        }
    }
    let series = |(fixed, rows): (Setting, Vec<Place<'a>>)| {
        let points = of_few_files(option, &rows);
        let mut files = BTreeSet::new();
        let mut lines: Vec<Line<'a>> = Vec::new();
        for (contender, points) in points.into_iter().filter(|(_, points)| enough(points)) {
            files.extend(points.values().map(|(source, _)| source.name.as_str()));
            let rows = points.into_iter().map(|(size, (_, row))| (size, row));
            lines.push(Line {
                contender,
                rows: rows.collect(),
            });
        }
        let last = |line: &Line<'_>| line.rows.last().and_then(|(_, row)| speed(row));
        let key = |line: &Line<'_>| last(line).unwrap_or(f64::INFINITY);
        lines.sort_by(|a, b| key(a).total_cmp(&key(b)));
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

fn value(row: &Row, option: &str) -> Option<u64> {
    row.params.get(option)?.as_u64()
}

fn points<'a>(option: &str, rows: &[Place<'a>]) -> Points<'a> {
    let mut all = Points::new();
    for (source, row) in rows {
        let Some(size) = value(row, option) else {
            continue;
        };
        let own = all.entry(&row.contender).or_default();
        let date = |place: &Place<'_>| place.0.results.machine.date.clone();
        let later = |before: &Place<'_>| date(before) <= date(&(source, row));
        if own.get(&size).is_none_or(later) {
            own.insert(size, (*source, *row));
        }
    }
    all
}

fn enough(points: &BTreeMap<u64, Place<'_>>) -> bool {
    let (Some(least), Some(most)) = (points.keys().next(), points.keys().last()) else {
        return false;
    };
    points.len() >= POINTS_MIN && *most as f64 >= SPAN_MIN * *least as f64
}

/// For each contender the points of one file that is a series by itself, because one run is better
/// than several: of those the file with the most contenders, then the latest. Otherwise of all files.
fn of_few_files<'a>(option: &str, rows: &[Place<'a>]) -> Points<'a> {
    let mut sources: Vec<&Source> = Vec::new();
    for (source, _) in rows {
        if !sources.iter().any(|known| std::ptr::eq(*known, *source)) {
            sources.push(source);
        }
    }
    let mut files: Vec<(Points<'a>, &str)> = sources
        .into_iter()
        .map(|source| {
            let own = rows.iter().filter(|(of, _)| std::ptr::eq(*of, source));
            let mut points = points(option, &own.copied().collect::<Vec<_>>());
            points.retain(|_, points| enough(points));
            (points, source.results.machine.date.as_str())
        })
        .collect();
    files.sort_by_key(|(points, date)| (points.len(), *date));
    // The best one last, so that it replaces the others.
    let mut all = points(option, rows);
    all.extend(files.into_iter().flat_map(|(points, _)| points));
    all
}
