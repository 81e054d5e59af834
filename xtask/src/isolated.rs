//! Runs each test in a process of its own, as many at a time as there are processors.
//!
//! `cargo test` runs one program after the other, each test on a thread of its program. Tests that map and unmap
//! stacks without end wait for each other in the kernel then: on two processors loom's models take longer side by side
//! in one process than one after the other. Here no test waits for another, and none shares a process with another's
//! leftovers.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::parallel;

/// A test program that cargo has built.
struct Program {
    path: PathBuf,
    /// The folder of its package, where `cargo test` would run it.
    folder: PathBuf,
}

/// How many tests passed, and how many did not.
#[derive(Clone, Copy, Debug)]
pub struct Tally {
    /// Those that passed.
    pub passed: usize,
    /// The others.
    pub failed: usize,
}

/// Says in one line how a gate ended that began at `start`; answers whether it passed.
pub fn summary(gate: &str, tests: &str, tally: Option<Tally>, start: Instant) -> bool {
    let seconds = start.elapsed().as_secs_f64();
    let (words, passed) = match tally {
        None => ("FAILED, it does not build".to_owned(), false),
        Some(Tally {
            passed: 0,
            failed: 0,
        }) => ("FAILED, nothing was run".to_owned(), false),
        Some(Tally { passed, failed: 0 }) => (format!("all {passed} {tests} pass"), true),
        Some(Tally { failed, .. }) => (format!("FAILED, {failed} {tests}"), false),
    };
    println!("{gate}: {words} ({seconds:.1} s)");
    passed
}

/// Builds with `cargo test` and `arguments`, runs each test that `filters` select (as for a test program), and prints
/// what became of each. `prepare` gives every command its environment. `None`: it does not build.
///
/// # Errors
/// When cargo or a test cannot be started.
pub fn run(
    root: &Path,
    arguments: &[&str],
    filters: &[&str],
    prepare: impl Fn(&mut Command) + Sync,
) -> Result<Option<Tally>> {
    let Some(programs) = build(root, arguments, &prepare)? else {
        return Ok(None);
    };
    let mut tests = Vec::new();
    for program in &programs {
        let names = names(program, filters, &prepare)?;
        tests.extend(names.into_iter().map(|name| (program, name)));
    }
    let passed = parallel::each(&tests, parallel::processors(), |(program, name)| {
        run_one(program, name, &prepare)
    })?;
    let failed = passed.iter().filter(|passed| !**passed).count();
    for ((_, name), _) in tests.iter().zip(&passed).filter(|(_, passed)| !**passed) {
        println!("failed: {name}");
    }
    Ok(Some(Tally {
        passed: passed.len() - failed,
        failed,
    }))
}

/// Builds the programs and gives them in cargo's order; `None` if that fails.
fn build(
    root: &Path,
    arguments: &[&str],
    prepare: impl Fn(&mut Command),
) -> Result<Option<Vec<Program>>> {
    let mut cargo = Command::new("cargo");
    cargo
        .args(["test", "--no-run", "--message-format"])
        .arg("json-render-diagnostics")
        .args(arguments)
        .current_dir(root)
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .stderr(Stdio::inherit());
    prepare(&mut cargo);
    let built = cargo.output().context("cannot start cargo")?;
    if !built.status.success() {
        return Ok(None);
    }
    let said = String::from_utf8(built.stdout).context("cargo's messages")?;
    said.lines()
        .map(program)
        .filter_map(Result::transpose)
        .collect::<Result<_>>()
        .map(Some)
}

/// The test program that a message of cargo's is about, if it is about one.
fn program(message: &str) -> Result<Option<Program>> {
    let message: Value = serde_json::from_str(message).context("cargo's message")?;
    let Some(path) = message["executable"].as_str() else {
        return Ok(None);
    };
    // Its package's examples and programs are built beside the tests.
    if message["profile"]["test"] != true {
        return Ok(None);
    }
    let manifest = message["manifest_path"].as_str().context("manifest_path")?;
    let folder = Path::new(manifest).parent().context("manifest_path")?;
    Ok(Some(Program {
        path: path.into(),
        folder: folder.into(),
    }))
}

impl Program {
    /// What runs this program with these arguments.
    fn command(&self, arguments: &[&str], prepare: impl Fn(&mut Command)) -> Command {
        let mut command = Command::new(&self.path);
        command
            .args(arguments)
            .current_dir(&self.folder)
            .env("CARGO_MANIFEST_DIR", &self.folder);
        prepare(&mut command);
        command
    }
}

fn names(
    program: &Program,
    filters: &[&str],
    prepare: impl Fn(&mut Command),
) -> Result<Vec<String>> {
    let arguments = [&["--list", "--format", "terse"], filters].concat();
    let listed = program.command(&arguments, prepare).output();
    let listed = listed.with_context(|| format!("{}", program.path.display()))?;
    ensure!(
        listed.status.success(),
        "{} cannot list its tests: {}",
        program.path.display(),
        String::from_utf8_lossy(&listed.stderr)
    );
    let text = String::from_utf8_lossy(&listed.stdout);
    let names = text.lines().filter_map(|line| line.strip_suffix(": test"));
    Ok(names.map(str::to_owned).collect())
}

/// Runs one test, prints what became of it, and all that it said if it failed; answers whether it passed.
fn run_one(program: &Program, name: &str, prepare: impl Fn(&mut Command)) -> Result<bool> {
    let start = Instant::now();
    let output = program
        .command(&["--exact", name, "--test-threads", "1"], prepare)
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("{}", program.path.display()))?;
    let said = String::from_utf8_lossy(&output.stdout);
    // A program that ran nothing has shown nothing.
    let passed = output.status.success() && said.contains("test result: ok. 1 passed");
    let seconds = start.elapsed().as_secs_f64();
    let word = if passed { "ok" } else { "FAILED" };
    println!("test {name} ... {word} ({seconds:.1} s)");
    if !passed {
        let errors = String::from_utf8_lossy(&output.stderr);
        println!("{said}{errors}{}", output.status);
    }
    Ok(passed)
}

#[cfg(test)]
mod tests;
