//! Records: whole, never overwritten, and not made of anything doubtful.

use serde_json::{Value, json};

use crate::samples::{halve, machine, quiet, ring, write};
use crate::support::{Place, stderr, stdout};

const WORDS: &str = "record --from in --records records";

fn text(place: &Place, name: &str) -> String {
    std::fs::read_to_string(place.path(name)).expect("the lab wrote it")
}

#[track_caller]
fn refused(place: &Place, words: &str, parts: &[&str]) {
    let before = place.tree();
    let output = place.tool(words);
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{words}: {message}");
    for part in parts {
        assert!(message.contains(part), "{words}: no '{part}' in: {message}");
    }
    assert_eq!(place.tree(), before, "{words} wrote something");
}

#[test]
fn a_record_has_json_csv_and_a_readme() {
    let place = Place::empty();
    let mut odd = ring("pthreads", 503, &[5_000.0]);
    odd["status"] = json!("failed");
    odd["reason"] = json!("printed \"4\", expected \"3\"\nand more");
    write(
        &place,
        "in/ring.json",
        &machine(),
        &[quiet("go", 120.0), odd],
    );
    write(
        &place,
        "in/other.json",
        &machine(),
        &[quiet("gossamer/single", 10.0)],
    );
    std::fs::write(place.path("in/ring.html"), "no part of a record").expect("ours");
    let output = place.tool(WORDS);
    assert!(output.status.success(), "{}", stderr(&output));
    let folder = "records/2026-11-21-epyc-2-cores";
    assert!(stdout(&output).contains(folder), "{}", stdout(&output));
    let files = [
        "README.md",
        "other.csv",
        "other.json",
        "ring.csv",
        "ring.json",
    ];
    let expected: Vec<String> = files
        .iter()
        .map(|file| format!("{folder}/{file}"))
        .collect();
    let made = place
        .tree()
        .into_iter()
        .filter(|name| name.starts_with("records/"))
        .collect::<Vec<_>>();
    assert_eq!(made, expected);
    assert_eq!(
        text(&place, &format!("{folder}/ring.json")),
        text(&place, "in/ring.json")
    );
    let readme = text(&place, &format!("{folder}/README.md"));
    for part in [
        "AMD EPYC, 2 cores",
        "Commit: 0123456789ab.",
        "pointers: 64 bits",
        "ghc: 9.0.2",
        "cargo run --release -- run ring --threads 503 --order forward --hops 1000000 --runs 5 --only go,pthreads --json ring.json",
        "`other.json`: Thread ring, 503 threads, forward order",
    ] {
        assert!(readme.contains(part), "no '{part}' in:\n{readme}");
    }
}

/// The lines name what was run, and say what they are not.
#[test]
fn the_readme_asks_for_what_was_run() {
    let place = Place::empty();
    let mut slow = quiet("slow", 9_000.0);
    slow["ops"] = json!(20_000);
    slow["params"]["hops"] = json!(20_000);
    slow["note"] = json!("20,000 operations instead of 1,000,000");
    let mut absent = quiet("absent", 1.0);
    absent["status"] = json!("skipped");
    let rows = [quiet("go", 120.0), slow, absent];
    write(&place, "in/ring.json", &machine(), &rows);
    let sizes = [10, 1_000].map(|threads| ring("go", threads, &[9.0; 2]));
    write(&place, "in/sizes.json", &machine(), &sizes);
    let mut idle = quiet("go", 1e9);
    idle["workload"] = json!("workers");
    idle["params"] = json!({"workers": 4, "idle-ms": 1_000});
    idle["ops"] = json!(4);
    write(&place, "in/workers-4.json", &machine(), &[idle]);
    let mut nothing = quiet("true", 1.0);
    nothing["workload"] = json!("process");
    nothing["params"] = json!({});
    nothing["ops"] = json!(1);
    write(&place, "in/process.json", &machine(), &[nothing]);
    let output = place.tool(WORDS);
    assert!(output.status.success(), "{}", stderr(&output));
    let readme = text(&place, "records/2026-11-21-epyc-2-cores/README.md");
    let run = "\ncargo run --release -- run";
    for part in [
        "Files of these names are what `cargo run --release -- run all` writes",
        "not what was typed",
        &format!("{run} ring --threads 503 --order forward --hops 1000000 --runs 5 --only go\n"),
        &format!("{run} ring --threads 503 --order forward --hops 20000 --runs 5 --only slow\n"),
        &format!("{run} ring --threads 10 --order forward --hops 1000000 --runs 2 --only go\n"),
        &format!("{run} process --runs 5 --only true --json process.json\n"),
        &format!(
            "{run} workers --idle-ms 1000 --workers 4 --runs 5 --only go --json workers-4.json\n"
        ),
    ] {
        assert!(readme.contains(part), "no '{part}' in:\n{readme}");
    }
    assert!(!readme.contains("only absent"), "{readme}");
}

#[test]
fn the_csv_has_one_line_a_row_and_all_figures() {
    let place = Place::empty();
    let mut odd = quiet("a,b \"c\"", 120.0);
    odd["reason"] = json!("two\nlines");
    odd["status"] = json!("timeout");
    odd["left_behind"] = json!(3);
    odd["note"] = json!("fewer, as it is \"slow\"");
    odd["gc"] = json!({"collections": 7});
    let rows = [odd, ring("go", 10, &[3.0, 1.0, 2.0])];
    write(&place, "in/ring.json", &machine(), &rows);
    let output = place.tool(WORDS);
    assert!(output.status.success(), "{}", stderr(&output));
    let sheet = text(&place, "records/2026-11-21-epyc-2-cores/ring.csv");
    let mut sheet = csv::Reader::from_reader(sheet.as_bytes());
    let heads = sheet.headers().expect("a line of names").clone();
    let lines: Vec<csv::StringRecord> = sheet.records().map(|line| line.expect("a line")).collect();
    let cell = |line: usize, name: &str| {
        let place = heads.iter().position(|head| head == name);
        let place = place.unwrap_or_else(|| panic!("no column {name} in {heads:?}"));
        lines[line][place].to_owned()
    };
    assert_eq!(lines.len(), 2);
    for (line, name, expected) in [
        (0, "contender", "a,b \"c\""),
        (0, "reason", "two\nlines"),
        (0, "status", "timeout"),
        (1, "workload", "ring"),
        (1, "category", "lightweight"),
        (1, "param:threads", "10"),
        (1, "param:order", "forward"),
        (1, "ops", "1000000"),
        (1, "runs", "3"),
        (1, "min_s", "0.001"),
        (1, "median_s", "0.002"),
        (1, "max_s", "0.003"),
        (1, "ns_per_op", "2"),
        (1, "user_s", "0.002"),
        (1, "sys_s", "0"),
        (1, "peak_rss_bytes", "1002000"),
        (1, "switches", "7"),
        (1, "instructions_per_op", ""),
        (1, "raw_wall_s", "0.003 0.001 0.002"),
        (0, "left_behind", "3"),
        (0, "note", "fewer, as it is \"slow\""),
        (0, "gc", "{\"collections\":7}"),
        (1, "left_behind", ""),
        (1, "note", ""),
        (1, "gc", ""),
    ] {
        assert_eq!(cell(line, name), expected, "{name}");
    }
}

#[test]
fn a_record_is_never_overwritten() {
    let place = Place::empty();
    write(&place, "in/ring.json", &machine(), &[quiet("go", 120.0)]);
    let output = place.tool(&format!("{WORDS} first"));
    assert!(output.status.success(), "{}", stderr(&output));
    let readme = text(&place, "records/2026-11-21-first/README.md");
    write(&place, "in/ring.json", &machine(), &[quiet("go", 130.0)]);
    refused(
        &place,
        &format!("{WORDS} first"),
        &["2026-11-21-first", "never overwritten"],
    );
    assert_eq!(text(&place, "records/2026-11-21-first/README.md"), readme);
    // Another name is another record, and the first stays.
    assert!(place.tool(&format!("{WORDS} second")).status.success());
    assert_eq!(text(&place, "records/2026-11-21-first/README.md"), readme);
}

#[test]
fn what_is_not_right_makes_no_record() {
    let place = Place::empty();
    refused(&place, WORDS, &["in is no folder"]);
    std::fs::create_dir(place.path("in")).expect("ours");
    refused(&place, WORDS, &["no results"]);
    write(&place, "in/a.json", &machine(), &[quiet("go", 120.0)]);
    for name in ["../up", "a/b", ".hidden", "two words"] {
        let output = place.args(&["record", "--from", "in", "--records", "records", name]);
        assert_eq!(output.status.code(), Some(2), "{name}");
        assert!(stderr(&output).contains(name), "{}", stderr(&output));
    }
    write(&place, "in/b.json", &machine(), &[quiet("go", 120.0)]);
    halve(&place, "in/b.json");
    refused(&place, WORDS, &["b.json, line"]);
    std::fs::write(place.path("in/b.json"), "{\"schema\": 2}").expect("ours");
    refused(&place, WORDS, &["b.json", "schema 2"]);
    let mut other = machine();
    other["cpu"] = json!("Another");
    write(&place, "in/b.json", &other, &[quiet("go", 120.0)]);
    refused(&place, WORDS, &["2 machines", "--from"]);
    let mut undated = machine();
    undated["date"] = json!("../../../etc");
    write(&place, "in/b.json", &undated, &[quiet("go", 120.0)]);
    std::fs::remove_file(place.path("in/a.json")).expect("ours");
    refused(&place, WORDS, &["date"]);
}

#[test]
fn a_record_can_be_reported_and_compared() {
    let place = Place::empty();
    let rows: Vec<Value> = ["go", "pthreads"]
        .iter()
        .map(|name| quiet(name, 9.0))
        .collect();
    write(&place, "in/ring.json", &machine(), &rows);
    assert!(place.tool(&format!("{WORDS} a")).status.success());
    for words in [
        "report records/2026-11-21-a --out page.html",
        "compare records/2026-11-21-a in/ring.json --fail",
        "compare records/2026-11-21-a records/2026-11-21-a --fail",
    ] {
        let output = place.tool(words);
        assert!(output.status.success(), "{words}: {}", stderr(&output));
    }
}
