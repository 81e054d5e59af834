//! The row, by hand.

use serde_json::{Map, json};

use super::*;
use crate::machine::Machine;
use crate::measure::waiting_row;
use crate::results::SCHEMA;

fn results(times: [&[f64]; 2]) -> Results {
    let rows = BFS.iter().zip(times).map(|(name, times)| {
        let mut row = waiting_row("bfs", name, Map::new(), 64);
        let said = times.iter().map(|ms| json!({ "search_ms": ms }));
        row.raw_figures = said.filter_map(|said| said.as_object().cloned()).collect();
        row
    });
    Results {
        schema: SCHEMA,
        machine: Machine::default(),
        results: rows.collect(),
    }
}

#[test]
fn old_over_new_less_one_and_the_same_run_by_run() {
    let text = bfs(&results([&[120.0, 110.0, 130.0], &[100.0, 100.0, 100.0]]));
    let line = text.lines().nth(1).expect("a row");
    let words: Vec<&str> = line.split_whitespace().collect();
    let expected = [
        "Graph500", "PBFS", "0.120000", "0.100000", "20.0%", "10.0%", "…", "30.0%",
    ];
    assert_eq!(words, expected, "{text}");
}

#[test]
fn without_a_run_nothing_is_said() {
    let expected = "it is not in these results\n";
    assert_eq!(bfs(&results([&[120.0], &[]])), expected);
}
