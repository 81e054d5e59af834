//! No row is hidden, ratios are to the fastest, and colour is only where it is asked for.

use serde_json::Map;

use super::*;
use crate::machine::Machine;
use crate::measure::waiting_row;
use crate::results::{SCHEMA, Spread};

const HOP: [&str; 2] = ["hop", "hops"];

fn row(name: &str, status: Status, ns: Option<f64>) -> Row {
    let mut row = waiting_row("ring", name, Map::new(), 1_000_000);
    row.status = status;
    row.ns_per_op = ns;
    row.wall_s = ns.map(|ns| ns / 1e3).map(|s| Spread {
        min: s,
        median: s,
        max: s,
    });
    row
}

fn example() -> Results {
    let machine = Machine::default();
    let rows = vec![
        row("absent", Status::Skipped, None),
        row("slow", Status::Ok, Some(50.0)),
        row("quick", Status::Ok, Some(5.0)),
        row("cheat", Status::Failed, Some(1.0)),
    ];
    Results {
        schema: SCHEMA,
        machine,
        results: rows,
    }
}

#[test]
fn every_row_is_there_and_a_failed_one_does_not_compete() {
    let text = render(&example(), HOP, false);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 5, "{text}");
    assert!(lines[0].contains("ns/hop") && lines[0].contains(" hops "));
    assert!(
        lines[1].starts_with("quick") && lines[1].contains("1.00 x"),
        "{text}"
    );
    assert!(
        lines[2].starts_with("slow") && lines[2].contains("10.0 x"),
        "{text}"
    );
    assert!(
        text.contains("absent     skipped: interrupted before its first run"),
        "{text}"
    );
    assert!(text.contains("cheat      failed: "), "{text}");
}

#[test]
fn colour_only_when_asked() {
    assert!(!render(&example(), HOP, false).contains('\u{1b}'));
    assert!(render(&example(), HOP, true).contains('\u{1b}'));
}
