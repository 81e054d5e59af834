//! Which bugs a run plants: all, those named, or those that a change can touch and a share of the others.
//!
//! A change is the last commit, and what is not yet committed. It touches a bug if it touches the file that the bug is
//! planted in, or a file whose tests the gate runs. The share goes round with the commits, so that every bug is planted
//! every few of them, and a run of one commit plants the same as the next run of it.

use std::path::Path;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Result;

use super::UnknownMutant;
use super::table::{Mutant, TABLE};
use crate::repo::Repo;
use crate::tidy::mutants::planted;

/// How many runs it takes until all have been planted, if the commits were evenly spread.
pub(super) const SHARES: u64 = 6;

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub enum Which<'a> {
    /// All of the table.
    All,
    /// Those of these names.
    Named(&'a [&'a str]),
    /// Those that the change can touch, and a share of the others.
    Some,
}

/// Those of the table that are asked for, in its order.
///
/// # Errors
/// When one that is named is not in the table ([`UnknownMutant`]), or the source cannot be read.
pub fn choose(root: &Path, mutants: Vec<Mutant>, which: Which<'_>) -> Result<Vec<Mutant>> {
    match which {
        Which::All => Ok(mutants),
        Which::Named(names) => named(mutants, names),
        Which::Some => {
            let all = mutants.len();
            let chosen = some(mutants, number(root), &touched(root)?);
            println!(
                "mutants: {} of {all}, those that the change can touch and one in {SHARES} of the \
                 others; `--all` plants all",
                chosen.len()
            );
            Ok(chosen)
        }
    }
}

pub(super) fn named(mutants: Vec<Mutant>, names: &[&str]) -> Result<Vec<Mutant>> {
    let known: Vec<&str> = mutants.iter().map(|mutant| mutant.name.as_str()).collect();
    if let Some(unknown) = names.iter().find(|name| !known.contains(name)) {
        let known = if known.is_empty() {
            "none yet".to_string()
        } else {
            known.join(", ")
        };
        let message = format!("no mutant `{unknown}`; expected one of {TABLE} ({known})");
        return Err(UnknownMutant(message).into());
    }
    let is_named = |mutant: &Mutant| names.contains(&mutant.name.as_str());
    Ok(mutants.into_iter().filter(is_named).collect())
}

/// What a change touched.
#[derive(Debug, Default)]
pub(super) struct Touched {
    /// The bugs planted in its files.
    pub(super) names: Vec<String>,
    /// The modules of its files, as the names of tests have them: `models::pool`.
    pub(super) modules: Vec<String>,
}

impl Touched {
    fn has(&self, mutant: &Mutant) -> bool {
        let is_in = |module: &String| {
            let mut words = mutant.gate.iter();
            words.any(|word| word == module || word.starts_with(&format!("{module}::")))
        };
        self.names.contains(&mutant.name) || self.modules.iter().any(is_in)
    }
}

/// Those that are touched, and of the table every so-manieth, beginning with the one that the number says.
pub(super) fn some(mutants: Vec<Mutant>, number: u64, touched: &Touched) -> Vec<Mutant> {
    let numbered = (number % SHARES..).zip(mutants);
    numbered
        .filter(|(at, mutant)| at % SHARES == 0 || touched.has(mutant))
        .map(|(_, mutant)| mutant)
        .collect()
}

/// The number of the share: of the commit, or of the day where there is none.
fn number(root: &Path) -> u64 {
    let commit = git(root, &["rev-parse", "HEAD"]).unwrap_or_default();
    let number = commit.get(..8).map(|start| u64::from_str_radix(start, 16));
    let today = || {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        since.map_or(0, |since| since.as_secs() / (24 * 60 * 60))
    };
    number.and_then(Result::ok).unwrap_or_else(today)
}

fn touched(root: &Path) -> Result<Touched> {
    // In a copy without a history, or with one commit of it, only the share is left.
    let files = git(root, &["diff", "--name-only", "HEAD~1"]).unwrap_or_default();
    let files: Vec<&str> = files.lines().collect();
    let planted = planted(&Repo::load(root)?);
    let planted = planted
        .into_iter()
        .filter(|(_, path, _)| files.contains(&path.as_str()));
    Ok(Touched {
        names: planted.map(|(name, ..)| name).collect(),
        modules: files.iter().filter_map(|path| module(path)).collect(),
    })
}

/// The module of a file as the names of its tests begin: of `tests/it/models/pool.rs` it is `models::pool`.
pub(super) fn module(path: &str) -> Option<String> {
    let (_, inner) = path
        .split_once("src/")
        .or_else(|| path.split_once("tests/"))?;
    let inner = inner.strip_prefix("it/").unwrap_or(inner);
    let inner = inner.strip_prefix("whole/").unwrap_or(inner);
    Some(inner.strip_suffix(".rs")?.replace('/', "::"))
}

/// What git says; `None` if it fails.
fn git(root: &Path, arguments: &[&str]) -> Option<String> {
    let mut git = Command::new("git");
    let output = git.args(arguments).current_dir(root).output().ok()?;
    let said = String::from_utf8(output.stdout).ok()?;
    output.status.success().then_some(said)
}
