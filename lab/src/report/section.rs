//! One race: charts, warnings, table, collectors, commands and every single run.

use std::collections::BTreeMap;

use crate::figures;
use crate::format::{figure, megabytes};
use crate::rates;
use crate::results::{Row, Status};
use crate::table::{COLUMNS, cells, headings, speeds, status_text};
use crate::workloads::find;

use super::chart::NARROW_PX;
use super::chart::bars::{Bar, chart};
use super::markup::{Element, el, text};
use super::races::{Race, plain};
use super::{class_of, figure_of, list, name_of, scrolling, warnings};

/// The section; folded, if what counts in it is elsewhere.
#[must_use]
pub fn section(index: usize, race: &Race<'_>, folded: bool) -> Element {
    let machine = &race.source.results.machine;
    let meta = format!("{}; {}; {}", race.source.name, machine.date, race.options());
    let [one, many] = race.op();
    let charts = [
        figure_of(
            &format!(
                "nanoseconds per {one}, logarithmic; median, and from the least to the most of all runs"
            ),
            chart(
                &costs(race),
                None,
                NARROW_PX,
                &format!("nanoseconds per {one}"),
            ),
        ),
        figure_of(
            "peak memory in megabytes, logarithmic",
            chart(&memory(race), None, NARROW_PX, "peak memory in megabytes"),
        ),
    ];
    let (name, title) = if folded {
        (
            "details",
            text(
                "summary",
                format!("{} ({})", race.title(), race.source.name),
            ),
        )
    } else {
        ("section", text("h3", race.title()))
    };
    let mut section = el(name)
        .class("race")
        .with("id", format!("race-{index}"))
        .child(title)
        .child(text("p", meta).class("meta"));
    let charts = el("div")
        .class("charts")
        .children(charts.into_iter().flatten());
    section = section
        .child(charts)
        .children(list("warnings", &warnings::of_rows(&race.rows)))
        .child(scrolling(table(race)))
        .children(skipped(race));
    if race.rows.iter().any(|row| row.note.is_some()) {
        let fewer = format!(
            "A row with fewer {many} than the others has more of its start and end in each."
        );
        section = section.child(text("p", fewer).class("note"));
    }
    section
        .children(figures_of(race))
        .children(rates_of(race))
        .children(collectors(race))
        .child(commands(race))
}

pub(super) fn costs<'a>(race: &'a Race<'_>) -> Vec<Bar<'a>> {
    let bar = |(row, ns): (&'a Row, f64)| Bar {
        name: row.contender.clone(),
        contender: &row.contender,
        category: Some(&row.category),
        value: ns,
        range: speeds(row).map(|[least, _, most]| [least, most]),
        label: figure(ns),
    };
    race.measured().map(bar).collect()
}

fn memory<'a>(race: &'a Race<'_>) -> Vec<Bar<'a>> {
    let bar = |(row, _): (&'a Row, f64)| {
        let peak = row.peak_rss_bytes?;
        Some(Bar {
            name: row.contender.clone(),
            contender: &row.contender,
            category: Some(&row.category),
            value: peak as f64 / 1e6,
            range: None,
            label: megabytes(peak),
        })
    };
    race.measured().filter_map(bar).collect()
}

fn table(race: &Race<'_>) -> Element {
    let heads = headings(race.op()).into_iter().enumerate();
    let mut head = el("tr").children(heads.map(|(place, heading)| cell("th", place, &heading)));
    let counted = race
        .rows
        .iter()
        .any(|row| row.instructions_per_op.is_some());
    if counted {
        head = head.child(text("th", format!("instructions/{}", race.op()[0])));
    }
    let fastest = race.fastest();
    let tried = race.rows.iter().filter(|row| row.status != Status::Skipped);
    let rows = tried.map(|row| {
        let line = row_of(row).child(name_of(&row.contender));
        match cells(row, fastest) {
            Some(cells) => {
                let count = row.instructions_per_op.map(figure).unwrap_or_default();
                let cells = cells.iter().enumerate().skip(1);
                let line = line.children(cells.map(|(place, words)| cell("td", place, words)));
                line.children(counted.then(|| text("td", count)))
            }
            None => line.child(
                text("td", status_text(row))
                    .class("why")
                    .with("colspan", COLUMNS - 1 + usize::from(counted)),
            ),
        }
    });
    el("table")
        .child(el("thead").child(head))
        .child(el("tbody").children(rows))
}

/// Who was skipped, in one line that unfolds to the reasons.
fn skipped(race: &Race<'_>) -> Option<Element> {
    let skipped: Vec<&&Row> = race
        .rows
        .iter()
        .filter(|row| row.status == Status::Skipped)
        .collect();
    let names: Vec<&str> = skipped.iter().map(|row| row.contender.as_str()).collect();
    let line = format!("{} skipped: {}", names.len(), names.join(", "));
    let reasons = skipped.iter().map(|row| {
        let reason = format!(
            "{}: {}",
            row.contender,
            row.reason.as_deref().unwrap_or_default()
        );
        let item = text("li", reason).with("data-contender", &row.contender);
        item.with("data-category", &row.category)
    });
    (!names.is_empty()).then(|| {
        let details = el("details").class("skipped").child(text("summary", line));
        details.child(el("ul").children(reasons))
    })
}

/// A cell; the last column has the categories, which are words.
fn cell(kind: &'static str, place: usize, words: &str) -> Element {
    let cell = text(kind, words);
    match place + 1 {
        COLUMNS => cell.class("word category"),
        _ => cell,
    }
}

/// A table row that the filters know.
fn row_of(row: &Row) -> Element {
    el("tr")
        .class(class_of(&row.contender))
        .with("data-contender", &row.contender)
        .with("data-category", &row.category)
}

/// What the workload looks at beside time.
fn figures_of(race: &Race<'_>) -> Option<Element> {
    let figures = find(race.workload)?.figures;
    let rows = figures::sorted(race.rows.iter().copied(), figures);
    if rows.is_empty() {
        return None;
    }
    let head = el("tr").child(text("th", "contender"));
    let head = head.children(figures.iter().map(|one| text("th", one.heading)));
    let rows = rows.into_iter().map(|row| {
        let cells = figures::cells(row, figures).into_iter();
        row_of(row)
            .child(name_of(&row.contender))
            .children(cells.map(|cell| text("td", cell)))
    });
    let body = el("tbody").children(rows);
    Some(scrolling(
        el("table").child(el("thead").child(head)).child(body),
    ))
}

/// Messages a second, and who has how many percent; whose row is clicked has 100.
fn rates_of(race: &Race<'_>) -> Option<Element> {
    let rows = rates::compared(race.rows.iter().copied(), None);
    if !rates::has(race.workload) || rows.is_empty() {
        return None;
    }
    let head = el("tr").children(rates::HEADINGS.map(|heading| text("th", heading)));
    let head = head.with("title", "click a row: it has 100 %");
    let rows = rows.into_iter().map(|(row, cells)| {
        let rate: String = cells[0].chars().filter(char::is_ascii_digit).collect();
        let cells = cells.map(|cell| text("td", cell));
        let row_of = row_of(row).with("data-rate", &rate);
        row_of.child(name_of(&row.contender)).children(cells)
    });
    let body = el("tbody").children(rows);
    Some(scrolling(
        el("table")
            .class("rates")
            .child(el("thead").child(head))
            .child(body),
    ))
}

/// What the garbage collectors did: one table for those that name the same figures.
fn collectors(race: &Race<'_>) -> Option<Element> {
    let mut groups: BTreeMap<Vec<&str>, Vec<&Row>> = BTreeMap::new();
    for row in &race.rows {
        if let Some(gc) = &row.gc {
            let names = gc.keys().map(String::as_str).collect();
            groups.entry(names).or_default().push(row);
        }
    }
    if groups.is_empty() {
        return None;
    }
    let tables = groups.into_iter().map(|(names, rows)| {
        let head = el("tr").child(text("th", "contender"));
        let head = head.children(names.iter().map(|name| text("th", *name)));
        let rows = rows.into_iter().map(|row| {
            let values = row.gc.iter().flat_map(|gc| gc.values());
            let cells = values.map(|value| text("td", plain(value)));
            row_of(row).child(name_of(&row.contender)).children(cells)
        });
        let body = el("tbody").children(rows);
        scrolling(el("table").child(el("thead").child(head)).child(body))
    });
    let title = text(
        "h4",
        "Garbage collectors, in the last run, under their own names",
    );
    Some(el("div").class("collectors").child(title).children(tables))
}

fn commands(race: &Race<'_>) -> Element {
    let runs = race.rows.iter().map(|row| {
        let walls: Vec<String> = row.raw_wall_s.iter().map(milliseconds).collect();
        let mut block = el("div")
            .class(format!("run {}", class_of(&row.contender)))
            .with("data-contender", &row.contender)
            .with("data-category", &row.category)
            .child(text("strong", &row.contender));
        if !row.command.is_empty() {
            block = block.child(text("code", &row.command));
        }
        if !walls.is_empty() {
            let walls = format!("milliseconds, in the order measured: {}", walls.join(" "));
            block = block.child(text("span", walls));
        }
        let said = row.said.as_ref().map(|said| format!("said: {said}"));
        let left = row.left_text();
        let notes = row
            .note
            .iter()
            .chain(&row.cut)
            .chain(&row.no_slope)
            .chain(&row.reason);
        let notes = notes.chain(&said).chain(&left);
        block.children(notes.map(|note| text("span", note)))
    });
    el("details")
        .child(text("summary", "commands and every single run"))
        .child(text("p", "From the root of the checkout.").class("note"))
        .children(runs)
}

/// A run as exactly as its noise deserves; the data has all digits.
fn milliseconds(wall_s: &f64) -> String {
    let ms = wall_s * 1e3;
    if ms < 100.0 {
        format!("{ms:.3}")
    } else {
        format!("{ms:.1}")
    }
}
