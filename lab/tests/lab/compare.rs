//! Comparisons: what is beyond noise, what the machine did, and what cannot be told.

use serde_json::{Value, json};

use crate::samples::{halve, machine, quiet, ring, write};
use crate::support::{Place, stderr, stdout};

/// Compares two lists of rows; the exit code with `--fail`, and the text.
fn compared(before: &[Value], after: &[Value]) -> (Option<i32>, String) {
    let place = Place::empty();
    write(&place, "a.json", &machine(), before);
    write(&place, "b.json", &machine(), after);
    let output = place.tool("compare a.json b.json");
    assert!(output.status.success(), "{}", stderr(&output));
    let failing = place.tool("compare a.json b.json --fail");
    (failing.status.code(), stdout(&output))
}

/// The line of a contender.
#[track_caller]
fn line<'a>(text: &'a str, contender: &str) -> &'a str {
    let mut lines = text.lines();
    let found = lines.find(|line| line.split("  ").next() == Some(contender));
    found.unwrap_or_else(|| panic!("no line for {contender} in:\n{text}"))
}

#[test]
fn slower_faster_and_noise() {
    let before = [
        quiet("up", 100.0),
        quiet("down", 100.0),
        quiet("same", 100.0),
    ];
    let after = [
        quiet("up", 120.0),
        quiet("down", 80.0),
        quiet("same", 101.0),
    ];
    let (code, text) = compared(&before, &after);
    assert_eq!(code, Some(1));
    assert!(line(&text, "up").contains("+20.0 %"), "{text}");
    assert!(line(&text, "up").ends_with("SLOWER beyond noise"), "{text}");
    assert!(
        line(&text, "down").ends_with("faster beyond noise"),
        "{text}"
    );
    assert!(line(&text, "same").ends_with("within noise"), "{text}");
    assert!(
        text.contains("3 rows compared: 1 slower and 1 faster"),
        "{text}"
    );
}

#[test]
fn faster_alone_does_not_fail() {
    let (code, _) = compared(&[quiet("x", 100.0)], &[quiet("x", 50.0)]);
    assert_eq!(code, Some(0));
}

#[test]
fn runs_that_overlap_are_noise() {
    let before = [ring("x", 503, &[100.0, 110.0, 120.0, 130.0, 140.0])];
    let after = [ring("x", 503, &[135.0, 145.0, 150.0, 155.0, 160.0])];
    let (code, text) = compared(&before, &after);
    assert_eq!(code, Some(0), "{text}");
    assert!(line(&text, "x").ends_with("within noise"), "{text}");
}

#[test]
fn a_single_run_tells_nothing() {
    let (code, text) = compared(&[ring("x", 503, &[1.0])], &[ring("x", 503, &[9.0])]);
    assert_eq!(code, Some(0));
    assert!(line(&text, "x").contains("unknown: a single run"), "{text}");
}

#[test]
fn what_all_peers_did_is_the_machine() {
    let peers = ["p1", "p2", "p3", "p4"];
    let rows = |ours: f64, others: f64| -> Vec<Value> {
        let peers = peers.iter().map(|name| quiet(name, others));
        peers.chain([quiet("gossamer/single", ours)]).collect()
    };
    // Everybody is 20 % slower: nobody is.
    let (code, text) = compared(&rows(10.0, 100.0), &rows(12.0, 120.0));
    assert_eq!(code, Some(0), "{text}");
    assert!(line(&text, "gossamer/single").contains("+20.0 %"), "{text}");
    // We alone are.
    let (code, text) = compared(&rows(10.0, 100.0), &rows(12.0, 100.0));
    assert_eq!(code, Some(1), "{text}");
    assert!(
        line(&text, "gossamer/single").ends_with("SLOWER beyond noise"),
        "{text}"
    );
    // We kept our time while the machine got quicker.
    let (code, text) = compared(&rows(10.0, 100.0), &rows(10.0, 80.0));
    assert_eq!(code, Some(1), "{text}");
}

#[test]
fn two_runs_are_no_proof() {
    let (code, text) = compared(
        &[ring("x", 503, &[10.0, 10.1])],
        &[ring("x", 503, &[20.0, 20.1])],
    );
    assert_eq!(code, Some(0), "it may be chance:\n{text}");
    assert!(
        line(&text, "x").contains("perhaps: chance alone does it in 33 %"),
        "{text}"
    );
    assert!(
        text.contains("0 slower and 0 faster beyond noise, 1 perhaps"),
        "{text}"
    );
}

#[test]
fn peers_that_do_not_agree_move_nobody() {
    let rows = |ours: f64, peers: [f64; 3]| -> Vec<Value> {
        let names = ["p1", "p2", "p3"].iter().zip(peers);
        let peers = names.map(|(name, ns)| quiet(name, ns));
        peers.chain([quiet("gossamer/single", ours)]).collect()
    };
    // Our time stayed; the peers' went everywhere, their median down by a tenth.
    let before = rows(10.0, [100.0; 3]);
    let (_, text) = compared(&before, &rows(10.0, [90.0, 75.0, 110.0]));
    let ours = line(&text, "gossamer/single");
    assert!(
        ours.contains("-10.0 % ± 22.2") && ours.ends_with("within noise"),
        "{text}"
    );
    // Peers of one mind do move us.
    let (code, text) = compared(&before, &rows(10.0, [90.0; 3]));
    assert_eq!(code, Some(1), "{text}");
    assert!(
        line(&text, "gossamer/single").contains("-10.0 % ± 0.0"),
        "{text}"
    );
}

#[test]
fn a_peer_with_other_operations_is_no_measure_of_the_machine() {
    let rows = |ns: f64, ops: u64| -> Vec<Value> {
        let peer = |name: &&str| {
            let mut row = quiet(name, ns);
            row["ops"] = json!(ops);
            row["params"]["hops"] = json!(ops);
            row
        };
        let peers = ["p1", "p2", "p3"].iter().map(peer);
        peers.chain([quiet("gossamer/single", 10.0)]).collect()
    };
    let (code, text) = compared(&rows(100.0, 1_000_000), &rows(80.0, 2_000_000));
    assert_eq!(code, Some(0), "{text}");
    let ours = line(&text, "gossamer/single");
    assert!(
        ours.contains("unknown") && ours.ends_with("within noise"),
        "{text}"
    );
}

#[test]
fn a_row_that_is_there_twice_is_called_that() {
    let one = [quiet("x", 1.0)];
    let two = [quiet("x", 1.0), quiet("x", 2.0)];
    for (before, after, why) in [
        (&one[..], &two[..], "several in B"),
        (&two[..], &one[..], "several in A"),
        (&two[..], &two[..], "several in A and in B"),
    ] {
        let (_, text) = compared(before, after);
        let expected = format!("{why}: ring, threads 503, order forward: x");
        assert!(text.contains(&expected), "{text}");
        assert!(!text.contains("only in"), "{text}");
    }
}

#[test]
fn our_own_kinds_are_no_measure_of_the_machine() {
    let rows = |ns: f64| ["a", "b", "c", "d"].map(|kind| quiet(&format!("gossamer/{kind}"), ns));
    let (code, text) = compared(&rows(10.0), &rows(12.0));
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("4 slower"), "{text}");
}

#[test]
fn rows_without_a_partner_are_named() {
    let mut failed = quiet("broke", 1.0);
    failed["status"] = json!("failed");
    failed["reason"] = json!("exit status 3");
    let before = [quiet("x", 1.0), quiet("gone", 1.0), quiet("broke", 1.0)];
    let (code, text) = compared(&before, &[quiet("x", 1.0), quiet("new", 1.0), failed]);
    assert_eq!(
        code,
        Some(1),
        "what does not work any more is worse:\n{text}"
    );
    assert!(
        text.contains("only in A: ring, threads 503, order forward: gone"),
        "{text}"
    );
    assert!(
        text.contains("only in B: ring, threads 503, order forward: new"),
        "{text}"
    );
    assert!(
        text.contains("broke: before 1.00 ns, after failed: exit status 3"),
        "{text}"
    );
}

#[test]
fn sizes_are_compared_with_their_own_kind() {
    let before = [ring("x", 10, &[10.0; 5]), ring("x", 1_000, &[20.0; 5])];
    let after = [ring("x", 1_000, &[20.0; 5]), ring("x", 10, &[10.0; 5])];
    let (code, text) = compared(&before, &after);
    assert_eq!(code, Some(0));
    assert!(
        text.contains("2 rows compared") && text.contains("2 within"),
        "{text}"
    );
}

#[test]
fn other_numbers_of_operations_are_said() {
    let mut more = quiet("x", 100.0);
    more["ops"] = json!(2_000_000);
    more["params"]["hops"] = json!(2_000_000);
    let (_, text) = compared(&[quiet("x", 100.0)], &[more]);
    assert!(
        text.contains("with 2,000,000 operations instead of 1,000,000"),
        "{text}"
    );
}

#[test]
fn machines_that_differ_are_warned_of() {
    let place = Place::empty();
    write(&place, "a.json", &machine(), &[quiet("x", 1.0)]);
    let mut other = machine();
    other["cores"] = json!(64);
    write(&place, "b.json", &other, &[quiet("x", 1.0)]);
    let text = stdout(&place.tool("compare a.json b.json"));
    assert!(
        text.contains("warning: A and B are not from the same machine"),
        "{text}"
    );
}

#[test]
fn bad_files_are_refused() {
    let place = Place::empty();
    write(&place, "a.json", &machine(), &[quiet("x", 1.0)]);
    write(&place, "b.json", &machine(), &[quiet("x", 1.0)]);
    halve(&place, "b.json");
    for words in ["a.json b.json", "b.json a.json"] {
        let output = place.tool(&format!("compare {words}"));
        assert_eq!(output.status.code(), Some(2));
        assert!(
            stderr(&output).contains("b.json, line"),
            "{}",
            stderr(&output)
        );
        assert_eq!(stdout(&output), "");
    }
    assert_eq!(
        place.tool("compare a.json none.json").status.code(),
        Some(2)
    );
    assert_eq!(place.tool("compare a.json").status.code(), Some(2));
}
