//! Runs the model-checked protocols, built with `--cfg loom`: of each crate that has a `tests/loom.rs` every
//! `tests/loom*.rs`, and the models of its inner parts, which are unit tests.
//!
//! Each model runs in a process of its own ([`isolated`]). The build is the one that the mutants of the models use,
//! with none chosen, so that it is made once ([`mutants::plant`](crate::mutants::plant)).

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use toml::{Table, Value};

use crate::isolated;
use crate::mutants::plant;

/// How many times loom may preempt a thread in one execution, unless the environment says otherwise.
const PREEMPTIONS_MAX: &str = "2";

/// Runs all models of the workspace at `root`, or those that `filters` select; answers whether they hold.
///
/// # Errors
/// When there is no model (then nothing would be checked) or cargo cannot be started.
pub fn run(root: &Path, filters: &[&str]) -> Result<bool> {
    let packages = packages(root, "tests/loom.rs")?;
    ensure!(
        !packages.is_empty(),
        "no loom model; expected at least one crates/*/tests/loom.rs"
    );
    let preemptions = std::env::var("LOOM_MAX_PREEMPTIONS");
    let preemptions = preemptions.unwrap_or_else(|_| PREEMPTIONS_MAX.to_string());
    println!(
        "loom: {}, at most {preemptions} preemptions",
        packages.join(", ")
    );
    let start = Instant::now();
    let environment = plant::environment(root, "--cfg loom")?;
    let mut arguments = vec!["--profile", "models", "--lib", "--test", "loom*"];
    arguments.extend(packages.iter().flat_map(|package| ["-p", package]));
    let tally = isolated::run(root, &arguments, filters, |command| {
        command
            .envs(&environment)
            .env("LOOM_MAX_PREEMPTIONS", &preemptions);
    })?;
    Ok(isolated::summary("loom", "models", tally, start))
}
/// The packages that have this file, sorted.
pub(crate) fn packages(root: &Path, file: &str) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(root.join("crates")).context("crates")? {
        let folder = entry?.path();
        if !folder.join(file).is_file() {
            continue;
        }
        let manifest = folder.join("Cargo.toml");
        let context = || format!("{}", manifest.display());
        let table: Table = std::fs::read_to_string(&manifest)
            .with_context(context)?
            .parse()
            .with_context(context)?;
        let name = table.get("package").and_then(|package| package.get("name"));
        found.push(
            name.and_then(Value::as_str)
                .with_context(context)?
                .to_string(),
        );
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests;
