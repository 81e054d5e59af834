//! Runs in release, and whole, what the tests run a part of: see `tests/whole/main.rs`.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result};

/// Runs all of it, or of what takes minutes only each `nth` case; answers whether it passes.
///
/// # Errors
/// When cargo cannot be started.
pub fn run(root: &Path, nth: &str) -> Result<bool> {
    let start = Instant::now();
    let status = Command::new("cargo")
        .args(["test", "--release", "-p", "gossamer-tests"])
        .args(["--test", "whole", "--", "--nocapture"])
        .current_dir(root)
        .env("GOSSAMER_WHOLE", nth)
        .status()
        .context("cannot start cargo")?;
    let words = if status.success() { "ok" } else { "FAILED" };
    println!("whole: {words} ({:.1} s)", start.elapsed().as_secs_f64());
    Ok(status.success())
}
