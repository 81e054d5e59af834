//! The repository lints itself: what a machine can check of STYLE's habits and DESIGN's layers.
//!
//! Each check is one function from a [`Repo`] to the [`Finding`]s, in a file of its own, and has a
//! test that plants a bad input: a check that cannot fail is no check.
//! `cargo test` runs all of them (`xtask/tests/tidy.rs`), and so does `cargo xtask tidy`.

use std::fmt;
use std::path::Path;

use anyhow::Result;

use crate::parallel;
use crate::repo::Repo;

mod cycles;
mod gates;
mod layers;
mod links;
pub(crate) mod mutants;
mod operations;
mod orderings;
mod platform;
mod retired;
mod roles;
mod sizes;
mod submodule;
mod unsafety;
mod words;

/// One thing that is not as it should be.
#[derive(Debug, PartialEq, Eq)]
pub struct Finding {
    /// The file, from the root.
    pub path: String,
    /// The line, counted from 1.
    pub line: usize,
    /// What was found.
    pub found: String,
    /// What is expected instead.
    pub expected: String,
}

impl Finding {
    /// A finding at `path:line`.
    pub fn new(
        path: &str,
        line: usize,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> Finding {
        Finding {
            path: path.to_string(),
            line,
            found: found.into(),
            expected: expected.into(),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}:{}: {}; {}",
            self.path, self.line, self.found, self.expected
        )
    }
}

type Check = fn(&Repo) -> Vec<Finding>;

const CHECKS: [Check; 21] = [
    words::first_line_says_what,
    words::no_unfinished_code,
    words::no_sleep_in_tests,
    words::no_machine_paths,
    sizes::sizes,
    layers::arrows,
    cycles::none,
    unsafety::only_where_listed,
    unsafety::each_has_its_reason,
    unsafety::forbidden_elsewhere,
    platform::only_platform,
    orderings::each_says_its_pair,
    links::resolve,
    links::named_files_exist,
    operations::all_are_tested,
    operations::all_are_on_the_page,
    mutants::table_matches_source,
    gates::name_tests,
    gates::sanitizer_names_tests,
    retired::no_retired_words,
    roles::one_meaning_a_name,
];

/// Runs every check on the repository at `root`; the findings are sorted by path and line.
///
/// # Errors
/// When a file cannot be read.
pub fn run(root: &Path) -> Result<Vec<Finding>> {
    Ok(check(&Repo::load(root)?))
}

/// Runs every check on `repo`; the findings are sorted by path and line.
pub fn check(repo: &Repo) -> Vec<Finding> {
    let found = parallel::each(&CHECKS, parallel::processors(), |check| Ok(check(repo)));
    let found = found.expect("a check finds, and does not fail");
    let mut findings: Vec<_> = found.into_iter().flatten().collect();
    findings.sort_by(|a, b| (&a.path, a.line).cmp(&(&b.path, b.line)));
    findings
}

#[cfg(test)]
mod tests;
