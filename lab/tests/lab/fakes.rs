//! Contenders that misbehave: each gets its own row, and the others run all the same.

use serde_json::{Value, json};

use crate::support::{Event, Fifo, Place, RIGHT, stderr, stdout};

#[test]
fn each_misdeed_has_its_row_and_stops_nobody() {
    let place = Place::with_fakes(&[
        ("crash", "kill -SEGV $$"),
        (
            "fails",
            "echo first >&2; echo 'no more threads' >&2; exit 3",
        ),
        ("wrong", "echo 4"),
        ("silent", "true"),
        ("all-out", "kill -KILL 0"),
        ("hangs", "exec sleep 1000"),
        ("floods", "exec yes"),
        ("grumbles", "exec yes >&2"),
        (
            "complains",
            "yes | head -c 3000000 >&2; echo $(( $4 % $2 + 1 ))",
        ),
        ("good", RIGHT),
    ]);
    let output =
        place.run("run ring --threads 5 --hops 12 --runs 2 --timeout 4 --json results.json");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let row = |name: &str| place.row("results.json", name);
    for (name, status, reason) in [
        ("crash", "failed", "killed by SIGSEGV"),
        ("fails", "failed", "exit status 3: no more threads"),
        ("wrong", "failed", "printed \"4\", expected \"3\""),
        ("silent", "failed", "printed \"\", expected \"3\""),
        (
            "all-out",
            "failed",
            "no figures, the launcher ended with signal: 9 (SIGKILL)",
        ),
        ("hangs", "timeout", "stopped after 4 s"),
        (
            "floods",
            "failed",
            "printed more than 1 MiB instead of one line",
        ),
        ("grumbles", "failed", "printed more than 64 MiB of errors"),
    ] {
        let row = row(name);
        assert_eq!(
            (&row["status"], &row["reason"]),
            (&json!(status), &json!(reason)),
            "{name}"
        );
        assert_eq!(row["runs"], 0, "{name}");
        let line = format!("{status}: {reason}");
        assert!(stdout(&output).contains(&line), "no '{line}' in the table");
    }
    for name in ["good", "complains"] {
        let row = row(name);
        assert_eq!(
            (&row["status"], &row["runs"]),
            (&json!("ok"), &json!(2)),
            "{row:#}"
        );
    }
}

#[test]
fn one_bad_run_spoils_the_row() {
    // The second of three runs goes wrong; the contender counts its runs in two folders.
    let marks = Place::empty();
    let line = format!(
        "if mkdir '{0}'; then :; elif mkdir '{1}'; then exit 7; fi 2>/dev/null; {RIGHT}",
        marks.path("once").display(),
        marks.path("twice").display()
    );
    let place = Place::with_fakes(&[("moody", &line), ("good", RIGHT)]);
    let output = place.run("run ring --hops 10 --runs 3 --json results.json");
    assert!(output.status.success(), "{}", stderr(&output));
    let row = place.row("results.json", "moody");
    assert_eq!(
        (&row["status"], &row["reason"]),
        (&json!("failed"), &json!("exit status 7"))
    );
    assert_eq!(row["runs"], 1);
    assert_eq!(place.row("results.json", "good")["runs"], 3);
}

/// Runs a fake that leaves processes behind, all of which have the pipe open as 3; its row, and
/// what the lab printed.
fn row_of_parent(line: &str, timeout: u32) -> (Value, String) {
    let pipes = Place::empty();
    let pipe = pipes.path("pipe");
    let line = format!("exec 3>'{}'; {line}", pipe.display());
    let place = Place::with_fakes(&[("parent", &line), ("good", RIGHT)]);
    let fifo = Fifo::new(&pipe);
    let words = format!("run ring --hops 10 --runs 1 --timeout {timeout} --json results.json");
    let output = place.run(&words);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(fifo.next(), Event::Closed, "a process was left behind");
    let good = place.row("results.json", "good");
    assert_eq!((&good["status"], &good["runs"]), (&json!("ok"), &json!(1)));
    assert_eq!(good["left_behind"], Value::Null);
    (place.row("results.json", "parent"), stdout(&output))
}

#[test]
fn children_that_outlive_their_contender_are_ended_and_its_row_says_so() {
    // In its group; with the lab's end of the output; out of its session; without a parent and
    // with children; many.
    for (line, left) in [
        ("sleep 1000 2>&3 & ", 1),
        ("setsid sleep 1000 >&3 2>&3 & ", 1),
        ("(setsid sh -c 'sleep 1000 & sleep 1000; true' &); ", 3),
        (
            "i=0; while [ $i -lt 100 ]; do setsid sleep 1000 & i=$((i+1)); done; ",
            100,
        ),
    ] {
        let (row, printed) = row_of_parent(&format!("{line}{RIGHT}"), 60);
        let status = (&row["status"], &row["runs"]);
        assert_eq!(status, (&json!("ok"), &json!(1)), "{line}: {row:#}");
        assert_eq!(row["left_behind"], left, "{line}: {row:#}");
        assert_eq!(row["note"], Value::Null);
        let said = match left {
            1 => "parent left 1 process behind, which was ended".into(),
            _ => format!("parent left {left} processes behind, which were ended"),
        };
        assert!(printed.contains(&said), "{line}: {printed}");
    }
}

#[test]
fn who_makes_processes_without_end_is_ended() {
    // More than a lab that works ever lets come, and fewer than a machine has numbers for: one that fails fails alone.
    let without_end = |makes| {
        format!("n=0; while [ $n -lt 20000 ]; do n=$((n + 1)); {makes} & done; exec sleep 1000")
    };
    let makes = without_end("setsid sleep 1000");
    // Out of its group, when the contender is gone; in it, when its time is up.
    let (row, _) = row_of_parent(&format!("setsid sh -c '{makes}' & {RIGHT}"), 60);
    assert_eq!(row["status"], "ok", "{row:#}");
    assert!(row["left_behind"].as_u64() > Some(1), "{row:#}");
    let (row, _) = row_of_parent(&without_end("sleep 1000"), 1);
    assert_eq!(row["status"], "timeout", "{row:#}");
}

#[test]
fn who_was_there_before_the_lab_stays() {
    let place = Place::with_fakes(&[("good", RIGHT)]);
    let fifo = Fifo::new(&place.path("pipe"));
    let made = std::process::Command::new("mkfifo")
        .arg(place.path("go"))
        .status();
    assert!(made.expect("mkfifo starts").success());
    let mut go = std::fs::OpenOptions::new();
    let mut go = go
        .read(true)
        .write(true)
        .open(place.path("go"))
        .expect("ours");
    let lab = place.lab("run ring --hops 10 --runs 2 --json results.json");
    let mut shell = std::process::Command::new("sh");
    let line =
        "exec 3>pipe; { read word <go; echo $word >&3; } >/dev/null 2>&1 & exec 3>&-; exec \"$@\"";
    shell
        .args(["-c", line, "sh"])
        .arg(lab.get_program())
        .args(lab.get_args());
    let output = shell
        .current_dir(place.path(""))
        .output()
        .expect("it starts");
    assert!(output.status.success(), "{}", stderr(&output));
    std::io::Write::write_all(&mut go, b"there\n").expect("the pipe is open");
    assert_eq!(fifo.next(), Event::Line("there".into()));
    let row = place.row("results.json", "good");
    assert_eq!(
        (&row["status"], &row["left_behind"]),
        (&json!("ok"), &Value::Null)
    );
}

#[test]
fn a_contender_that_cannot_be_built_or_found_is_a_row() {
    let place = Place::with_fakes(&[("good", RIGHT)]);
    let list = std::fs::read_to_string(place.path("contenders.toml")).expect("the fakes");
    let more = r#"
        [[need]]
        name = "unobtainium"
        tool = "no-such-tool-anywhere"
        install = "mine it"
        [[build]]
        name = "impossible"
        needs = ["unobtainium"]
        argv = ["true"]
        [[build]]
        name = "broken"
        argv = ["/bin/sh", "-c", "echo working >&2; echo 'error: it broke' >&2; exit 1"]
        [[contender]]
        name = "needy"
        language = "-"
        about = "-"
        build = "impossible"
        workload.ring = { cost_ns = 1, run = ["true"] }
        [[contender]]
        name = "broken"
        language = "-"
        about = "-"
        build = "broken"
        workload.ring = { cost_ns = 1, run = ["true"] }
        [[contender]]
        name = "absent"
        language = "-"
        about = "-"
        workload.ring = { cost_ns = 1, run = ["/no/such/program"] }
    "#;
    std::fs::write(place.path("contenders.toml"), format!("{list}\n{more}")).expect("ours");
    let output = place.run("run ring --hops 10 --runs 1 --json results.json");
    assert!(output.status.success(), "{}", stderr(&output));
    for (name, status, reason) in [
        ("needy", "skipped", "unobtainium is not installed (mine it)"),
        ("broken", "skipped", "build failed: error: it broke"),
        (
            "absent",
            "failed",
            "cannot start /no/such/program: No such file or directory",
        ),
        ("good", "ok", ""),
    ] {
        let row = place.row("results.json", name);
        assert_eq!(row["status"], status, "{row:#}");
        assert!(
            row["reason"].as_str().unwrap_or("").contains(reason),
            "{row:#}"
        );
    }
}

#[test]
fn the_schema() {
    let place = Place::with_fakes(&[("good", RIGHT), ("bad", "exit 1")]);
    let output = place.run("run ring --threads 4 --hops 8 --runs 3 --json results.json");
    assert!(output.status.success(), "{}", stderr(&output));
    let results = place.json("results.json");
    assert_eq!(results["schema"], 1);
    for key in [
        "cpu",
        "cores",
        "kernel",
        "memory_bytes",
        "os",
        "date",
        "rustc",
        "gcc",
        "go",
    ] {
        assert!(!results["machine"][key].is_null(), "machine has no {key}");
    }
    let frozen = [
        "workload",
        "contender",
        "status",
        "reason",
        "params",
        "ops",
        "runs",
        "wall_s",
        "ns_per_op",
        "user_s",
        "sys_s",
        "peak_rss_bytes",
    ];
    for row in results["results"].as_array().expect("rows") {
        for key in frozen {
            assert!(row.get(key).is_some(), "no {key} in {row:#}");
        }
    }
    let good = place.row("results.json", "good");
    assert_eq!(good["workload"], "ring");
    assert_eq!(
        good["params"],
        json!({"threads": 4, "hops": 8, "order": "forward"})
    );
    assert_eq!(
        (&good["ops"], &good["runs"], &good["reason"]),
        (&json!(8), &json!(3), &Value::Null)
    );
    let wall = |key: &str| good["wall_s"][key].as_f64().expect("a number");
    assert!(0.0 < wall("min") && wall("min") <= wall("median") && wall("median") <= wall("max"));
    let ns = good["ns_per_op"].as_f64().expect("a number");
    assert!((ns - wall("median") * 1e9 / 8.0).abs() < 1.0);
    assert!(good["peak_rss_bytes"].as_u64().expect("a number") > 100_000);
    assert!(good["user_s"].is_f64() && good["sys_s"].is_f64());
    assert_eq!(good["raw_wall_s"].as_array().map(Vec::len), Some(3));
    assert!(
        good["command"]
            .as_str()
            .expect("text")
            .contains("--threads 4 --hops 8")
    );
    assert_eq!(place.row("results.json", "bad")["wall_s"], Value::Null);
}

#[test]
fn the_report_stands_alone() {
    let place = Place::with_fakes(&[("good", RIGHT), ("a<b>", "exit 1")]);
    let output = place.run("run ring --hops 10 --runs 1");
    assert!(output.status.success(), "{}", stderr(&output));
    for name in ["out/ring.html", "out/report.html"] {
        let page = std::fs::read_to_string(place.path(name)).expect("the report");
        assert!(page.contains("<svg") && page.contains("a&lt;b&gt;") && !page.contains("a<b>"));
        let loads = ["src=", "href=\"http", "<link", "url("];
        let found = loads.iter().find(|word| page.contains(**word));
        assert_eq!(found, None, "it loads something");
        assert!(stdout(&output).contains(name));
    }
    assert_eq!(place.names(), ["contenders.toml", "out"]);
}
