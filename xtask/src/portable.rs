//! Runs tests on what the library falls back to where it is not on Linux, with glibc, on x86-64.
//!
//! Nobody runs it elsewhere so far. `--cfg gossamer_portable` has the same code compiled here: no membarrier, no futex,
//! no word of glibc's on threads, no look at other threads by `/proc`, no counter of the processor.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result};

use crate::mutants::plant;

/// What cannot pass, as only the tested target tells of it: that a thread ends, which the contract of fibers has a clause
/// for elsewhere (`crates/fiber/src/contract.rs`); that there is no room for another thread's mappings; that a worker
/// waits for a processor, and is not stuck.
const SKIPPED: [&str; 5] = [
    "models::fiber_ends::",
    "models::foreign_calls::the_end_of_the_thread_waits_too",
    "models::fiber_and_thread::a_thread_local_is_not_used_after_its_end",
    "models::limits::no_more_mappings",
    "models::stuck::workers_that_are_preempted_are_not_stuck",
];

/// What takes long, and rests on nothing that is special here.
const LONG: [&str; 2] = ["models::limits::", "models::always_ready::"];

/// Runs the tests of `tests/it` that a share of it has (`tests/it/main.rs` says which), those whose names contain one of
/// `filters` if there are any; or with `all` every test. Answers whether they pass.
///
/// # Errors
/// When cargo cannot be started.
pub fn run(root: &Path, all: bool, filters: &[&str]) -> Result<bool> {
    let start = Instant::now();
    let mut skipped = SKIPPED.to_vec();
    if !all && filters.is_empty() {
        skipped.extend(LONG);
    }
    let status = Command::new("cargo")
        .args(["test", "-p", "gossamer-tests", "--test", "it", "--"])
        .args(filters)
        .args(skipped.iter().flat_map(|name| ["--skip", name]))
        .current_dir(root)
        .envs(&plant::portable(root, all)?)
        .status()
        .context("cannot start cargo")?;
    let words = if status.success() { "ok" } else { "FAILED" };
    println!("portable: {words} ({:.1} s)", start.elapsed().as_secs_f64());
    Ok(status.success())
}
