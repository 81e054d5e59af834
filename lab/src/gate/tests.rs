//! What passes, and which baselines are refused.

use serde_json::json;

use super::*;
use crate::measure::waiting_row;
use crate::workloads::find;

fn request(threads: u64) -> Request {
    let workload = find("ring").expect("there is a ring");
    Request {
        workload,
        values: workload.values(|name| (name == "threads").then(|| json!(threads))),
        asked: None,
    }
}

fn row(contender: &str, instructions: Option<f64>) -> Row {
    let request = request(503);
    let params = request.sized(7).recorded();
    let mut row = waiting_row("ring", contender, params, 7);
    row.instructions_per_op = instructions;
    row
}

fn machine() -> Machine {
    serde_json::from_value(json!({
        "cpu": "", "cores": 1, "kernel": "", "memory_bytes": 1, "os": "", "arch": "x86_64",
        "date": "", "load_1min": 0.0, "rustc": "r1", "gcc": "g1", "go": "", "commit": ""
    }))
    .expect("all that has no default")
}

fn results(results: Vec<Row>) -> Results {
    let machine = machine();
    Results {
        schema: 1,
        machine,
        results,
    }
}

fn gate(rows: Vec<Row>, request: &Request) -> Result<Gate> {
    Gate::of(Path::new("base.json"), results(rows), request, 2.0)
}

fn hundred() -> Gate {
    let rows = vec![row("a", Some(100.0)), row("b", None)];
    gate(rows, &request(503)).expect("a baseline")
}

#[test]
fn two_percent_pass() {
    for (now, verdict) in [
        (100.0, Verdict::Same(100.0)),
        (102.0, Verdict::Same(102.0)),
        (102.1, Verdict::Worse(102.1)),
        (1_000.0, Verdict::Worse(1_000.0)),
        (98.0, Verdict::Same(98.0)),
        (97.9, Verdict::Better(97.9)),
    ] {
        let passes = !matches!(verdict, Verdict::Worse(_));
        let compared = hundred().compare(&[row("b", Some(7.0)), row("a", Some(now))]);
        let [line] = &compared[..] else {
            panic!("only a is in the baseline: {compared:?}");
        };
        assert_eq!((&line.verdict, line.before), (&verdict, 100.0));
        assert_eq!(holds(&compared), passes, "{now}");
    }
}

#[test]
fn another_tolerance() {
    let rows = vec![row("a", Some(100.0))];
    let none = Gate::of(Path::new("b"), results(rows), &request(503), 0.0).expect("a baseline");
    assert!(holds(&none.compare(&[row("a", Some(100.0))])));
    assert!(!holds(&none.compare(&[row("a", Some(100.001))])));
}

#[test]
fn what_is_not_counted_does_not_pass() {
    let mut uncounted = row("a", None);
    uncounted.not_counted = Some("it crashed".into());
    for (rows, reason) in [
        (vec![uncounted], "it crashed"),
        (vec![row("a", None)], "not tried"),
        (vec![row("c", Some(100.0))], "no such contender"),
    ] {
        let compared = hundred().compare(&rows);
        assert!(!holds(&compared));
        let table = hundred().render(&compared, "hop", &machine());
        assert!(
            table.contains("NOT COUNTED: ") && table.contains(reason),
            "{table}"
        );
    }
}

#[test]
fn the_table() {
    let rows = vec![row("long/contender", Some(20_000.0)), row("x", Some(28.0))];
    let gate = gate(rows, &request(503)).expect("a baseline");
    let now = [
        row("long/contender", Some(30_000.0)),
        row("x", Some(27.998)),
    ];
    let compared = gate.compare(&now);
    assert_eq!(
        gate.render(&compared, "hop", &machine()),
        "\ninstructions/hop, at most 2 % more than in base.json:\n\
         contender           baseline           now     change\n\
         long/contender        20,000        30,000    +50.0 %  WORSE\n\
         x                       28.0          28.0     -0.0 %\n"
    );
    let mut elsewhere = machine();
    elsewhere.rustc = "r2".into();
    let table = gate.render(&compared, "hop", &elsewhere);
    assert!(
        table.ends_with("another rustc than then: r2, baseline r1\n"),
        "{table}"
    );
}

#[track_caller]
fn refused(rows: Vec<Row>, request: &Request, parts: &[&str]) {
    let error = gate(rows, request).expect_err("it is no baseline");
    let message = format!("{error:#}");
    for part in parts.iter().chain(&["base.json"]) {
        assert!(message.contains(part), "no '{part}' in: {message}");
    }
}

#[test]
fn baselines_that_cannot_be_compared() {
    let ring = request(503);
    refused(vec![], &ring, &["no row", "--count --json"]);
    refused(vec![row("a", None)], &ring, &["no row", "--count --json"]);
    let mut other = row("a", Some(1.0));
    other.workload = "spawn".into();
    refused(vec![other], &ring, &["of workload spawn, expected ring"]);
    for instructions in [0.0, -3.0] {
        refused(
            vec![row("a", Some(instructions))],
            &ring,
            &["expected more than 0"],
        );
    }
    let counted = vec![row("a", Some(1.0))];
    refused(
        counted,
        &request(7),
        &["\"threads\":503", "\"threads\":7", "same options"],
    );
}

#[test]
fn the_size_may_be_another() {
    let workload = find("ring").expect("there is a ring");
    let values = workload.values(|name| (name == "hops").then(|| json!(99)));
    let asked = Some(99);
    let request = Request {
        workload,
        values,
        asked,
    };
    assert!(gate(vec![row("a", Some(1.0))], &request).is_ok());
}

#[test]
fn a_selection_by_name_is_all_that_is_compared() {
    let both = || {
        let rows = vec![row("a", Some(1.0)), row("b", Some(2.0))];
        gate(rows, &request(503)).expect("a baseline")
    };
    let (mut named, mut all, mut none) = (both(), both(), both());
    named.only(&["b", "c"], true).expect("b is there");
    assert!(named.covers("b") && !named.covers("a"));
    all.only(&["b", "c"], false).expect("b is there");
    assert!(all.covers("a"));
    let error = none.only(&["c"], true).expect_err("nothing is left");
    assert!(error.to_string().contains("a, b"), "{error}");
}
