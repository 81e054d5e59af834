//! Runs every `crates/*/tests/shuttle.rs`, built with `--cfg shuttle`: whole runtimes, scheduled at random.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use crate::loom::packages;

/// Runs all such tests of the workspace at `root`; answers whether they pass.
///
/// # Errors
/// When there is none (then nothing would be checked) or cargo cannot be started.
pub fn run(root: &Path) -> Result<bool> {
    let packages = packages(root, "tests/shuttle.rs")?;
    ensure!(
        !packages.is_empty(),
        "nothing for shuttle; expected at least one crates/*/tests/shuttle.rs"
    );
    let flags = std::env::var("RUSTFLAGS").unwrap_or_default();
    let start = Instant::now();
    let status = Command::new("cargo")
        .args(["test", "--release", "--target-dir", "target/shuttle"])
        .args(["--test", "shuttle"])
        .args(packages.iter().flat_map(|package| ["-p", package]))
        .current_dir(root)
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .env("RUSTFLAGS", format!("{flags} --cfg shuttle").trim())
        .env("CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS", "true")
        .status()
        .context("cannot start cargo")?;
    let words = if status.success() { "ok" } else { "FAILED" };
    println!("shuttle: {words} ({:.1} s)", start.elapsed().as_secs_f64());
    Ok(status.success())
}

#[cfg(test)]
mod tests;
