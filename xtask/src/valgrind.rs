//! Runs tests of fibers under valgrind, which is told of their stacks and finds what is used without a value there.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::{asan, counts};

/// What is run: fibers in every model. Not those that hold whole pools while they look, as valgrind runs one thread at a
/// time, nor those that switch millions of times.
const TESTS: [&str; 4] = [
    "models::fibers",
    "models::local_fibers",
    "models::foreign_calls",
    "models::fiber_frames::a_panic_leaves",
];
/// Rounds of those tests that take many.
const ROUNDS: &str = "100";
/// So many seconds until a test is said to hang.
const PATIENCE: &str = "600";
/// What valgrind ends with if it has found something, so that the tests fail.
const FOUND: &str = "--error-exitcode=9";

/// Runs the tests of the workspace at `root`; answers whether they pass and valgrind finds nothing. Where there is no
/// valgrind it says so, and that nothing was found.
///
/// # Errors
/// When cargo or rustc cannot be started.
pub fn run(root: &Path) -> Result<bool> {
    if !counts::has_valgrind() {
        println!("valgrind: skipped: it is not installed (apt-get install valgrind)");
        return Ok(true);
    }
    let host = asan::host()?.to_uppercase().replace('-', "_");
    let status = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .current_dir(root)
        .args(["test", "-p", "gossamer-tests", "--test", "it", "--"])
        .args(TESTS)
        .arg("--test-threads=1")
        .env(
            format!("CARGO_TARGET_{host}_RUNNER"),
            format!("valgrind --quiet {FOUND}"),
        )
        .env("GOSSAMER_ROUNDS", ROUNDS)
        .env("GOSSAMER_PATIENCE", PATIENCE)
        .status()
        .context("cannot start cargo")?;
    Ok(status.success())
}
