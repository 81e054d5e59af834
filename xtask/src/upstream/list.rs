//! The list of the suites, `xtask/upstream.toml`.

use std::collections::BTreeSet;

use anyhow::{Result, ensure};
use serde::Deserialize;

/// Where the list is, from the root.
pub const LIST: &str = "xtask/upstream.toml";

/// A crate's tests.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suite {
    /// What it is called here.
    pub name: String,
    /// The crate in the registry that has the tests.
    #[serde(rename = "crate")]
    pub krate: String,
    /// Its version.
    pub version: String,
    /// The folder of the facade, from the root.
    pub facade: String,
    /// The test files, without `.rs`.
    pub files: Vec<String>,
    /// Files that these include, without `.rs`.
    #[serde(default)]
    pub helpers: Vec<String>,
    /// So many cases pass at least.
    pub cases: usize,
    /// Which of its dependencies the tests use, beside the crate itself.
    #[serde(default)]
    pub with: Vec<String>,
    /// Which of its features are on.
    #[serde(default)]
    pub features: Vec<String>,
    /// Files whose cases run one after the other.
    #[serde(default)]
    pub one_by_one: Vec<String>,
    /// So many of a hundred cases of each file pass at least.
    #[serde(default)]
    pub percent: usize,
    /// What is not run.
    #[serde(default)]
    pub excluded: Vec<Excluded>,
}

/// Cases of a file that are not run, and why.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Excluded {
    /// The file, without `.rs`.
    pub file: String,
    /// The cases, with their modules.
    pub cases: Vec<String>,
    /// The reason.
    pub why: String,
}

impl Suite {
    /// The cases of a file that are not run.
    pub fn excluded_from(&self, file: &str) -> impl Iterator<Item = &str> {
        let rows = self.excluded.iter().filter(move |row| row.file == file);
        rows.flat_map(|row| &row.cases).map(String::as_str)
    }

    /// How many cases of a file run at once.
    pub fn threads_of(&self, file: &str) -> usize {
        if self.one_by_one.iter().any(|other| other == file) {
            1
        } else {
            4
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    suite: Vec<Suite>,
}

/// Reads the list.
///
/// # Errors
/// When it is no TOML of this shape, a name occurs twice, a row speaks of a file that the suite does not run, or a case
/// is excluded twice or without a reason.
pub fn parse(text: &str) -> Result<Vec<Suite>> {
    let List { suite: suites } = toml::from_str(text)?;
    for (at, suite) in suites.iter().enumerate() {
        let name = &suite.name;
        ensure!(
            suites[..at].iter().all(|other| other.name != *name),
            "suite `{name}` occurs twice"
        );
        for file in suite
            .one_by_one
            .iter()
            .chain(suite.excluded.iter().map(|row| &row.file))
        {
            ensure!(
                suite.files.contains(file),
                "suite `{name}` does not run the file `{file}`"
            );
        }
        let mut known = BTreeSet::new();
        for row in &suite.excluded {
            for case in &row.cases {
                let file = &row.file;
                ensure!(
                    known.insert((file, case)),
                    "suite `{name}`: `{file}::{case}` is excluded twice"
                );
                ensure!(
                    !row.why.trim().is_empty(),
                    "suite `{name}`: `{file}::{case}` is excluded without a reason"
                );
            }
        }
    }
    Ok(suites)
}
