//! Runs the tests of the models, of fibers, of shutting down and of channels under AddressSanitizer.
//!
//! It finds uses of freed memory and leaks, which loom does not look for and a plain test may survive. The compiler's
//! option is unstable, so the stable compiler has to be told that this is no release.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use crate::isolated;

/// Where the toolchain comes with the sanitizer's runtime.
const TARGETS: [&str; 2] = ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"];

/// What is run: tests, and options of the sanitizer. Not those that limit the address space, of which the sanitizer
/// needs terabytes; and the second lot leaks on purpose (operations that are forgotten, wakers that panic, fibers that end
/// on another thread). Of the channels not those that run many programs in many schedules, which take minutes here.
pub(crate) const RUNS: [(&[&str], &str); 2] = [
    (
        &[
            "models::",
            "conform::rules::models",
            "conform::pairs::models",
            "ports::",
            "pipe::",
            "par::",
            "select::",
            "every_channel::rules",
            "every_channel::panics",
            "channel::rules",
            "channel::threads",
            "channel::broadcast::rules",
            "channel::sharing::rules",
            "channel::spsc::rules",
            "channel::spsc::threads",
            "channel::watch::rules",
            "--skip",
            "models::limits",
            "--skip",
            "models::fiber_ends",
            "--skip",
            "models::fiber_and_thread",
            "--skip",
            "_forgotten",
            "--skip",
            "::a_wait_goes_from_task_to_task",
        ],
        "",
    ),
    (
        &[
            "single::",
            "models::fiber_ends",
            "models::fiber_and_thread",
            "structure::scope_moves",
            "_forgotten",
            "::a_wait_goes_from_task_to_task",
        ],
        "detect_leaks=0",
    ),
];

/// Rounds of the tests of many, which are about memory more than anything.
const ROUNDS: &str = "10000";
/// So many seconds until a test is said to hang: so many rounds take three quarters of a minute on a quiet machine.
const PATIENCE: &str = "600";

/// Runs the tests of the workspace at `root`; answers whether they pass. Where there is no sanitizer it says so, and
/// that nothing was found.
///
/// # Errors
/// When cargo or rustc cannot be started.
pub fn run(root: &Path) -> Result<bool> {
    let target = host()?;
    if !TARGETS.contains(&target.as_str()) {
        println!("asan: skipped, there is no AddressSanitizer for {target} in a stable toolchain");
        return Ok(true);
    }
    let flags = std::env::var("RUSTFLAGS").unwrap_or_default();
    let flags = format!("{flags} -Zsanitizer=address");
    let packages = ["-p", "gossamer-tests", "-p", "gossamer-fiber"];
    let features = ["--features", "gossamer-fiber/sanitizer"];
    let arguments = [
        &["--lib", "--test", "it", "--target", &target],
        &packages[..],
        &features,
    ]
    .concat();
    let mut clean = true;
    for (tests, options) in RUNS {
        let start = Instant::now();
        let tally = isolated::run(root, &arguments, tests, |command| {
            command
                .env("RUSTC_BOOTSTRAP", "1")
                .env("RUSTFLAGS", flags.trim())
                .env("ASAN_OPTIONS", options)
                .env("GOSSAMER_ROUNDS", ROUNDS)
                .env("GOSSAMER_PATIENCE", PATIENCE);
        })?;
        clean &= isolated::summary("asan", "tests", tally, start);
    }
    Ok(clean)
}

/// What rustc builds for by itself.
pub(crate) fn host() -> Result<String> {
    let said = Command::new("rustc")
        .arg("-vV")
        .output()
        .context("cannot start rustc")?;
    let text = String::from_utf8_lossy(&said.stdout);
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    ensure!(host.is_some(), "rustc -vV names no host: {text}");
    Ok(host.unwrap_or_default().to_owned())
}
