//! `lab run … --count`: what is counted, and why the rest is not.
//!
//! Counting needs valgrind; a test that does says so and ends where it is not installed.

use std::process::{Command, Output};

use serde_json::json;

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

const RUN: &str = "run ring --threads 3 --hops 30 --runs 1";

#[test]
fn counts_are_in_the_rows() {
    if !has_valgrind("counts_are_in_the_rows") {
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
fn without_valgrind_counts_are_missing() {
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
}
