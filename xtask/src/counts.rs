//! Counts the instructions of the hot operations, by callgrind, and compares them with their limits.
//!
//! Instructions do not depend on how busy the machine is, so this gate holds where times cannot. An
//! operation is done N times and 2 N times; the difference, divided by N, is its cost alone.
//!
//! A locked instruction counts as one here, and takes as long as twenty; where none may be, [`locked`] looks for it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

use crate::{hops, locked};

/// How often an operation is done in the shorter run.
const TIMES: u64 = 20_000;

/// `xtask/counts.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    count: Vec<Limit>,
}

/// One operation and its limit.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Limit {
    /// What is counted.
    name: String,
    /// One of the programs of `gossamer-contender` and its arguments; `{n}` stands for the number of times.
    run: Vec<String>,
    /// Instructions each time when the limit was set.
    counted: f64,
    /// Most instructions each time, at most 3 % above `counted`.
    at_most: f64,
}

/// Looks for locked instructions ([`locked`]), counts everything in the table, and says of hops where their
/// instructions go ([`hops`]): on the page anew if it `writes_page`. Answers whether all limits hold, and the page is true.
///
/// # Errors
/// When the table cannot be read, or the contender cannot be built or run.
pub fn run(root: &Path, writes_page: bool) -> Result<bool> {
    let text = std::fs::read_to_string(root.join("xtask/counts.toml")).context("counts.toml")?;
    let table: Table = toml::from_str(&text).context("xtask/counts.toml")?;
    ensure!(
        !table.count.is_empty(),
        "xtask/counts.toml: nothing to count"
    );
    let programs = build(root, &table)?;
    let mut all_hold = locked::check(&programs.join("gossamer-contender"))?;
    if !has_valgrind() {
        println!("counts: skipped: valgrind is not installed (apt-get install valgrind)");
        return Ok(all_hold);
    }
    println!(
        "{:<42} {:>12} {:>8} {:>6} {:>8}",
        "operation", "instructions", "before", "ratio", "at most"
    );
    for limit in &table.count {
        let once = once(&programs, limit)?;
        let holds = once <= limit.at_most;
        let word = if holds { "" } else { "  TOO MANY" };
        let ratio = once / limit.counted;
        println!(
            "{:<42} {once:>12.2} {:>8} {ratio:>6.3} {:>8}{word}",
            limit.name, limit.counted, limit.at_most
        );
        all_hold &= holds;
    }
    Ok(hops::run(root, &programs, writes_page)? && all_hold)
}

pub(crate) fn has_valgrind() -> bool {
    let version = Command::new("valgrind")
        .arg("--version")
        .stdout(Stdio::null())
        .status();
    version.is_ok_and(|status| status.success())
}

/// Builds the programs as the lab measures them; gives their folder.
fn build(root: &Path, table: &Table) -> Result<PathBuf> {
    let programs: BTreeSet<_> = table.count.iter().flat_map(|l| l.run.first()).collect();
    let status = Command::new("cargo")
        .args(["build", "--quiet", "--profile", "measured"])
        .args(["-p", "gossamer-contender"])
        .args(programs.iter().flat_map(|program| ["--bin", program]))
        .current_dir(root)
        .status()
        .context("cannot start cargo")?;
    ensure!(status.success(), "the contender does not build");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), PathBuf::from);
    Ok(target.join("measured"))
}

/// The instructions of doing the operation once. The two runs go at the same time.
fn once(programs: &Path, limit: &Limit) -> Result<f64> {
    let (short, long) = std::thread::scope(|scope| {
        let short = scope.spawn(|| count(programs, limit, TIMES));
        let long = count(programs, limit, 2 * TIMES);
        (short.join().expect("the shorter run panicked"), long)
    });
    Ok((long? as f64 - short? as f64) / TIMES as f64)
}

/// The instructions of one whole run.
fn count(programs: &Path, limit: &Limit, times: u64) -> Result<u64> {
    let (program, arguments) = limit.run.split_first().context("nothing to run")?;
    let arguments = arguments
        .iter()
        .map(|word| word.replace("{n}", &times.to_string()));
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(programs.join(program))
        .args(arguments)
        .output()
        .context("cannot start valgrind")?;
    let report = String::from_utf8_lossy(&output.stderr);
    ensure!(
        output.status.success(),
        "{}: the contender failed:\n{report}",
        limit.name
    );
    let Some(line) = report.lines().find(|line| line.contains("Collected :")) else {
        bail!("{}: callgrind printed no count:\n{report}", limit.name);
    };
    let digits = line.rsplit(' ').next().unwrap_or_default();
    digits
        .parse()
        .with_context(|| format!("callgrind's count: {line:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_well_formed() {
        let text = include_str!("../counts.toml");
        let table: Table = toml::from_str(text).expect("counts.toml");
        assert!(
            table
                .count
                .iter()
                .all(|limit| limit.run.iter().any(|word| word == "{n}"))
        );
        for limit in &table.count {
            let range = limit.counted..=limit.counted * 1.03;
            assert!(range.contains(&limit.at_most), "{limit:?}");
        }
    }
}
