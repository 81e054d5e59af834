//! Peak memory is the contender's, not what it inherited from the harness before its exec.

use std::hint::black_box;
use std::path::Path;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use gossamer_lab::launch::{End, Launcher};

use crate::support::Place;

const MB: u64 = 1_000_000;

fn peak(launcher: &Launcher, argv: &[&str]) -> u64 {
    let argv: Vec<String> = argv.iter().map(|word| (*word).to_owned()).collect();
    let stop = AtomicUsize::new(0);
    let outcome = launcher
        .run(&argv, Path::new("/"), Duration::from_secs(30), &stop)
        .expect("the launcher works");
    assert_eq!(outcome.end, End::Exited(0), "{}", outcome.stderr);
    outcome.peak_rss_bytes
}

#[test]
fn true_is_small_below_a_harness_of_100_mb() {
    let place = Place::empty();
    let launcher = Launcher::build(&place.path("bin")).expect("a C compiler");
    // Written, not only reserved: only touched pages count as resident.
    let ballast = black_box(vec![1_u8; 100 * MB as usize]);
    let small = peak(&launcher, &["true"]);
    assert!(small < 3 * MB, "`true` shows {small} bytes");
    assert!(
        small > MB / 10,
        "`true` shows {small} bytes: that cannot be"
    );
    assert_eq!(black_box(&ballast)[7], 1);
}

#[test]
fn a_process_that_does_nothing_has_less_than_a_megabyte() {
    let place = Place::empty();
    let output = place.run("run process --only nothing --runs 3 --json x.json");
    assert!(output.status.success());
    let peak = place.row("x.json", "nothing")["peak_rss_bytes"].as_u64();
    assert!(peak.is_some_and(|peak| peak < MB), "{peak:?}");
}

#[test]
fn what_a_contender_uses_is_seen() {
    let place = Place::empty();
    let launcher = Launcher::build(&place.path("bin")).expect("a C compiler");
    // `tail` must hold all it may have to print.
    let line = "head -c 50000000 /dev/zero | tail -c 50000000 > /dev/null";
    let large = peak(&launcher, &["/bin/sh", "-c", line]);
    assert!(large > 50 * MB, "a program of 50 MB shows {large} bytes");
}
