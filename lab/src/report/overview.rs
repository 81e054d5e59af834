//! The overview: contenders against workloads as ratios to the fastest, and geometric means.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::format::figure;
use crate::inputs::Source;
use crate::results::{Row, Status};
use crate::table::{speed, status_text};

use super::markup::{Element, el, text};
use super::means::{Mean, geometric};
use super::past::is_usual;
use super::races::{Race, Setting, show, size_option};
use super::series::{self, Series};
use super::{class_of, name_of, scrolling};

/// One column: a race, and its place among all.
type Column<'a> = (usize, &'a Race<'a>);

/// What these measure is not time per operation: idle workers, lateness, and the lab itself.
const NO_RACES: [&str; 3] = ["workers", "hostage", "process"];

/// The table with what it means; `None` without races.
#[must_use]
pub fn overview(races: &[Race<'_>], sources: &[Source]) -> Option<Element> {
    let mut columns = columns(races, sources);
    columns.retain(|(_, race)| !NO_RACES.contains(&race.workload));
    let lines = lines(&columns);
    let reference = reference(&lines)?;
    let categories = lines.iter().any(|line| !line.category.is_empty());
    let against = format!("against {}", reference.contender);
    let mut head = el("tr").child(text("th", "contender"));
    if categories {
        head = head.child(text("th", "category").class("word category"));
    }
    for (id, explained) in [("named", against.as_str()), ("fastest", "to the fastest")] {
        let small = text("small", explained).with("id", id);
        head = head.child(text("th", "mean").child(el("br")).child(small));
    }
    for (index, race) in &columns {
        let link = text("a", race.workload).with("href", format!("#race-{index}"));
        let same = |other: &&Column<'_>| {
            other.1.workload == race.workload && other.1.setting == race.setting
        };
        let mut below = race.options();
        if columns.iter().filter(same).count() > 1 {
            below = format!("{below}; {}", race.source.name);
        }
        head = head.child(
            el("th")
                .child(link)
                .child(el("br"))
                .child(text("small", below)),
        );
    }
    let mut sorted: Vec<(Option<Mean>, &Line<'_>)> = lines
        .iter()
        .map(|line| (line.against(reference), line))
        .collect();
    let key = |mean: &Option<Mean>| mean.map_or(f64::INFINITY, |mean| mean.mean);
    sorted.sort_by(|(a, _), (b, _)| key(a).total_cmp(&key(b)));
    let body = sorted
        .iter()
        .map(|(mean, line)| line.row(mean.as_ref(), categories));
    let table = el("table")
        .class("overview")
        .with("data-against", reference.contender)
        .child(el("thead").child(head))
        .child(el("tbody").children(body))
        .child(foot(&lines, columns.len(), categories));
    let section = el("section")
        .with("id", "overview")
        .child(text("h2", "Overview"));
    Some(
        section
            .child(scrolling(table))
            .child(explain(reference, columns.len())),
    )
}

/// One contender over all columns.
struct Line<'a> {
    contender: &'a str,
    category: &'a str,
    rows: Vec<Option<&'a Row>>,
    ratios: Vec<Option<f64>>,
}

impl Line<'_> {
    /// The mean of ratios to another contender, where both were measured.
    fn against(&self, other: &Line<'_>) -> Option<Mean> {
        let both = self.ratios.iter().zip(&other.ratios);
        let ratios: Vec<f64> = both
            .filter_map(|(own, other)| Some((*own)? / (*other)?))
            .collect();
        geometric(&ratios)
    }

    fn row(&self, against: Option<&Mean>, category: bool) -> Element {
        let cells = self
            .ratios
            .iter()
            .zip(&self.rows)
            .map(|(ratio, row)| match (ratio, row) {
                (Some(ratio), _) => {
                    let cell = text("td", figure(*ratio));
                    if *ratio <= 1.0 {
                        cell.class("best")
                    } else {
                        cell
                    }
                }
                (None, Some(row)) => text("td", word(row.status))
                    .class("why")
                    .with("title", status_text(row)),
                (None, None) => el("td"),
            });
        // The page's script makes means against others of them.
        let plain = |ratio: &Option<f64>| ratio.map_or_else(|| "-".to_owned(), |r| r.to_string());
        let ratios: Vec<String> = self.ratios.iter().map(plain).collect();
        let own: Vec<f64> = self.ratios.iter().copied().flatten().collect();
        el("tr")
            .class(class_of(self.contender))
            .with("data-contender", self.contender)
            .with("data-category", self.category)
            .with("data-ratios", ratios.join(" "))
            .child(name_of(self.contender))
            .children(category.then(|| text("td", self.category).class("word category")))
            .child(mean_cell(against, "mean against"))
            .child(mean_cell(geometric(&own).as_ref(), "mean"))
            .children(cells)
    }
}

fn word(status: Status) -> &'static str {
    match status {
        Status::Ok => "",
        Status::Skipped => "skipped",
        Status::Failed => "failed",
        Status::Timeout => "timeout",
    }
}

fn mean_cell(mean: Option<&Mean>, class: &str) -> Element {
    let Some(mean) = mean else {
        return el("td").class(class);
    };
    let spread = match mean.count {
        1 => " of 1".to_owned(),
        count => format!(" ×÷ {} of {count}", figure(mean.deviation)),
    };
    let range = format!("from {} to {}", figure(mean.min), figure(mean.max));
    text("td", figure(mean.mean))
        .class(class)
        .with("title", range)
        .child(text("small", spread))
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

fn lines<'a>(columns: &[Column<'a>]) -> Vec<Line<'a>> {
    let mut lines: Vec<Line<'a>> = Vec::new();
    for (place, (_, race)) in columns.iter().enumerate() {
        let fastest = race.fastest();
        for row in &race.rows {
            let at = lines
                .iter()
                .position(|line| line.contender == row.contender);
            let at = at.unwrap_or_else(|| {
                lines.push(Line {
                    contender: &row.contender,
                    category: &row.category,
                    rows: vec![None; columns.len()],
                    ratios: vec![None; columns.len()],
                });
                lines.len() - 1
            });
            lines[at].rows[place] = Some(row);
            lines[at].ratios[place] = speed(row).map(|ns| ns / fastest);
        }
    }
    lines
}

/// What the last column is against: of ours, or of all if there is none of ours, who was measured
/// most often.
fn reference<'b, 'a>(lines: &'b [Line<'a>]) -> Option<&'b Line<'a>> {
    let measured = |line: &&Line<'_>| line.ratios.iter().flatten().count();
    let ours = |line: &&Line<'_>| class_of(line.contender) == "ours";
    let most = |lines: Vec<&'b Line<'a>>| lines.into_iter().rev().max_by_key(|line| measured(line));
    let found = most(
        lines
            .iter()
            .filter(|line| ours(line) && measured(line) > 0)
            .collect(),
    );
    found.or_else(|| most(lines.iter().collect()))
}

/// Under each column the mean of its ratios, their spread, and how many rows it is over.
fn foot(lines: &[Line<'_>], columns: usize, category: bool) -> Element {
    let means: Vec<Option<Mean>> = (0..columns)
        .map(|place| {
            let ratios: Vec<f64> = lines.iter().filter_map(|line| line.ratios[place]).collect();
            geometric(&ratios)
        })
        .collect();
    let row = |title: &str, show: &dyn Fn(&Mean) -> String| {
        let cells = means
            .iter()
            .map(|mean| text("td", mean.as_ref().map_or_else(String::new, show)));
        let before = category.then(|| el("td").class("category"));
        let means_above = el("td").with("colspan", 2);
        el("tr")
            .child(text("th", title))
            .children(before)
            .child(means_above)
            .children(cells)
    };
    el("tfoot")
        .child(row("geometric mean", &|mean| figure(mean.mean)))
        .child(row("geometric deviation ×÷", &|mean| {
            figure(mean.deviation)
        }))
        .child(row("most", &|mean| figure(mean.max)))
        .child(row("rows", &|mean| mean.count.to_string()))
}

fn explain(reference: &Line<'_>, columns: usize) -> Element {
    let text = format!(
        "Each figure is a ratio of times per operation to the fastest contender of the same run; 1.00 is the fastest. \
         There are {columns} workloads or settings of them. \
         The mean to the fastest is the geometric mean over the columns that the contender has: contenders with other columns are not comparable by it. \
         The mean against {} (or another, to be chosen above) is over the columns that both have, and says how many; above 1 is slower. \
         ×÷ is the geometric standard deviation: two thirds of the ratios are about between the mean divided and multiplied by it. \
         The means below are over the rows of their column. \
         The workloads workers and process are not in it, because what counts in them is not time per operation. \
         Filters hide rows; no ratio changes by them.",
        reference.contender
    );
    el("p").class("note").text(text)
}
