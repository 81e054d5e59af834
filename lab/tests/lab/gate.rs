//! `lab run … --count` and `--gate`: what is counted, what passes, and which baselines are refused.
//!
//! Counting needs valgrind; a test that does says so and ends where it is not installed.

use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::support::{Place, RIGHT, stderr, stdout};

fn has_valgrind(test: &str) -> bool {
    let asked = Command::new("valgrind").arg("--version").output();
    let has = asked.is_ok_and(|output| output.status.success());
    if !has {
        println!("{test}: skipped: valgrind is not installed");
    }
    has
}

/// A shell that takes a turn of a loop for twenty hops; `extra` goes into it.
fn looping(name: &str, extra: &str, counted: bool) -> String {
    format!(
        "[[contender]]\nname = \"{name}\"\nlanguage = \"sh\"\nabout = \"a fake\"\n\
         counted = {counted}\n[contender.workload.ring]\ncost_ns = 1\nrun = [\"/bin/sh\", \"-c\", \
         '''i=0; while [ $i -lt $4 ]; do i=$(( i + 20 )); {extra} done; {RIGHT}''', \"ring\"]\n"
    )
}

fn list(place: &Place, contenders: &[String]) {
    std::fs::write(place.path("contenders.toml"), contenders.concat()).expect("our own folder");
}

fn change(place: &Place, from: &str, to: &str, change: impl Fn(&mut Value)) {
    let mut results = place.json(from);
    change(&mut results);
    std::fs::write(place.path(to), results.to_string()).expect("our own folder");
}

const RUN: &str = "run ring --threads 3 --hops 30 --runs 1";

#[test]
fn counts_are_in_the_rows_and_a_gate_compares_them() {
    if !has_valgrind("counts_are_in_the_rows_and_a_gate_compares_them") {
        return;
    }
    let place = Place::empty();
    let (plain, many) = (looping("plain", "", true), looping("many", "", false));
    let wrong = looping("wrong", "", true).replace("+ 1 ))'''", "+ 2 ))'''");
    list(&place, &[plain, many.clone(), wrong]);
    let output = place.run(&format!("{RUN} --count --json base.json"));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let row = place.row("base.json", "plain");
    let instructions = row["instructions_per_op"].as_f64().expect("a number");
    assert!((5.0..10_000.0).contains(&instructions), "{row:#}");
    assert_eq!(row["not_counted"], json!(null));
    for (name, reason) in [
        ("many", "does not say `counted`"),
        ("wrong", "failed: printed"),
    ] {
        let row = place.row("base.json", name);
        assert_eq!(row["instructions_per_op"], json!(null));
        let said = row["not_counted"].as_str().expect("a reason");
        assert!(said.contains(reason), "{said}");
        let table = stdout(&output);
        assert!(table.contains(&format!("not counted: {said}")), "{table}");
    }

    // The same again, without --count: counted is what the baseline has.
    let gate = |file: &str| place.run(&format!("{RUN} --gate {file} --json now.json"));
    let output = gate("base.json");
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}{}",
        stdout(&output),
        stderr(&output)
    );
    assert_eq!(place.row("now.json", "many")["not_counted"], json!(null));
    assert!(stdout(&output).contains("at most 2 % more than in base.json"));

    // The same contender with a little more to do.
    list(&place, &[looping("plain", ":;", true), many]);
    let output = gate("base.json");
    assert_eq!(output.status.code(), Some(1), "{}", stdout(&output));
    assert!(stdout(&output).contains("WORSE") && stderr(&output).contains("does not hold"));

    // One that cannot be counted any more, and one that is gone.
    list(
        &place,
        &[looping("plain", "", false), looping("other", "", true)],
    );
    change(&place, "base.json", "two.json", |results| {
        let mut other = results["results"][0].clone();
        other["contender"] = json!("gone");
        results["results"][1] = other;
    });
    let output = gate("two.json");
    assert_eq!(output.status.code(), Some(1));
    let table = stdout(&output);
    assert!(table.contains("NOT COUNTED: its list"), "{table}");
    assert!(
        table.contains("NOT COUNTED: there is no such contender"),
        "{table}"
    );
}

#[test]
fn a_real_contender_is_counted() {
    if !has_valgrind("a_real_contender_is_counted") {
        return;
    }
    let place = Place::empty();
    let words = "run ring --hops 1000 --runs 1 --only protothreads/optimum --json";
    let output = place.run(&format!("{words} base.json --count"));
    assert!(output.status.success(), "{}", stderr(&output));
    let row = place.row("base.json", "protothreads/optimum");
    let instructions = row["instructions_per_op"].as_f64().expect("a number");
    assert!((5.0..200.0).contains(&instructions), "{row:#}");
    let output = place.run(&format!("{words} now.json --gate base.json"));
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}{}",
        stdout(&output),
        stderr(&output)
    );
}

/// Results of the ring with one counted row, as the lab writes them.
fn baseline(place: &Place) {
    let output = place.run(&format!("{RUN} --json base.json"));
    assert!(output.status.success(), "{}", stderr(&output));
    change(place, "base.json", "base.json", |results| {
        results["results"][0]["instructions_per_op"] = json!(100.0);
    });
    std::fs::remove_dir_all(place.path("out")).expect("the lab wrote it");
}

#[track_caller]
fn refused(place: &Place, words: &str, parts: &[&str]) {
    let before = place.names();
    let output = place.run(words);
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "lab {words}: {message}");
    for part in parts {
        assert!(
            message.contains(part),
            "lab {words}: no '{part}' in: {message}"
        );
    }
    assert_eq!(place.names(), before, "lab {words} wrote something");
    assert_eq!(stdout(&output), "", "lab {words} printed something");
}

#[test]
fn baselines_that_are_none_are_refused_before_measuring() {
    let place = Place::with_fakes(&[("good", RIGHT), ("fine", RIGHT)]);
    baseline(&place);
    let whole = std::fs::read_to_string(place.path("base.json")).expect("ours");
    for (name, text, parts) in [
        (
            "half.json",
            &whole[..whole.len() / 2],
            &["half.json, line ", "half-written"],
        ),
        ("empty.json", "", &["empty.json, line 1", "half-written"]),
        (
            "text.json",
            "hello\n",
            &["text.json, line 1", "is not what"],
        ),
        (
            "rows.json",
            "{\"schema\": 1}",
            &["rows.json, line 1", "machine"],
        ),
        (
            "new.json",
            "{\"schema\": 2}",
            &["new.json, line 1, column 2: schema 2", "expected 1"],
        ),
    ] {
        std::fs::write(place.path(name), text).expect("our own folder");
        refused(&place, &format!("{RUN} --gate {name}"), parts);
    }
    change(&place, "base.json", "none.json", |results| {
        results["results"][0]["instructions_per_op"] = json!(null);
    });
    refused(
        &place,
        &format!("{RUN} --gate none.json"),
        &["none.json has no row", "--count"],
    );
    change(&place, "base.json", "spawn.json", |results| {
        results["results"][0]["workload"] = json!("spawn");
    });
    refused(
        &place,
        &format!("{RUN} --gate spawn.json"),
        &["spawn.json is of workload spawn"],
    );
    refused(
        &place,
        &format!("{RUN} --gate missing.json"),
        &["cannot read missing.json"],
    );
    refused(
        &place,
        "run ring --threads 4 --runs 1 --gate base.json",
        &["base.json: good was counted with", "same options"],
    );
    refused(
        &place,
        &format!("{RUN} --gate base.json --only fine"),
        &["counts for good only"],
    );
    refused(
        &place,
        &format!("{RUN} --gate base.json --json base.json"),
        &["base.json would be overwritten"],
    );
}

#[test]
fn options_of_the_gate() {
    let place = Place::with_fakes(&[("good", RIGHT)]);
    for percent in ["-1", "many", "nan", "2000"] {
        let words = format!("{RUN} --gate x.json --gate-tolerance {percent}");
        refused(
            &place,
            &words,
            &[percent, "--gate-tolerance", "from 0 to 1000"],
        );
    }
    refused(
        &place,
        &format!("{RUN} --gate-tolerance 3"),
        &["--gate <BASELINE>"],
    );
}

/// A path on which there is a C compiler, and no valgrind.
fn without_valgrind(place: &Place, words: &str) -> Output {
    let tools = place.path("tools");
    std::fs::create_dir_all(&tools).expect("our own folder");
    for tool in ["cc", "as", "ld", "sh"] {
        let found = gossamer_lab::probe::on_path(tool).expect("it is installed");
        let _ = std::os::unix::fs::symlink(found, tools.join(tool));
    }
    let mut lab: Command = place.lab(words);
    lab.env("PATH", &tools).output().expect("the lab starts")
}

#[test]
fn without_valgrind_counts_are_missing_and_a_gate_is_an_error() {
    let place = Place::empty();
    list(&place, &[looping("plain", "", true)]);
    let output = without_valgrind(&place, &format!("{RUN} --count --json x.json"));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let row = place.row("x.json", "plain");
    assert_eq!(
        (&row["status"], &row["instructions_per_op"]),
        (&json!("ok"), &json!(null))
    );
    let reason = row["not_counted"].as_str().expect("a reason");
    assert!(reason.contains("valgrind is not installed"), "{reason}");

    baseline(&place);
    let output = without_valgrind(&place, &format!("{RUN} --gate base.json"));
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("--gate: valgrind is not installed"));
    assert!(!place.path("out").exists(), "something was measured");
}
