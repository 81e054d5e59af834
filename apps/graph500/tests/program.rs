//! The program as people start it: what it prints, and how it refuses bad input.

use std::process::{Command, Output};

fn run(words: &[&str]) -> Output {
    let program = env!("CARGO_BIN_EXE_graph500");
    Command::new(program)
        .args(words)
        .output()
        .expect("it starts")
}

#[track_caller]
fn printed(words: &[&str]) -> String {
    let output = run(words);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{words:?}: {errors}");
    String::from_utf8(output.stdout).expect("text")
}

/// That it is refused with exit code 2, nothing on the standard output, and these words.
#[track_caller]
fn refused(words: &[&str], expected: &str) {
    let output = run(words);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{words:?}: {errors}");
    assert!(errors.contains(expected), "{words:?}: {errors}");
    assert!(output.stdout.is_empty(), "{words:?}");
}

const NAMES: [&str; 35] = [
    "SCALE",
    "edgefactor",
    "NBFS",
    "graph_generation",
    "num_workers",
    "construction_time",
    "bfs  min_time",
    "bfs  firstquartile_time",
    "bfs  median_time",
    "bfs  thirdquartile_time",
    "bfs  max_time",
    "bfs  mean_time",
    "bfs  stddev_time",
    "min_nedge",
    "firstquartile_nedge",
    "median_nedge",
    "thirdquartile_nedge",
    "max_nedge",
    "mean_nedge",
    "stddev_nedge",
    "bfs  min_TEPS",
    "bfs  firstquartile_TEPS",
    "bfs  median_TEPS",
    "bfs  thirdquartile_TEPS",
    "bfs  max_TEPS",
    "bfs  harmonic_mean_TEPS",
    "bfs  harmonic_stddev_TEPS",
    "bfs  min_validate",
    "bfs  firstquartile_validate",
    "bfs  median_validate",
    "bfs  thirdquartile_validate",
    "bfs  max_validate",
    "bfs  mean_validate",
    "bfs  stddev_validate",
    "Validation",
];

#[test]
fn it_prints_what_the_reference_code_does() {
    for how in ["serial", "par", "messages", "futures"] {
        let text = printed(&["--scale", "8", "--how", how]);
        let lines: Vec<(&str, &str)> = text
            .lines()
            .filter_map(|line| line.split_once(':'))
            .collect();
        let names: Vec<&str> = lines.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, NAMES, "{how}");
        let value = |name: &str| {
            let line = lines.iter().find(|(own, _)| *own == name);
            line.map_or("", |(_, value)| value.trim())
        };
        assert_eq!(
            [value("SCALE"), value("edgefactor"), value("NBFS")],
            ["8", "16", "64"]
        );
        assert_eq!(value("Validation"), "PASSED");
        let rate = value("bfs  harmonic_mean_TEPS").strip_prefix("!  ");
        assert!(rate.is_some_and(|rate| rate.parse::<f64>().is_ok_and(|rate| rate > 0.0)));
    }
    let text = printed(&["--scale", "8", "--no-validate"]);
    assert!(text.ends_with("Validation: SKIPPED\n") && !text.contains("_validate"));
}

#[test]
fn it_prints_json_with_the_same_edges_whatever_searches() {
    let edges = |how: &str| {
        let text = printed(&["--scale", "8", "--roots", "9", "--how", how, "--json"]);
        let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(json["validation"], "passed");
        assert!(
            json["teps"]["harmonic_mean"]
                .as_f64()
                .is_some_and(|rate| rate > 0.0)
        );
        let searches = json["searches"].as_array().expect("an array").clone();
        assert_eq!(searches.len(), 9);
        searches
            .into_iter()
            .map(|search| [search["root"].clone(), search["edges"].clone()])
            .collect::<Vec<_>>()
    };
    let serial = edges("serial");
    for how in ["par", "messages", "futures"] {
        assert_eq!(edges(how), serial, "{how}");
    }
}

#[test]
fn the_lab_gets_an_answer_and_figures() {
    let output = run(&[
        "--scale",
        "8",
        "--searches",
        "7",
        "--model",
        "pool:2",
        "--lab",
    ]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "7\n");
    let errors = String::from_utf8_lossy(&output.stderr);
    let figures = errors
        .lines()
        .last()
        .and_then(|line| line.strip_prefix("figures: "));
    let names: Vec<&str> = figures
        .expect("a line of figures")
        .split_whitespace()
        .filter_map(|word| word.split_once('=').map(|(name, _)| name))
        .collect();
    assert_eq!(
        names,
        [
            "ns_per_edge",
            "mteps",
            "search_ms",
            "construction_ms",
            "edges"
        ]
    );
}

#[test]
fn a_graph_from_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("edges.txt");
    let path = path.to_str().expect("text");
    std::fs::write(path, "0 1\n1 2\n2 2\n").expect("written");
    let text = printed(&["--edges", path]);
    // Three vertices with neighbours, so three searches; the loop counts.
    assert!(
        text.contains("NBFS:                           3\n"),
        "{text}"
    );
    assert!(
        text.contains("max_nedge:                      3\n"),
        "{text}"
    );
    refused(
        &["--edges", path, "--vertices", "2"],
        "edges.txt, line 2: vertex 2 is out of range; expected one below 2",
    );
    std::fs::write(path, "0 1\nnonsense\n").expect("written");
    refused(
        &["--edges", path],
        "edges.txt, line 2: found \"nonsense\"; expected an edge",
    );
    std::fs::write(path, "").expect("written");
    refused(&["--edges", path], "edges.txt has no edge");
    std::fs::write(path, "1 1\n").expect("written");
    refused(&["--edges", path], "edges.txt: no edge joins two vertices");
    std::fs::remove_file(path).expect("removed");
    refused(&["--edges", path], "No such file");
    refused(
        &["--edges", folder.path().to_str().expect("text")],
        "is a folder",
    );
}

#[test]
fn bad_options_are_refused() {
    refused(
        &["--scale", "40"],
        "a graph of scale 40 with edge factor 16 takes about 288.0 TiB of memory, and",
    );
    refused(
        &["--scale", "4000000000"],
        "EiB of memory, and this machine",
    );
    refused(
        &["--scale", "20", "--edge-factor", "1000000000000"],
        "of memory, and",
    );
    refused(&["--scale", ""], "--scale");
    refused(&["--scale", "0"], "0 is not in 1");
    refused(&["--scale", "1x"], "1x");
    refused(&["--roots", "0"], "--roots");
    refused(
        &["--model", "pool:none"],
        "is no threading model: expected single, pool, pool:N",
    );
    refused(
        &["--model", "single", "--workers", "2"],
        "--workers: the model single has none; give --model pool",
    );
    refused(
        &["--model", "pool:4", "--workers", "2"],
        "--model pool:4 and --workers 2 contradict each other; leave one of them out",
    );
    printed(&["--scale", "8", "--model", "pool:2", "--workers", "2"]);
    refused(
        &["--how", "serial", "--workers", "2"],
        "--workers is for another --how than serial; leave it out",
    );
    refused(
        &["--how", "par", "--batch", "2"],
        "--batch is for --how messages or futures; leave it out",
    );
    refused(
        &["--how", "messages", "--direction", "optimising"],
        "messages and futures search top-down",
    );
    refused(&["--edges", "a", "--scale", "3"], "cannot be used with");
    refused(&["--vertices", "3"], "--edges");
    refused(
        &["--how", "magic"],
        "possible values: serial, par, messages, futures",
    );
    let help = printed(&["--help"]);
    for option in [
        "--scale",
        "--edges",
        "--how",
        "--direction",
        "--over",
        "--batch",
        "--model",
        "--json",
    ] {
        assert!(help.contains(option), "{option}");
    }
}
