//! Peak memory is the contender's, not what it inherited from the harness before its exec.

use std::hint::black_box;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use gossamer_lab::launch::{End, Launcher};

use crate::support::{Place, RIGHT, stderr};

const MB: u64 = 1_000_000;
/// Set in the process that is the harness of a test.
const HARNESS: &str = "GOSSAMER_LAB_HARNESS";

/// A process of its own, because the launcher ends whatever stands below it after a run: here, what
/// other tests have started.
#[test]
fn true_is_small_below_a_harness_of_100_mb() {
    if std::env::var_os(HARNESS).is_some() {
        return large_harness();
    }
    let this = std::env::current_exe().expect("a test is a program");
    let test = "memory::true_is_small_below_a_harness_of_100_mb";
    let ran = Command::new(this)
        .args(["--exact", test, "--nocapture"])
        .env(HARNESS, "1")
        .output()
        .expect("it starts");
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(
        ran.status.success() && said.contains("1 passed"),
        "{said}{}",
        stderr(&ran)
    );
}

fn large_harness() {
    let (place, stop) = (Place::empty(), AtomicUsize::new(0));
    let launcher = Launcher::build(&place.path("bin"), &stop).expect("a C compiler");
    // Written, not only reserved: only touched pages count as resident.
    let ballast = black_box(vec![1_u8; 100 * MB as usize]);
    let argv = ["true".to_owned()];
    let outcome = launcher
        .run(&argv, Path::new("/"), Duration::from_secs(30), &stop)
        .expect("the launcher works");
    assert_eq!(outcome.end, End::Exited(0), "{}", outcome.stderr);
    let small = outcome.peak_rss_bytes;
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
    // `tail` must hold all it may have to print.
    let line = format!("head -c 50000000 /dev/zero | tail -c 50000000 >/dev/null; {RIGHT}");
    let place = Place::with_fakes(&[("large", &line)]);
    let output = place.run("run ring --hops 10 --runs 1 --json x.json");
    assert!(output.status.success(), "{}", stderr(&output));
    let peak = place.row("x.json", "large")["peak_rss_bytes"].as_u64();
    assert!(peak.is_some_and(|peak| peak > 50 * MB), "{peak:?}");
}
