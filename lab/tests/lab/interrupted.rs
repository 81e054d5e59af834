//! An interrupted run: what was measured stays, the file is whole, no contender is left behind.

use std::process::Child;

use rustix::process::{Pid, Signal, kill_process};

use crate::support::{Event, Fifo, Place, RIGHT};

/// Starts a lab whose second contender hangs; returns when that one is running.
fn hanging(place: &Place, pipe: &std::path::Path) -> (Child, Fifo) {
    let line = format!("exec 3>'{}'; echo up >&3; exec sleep 1000", pipe.display());
    let fakes = Place::with_fakes(&[("good", RIGHT), ("hangs", &line), ("later", RIGHT)]);
    std::fs::copy(fakes.path("contenders.toml"), place.path("contenders.toml")).expect("ours");
    let fifo = Fifo::new(pipe);
    let lab = place
        .lab("run ring --hops 10 --runs 2 --json results.json")
        .spawn();
    let lab = lab.expect("the lab starts");
    assert_eq!(fifo.next(), Event::Line("up".into()));
    (lab, fifo)
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
