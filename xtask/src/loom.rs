//! Runs the model-checked protocols, built with `--cfg loom`: of each crate that has a `tests/loom.rs` every
//! `tests/loom*.rs`, and the models of its inner parts, which are unit tests.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
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
    let flags = std::env::var("RUSTFLAGS").unwrap_or_default();
    let start = Instant::now();
    let mut child = Command::new("cargo")
        .args(["test", "--release", "--target-dir", "target/loom"])
        .args(["--lib", "--test", "loom*"])
        .args(packages.iter().flat_map(|package| ["-p", package]))
        .current_dir(root)
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .env("RUSTFLAGS", format!("{flags} --cfg loom").trim())
        .env("LOOM_MAX_PREEMPTIONS", &preemptions)
        .env("CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS", "true")
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start cargo")?;
    let mut models = 0;
    for line in BufReader::new(child.stdout.take().context("cargo's output")?).lines() {
        let line = line.context("cargo's output")?;
        models += passed(&line);
        println!("{line}");
    }
    let status = child.wait().context("cargo")?;
    let seconds = start.elapsed().as_secs_f64();
    if status.success() {
        println!("loom: all {models} models hold ({seconds:.1} s)");
    } else {
        println!("loom: FAILED ({seconds:.1} s)");
    }
    Ok(status.success())
}

/// How many tests passed, if this line sums up a test binary.
fn passed(line: &str) -> u32 {
    let rest = line.strip_prefix("test result: ok. ");
    let count = rest.and_then(|rest| rest.split(' ').next()?.parse().ok());
    count.unwrap_or(0)
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
