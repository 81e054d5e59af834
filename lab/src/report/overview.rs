//! The overview: contenders against workloads as ratios to the fastest, and geometric means.

use std::cmp::Reverse;

use crate::format::figure;
use crate::results::{Row, Status};
use crate::table::{speed, status_text};

use super::columns::Column;
use super::markup::{Element, el, text};
use super::means::{Mean, geometric};
use super::{class_of, folded, name_of, scrolling};

/// The table with what it means; `None` without columns.
#[must_use]
pub fn overview(columns: &[Column<'_>]) -> Option<Element> {
    let (lines, unmeasured): (Vec<_>, Vec<_>) = lines(columns)
        .into_iter()
        .partition(|line| line.ratios.iter().any(Option::is_some));
    let reference = reference(&lines)?;
    let same = same(&lines, columns.len());
    let categories = lines.iter().any(|line| !line.category.is_empty());
    let mut sorted: Vec<(Option<Mean>, &Line<'_>)> =
        lines.iter().map(|line| (line.over(&same), line)).collect();
    let key = |mean: &Option<Mean>| mean.map_or(f64::INFINITY, |mean| mean.mean);
    sorted.sort_by(|(a, one), (b, other)| {
        key(a)
            .total_cmp(&key(b))
            .then(one.contender.cmp(other.contender))
    });
    let body = sorted
        .iter()
        .map(|(mean, line)| line.row(mean.as_ref(), reference, categories));
    let table = el("table")
        .class("overview")
        .with("data-against", reference.contender)
        .child(el("thead").child(head(columns, &same, reference, categories)))
        .child(el("tbody").children(body))
        .child(foot(&lines, columns.len(), categories));
    let names: Vec<&str> = unmeasured.iter().map(|line| line.contender).collect();
    let none = (!names.is_empty()).then(|| format!("Not measured: {}.", names.join(", ")));
    let section = el("section")
        .with("id", "overview")
        .child(text("h2", "Overview"))
        .child(scrolling(table))
        .children(none.map(|none| folded("p", &none)));
    Some(section.child(explain(reference, columns.len(), same.len())))
}

/// The columns of the mean that all are put in order by: those for which the number of columns by
/// that of the contenders that have all of them is the most, the columns with most contenders first.
/// Who has a single column needs no mean, and counts only where nobody has more.
fn same(lines: &[Line<'_>], columns: usize) -> Vec<usize> {
    let having = |places: &[usize]| {
        let all = |line: &&Line<'_>| places.iter().all(|place| line.ratios[*place].is_some());
        let several = |line: &&Line<'_>| line.ratios.iter().flatten().count() > 1;
        let having = lines.iter().filter(all);
        [having.clone().filter(several).count(), having.count()]
    };
    let mut places: Vec<usize> = (0..columns).collect();
    places.sort_by_key(|place| Reverse(having(&[*place])));
    let worth = |count: &usize| having(&places[..*count]).map(|having| count * having);
    let count = (1..=columns).max_by_key(worth).unwrap_or(0);
    places.truncate(count);
    places
}

fn head(columns: &[Column<'_>], same: &[usize], reference: &Line<'_>, categories: bool) -> Element {
    let mut head = el("tr").child(text("th", "contender"));
    if categories {
        head = head.child(text("th", "category").class("word category"));
    }
    let over = match same.len() {
        1 => "over the column with •".to_owned(),
        count => format!("over the {count} columns with •"),
    };
    let against = format!("against {}", reference.contender);
    for (id, explained) in [("same", &over), ("named", &against)] {
        let small = text("small", explained).with("id", id);
        head = head.child(text("th", "mean").child(el("br")).child(small));
    }
    for (place, (index, race)) in columns.iter().enumerate() {
        let mark = if same.contains(&place) { " •" } else { "" };
        let link = text("a", race.workload).with("href", format!("#race-{index}"));
        let alike = |other: &&Column<'_>| {
            other.1.workload == race.workload && other.1.setting == race.setting
        };
        let mut below = race.options();
        if columns.iter().filter(alike).count() > 1 {
            below = format!("{below}; {}", race.source.name);
        }
        let cell = el("th").child(link).text(mark).child(el("br"));
        head = head.child(cell.child(text("small", below)));
    }
    head
}

/// One contender over all columns.
struct Line<'a> {
    contender: &'a str,
    category: &'a str,
    rows: Vec<Option<&'a Row>>,
    ratios: Vec<Option<f64>>,
}

impl Line<'_> {
    /// The mean of the ratios to the fastest over these columns, if it has all of them.
    fn over(&self, places: &[usize]) -> Option<Mean> {
        let ratios: Option<Vec<f64>> = places.iter().map(|place| self.ratios[*place]).collect();
        geometric(&ratios?)
    }

    /// The mean of ratios to another contender, where both were measured.
    fn against(&self, other: &Line<'_>) -> Option<Mean> {
        let both = self.ratios.iter().zip(&other.ratios);
        let ratios: Vec<f64> = both
            .filter_map(|(own, other)| Some((*own)? / (*other)?))
            .collect();
        geometric(&ratios)
    }

    fn row(&self, same: Option<&Mean>, reference: &Line<'_>, category: bool) -> Element {
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
        el("tr")
            .class(class_of(self.contender))
            .with("data-contender", self.contender)
            .with("data-category", self.category)
            .with("data-ratios", ratios.join(" "))
            .child(name_of(self.contender))
            .children(category.then(|| text("td", self.category).class("word category")))
            .child(mean_cell(same, "mean"))
            .child(mean_cell(self.against(reference).as_ref(), "mean against"))
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

/// Whom the second mean is against: of ours, or of all if there is none of ours, who was measured
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

fn explain(reference: &Line<'_>, columns: usize, same: usize) -> Element {
    let text = format!(
        "Each figure is a ratio of times per operation to the fastest contender of the same run; 1.00 is the fastest. \
         There are {columns} workloads or settings of them. \
         The first mean, by which the rows are in order, is the geometric mean over the same {same} for all, which have a •; \
         below stand, by name, those that have not all of these. \
         The mean against {} (or another, to be chosen above) is over the columns that both have, and says how many; above 1 is slower. \
         ×÷ is the geometric standard deviation: two thirds of the ratios are about between the mean divided and multiplied by it. \
         The means below are over the rows of their column. \
         The workloads workers, hostage, crowd, bfs and process are not in it, because what counts in them is not time per operation. \
         Filters hide rows; no ratio changes by them.",
        reference.contender
    );
    el("p").class("note").text(text)
}
