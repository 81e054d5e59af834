//! Rows that may be compared: one file, one workload, one set of options.
//!
//! The number of operations is no part of the set, because slow contenders get fewer; unless a
//! file has several sizes of one contender, which is a series.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::inputs::Source;
use crate::results::Row;
use crate::table::speed;
use crate::workload::Workload;
use crate::workloads::{WORKLOADS, find};

/// The options of a race with their values, in the workload's order.
pub type Setting = Vec<(String, Value)>;

/// Rows that ran by turns in one run of the lab, with the same options.
#[derive(Debug, Clone)]
pub struct Race<'a> {
    /// The workload's name.
    pub workload: &'a str,
    /// The file.
    pub source: &'a Source,
    /// The options that all rows share.
    pub setting: Setting,
    /// The measured ones from the fastest on, then the others.
    pub rows: Vec<&'a Row>,
}

impl Race<'_> {
    /// The description of the workload, if this lab still has it.
    #[must_use]
    pub fn known(&self) -> Option<&'static Workload> {
        find(self.workload)
    }

    /// What one operation is called, and what many are.
    #[must_use]
    pub fn op(&self) -> [&'static str; 2] {
        self.known()
            .map_or(["operation", "operations"], |known| known.op)
    }

    /// A line that says what was run.
    #[must_use]
    pub fn title(&self) -> String {
        let Some(known) = self.known() else {
            return format!("{}, {}", self.workload, self.options());
        };
        let params = self.rows.first().map(|row| &row.params);
        let values = known.values(|name| params?.get(name).cloned());
        (known.title)(&values)
    }

    /// The options as they are given on the command line, without dashes.
    #[must_use]
    pub fn options(&self) -> String {
        show(&self.setting)
    }

    /// The measured rows, the fastest first.
    pub fn measured(&self) -> impl Iterator<Item = (&Row, f64)> {
        self.rows.iter().filter_map(|row| Some((*row, speed(row)?)))
    }

    /// The nanoseconds an operation that all ratios are to; infinite if nothing was measured.
    #[must_use]
    pub fn fastest(&self) -> f64 {
        self.measured().next().map_or(f64::INFINITY, |(_, ns)| ns)
    }
}

/// Options as text.
#[must_use]
pub fn show(setting: &[(String, Value)]) -> String {
    let one = |(name, value): &(String, Value)| format!("{name} {}", plain(value));
    setting.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// A value without quotes.
#[must_use]
pub fn plain(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// The options of a row but for these, in the workload's order.
#[must_use]
pub fn setting(row: &Row, without: &[&str]) -> Setting {
    let known: Vec<&str> = find(&row.workload)
        .map(|workload| workload.options.iter().map(|option| option.name).collect())
        .unwrap_or_default();
    let place = |name: &str| {
        known
            .iter()
            .position(|own| *own == name)
            .unwrap_or(known.len())
    };
    let mut all: Setting = row
        .params
        .iter()
        .filter(|(name, _)| !without.contains(&name.as_str()))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    all.sort_by_key(|(name, _)| place(name));
    all
}

/// The option that says how many operations there are.
#[must_use]
pub fn size_option(workload: &str) -> &'static str {
    find(workload).map_or("", |workload| workload.size)
}

/// All races, in the order of the workloads, the files and the rows.
#[must_use]
pub fn races(sources: &[Source]) -> Vec<Race<'_>> {
    let mut races: Vec<Race<'_>> = Vec::new();
    for source in sources {
        let several = several_sizes(source);
        for row in &source.results.results {
            let size = size_option(&row.workload);
            let split = several.contains(row.workload.as_str());
            let setting = setting(
                row,
                if split {
                    &[]
                } else {
                    std::slice::from_ref(&size)
                },
            );
            let same = |race: &&mut Race<'_>| {
                std::ptr::eq(race.source, source)
                    && race.workload == row.workload
                    && race.setting == setting
            };
            match races.iter_mut().find(same) {
                Some(race) => race.rows.push(row),
                None => races.push(Race {
                    workload: &row.workload,
                    source,
                    setting,
                    rows: vec![row],
                }),
            }
        }
    }
    for race in &mut races {
        race.rows.sort_by(|a, b| {
            let key = |row: &Row| speed(row).unwrap_or(f64::INFINITY);
            key(a).total_cmp(&key(b))
        });
    }
    races.sort_by_key(|race| rank(race.workload));
    races
}

/// Where a workload stands; those this lab does not know come last.
fn rank(workload: &str) -> (usize, &str) {
    let place = WORKLOADS.iter().position(|known| known.name == workload);
    place.map_or((WORKLOADS.len(), workload), |place| (place, ""))
}

/// The workloads of a file in which one contender has several sizes under the same options.
fn several_sizes(source: &Source) -> BTreeSet<&str> {
    let mut seen: BTreeMap<(&str, &str, String), BTreeSet<u64>> = BTreeMap::new();
    for row in &source.results.results {
        let setting = show(&setting(row, &[size_option(&row.workload)]));
        let key = (row.workload.as_str(), row.contender.as_str(), setting);
        seen.entry(key).or_default().insert(row.ops);
    }
    let several = seen.into_iter().filter(|(_, sizes)| sizes.len() > 1);
    several.map(|((workload, ..), _)| workload).collect()
}
