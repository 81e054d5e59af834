//! Cost and memory against size: two charts, and a table of exponents.

use crate::format::figure;
use crate::scaling::{Line, exponent};
use crate::table::speed;

use super::markup::{Element, el, text};
use super::races::show;
use super::series::Series;
use super::{class_of, figure_of, lines, name_of, scrolling};

/// The part of a workload's section for one series; operations are called `one`.
#[must_use]
pub fn growth(series: &Series<'_>, one: &str) -> Element {
    let option = &series.option;
    let each = option.strip_suffix('s').unwrap_or(option);
    let charts = [
        figure_of(
            &format!("nanoseconds per {one} against {option}, both logarithmic"),
            lines::chart(
                series,
                speed,
                &format!("nanoseconds per {one} against {option}"),
            ),
        ),
        figure_of(
            &format!("peak memory in bytes against {option}, both logarithmic"),
            lines::chart(
                series,
                |row| row.peak_rss_bytes.map(|bytes| bytes as f64),
                &format!("peak memory against {option}"),
            ),
        ),
    ];
    let rows = series.lines.iter().map(|line| {
        let (fitted, bytes) = (exponent(&line.points()), line.bytes_each());
        let ends = [line.rows.first(), line.rows.last()].into_iter().flatten();
        let sizes: Vec<String> = ends
            .map(|(size, _)| super::axis::short(*size as f64))
            .collect();
        let cells = [
            format!("{} ({})", line.rows.len(), sizes.join(" to ")),
            fitted.map_or_else(String::new, |exponent| format!("{exponent:.2}")),
            bytes.map_or_else(String::new, figure),
        ];
        el("tr")
            .class(class_of(line.contender))
            .with("data-contender", line.contender)
            .with("data-category", category_of(line))
            .child(name_of(line.contender))
            .children(cells.into_iter().map(|cell| text("td", cell)))
    });
    let headings = [
        "contender".to_owned(),
        "sizes".to_owned(),
        format!("exponent of ns/{one}"),
        format!("bytes a {each}"),
    ];
    let head = el("tr").children(headings.map(|heading| text("th", heading)));
    let table = el("table")
        .child(el("thead").child(head))
        .child(el("tbody").children(rows));
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
        .child(scrolling(table))
        .child(text("p", explain(option, each)).class("note"))
}

/// The category of a line's contender.
#[must_use]
pub fn category_of<'a>(line: &Line<'a>) -> &'a str {
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

fn explain(option: &str, each: &str) -> String {
    format!(
        "The exponent a is that of time per operation ~ {option}^a, by least squares on the logarithms: \
         0 does not grow, 1 grows in proportion. \
         Bytes a {each} are the difference of peak memory between the largest size and the smallest, over the difference of the sizes, \
         given from 10,000 on because below that the program's own pages hide it. \
         Starting and ending the process is in all of it. \
         Why a contender has fewer sizes stands in the tables of the sizes, below."
    )
}
