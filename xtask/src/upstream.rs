//! Other channels' own tests, run against ours.
//!
//! For each row of `xtask/upstream.toml` the test files that a crate was published with are taken from cargo's cache of
//! the registry, laid out in `target/upstream/NAME` as a package, unmodified, and built against a facade: a crate with
//! the upstream's names over our channels (`tests/upstream`). No foreign test is in the repository.
//!
//! A case that fails fails the suite, unless the row excludes it, with a reason. So does an excluded case that does not
//! exist, and a count of cases below the one that the row promises: then something was lost, by them or by us.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::mutants::gate::{Job, Outcome};

pub mod list;
pub mod output;
pub mod package;

use list::Suite;
use output::Summary;

/// How long a build may take, and the cases of one file.
const BUILD_LIMIT: Duration = Duration::from_secs(1800);
const FILE_LIMIT: Duration = Duration::from_secs(300);

/// Which bug is planted; set, but empty, where a gate is to pass without one.
const MUTANT: &str = "GOSSAMER_MUTANT";

/// A crate's tests could not be had, so they were not run.
#[derive(Debug)]
pub struct NotThere(String);

impl fmt::Display for NotThere {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NotThere {}

/// Runs all suites of the list at `root`, or only the one named; answers whether they pass.
///
/// # Errors
/// When the list cannot be read or has no such suite, a program cannot be started, or a crate's tests are neither in
/// the cache nor to be fetched ([`NotThere`]; the other suites are run all the same).
pub fn run(root: &Path, only: Option<&str>) -> Result<bool> {
    let root = root.canonicalize().context("the root")?;
    let text = std::fs::read_to_string(root.join(list::LIST)).context(list::LIST)?;
    let suites = list::parse(&text)?;
    let chosen: Vec<&Suite> = suites
        .iter()
        .filter(|suite| only.is_none_or(|only| only == suite.name))
        .collect();
    if chosen.is_empty() {
        let names: Vec<&str> = suites.iter().map(|suite| suite.name.as_str()).collect();
        bail!(
            "no such suite; expected one of {} ({})",
            list::LIST,
            names.join(", ")
        );
    }
    let mut all_pass = true;
    let mut not_there = Vec::new();
    for suite in chosen {
        match run_suite(&root, suite) {
            Ok(passes) => all_pass &= passes,
            Err(error) if error.is::<NotThere>() => {
                println!("upstream {}: NOT RUN, {error}", suite.name);
                not_there.push(suite.name.as_str());
            }
            Err(error) => return Err(error),
        }
    }
    if all_pass && !not_there.is_empty() {
        let names = not_there.join(", ");
        return Err(NotThere(format!("not run, as the tests are not to be had: {names}")).into());
    }
    Ok(all_pass)
}

fn run_suite(root: &Path, suite: &Suite) -> Result<bool> {
    let start = Instant::now();
    let source = package::find(root, suite)?;
    let folder = package::lay_out(root, suite, &source)?;
    let runner = Runner {
        root,
        suite,
        folder,
    };
    println!(
        "upstream {} {}, over {}",
        suite.name, suite.version, suite.facade
    );
    if !runner.builds()? {
        println!("upstream {}: FAILED, it does not build", suite.name);
        return Ok(false);
    }
    let mut total = Summary::default();
    for file in &suite.files {
        total.add(&runner.run_file(file)?);
    }
    if total.passed < suite.cases {
        let (passed, promised) = (total.passed, suite.cases);
        total.problems.push(format!(
            "{passed} cases passed, fewer than the list's {promised}"
        ));
    }
    let words = if total.problems.is_empty() {
        "ok"
    } else {
        "FAILED"
    };
    println!(
        "upstream {}: {words}, {} cases passed, {} excluded, {} failed ({:.1} s)",
        suite.name,
        total.passed,
        total.excluded,
        total.failed,
        start.elapsed().as_secs_f64()
    );
    for problem in &total.problems {
        println!("  {problem}");
    }
    Ok(total.problems.is_empty())
}

/// The package that was laid out.
struct Runner<'a> {
    root: &'a Path,
    suite: &'a Suite,
    folder: PathBuf,
}

impl Runner<'_> {
    fn job(&self, arguments: &[&str], limit: Duration, log: &str) -> Job {
        let command = ["cargo", "test", "--release"]
            .into_iter()
            .chain(arguments.iter().copied());
        let target = self.root.join("target/upstream/build");
        let target = target.to_string_lossy().into_owned();
        let mut env = BTreeMap::from([("CARGO_TARGET_DIR".to_string(), target)]);
        if let Ok(bug) = std::env::var(MUTANT) {
            // This is the gate of a mutant, with it or without (then the name is empty): the black box is no part of
            // the workspace, and gets the flag here. Both times, or only the build with the bug could fail, and would
            // seem to have caught it.
            env.insert(MUTANT.to_string(), bug);
            env.insert("RUSTFLAGS".to_string(), "--cfg mutants".to_string());
        }
        Job {
            folder: self.folder.clone(),
            command: command.map(str::to_string).collect(),
            env,
            limit,
            log: self.folder.join(log),
        }
    }

    fn builds(&self) -> Result<bool> {
        let build = self.job(&["--no-run"], BUILD_LIMIT, "build.log");
        let passed = build.run()? == Outcome::Passed;
        if !passed {
            build.show_log();
        }
        Ok(passed)
    }

    /// Runs the cases of one file but for those excluded.
    fn run_file(&self, file: &str) -> Result<Summary> {
        let names = self.job(
            &["--test", file, "--", "--list"],
            FILE_LIMIT,
            &format!("{file}.list"),
        );
        names.run()?;
        let names = output::names(&std::fs::read_to_string(&names.log)?);
        let excluded: Vec<&str> = self.suite.excluded_from(file).collect();
        let threads = self.suite.threads_of(file).to_string();
        let mut arguments = vec!["--test", file, "--", "--exact", "--test-threads", &threads];
        arguments.extend(excluded.iter().flat_map(|case| ["--skip", case]));
        let job = self.job(&arguments, FILE_LIMIT, &format!("{file}.log"));
        let outcome = job.run()?;
        let said = String::from_utf8_lossy(&std::fs::read(&job.log)?).into_owned();
        let mut summary = output::judge(file, &names, &excluded, outcome, &said);
        summary.demand(self.suite.percent, file, names.len());
        println!(
            "  {file}: {} passed, {} excluded",
            summary.passed, summary.excluded
        );
        if !summary.problems.is_empty() {
            job.show_log();
        }
        Ok(summary)
    }
}

#[cfg(test)]
mod tests;
