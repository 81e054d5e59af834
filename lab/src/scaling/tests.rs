//! Exponents of lines that are known, and a table with holes.

use serde_json::json;

use super::*;
use crate::machine::Machine;
use crate::measure::waiting_row;
use crate::results::{SCHEMA, Status};

#[test]
fn exponents() {
    let cubic: Vec<(f64, f64)> = [1.0, 10.0, 500.0].map(|x| (x, 7.0 * x * x * x)).into();
    assert!((exponent(&cubic).expect("a fit") - 3.0).abs() < 1e-9);
    let flat = [(1.0, 5.0), (10.0, 5.0), (100.0, 5.0)];
    assert!(exponent(&flat).expect("a fit").abs() < 1e-9);
    assert_eq!(exponent(&flat[..2]), None);
    assert_eq!(exponent(&[(4.0, 1.0), (4.0, 2.0), (4.0, 3.0)]), None);
}

fn row(name: &str, threads: u64, ns: Option<f64>, peak: u64) -> Row {
    let params = json!({ "threads": threads }).as_object().cloned();
    let mut row = waiting_row("ring", name, params.unwrap_or_default(), 1_000);
    if let Some(ns) = ns {
        row.status = Status::Ok;
        row.ns_per_op = Some(ns);
        row.peak_rss_bytes = Some(peak);
    }
    row
}

#[test]
fn a_table_with_holes() {
    let mut rows = Vec::new();
    for (size, log) in [(10, 1.0), (1_000, 3.0), (100_000, 5.0)] {
        rows.push(row(
            "short",
            size,
            (size < 100_000).then_some(3.0),
            1_000_000,
        ));
        let steep = 10_f64.powf(log / 2.0);
        rows.push(row("steep", size, Some(steep), 1_000_000 + size * 50));
    }
    let results = Results {
        schema: SCHEMA,
        machine: Machine::default(),
        results: rows,
    };
    let text = render(&results, "threads", "hop");
    let lines: Vec<&str> = text.lines().collect();
    let words = |line: &str| -> Vec<String> { line.split_whitespace().map(String::from).collect() };
    assert_eq!(
        words(lines[0]),
        [
            "ns/hop", "10", "1,000", "100,000", "exponent", "bytes", "each"
        ]
    );
    assert_eq!(words(lines[1]), ["operations", "1,000", "1,000", "1,000"]);
    assert_eq!(
        words(lines[2]),
        ["steep", "3.16", "31.6", "316", "0.50", "50"]
    );
    assert_eq!(words(lines[3]), ["short", "3.00", "3.00", "-"]);
    assert!(text.contains("short, 100,000: skipped:"), "{text}");
}

/// The words of a contender's line, when it did so many operations at ten threads, a hundred, and so on.
fn line(ops: &[u64], ns: impl Fn(u64) -> f64) -> (Vec<String>, String) {
    let sizes = (1..).map(|log| 10_u64.pow(log));
    let rows = sizes.zip(ops).map(|(size, ops)| {
        let mut row = row("slow", size, Some(ns(size)), 1_000_000);
        row.ops = *ops;
        row.note = Some("fewer".into());
        row
    });
    let results = Results {
        schema: SCHEMA,
        machine: Machine::default(),
        results: rows.collect(),
    };
    let text = render(&results, "threads", "hop");
    let line = text.lines().nth(2).expect("the line of the contender");
    (line.split_whitespace().map(String::from).collect(), text)
}

#[test]
fn rows_that_were_cut_to_the_same_number_are_fitted() {
    let (words, text) = line(&[500; 4], |size| (size as f64).sqrt());
    assert_eq!(words[1..], ["~3.16", "~10.0", "~31.6", "~100", "0.50", "0"]);
    assert!(!text.contains("before an exponent"), "{text}");
    // The largest group counts, and the one cut further is in none.
    let odd = |size: u64| {
        if size == 10_000 {
            1.0
        } else {
            (size as f64).sqrt()
        }
    };
    let (words, _) = line(&[500, 500, 500, 400, 400], odd);
    assert_eq!(words[6], "0.50");
}

#[test]
fn rows_that_were_all_cut_differently_are_fitted_roughly() {
    // Half a second each, and the last one too short to be looked at.
    let ops = [50_000_000, 5_000_000, 500_000, 40_000];
    let ns = |size: u64| if size == 10_000 { 1.0 } else { size as f64 };
    let (words, text) = line(&ops, ns);
    assert_eq!(words[5], "~1.00");
    assert!(text.contains("~ before an exponent: no three"), "{text}");
    // Nothing is made of two.
    let (words, text) = line(&ops[1..3], ns);
    assert_eq!(words.len(), 3, "{words:?}");
    assert!(!text.contains("before an exponent"), "{text}");
}

#[test]
fn a_run_with_fewer_operations_is_marked_and_not_fitted() {
    let mut rows: Vec<Row> = [10, 1_000, 100_000]
        .map(|size| row("cut", size, Some(3.0), 1_000_000))
        .into();
    rows[2].note = Some("fewer".into());
    rows[2].ops = 100;
    let results = Results {
        schema: SCHEMA,
        machine: Machine::default(),
        results: rows,
    };
    let text = render(&results, "threads", "hop");
    let line = text.lines().nth(2).expect("the line of the contender");
    let words: Vec<&str> = line.split_whitespace().collect();
    // No exponent, as two points are left.
    assert_eq!(words, ["cut", "3.00", "3.00", "~3.00", "0"]);
}
