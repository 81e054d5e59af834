//! Which races stand for their workloads: the columns of the overview, and the rows of the opening.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::inputs::Source;
use crate::workloads::is_about_time;

use super::past::is_usual;
use super::races::{Race, Setting, show, size_option};
use super::series::{self, Series};

/// One column: a race, and its place among all.
pub type Column<'a> = (usize, &'a Race<'a>);

/// The columns in which time per operation counts.
#[must_use]
pub fn compared<'a>(races: &'a [Race<'a>], sources: &[Source]) -> Vec<Column<'a>> {
    let mut columns = columns(races, sources);
    columns.retain(|(_, race)| is_about_time(race.workload));
    columns
}

/// The races that get a column: of a series, and of files with the same options, the one with the
/// usual options, then the most contenders, then the latest; and others only if they have contenders that it does not have.
fn columns<'a>(races: &'a [Race<'a>], sources: &[Source]) -> Vec<Column<'a>> {
    let names: BTreeSet<&str> = races.iter().map(|race| race.workload).collect();
    let all: BTreeMap<&str, Vec<Series<'_>>> = names
        .into_iter()
        .map(|name| (name, series::of(name, sources)))
        .collect();
    let mut alike: BTreeMap<(&str, String), Vec<Column<'a>>> = BTreeMap::new();
    for (index, race) in races.iter().enumerate() {
        let key = (race.workload, same_column(race, &all[race.workload]));
        alike.entry(key).or_default().push((index, race));
    }
    let mut columns: Vec<Column<'a>> = Vec::new();
    for mut same in alike.into_values() {
        same.sort_by_key(|(_, race)| {
            let date = race.source.results.machine.date.clone();
            Reverse((is_usual(race), race.measured().count(), date))
        });
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        for (index, race) in same {
            let before = seen.len();
            seen.extend(race.rows.iter().map(|row| row.contender.as_str()));
            if seen.len() > before {
                columns.push((index, race));
            }
        }
    }
    columns.sort_by_key(|(index, _)| *index);
    columns
}

/// Which races are only one more point of a series: the overview has no column for them.
#[must_use]
pub fn points(races: &[Race<'_>], sources: &[Source]) -> BTreeSet<usize> {
    let shown: BTreeSet<usize> = columns(races, sources)
        .into_iter()
        .map(|(index, _)| index)
        .collect();
    (0..races.len())
        .filter(|index| !shown.contains(index))
        .collect()
}

/// What races have in common that get one column together.
fn same_column(race: &Race<'_>, all: &[Series<'_>]) -> String {
    let size = size_option(race.workload);
    let without = |option: &str| -> Setting {
        let rest = race.setting.iter();
        let rest = rest.filter(|(name, _)| name != option && name != size);
        rest.cloned().collect()
    };
    // One that differs in the number of operations as well stands with those of the other series.
    let (by_size, others): (Vec<_>, Vec<_>) = all.iter().partition(|series| series.option == size);
    let of = others
        .into_iter()
        .chain(by_size)
        .find(|series| without(&series.option) == series.fixed);
    of.map_or_else(
        || race.options(),
        |series| format!("{} by {}", show(&series.fixed), series.option),
    )
}
