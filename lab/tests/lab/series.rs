//! Several workloads, or sizes, with one command.

use crate::support::{Place, RIGHT, stderr, stdout};

#[test]
fn sizes_are_one_file_and_one_table() {
    // The second one breaks beyond a hundred threads.
    let weak = format!("test $2 -le 100 || exit 3; {RIGHT}");
    let place = Place::with_fakes(&[("steady", RIGHT), ("weak", &weak)]);
    let output = place.run("run sizes --quick --runs 1");
    assert!(output.status.success(), "{}", stderr(&output));
    let results = place.json("out/sizes.json");
    let rows = results["results"].as_array().expect("rows");
    let threads: Vec<u64> = rows
        .iter()
        .filter_map(|row| row["params"]["threads"].as_u64())
        .collect();
    assert_eq!(threads, [10, 10, 100, 100, 1_000, 1_000]);
    let text = stdout(&output);
    assert!(text.contains("exponent"), "{text}");
    assert!(
        text.contains("weak, 1,000: failed: exit status 3"),
        "{text}"
    );
}

#[test]
fn msgsend_is_measured_along_its_options() {
    // The options are `--requests N --senders S --interval I`.
    let place = Place::with_fakes_of("msgsend", &[("serves", "echo $(( $2 * 100 ))")]);
    for (name, option, usual) in [
        ("senders", "senders", ("interval", 1)),
        ("intervals", "interval", ("senders", 4)),
    ] {
        let output = place.run(&format!("run {name} --quick --runs 1"));
        assert!(output.status.success(), "{}", stderr(&output));
        let results = place.json(&format!("out/{name}.json"));
        let rows = results["results"].as_array().expect("rows");
        let points: Vec<u64> = rows
            .iter()
            .filter_map(|row| row["params"][option].as_u64())
            .collect();
        assert_eq!(points, [1, 10, 100]);
        assert!(
            rows.iter()
                .all(|row| row["status"] == "ok" && row["params"][usual.0] == usual.1)
        );
        let text = stdout(&output);
        assert!(
            text.contains(&format!("msgsend by --{option}, 3 values")),
            "{text}"
        );
    }
    // The report has a line along each.
    let page = std::fs::read_to_string(place.path("out/report.html")).expect("the page");
    assert!(page.contains("senders") && page.contains("interval"));
}

#[test]
fn all_runs_what_the_contenders_have() {
    let place = Place::with_fakes_of("yield", &[("idle", "echo $2")]);
    let output = place.run("run all --quick --runs 1");
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(place.row("out/yield.json", "idle")["status"], "ok");
    assert!(!place.path("out/spawn.json").exists(), "nobody has it");
    let output = place.run("run all --only idle,nobody");
    assert_eq!(output.status.code(), Some(2));
    let message = stderr(&output);
    assert!(
        message.contains("'nobody'") && message.contains("idle"),
        "{message}"
    );
}

/// The estimate of all three is a nanosecond each, and two of them are wrong by any factor.
#[test]
fn who_misleads_costs_a_share_of_the_time_and_is_said_to_be_cut() {
    let marks = Place::empty();
    let once = marks.path("once");
    let moody = format!(
        "mkdir '{}' 2>/dev/null || exec sleep 1000; echo $2",
        once.display()
    );
    let place = Place::with_fakes_of(
        "yield",
        &[
            ("hangs", "exec sleep 1000"),
            ("misled", "test $2 -le 500000 || exec sleep 1000; echo $2"),
            ("moody", &moody),
            ("steady", "echo $2"),
        ],
    );
    let output = place.run("run all --quick --within 12");
    assert!(output.status.success(), "{}", stderr(&output));
    let table = stdout(&output);
    for (name, status, runs, key, said) in [
        ("hangs", "timeout", 0, "reason", "cut: stopped after "),
        ("misled", "ok", 3, "note", "cut to "),
        (
            "moody",
            "ok",
            1,
            "cut",
            "cut to fewer than 3 runs: one more was stopped after ",
        ),
        ("steady", "ok", 3, "params", ""),
    ] {
        let row = place.row("out/yield.json", name);
        assert_eq!(
            (&row["status"], &row["runs"]),
            (&status.into(), &runs.into()),
            "{row:#}"
        );
        let words = row[key].as_str().unwrap_or_default();
        assert!(words.starts_with(said), "{row:#}");
        assert!(table.contains(words), "no '{words}' in {table}");
    }
    let misled = place.row("out/yield.json", "misled");
    // How many it was cut to depends on how many workloads share the time.
    let ops = misled["ops"].as_u64().expect("a number");
    assert!((100_000..=500_000).contains(&ops), "{misled:#}");
    assert_eq!(misled["params"]["yields"], ops);
    let command = misled["command"].as_str().unwrap_or_default();
    assert!(command.contains(&format!("--yields {ops}")), "{misled:#}");
    let page = std::fs::read_to_string(place.path("out/report.html")).expect("the page");
    assert!(
        page.contains("Cut, because more took longer than a share of the time: moody, misled"),
        "{page}"
    );
}
