//! Runs the model-checked protocols: every `crates/*/tests/loom.rs`, built with `--cfg loom`.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use toml::{Table, Value};

/// How many times loom may preempt a thread in one execution, unless the environment says otherwise.
const PREEMPTIONS_MAX: &str = "2";

/// Runs all models of the workspace at `root`; answers whether they hold.
///
/// # Errors
/// When there is no model (then nothing would be checked) or cargo cannot be started.
pub fn run(root: &Path) -> Result<bool> {
    let packages = packages(root)?;
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
    let flags = std::env::var("RUSTFLAGS").unwrap_or_default();
    let start = Instant::now();
    let status = Command::new("cargo")
        .args([
            "test",
            "--release",
            "--target-dir",
            "target/loom",
            "--test",
            "loom",
        ])
        .args(packages.iter().flat_map(|package| ["-p", package]))
        .current_dir(root)
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .env("RUSTFLAGS", format!("{flags} --cfg loom").trim())
        .env("LOOM_MAX_PREEMPTIONS", &preemptions)
        .env("CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS", "true")
        .status()
        .context("cannot start cargo")?;
    let words = if status.success() {
        "all models hold"
    } else {
        "FAILED"
    };
    println!("loom: {words} ({:.1} s)", start.elapsed().as_secs_f64());
    Ok(status.success())
}

/// The packages that have models, sorted.
fn packages(root: &Path) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(root.join("crates")).context("crates")? {
        let folder = entry?.path();
        if !folder.join("tests/loom.rs").is_file() {
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
