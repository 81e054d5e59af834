//! Runs every `crates/*/tests/shuttle.rs`, built with `--cfg shuttle`: whole runtimes, scheduled at random.
//!
//! As for loom, each test has a process of its own, and the build is that of the mutants.

use std::path::Path;
use std::time::Instant;

use anyhow::{Result, ensure};

use crate::isolated;
use crate::loom::packages;
use crate::mutants::plant;

/// Runs all such tests of the workspace at `root`, or those that `filters` select; answers whether they pass.
///
/// # Errors
/// When there is none (then nothing would be checked) or cargo cannot be started.
pub fn run(root: &Path, filters: &[&str]) -> Result<bool> {
    let packages = packages(root, "tests/shuttle.rs")?;
    ensure!(
        !packages.is_empty(),
        "nothing for shuttle; expected at least one crates/*/tests/shuttle.rs"
    );
    let start = Instant::now();
    let environment = plant::environment(root, "--cfg shuttle")?;
    let mut arguments = vec!["--profile", "models", "--test", "shuttle"];
    arguments.extend(packages.iter().flat_map(|package| ["-p", package]));
    let tally = isolated::run(root, &arguments, filters, |command| {
        command.envs(&environment);
    })?;
    Ok(isolated::summary("shuttle", "tests", tally, start))
}

#[cfg(test)]
mod tests;
