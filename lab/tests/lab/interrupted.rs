//! An interrupted run: what was measured stays, the file is whole, no contender is left behind.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::support::{Event, Fifo, Place, RIGHT};

/// Starts a lab, of which one contender hangs; returns when that one is running.
fn starts(place: &Place, pipe: &Path, fakes: &[(&str, &str)], hops: u64) -> (Child, Fifo) {
    let fakes = Place::with_fakes(fakes);
    std::fs::copy(fakes.path("contenders.toml"), place.path("contenders.toml")).expect("ours");
    let fifo = Fifo::new(pipe);
    let lab = place
        .lab(&format!(
            "run ring --hops {hops} --runs 2 --json results.json"
        ))
        .spawn();
    let lab = lab.expect("the lab starts");
    assert_eq!(fifo.next(), Event::Line("up".into()));
    (lab, fifo)
}

/// What a contender does that hangs.
fn hangs(pipe: &Path) -> String {
    format!("exec 3>'{}'; echo up >&3; exec sleep 1000", pipe.display())
}

/// The second contender hangs.
fn hanging(place: &Place, pipe: &Path) -> (Child, Fifo) {
    let hangs = hangs(pipe);
    let fakes = [("good", RIGHT), ("hangs", &hangs), ("later", RIGHT)];
    starts(place, pipe, &fakes, 10)
}

fn send(lab: &Child, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(lab.id()).expect("a pid")).expect("not 0");
    kill_process(pid, signal).expect("the lab is there");
}

#[test]
fn a_signal_keeps_what_was_measured() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let place = Place::empty();
        let (lab, fifo) = hanging(&place, &place.path("pipe"));
        send(&lab, signal);
        let output = lab.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(code));
        assert_eq!(fifo.next(), Event::Closed, "the contender was left behind");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        for name in ["results.json", "out/ring.json"] {
            assert_eq!(place.row(name, "good")["status"], "ok");
            assert_eq!(place.row(name, "good")["runs"], 1);
            assert_eq!(place.row(name, "later")["status"], "skipped");
            assert_eq!(
                place.row(name, "later")["reason"],
                "interrupted before its first run"
            );
        }
        assert!(text.contains("later"), "a row is hidden: {text}");
        assert!(place.path("out/ring.html").exists());
    }
}

#[test]
fn a_signal_in_the_run_for_the_slope_keeps_the_run_before() {
    let place = Place::empty();
    let pipe = place.path("pipe");
    let hangs = hangs(&pipe);
    let line = format!("test $4 = 1000 || {{ {hangs}; }}; {RIGHT}");
    let (lab, fifo) = starts(&place, &pipe, &[("half", &line)], 1_000);
    send(&lab, Signal::INT);
    let output = lab.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130));
    assert_eq!(fifo.next(), Event::Closed, "the contender was left behind");
    let row = place.row("results.json", "half");
    assert_eq!((&row["status"], &row["runs"]), (&json!("ok"), &json!(1)));
}

#[test]
fn even_a_kill_leaves_a_whole_file_and_no_contender() {
    let place = Place::empty();
    let (mut lab, fifo) = hanging(&place, &place.path("pipe"));
    send(&lab, Signal::KILL);
    lab.wait().expect("it ends");
    assert_eq!(place.row("results.json", "good")["status"], "ok");
    if cfg!(target_os = "linux") {
        assert_eq!(fifo.next(), Event::Closed, "the contender was left behind");
    }
}

/// Runs a lab on these contenders over results of before, sends a signal when one of them, or its
/// build, has said so on `pipe`, and then lets go who waits for `go`.
fn interrupted_over_old_results(contenders: &str) {
    let place = Place::empty();
    std::fs::write(place.path("contenders.toml"), contenders).expect("our own folder");
    std::fs::create_dir(place.path("out")).expect("our own folder");
    for name in ["results.json", "out/ring.json"] {
        std::fs::write(place.path(name), "old results").expect("our own folder");
    }
    let fifo = Fifo::new(&place.path("pipe"));
    let made = Command::new("mkfifo").arg(place.path("go")).status();
    assert!(made.expect("mkfifo starts").success());
    let mut lab = place.lab("run ring --hops 10 --runs 2 --json results.json");
    let lab = lab.env("PLACE", place.path("")).spawn();
    let lab = lab.expect("the lab starts");
    assert_eq!(fifo.next(), Event::Line("up".into()));
    send(&lab, Signal::INT);
    let mut go = OpenOptions::new();
    let mut go = go
        .read(true)
        .write(true)
        .open(place.path("go"))
        .expect("ours");
    go.write_all(b"on\n").expect("the pipe is open");
    let output = lab.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130));
    for name in ["results.json", "out/ring.json"] {
        let text = std::fs::read_to_string(place.path(name)).expect("it is there");
        assert_eq!(text, "old results", "{name} was overwritten by nothing");
    }
}

#[test]
fn without_a_single_run_the_old_results_stay() {
    // In a build; in the first run.
    interrupted_over_old_results(
        r#"
        [[build]]
        name = "slow"
        argv = ["/bin/sh", "-c", "echo up >$PLACE/pipe; read word <$PLACE/go"]
        [[contender]]
        name = "slow"
        language = "-"
        about = "-"
        build = "slow"
        run = ["true"]
        workload.ring = { cost_ns = 1 }
        "#,
    );
    interrupted_over_old_results(
        r#"
        [[contender]]
        name = "hangs"
        language = "-"
        about = "-"
        run = ["/bin/sh", "-c", "echo up >$PLACE/pipe; exec sleep 1000"]
        workload.ring = { cost_ns = 1 }
        "#,
    );
}

/// The build that runs is ended, and no other is begun.
#[test]
fn a_signal_ends_the_building() {
    let place = Place::empty();
    let contender = |name: &str, line: &str| {
        format!(
            "[[build]]\nname = \"{name}\"\nargv = [\"/bin/sh\", \"-c\", \'\'\'{line}\'\'\']\n\
             [[contender]]\nname = \"{name}\"\nlanguage = \"-\"\nabout = \"-\"\nbuild = \"{name}\"\n\
             run = [\"true\"]\nworkload.ring = {{ cost_ns = 1 }}\n"
        )
    };
    let list = contender("first", "exec 3>$PLACE/pipe; echo up >&3; sleep 1000; true")
        + &contender("second", "touch $PLACE/second");
    std::fs::write(place.path("contenders.toml"), list).expect("our own folder");
    let fifo = Fifo::new(&place.path("pipe"));
    let mut lab = place.lab("run ring --hops 10 --runs 2 --json results.json");
    let lab = lab.env("PLACE", place.path("")).spawn();
    let lab = lab.expect("the lab starts");
    assert_eq!(fifo.next(), Event::Line("up".into()));
    send(&lab, Signal::INT);
    assert_eq!(fifo.next(), Event::Closed, "the build goes on");
    let output = lab.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130));
    assert!(!place.path("second").exists(), "another build was begun");
    assert!(!place.path("results.json").exists());
}

/// Who is asked for a version is ended as well.
#[test]
fn a_signal_ends_the_doctor() {
    let place = Place::empty();
    let list = "[[need]]\nname = \"slow\"\ninstall = \"-\"\n\
                check = [\"/bin/sh\", \"-c\", \"exec 3>$PLACE/pipe; echo up >&3; sleep 1000; true\"]\n";
    std::fs::write(place.path("contenders.toml"), list).expect("our own folder");
    let fifo = Fifo::new(&place.path("pipe"));
    let mut lab = place.lab("doctor --patience 1000");
    let lab = lab.env("PLACE", place.path("")).spawn();
    let lab = lab.expect("the lab starts");
    assert_eq!(fifo.next(), Event::Line("up".into()));
    send(&lab, Signal::TERM);
    assert_eq!(fifo.next(), Event::Closed, "the tool goes on");
    let output = lab.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(143));
}
