//! Runs tests on what the library falls back to where it is not on Linux, with glibc, on x86-64.
//!
//! Nobody runs it elsewhere so far. `--cfg gossamer_portable` has the same code compiled here: no membarrier, no futex,
//! no word of glibc's on threads, no look at other threads by `/proc`, no counter of the processor.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result};

use crate::mutants::plant;

/// What runs unless something is named: threads that wait and are woken, the pool and its monitor, locks.
const SHARE: [&str; 8] = [
    "models::monitor",
    "models::os_threads",
    "models::pool",
    "models::fibers",
    "models::resizing",
    "models::running",
    "single::",
    "locks::rules",
];

/// What cannot pass, as only the tested target tells of it: that a thread ends, which the contract of fibers has a clause
/// for elsewhere (`crates/fiber/src/contract.rs`); that there is no room for another thread's mappings; that a worker
/// waits for a processor, and is not stuck.
const SKIPPED: [&str; 4] = [
    "models::fiber_ends::",
    "models::fiber_and_thread::a_thread_local_is_not_used_after_its_end",
    "models::limits::no_more_mappings",
    "models::stuck::workers_that_are_preempted_are_not_stuck",
];

/// Runs the tests of `tests/it` whose names contain one of `filters`, or the usual share of them; answers whether they
/// pass.
///
/// # Errors
/// When cargo cannot be started.
pub fn run(root: &Path, filters: &[&str]) -> Result<bool> {
    let start = Instant::now();
    // As for loom, the build is that of the mutants.
    let environment = plant::portable(root)?;
    let filters = if filters.is_empty() { &SHARE } else { filters };
    let status = Command::new("cargo")
        .args(["test", "-p", "gossamer-tests", "--test", "it", "--"])
        .args(filters)
        .args(SKIPPED.iter().flat_map(|skipped| ["--skip", skipped]))
        .current_dir(root)
        .envs(&environment)
        .status()
        .context("cannot start cargo")?;
    let words = if status.success() { "ok" } else { "FAILED" };
    println!("portable: {words} ({:.1} s)", start.elapsed().as_secs_f64());
    Ok(status.success())
}
