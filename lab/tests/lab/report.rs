//! The report: what stands in it, from which files, and what it refuses.

use serde_json::{Value, json};

use crate::samples::{halve, machine, quiet, ring, write};
use crate::support::{Place, RIGHT, stderr, stdout};

fn page(place: &Place, words: &str) -> String {
    let output = place.tool(words);
    assert!(output.status.success(), "{}", stderr(&output));
    std::fs::read_to_string(place.path("page.html")).expect("the page")
}

/// The page's own data.
fn data(page: &str) -> Value {
    let (_, rest) = page.split_once("id=\"data\">").expect("the data");
    let (text, _) = rest.split_once("</script>").expect("its end");
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn one_file() {
    let place = Place::empty();
    let mut rows = vec![quiet("gossamer/single", 10.0), quiet("go", 120.0)];
    let mut failed = quiet("crash", 1.0);
    failed["status"] = json!("failed");
    failed["reason"] = json!("killed by SIGSEGV");
    rows.push(failed);
    write(&place, "x.json", &machine(), &rows);
    let page = page(&place, "report x.json --out page.html");
    for part in [
        "Thread ring, 503 threads, forward order",
        "data-contender=\"gossamer/single\"",
        "12.0 x",
        "failed: killed by SIGSEGV",
        "target/measured/go ring --threads 503",
        "milliseconds, in the order measured: 120.0 120.2 119.8 120.1 119.9",
        "pointer bits",
        "9.0.2",
        "History, not measured here",
        "28.7",
    ] {
        assert!(page.contains(part), "no '{part}'");
    }
    assert_eq!(
        data(&page)["files"]["x.json"]["results"][1]["contender"],
        "go"
    );
    // 120 ns a hop are 1.2 s for the ten million hops of 2008, whose seconds stand beside.
    assert!(!page.contains("class=\"warnings\""), "nothing to warn of");
    assert_eq!(place.names(), ["page.html", "x.json"]);
}

#[test]
fn it_loads_nothing() {
    let place = Place::empty();
    write(&place, "x.json", &machine(), &[quiet("go", 1.0)]);
    let page = page(&place, "report x.json --out page.html");
    for word in ["src=", "<link", "url(", "@import", "href=\"http", "fetch("] {
        assert!(!page.contains(word), "it loads something: {word}");
    }
}

#[test]
fn everything_is_escaped() {
    let place = Place::empty();
    let evil = "</script><script>alert(\"1\")</script>&amp;";
    let mut row = quiet(evil, 5.0);
    for key in ["category", "note", "said", "command", "reason"] {
        row[key] = json!(evil);
    }
    row["params"]["order"] = json!(evil);
    row["gc"] = json!({evil: evil});
    let mut other = quiet("go", 5.0);
    other["workload"] = json!(evil);
    let mut machine = machine();
    for key in ["cpu", "os", "commit", "date"] {
        machine[key] = json!(evil);
    }
    machine["versions"] = json!({evil: evil});
    write(&place, "x.json", &machine, &[row, other]);
    let page = page(&place, "report x.json --out page.html");
    assert!(!page.contains("<script>alert"), "it became markup");
    assert!(!page.contains("alert(\"1\")"), "a quote became markup");
    assert_eq!(
        data(&page)["files"]["x.json"]["results"][0]["contender"],
        evil
    );
    assert_eq!(
        page.matches("</script>").count(),
        2,
        "data and script, no more"
    );
}

#[test]
fn sizes_in_one_file_or_in_several_are_a_series() {
    let cost = |threads: u64| (threads as f64).sqrt();
    let sizes = [10, 100, 1_000, 10_000];
    let row = |threads| ring("go", threads, &[cost(threads); 5]);
    let one = Place::empty();
    let rows: Vec<Value> = sizes.into_iter().map(row).collect();
    write(&one, "sizes.json", &machine(), &rows);
    let together = page(&one, "report sizes.json --out page.html");
    let many = Place::empty();
    for threads in sizes {
        write(
            &many,
            &format!("all/size-{threads}.json"),
            &machine(),
            &[row(threads)],
        );
    }
    let apart = page(&many, "report all --out page.html");
    for page in [&together, &apart] {
        for part in [
            "Against threads",
            "<td>0.50</td><td>200</td>",
            "class=\"lines\"",
        ] {
            assert!(page.contains(part), "no '{part}'");
        }
    }
    assert!(
        apart.contains("4 runs of the lab"),
        "files of a series drift apart"
    );
    assert!(!together.contains("runs of the lab, so"));
}

#[test]
fn means_are_over_what_both_have() {
    let place = Place::empty();
    write(
        &place,
        "a.json",
        &machine(),
        &[quiet("gossamer/x", 10.0), quiet("go", 20.0)],
    );
    let other = |name, ns| {
        let mut row = quiet(name, ns);
        row["workload"] = json!("yield");
        row["params"] = json!({"yields": 1_000_000, "tasks": 20});
        row
    };
    write(
        &place,
        "b.json",
        &machine(),
        &[
            other("gossamer/x", 10.0),
            other("go", 80.0),
            other("c", 30.0),
        ],
    );
    let page = page(&place, "report a.json b.json --out page.html");
    // Twice and eight times as slow: four times, and the logs of both are ln 2 from that.
    assert!(page.contains("4.00<small> ×÷ 2.67 of 2</small>"), "{page}");
    assert!(page.contains("3.00<small> of 1</small>"));
}

#[test]
fn what_is_no_race_is_in_no_mean() {
    let place = Place::empty();
    let idle = |name| {
        let mut row = quiet(name, 1e9);
        row["workload"] = json!("workers");
        row["params"] = json!({"workers": 4, "idle-ms": 1_000});
        row
    };
    write(
        &place,
        "a.json",
        &machine(),
        &[quiet("gossamer/x", 10.0), quiet("go", 20.0)],
    );
    write(
        &place,
        "b.json",
        &machine(),
        &[idle("gossamer/x"), idle("go")],
    );
    let page = page(&place, "report a.json b.json --out page.html");
    assert!(page.contains("2.00<small> of 1</small>"), "{page}");
    assert!(page.contains("4 workers, idle for 1000 ms"));
}

#[test]
fn what_to_doubt_is_said_in_words() {
    let place = Place::empty();
    write(
        &place,
        "a.json",
        &machine(),
        &[ring("go", 503, &[100.0, 100.0, 130.0])],
    );
    let mut other = machine();
    other["commit"] = json!("ba9876543210+");
    other["load_1min"] = json!(1.5);
    other["cpu"] = json!("Another");
    write(&place, "b.json", &other, &[quiet("go", 100.0)]);
    let page = page(&place, "report a.json b.json --out page.html");
    for part in [
        "Fewer than 5 runs: go (3)",
        "go (30 %)",
        "b.json (1.50)",
        "changes that were not committed, so nobody can measure it again: b.json",
        "from 2 machines",
        "at 2 commits",
    ] {
        assert!(page.contains(part), "no '{part}'");
    }
}

#[test]
fn collectors_have_a_table_under_their_own_names() {
    let place = Place::empty();
    let mut row = quiet("lwt", 100.0);
    row["gc"] = json!({"minor_collections": 12_345, "share": 0.3});
    row["instructions_per_op"] = json!(98.04);
    write(&place, "a.json", &machine(), &[row, quiet("c", 1.0)]);
    let page = page(&place, "report a.json --out page.html");
    assert!(page.contains("<th>minor_collections</th>") && page.contains("<td>12345</td>"));
    assert!(page.contains("<th>instructions/hop</th>") && page.contains("<td>98.0</td>"));
}

#[test]
fn a_bad_file_that_was_named_is_an_error_and_nothing_is_written() {
    let place = Place::empty();
    for name in ["good.json", "half.json", "all/x.json"] {
        write(&place, name, &machine(), &[quiet("go", 1.0)]);
    }
    halve(&place, "half.json");
    halve(&place, "all/x.json");
    std::fs::write(place.path("new.json"), "{\"schema\": 7}").expect("ours");
    std::fs::create_dir(place.path("empty")).expect("ours");
    for (words, parts) in [
        ("good.json half.json", ["half.json, line", "half-written"]),
        ("all", ["x.json, line", "half-written"]),
        ("good.json new.json", ["new.json", "schema 7, expected 1"]),
        ("good.json empty", ["empty", "no results"]),
        ("none.json", ["none.json", "cannot read"]),
        ("good.json --out empty", ["--out", "empty"]),
        ("good.json --out none/x.html", ["--out", "none/x.html"]),
    ] {
        let output = place.tool(&format!("report {words}"));
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{words}: {message}");
        for part in parts {
            assert!(message.contains(part), "{words}: no '{part}' in: {message}");
        }
    }
    let left = ["all", "empty", "good.json", "half.json", "new.json"];
    assert_eq!(place.names(), left);
}

#[test]
fn a_bad_file_of_the_folder_is_named_and_left_alone() {
    let place = Place::empty();
    for name in ["target/lab/good.json", "target/lab/half.json"] {
        write(&place, name, &machine(), &[quiet("go", 1.0)]);
    }
    halve(&place, "target/lab/half.json");
    let before = std::fs::read(place.path("target/lab/half.json")).expect("ours");
    let output = place.tool("report");
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("half.json, line"),
        "{}",
        stderr(&output)
    );
    let page = std::fs::read_to_string(place.path("target/lab/report.html")).expect("the page");
    assert!(data(&page)["files"]["half.json"].is_null());
    assert!(data(&page)["files"]["good.json"].is_object());
    let after = std::fs::read(place.path("target/lab/half.json")).expect("ours");
    assert_eq!(before, after);
}

#[test]
fn a_run_reports_on_everything_in_the_folder() {
    let place = Place::with_fakes(&[("good", RIGHT)]);
    write(&place, "out/older.json", &machine(), &[quiet("go", 1.0)]);
    std::fs::write(place.path("out/broken.json"), "{").expect("ours");
    let output = place.run("run ring --hops 10 --runs 1");
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("broken.json, line 1"),
        "{}",
        stderr(&output)
    );
    let text = stdout(&output);
    assert!(
        text.contains("out/report.html") && text.contains("out/ring.html"),
        "{text}"
    );
    let page = |name| data(&std::fs::read_to_string(place.path(name)).expect("a page"));
    let files = |page: Value| page["files"].as_object().map(serde_json::Map::len);
    assert_eq!(files(page("out/report.html")), Some(2));
    assert_eq!(files(page("out/ring.html")), Some(1));
}

#[test]
fn without_results_there_is_nothing_to_report() {
    let place = Place::empty();
    for folder in ["", "target/lab"] {
        std::fs::create_dir_all(place.path(folder)).expect("ours");
        let output = place.tool("report");
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(
            stderr(&output).contains("target/lab"),
            "{}",
            stderr(&output)
        );
    }
}
