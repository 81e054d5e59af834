//! What the test programs say.

use crate::mutants::gate::Outcome;

/// How the cases of a file, or of all, went.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Cases that were run and passed.
    pub passed: usize,
    /// Cases that were not run.
    pub excluded: usize,
    /// Cases that were run and failed.
    pub failed: usize,
    /// Why the suite fails.
    pub problems: Vec<String>,
}

impl Summary {
    /// Adds those of one more file.
    pub fn add(&mut self, other: &Summary) {
        self.passed += other.passed;
        self.excluded += other.excluded;
        self.failed += other.failed;
        self.problems.extend(other.problems.iter().cloned());
    }

    /// Demands that so many of a hundred cases of the file pass.
    pub fn demand(&mut self, percent: usize, file: &str, cases: usize) {
        if self.passed * 100 < cases * percent {
            let passed = self.passed;
            self.problems.push(format!(
                "{file}: {passed} of {cases} cases passed, less than the {percent} % that the list promises of each file"
            ));
        }
    }
}

/// The names of the cases, as `--list` gives them.
pub fn names(said: &str) -> Vec<String> {
    let names = said.lines().filter_map(|line| line.strip_suffix(": test"));
    names.map(str::to_string).collect()
}

/// The cases that failed.
fn failures(said: &str) -> impl Iterator<Item = &str> {
    said.lines().filter_map(|line| {
        let name = line.strip_prefix("test ")?.strip_suffix(" ... FAILED")?;
        Some(name.trim_end_matches(" - should panic"))
    })
}

/// How many passed.
fn passed(said: &str) -> Option<usize> {
    let line = said
        .lines()
        .rfind(|line| line.starts_with("test result: "))?;
    let (before, _) = line.split_once(" passed")?;
    before.rsplit(' ').next()?.parse().ok()
}

/// Judges the run of a file: the names it has, those that were excluded, how it ended, and what it said.
pub fn judge(
    file: &str,
    names: &[String],
    excluded: &[&str],
    outcome: Outcome,
    said: &str,
) -> Summary {
    let mut summary = Summary {
        passed: passed(said).unwrap_or_default(),
        excluded: excluded.len(),
        ..Summary::default()
    };
    for case in failures(said) {
        summary.failed += 1;
        summary.problems.push(format!("{file}::{case} failed"));
    }
    for case in excluded {
        if !names.iter().any(|name| name == case) {
            let problem = format!("{file}::{case} is excluded, and there is no such case");
            summary.problems.push(problem);
        }
    }
    match outcome {
        Outcome::Passed => {}
        Outcome::TimedOut => summary
            .problems
            .push(format!("{file} was still running at its limit")),
        Outcome::Failed if summary.problems.is_empty() => {
            summary
                .problems
                .push(format!("{file} ended before its cases did"));
        }
        Outcome::Failed => {}
    }
    summary
}
