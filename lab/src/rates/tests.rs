//! The seed's own figures, printed anew.

use super::*;
use crate::machine::Machine;
use crate::measure::waiting_row;
use crate::results::{SCHEMA, Status};

fn results(workload: &str, rows: &[(&str, u64, f64)]) -> Results {
    let row = |(name, ops, ns): &(&str, u64, f64)| {
        let mut row = waiting_row(workload, name, serde_json::Map::new(), *ops);
        row.status = Status::Ok;
        row.ns_per_op = Some(*ns);
        row
    };
    Results {
        schema: SCHEMA,
        machine: Machine::default(),
        results: rows.iter().map(row).collect(),
    }
}

#[test]
fn the_three_lines_of_the_seed() {
    let measured = results(
        "message-ring",
        &[("pipe", 1_000_000, 227.634_3), ("chan", 1_000_000, 3_900.0)],
    );
    let text = render("message-ring", &measured, Some("chan"));
    let seed = "pipe\nSent 1000000 messages in 0.227634 seconds\n  4.39301e+06 messages / second\n  \
                0.227634 µs / message\n  17.1 times the messages of chan\n";
    assert!(text.contains(seed), "{text}");
    assert!(text.contains("  3.9 µs / message\n"), "{text}");
    assert_eq!(text.matches(" times ").count(), 1, "{text}");
}

#[test]
fn the_comparison_of_the_seed() {
    let per_second = [
        ("port_set", 881_578.0),
        ("scala", 378_740.0),
        ("erlang", 78_670.0),
    ];
    let rows = per_second.map(|(name, rate)| (name, 1_000, 1e9 / rate));
    let text = render("msgsend", &results("msgsend", &rows), Some("scala"));
    let cells = |text: &str, name: &str| {
        let line = text
            .lines()
            .find(|line| line.starts_with(name))
            .expect("a row");
        line.split_whitespace()
            .skip(1)
            .map(String::from)
            .collect::<Vec<_>>()
    };
    assert_eq!(cells(&text, "port_set"), ["881,578", "232.8%"]);
    assert_eq!(cells(&text, "scala"), ["378,740", "100.0%"]);
    assert_eq!(cells(&text, "erlang"), ["78,670", "20.8%"]);
}

#[test]
fn who_has_the_hundred() {
    let of =
        |rows: &[(&str, u64, f64)], against| render("msgsend", &results("msgsend", rows), against);
    let hundred = |text: &str| {
        let line = text.lines().find(|line| line.ends_with(" 100.0%"));
        line.and_then(|line| line.split_whitespace().next().map(String::from))
    };
    let rows = [
        ("gossamer/single", 9, 1.0),
        ("quick", 9, 2.0),
        ("slow", 9, 3.0),
    ];
    assert_eq!(hundred(&of(&rows, None)).as_deref(), Some("quick"));
    assert_eq!(hundred(&of(&rows, Some("slow"))).as_deref(), Some("slow"));
    assert_eq!(
        hundred(&of(&rows[..1], None)).as_deref(),
        Some("gossamer/single")
    );
    let missing = of(&rows, Some("nobody"));
    assert!(missing.contains("nobody has no figure"), "{missing}");
    assert_eq!(of(&[], None), "");
    assert_eq!(render("ring", &results("ring", &rows), None), "");
}

#[test]
fn six_digits() {
    for (value, text) in [
        (4_393_014.75, "4.39301e+06"),
        (0.227_634, "0.227634"),
        (3.9, "3.9"),
        (100_000.0, "100000"),
        (1_000_000.0, "1e+06"),
        (0.000_012_345_6, "1.23456e-05"),
        (999_999.7, "1e+06"),
    ] {
        assert_eq!(general(value), text);
    }
}
