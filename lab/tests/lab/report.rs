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
        // As they were printed; and the two of a week later.
        "<td class=\"then\">4.10</td><td class=\"then\">3788</td>",
        "<td class=\"then\">1.22</td><td class=\"then\">2680</td>",
        "<td class=\"word\">eigenclass.org, 2008-04-01</td><td class=\"then\">0.076</td>",
    ] {
        assert!(page.contains(part), "no '{part}'");
    }
    assert_eq!(
        data(&page)["files"]["x.json"]["results"][1]["contender"],
        "go"
    );
    let (_, race) = page.split_once("class=\"race\"").expect("a race");
    assert_eq!(race.matches(">category</th>").count(), 1, "one column");
    assert!(page.contains("<td class=\"word category\">lightweight</td>"));
    assert!(!page.contains("class=\"warnings\""), "nothing to warn of");
    assert_eq!(place.names(), ["page.html", "x.json"]);
}

/// 100 ns a hop are 1 s for the ten million hops of 2008, and 1,100,600 bytes are in the KB of
/// 2008, which are of 1,024 bytes.
#[test]
fn beside_history_stands_what_can_be_put_beside_it() {
    let place = Place::empty();
    write(&place, "x.json", &machine(), &[quiet("ghc", 100.0)]);
    let page = page(&place, "report x.json --out page.html");
    let line = "<td class=\"then\">1.22</td><td class=\"then\">2680</td>\
                <td class=\"word\">ghc</td><td>1.00</td><td>1,074</td>";
    assert!(page.contains(line), "{page}");
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
    // From the quickest run to the slowest, where they are not alike, beside the line itself.
    let errors = |page: &str| {
        let (_, chart) = page.split_once("class=\"lines\"").expect("a chart");
        let (chart, _) = chart.split_once("</svg>").expect("its end");
        let (_, layers) = chart.split_once("<g class=").expect("a layer");
        layers.matches("<polyline").count()
    };
    let rows = sizes.map(|threads| ring("go", threads, &[1.0, 2.0, 3.0]));
    write(&one, "sizes.json", &machine(), &rows);
    let uneven = page(&one, "report sizes.json --out page.html");
    assert_eq!([errors(&together), errors(&uneven)], [1, 5]);
    assert!(
        apart.contains("4 runs of the lab"),
        "files of a series drift apart"
    );
    assert!(!together.contains("runs of the lab, so"));
}

/// At 10,000 threads the slow one made a tenth of the hops: that is no point of its line.
#[test]
fn rows_with_fewer_operations_bend_no_exponent() {
    let place = Place::empty();
    let sizes = [10_u64, 100, 1_000, 10_000];
    let row = |name: &str, threads: u64| {
        let mut row = ring(name, threads, &[(threads as f64).sqrt(); 5]);
        let hops = 10_000_000 / threads;
        row["ops"] = json!(hops);
        row["params"]["hops"] = json!(hops);
        row
    };
    let mut rows: Vec<Value> = sizes
        .into_iter()
        .flat_map(|threads| ["go", "slow"].map(|name| row(name, threads)))
        .collect();
    let cut = rows.last_mut().expect("rows");
    cut["note"] = json!("100 hops instead of 1,000: too slow");
    cut["ops"] = json!(100);
    cut["params"]["hops"] = json!(100);
    cut["ns_per_op"] = json!(1_000.0);
    write(&place, "sizes.json", &machine(), &rows);
    let page = page(&place, "report sizes.json --out page.html");
    assert_eq!(page.matches("<td>0.50</td>").count(), 2, "{page}");
    assert!(page.contains(">~1,000</td>"), "{page}");
    for heading in [
        "10<br><small>1,000,000 hops</small>",
        "10,000<br><small>1,000 hops</small>",
    ] {
        assert!(page.contains(heading), "no '{heading}' in {page}");
    }
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
    other["load_1min"] = json!(3.5);
    other["cpu"] = json!("Another");
    write(&place, "b.json", &other, &[quiet("go", 100.0)]);
    let page = page(&place, "report a.json b.json --out page.html");
    for part in [
        "Fewer than 5 runs: go (3)",
        "go (30 %)",
        "more than 1 above the number of cores; the lab's own building",
        "b.json (3.50 on 2 cores)",
        "changes that were not committed, so nobody can measure it again: b.json",
        "from 2 machines",
        "at 2 commits",
    ] {
        assert!(page.contains(part), "no '{part}'");
    }
}

/// Two cores that the lab itself kept busy until then.
#[test]
fn the_labs_own_load_is_no_other_work() {
    let place = Place::empty();
    let mut busy = machine();
    busy["load_1min"] = json!(2.6);
    write(&place, "a.json", &busy, &[quiet("go", 100.0)]);
    let page = page(&place, "report a.json --out page.html");
    assert!(!page.contains("class=\"warnings\""), "{page}");
}

#[test]
fn files_of_one_name_are_all_there_and_once() {
    let place = Place::empty();
    for (folder, ns) in [("a/x", 1.0), ("b/x", 2.0), ("c/y", 3.0)] {
        let file = format!("{folder}/ring.json");
        write(&place, &file, &machine(), &[quiet("go", ns)]);
    }
    let again = "./a/x/ring.json a/../a/x a/x/ring.json";
    let words = format!("report a/x/ring.json b/x c/y {again} --out page.html");
    let page = page(&place, &words);
    let data = data(&page);
    let files = data["files"].as_object().expect("files");
    let names: Vec<&str> = files.keys().map(String::as_str).collect();
    assert_eq!(names, ["x/ring.json", "x/ring.json (2)", "y/ring.json"]);
    assert!(page.contains("3 results files and 3 races"), "{page}");
}

#[test]
fn the_page_replaces_no_results() {
    let place = Place::empty();
    for name in ["x.json", "y.json", "plain"] {
        write(&place, name, &machine(), &[quiet("go", 1.0)]);
    }
    std::os::unix::fs::symlink(place.path("x.json"), place.path("link.html")).expect("ours");
    let before: Vec<Vec<u8>> = ["x.json", "y.json", "plain"]
        .map(|name| std::fs::read(place.path(name)).expect("ours"))
        .to_vec();
    for words in [
        "x.json --out x.json",
        "x.json --out ./link.html",
        "x.json --out y.json",
        "x.json --out new.json",
        "plain --out plain",
    ] {
        let output = place.tool(&format!("report {words}"));
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{words}: {message}");
        assert!(message.contains("--out: ") && message.contains(".html"));
    }
    let after: Vec<Vec<u8>> = ["x.json", "y.json", "plain"]
        .map(|name| std::fs::read(place.path(name)).expect("ours"))
        .to_vec();
    assert_eq!(before, after);
    assert!(!place.path("new.json").exists());
}

/// What `lab run all` leaves: the ring, and the ring at other sizes with as many contenders.
#[test]
fn the_usual_ring_is_the_overviews() {
    let place = Place::empty();
    let names = ["gossamer/x", "go"];
    let mut skipped = quiet("lwt", 1.0);
    skipped["status"] = json!("skipped");
    let mut rows: Vec<Value> = names.iter().map(|name| quiet(name, 10.0)).collect();
    rows.push(skipped);
    write(&place, "ring.json", &machine(), &rows);
    let sizes = [10, 1_000, 10_000].into_iter().flat_map(|threads| {
        let all = ["gossamer/x", "go", "lwt"];
        all.map(|name| ring(name, threads, &[9.0; 5]))
    });
    let sizes: Vec<Value> = sizes.collect();
    let mut later = machine();
    later["date"] = json!("2026-11-21T12:03:31Z");
    write(&place, "sizes.json", &later, &sizes);
    // Two more of the ring make a series of numbers of hops, which takes it out of no other.
    for hops in [2_000_000, 4_000_000] {
        let mut row = quiet("go", 10.0);
        row["ops"] = json!(hops);
        row["params"]["hops"] = json!(hops);
        write(&place, &format!("hops-{hops}.json"), &machine(), &[row]);
    }
    let page = page(&place, "report . --out page.html");
    let (_, overview) = page.split_once("class=\"overview\"").expect("an overview");
    let (overview, _) = overview.split_once("</table>").expect("its end");
    assert!(
        overview.contains("<small>threads 503, order forward</small>"),
        "{overview}"
    );
    assert_eq!(overview.matches("href=").count(), 1, "{overview}");
    assert!(page.contains("<h3>Thread ring, 503 threads, forward order"));
    assert!(page.contains("<summary>Thread ring, 10 threads, forward order"));
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
