//! Cost and memory against size: two charts, and a table of exponents.

use std::collections::BTreeSet;

use crate::format::{figure, thousands};
use crate::results::Row;
use crate::scaling::{Fit, Line, ROUGH};
use crate::table::{speed, speeds};

use super::chart::lines::{Line as Drawn, chart};
use super::markup::{Element, el, text};
use super::races::show;
use super::series::Series;
use super::{class_of, figure_of, name_of, scrolling};

/// The part of a workload's section for one series; operations are called `one`, and `many`.
#[must_use]
pub fn growth(series: &Series<'_>, [one, many]: [&str; 2]) -> Element {
    let option = &series.option;
    let charts = [
        figure_of(
            &format!(
                "nanoseconds per {one} against {option}, both logarithmic; \
                 median, and from the least to the most of all runs"
            ),
            chart(
                &lines(series, speeds),
                option,
                &format!("nanoseconds per {one} against {option}"),
            ),
        ),
        figure_of(
            &format!("peak memory in bytes against {option}, both logarithmic"),
            chart(
                &lines(series, |row| {
                    row.peak_rss_bytes.map(|bytes| [bytes as f64; 3])
                }),
                option,
                &format!("peak memory against {option}"),
            ),
        ),
    ];
    let mut title = format!("Against {option}");
    if !series.fixed.is_empty() {
        title = format!("{title}, with {}", show(&series.fixed));
    }
    let section = el("section")
        .class("growth")
        .child(text("h3", title))
        .child(text("p", files(series)).class("meta"));
    let charts = el("div")
        .class("charts")
        .children(charts.into_iter().flatten());
    section
        .child(charts)
        .child(scrolling(table(series, [one, many])))
        .child(text("p", explain(option, [one, many])).class("note"))
}

/// What is shown of each line's rows, where that is more than a point.
fn lines<'a>(series: &Series<'a>, pick: fn(&Row) -> Option<[f64; 3]>) -> Vec<Drawn<'a>> {
    let line = |line: &Line<'a>| {
        let points = line.rows.iter();
        let points: Vec<_> = points
            .filter_map(|(size, row)| Some((*size as f64, pick(row)?)))
            .collect();
        (points.len() > 1).then(|| Drawn {
            contender: line.contender,
            category: category_of(line),
            points,
        })
    };
    series.lines.iter().filter_map(line).collect()
}

/// The options' values of a series, from the least on.
fn sizes(series: &Series<'_>) -> BTreeSet<u64> {
    let rows = series.lines.iter().flat_map(|line| &line.rows);
    rows.map(|(size, _)| *size).collect()
}

/// One line a contender: what an operation took at each size, then what is made of that.
fn table(series: &Series<'_>, [one, many]: [&str; 2]) -> Element {
    let sizes = sizes(series);
    let rows = series.lines.iter().map(|line| {
        let at = |size: &u64| {
            let found = line.rows.iter().find(|(own, _)| own == size);
            found.map_or_else(|| el("td"), |(_, row)| cost(row))
        };
        let bytes = line.bytes_each().map(figure).unwrap_or_default();
        el("tr")
            .class(class_of(line.contender))
            .with("data-contender", line.contender)
            .with("data-category", category_of(line))
            .child(name_of(line.contender))
            .children(sizes.iter().map(at))
            .child(fitted(line.fit()))
            .child(text("td", bytes))
    });
    let heads = sizes.iter().map(|size| {
        let below = text("small", operations(series, *size, many));
        text("th", thousands(*size)).child(el("br")).child(below)
    });
    let made = [
        format!("exponent of ns/{one}"),
        format!("bytes a {}", each(&series.option)),
    ];
    let head = el("tr")
        .child(text("th", format!("ns/{one}")))
        .children(heads)
        .children(made.map(|heading| text("th", heading)));
    el("table")
        .child(el("thead").child(head))
        .child(el("tbody").children(rows))
}

/// An exponent; one that is rough is marked, and says why.
fn fitted(fit: Option<Fit>) -> Element {
    match fit {
        None => el("td"),
        Some(fit) if fit.rough => text("td", fit.text()).with("title", ROUGH),
        Some(fit) => text("td", fit.text()),
    }
}

/// What one more of an option is called.
fn each(option: &str) -> &str {
    option.strip_suffix('s').unwrap_or(option)
}

/// A row with fewer operations than the others of its size is marked.
fn cost(row: &Row) -> Element {
    let ns = speed(row).map(figure).unwrap_or_default();
    match &row.note {
        None => text("td", ns),
        Some(note) => text("td", format!("~{ns}")).with("title", note.as_str()),
    }
}

/// How many operations the rows of a size did, but for those that are marked.
fn operations(series: &Series<'_>, size: u64, many: &str) -> String {
    let rows = || {
        let all = series.lines.iter().flat_map(|line| &line.rows);
        all.filter(move |(own, _)| *own == size).map(|(_, row)| row)
    };
    let mut ops: Vec<u64> = rows()
        .filter(|row| row.note.is_none())
        .map(|row| row.ops)
        .collect();
    if ops.is_empty() {
        ops = rows().map(|row| row.ops).collect();
    }
    match (ops.iter().min(), ops.iter().max()) {
        (Some(least), Some(most)) if least == most => format!("{} {many}", thousands(*most)),
        (Some(least), Some(most)) => {
            format!("{} to {} {many}", thousands(*least), thousands(*most))
        }
        _ => String::new(),
    }
}

/// The category of a line's contender.
fn category_of<'a>(line: &Line<'a>) -> &'a str {
    line.rows.first().map_or("", |(_, row)| &row.category)
}

fn files(series: &Series<'_>) -> String {
    let names: Vec<&str> = series.files.iter().copied().collect();
    let names = names.join(", ");
    match series.files.len() {
        1 => names,
        count => format!(
            "{names}: {count} runs of the lab, so what drifted between them is in the lines"
        ),
    }
}

fn explain(option: &str, [one, many]: [&str; 2]) -> String {
    let each = each(option);
    format!(
        "Above each column stands how many {many} its rows did; one with ~ did fewer, so that more of its start is in each {one}. \
         The exponent a is that of time per operation ~ {option}^a, by least squares on the logarithms: \
         0 does not grow, 1 grows in proportion. \
         It is of the rows without ~ (all of which did as many at a size) or, where fewer than three that span a factor of four are left, of those that did as many {many} as each other; \
         with a ~ itself: {ROUGH}. \
         Bytes a {each} are the difference of peak memory between the largest size and the smallest, over the difference of the sizes, \
         given from 10,000 on because below that the program's own pages hide it. \
         Starting and ending the process is in all of it, and weighs more where there are fewer {many}. \
         Why a contender has fewer sizes stands in the tables of the sizes, below."
    )
}
