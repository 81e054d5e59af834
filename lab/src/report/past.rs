//! What others printed long ago, beside today's figures and never in a ratio with them.

use crate::format::{figure, thousands};
use crate::history::{self, Past};
use crate::results::Row;

use super::markup::{Element, el, text};
use super::races::{Race, setting};
use super::scrolling;

/// The table for one workload; `None` if nothing was printed about it.
#[must_use]
pub fn past(workload: &str, races: &[&Race<'_>]) -> Option<Element> {
    let all = history::of(workload);
    let first = all.first()?;
    let usual = races.iter().filter(|race| is_usual(race));
    let today = usual.max_by_key(|race| race.measured().count());
    let head = [
        "history",
        "source",
        "seconds then",
        "KB then",
        "today",
        "seconds now",
        "KB now",
    ];
    let rows = all.iter().map(|past| {
        let row = today.and_then(|race| find(race, past));
        line(past, row)
    });
    let table = el("table")
        .class("past")
        .child(el("thead").child(el("tr").children(head.map(heading))))
        .child(el("tbody").children(rows));
    let from = today.map_or_else(
        || "Nothing of today has the same options.".to_owned(),
        |race| {
            format!(
                "Today's are from {}, scaled to as many operations.",
                race.source.name
            )
        },
    );
    let said = format!(
        "History, not measured here: {}; {} operations, as printed. \
         Other machines, other versions, other ways to measure: no ratio is made of it. {from}",
        first.source,
        thousands(first.ops)
    );
    let section = el("section").class("history").child(text("h3", "History"));
    Some(
        section
            .child(text("p", said).class("note"))
            .child(scrolling(table)),
    )
}

fn heading(name: &str) -> Element {
    let head = text("th", name);
    match name {
        "today" | "source" => head.class("word"),
        _ => head,
    }
}

/// Whether a race has the usual options: history is of these, and the overview prefers them.
pub(super) fn is_usual(race: &Race<'_>) -> bool {
    let Some(known) = race.known() else {
        return false;
    };
    let usual = known.usual_values().recorded();
    race.rows.first().is_some_and(|row| {
        let own = setting(row, &[known.size]);
        own.iter()
            .all(|(name, value)| usual.get(name) == Some(value))
    })
}

fn find<'a>(race: &'a Race<'_>, past: &Past) -> Option<(&'a Row, f64)> {
    race.measured()
        .find(|(row, _)| row.contender == past.contender)
}

fn line(past: &Past, today: Option<(&Row, f64)>) -> Element {
    let (mut seconds, mut memory) = (String::new(), String::new());
    if let Some((row, ns)) = today {
        seconds = figure(ns * past.ops as f64 / 1e9);
        // As then: a KB of `time` and `ps` is of 1,024 bytes.
        let kb = row.peak_rss_bytes.map(|bytes| thousands(bytes / 1_024));
        memory = kb.unwrap_or_default();
    }
    let mut row = el("tr").child(text("th", past.implementation));
    if !past.contender.is_empty() {
        row = row.with("data-contender", past.contender);
    }
    // Which machine that was stands above the table.
    let source = past.source.split(';').next().unwrap_or_default();
    row.child(text("td", source).class("word"))
        .child(text("td", past.printed).class("then"))
        .child(text("td", past.memory_kb.to_string()).class("then"))
        .child(text("td", past.contender).class("word"))
        .child(text("td", seconds))
        .child(text("td", memory))
}
