//! The table of mutants, `xtask/mutants.toml`.

use std::collections::BTreeMap;

use anyhow::{Result, bail, ensure};
use serde::Deserialize;

/// Where the table is, from the root.
pub const TABLE: &str = "xtask/mutants.toml";

/// One mutant and its gate.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mutant {
    /// The name in `mutant!("name")`.
    pub name: String,
    /// What the bug breaks, in a sentence.
    pub breaks: String,
    /// The command that must fail when the bug is there.
    pub gate: Vec<String>,
    /// What must succeed before the gate's failure counts; taken from the gate if it is `cargo test`.
    #[serde(default)]
    pub build: Option<Vec<String>>,
    /// Compiler flags of the gate, with and without the bug.
    #[serde(default)]
    pub rustflags: String,
    /// Environment of the gate.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// The gate's time limit in seconds.
    #[serde(default = "limit_s")]
    pub limit_s: u64,
    /// Whether running past the limit counts as caught.
    #[serde(default)]
    pub hang_ok: bool,
    /// Whether the bug needs a build of its own: it is in code that runs when others are compiled, and is selected
    /// there by `cfg!(mutant = "name")`.
    #[serde(default)]
    pub compiled: bool,
}

fn limit_s() -> u64 {
    300
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    #[serde(default)]
    mutant: Vec<Mutant>,
}

impl Mutant {
    /// The command that builds the gate and runs nothing.
    ///
    /// # Errors
    /// When the gate is not `cargo test …` and the table gives no `build`.
    pub fn build_command(&self) -> Result<Vec<String>> {
        if let Some(build) = &self.build {
            return Ok(build.clone());
        }
        let [cargo, test, rest @ ..] = self.gate.as_slice() else {
            bail!("mutant `{}`: the gate has no command", self.name);
        };
        ensure!(
            cargo == "cargo" && test == "test",
            "mutant `{}`: the gate is not `cargo test …`; give `build`, the command that must \
             succeed before its failure counts",
            self.name
        );
        let own = rest
            .iter()
            .take_while(|argument| *argument != "--")
            .cloned();
        Ok([cargo, test, "--no-run"]
            .map(str::to_string)
            .into_iter()
            .chain(own)
            .collect())
    }
}

/// Reads the table.
///
/// # Errors
/// When it is no TOML of this shape, a name occurs twice or is no plain word, or a gate cannot be
/// built apart from being run.
pub fn parse(text: &str) -> Result<Vec<Mutant>> {
    let Table { mutant: mutants } = toml::from_str(text)?;
    for (at, mutant) in mutants.iter().enumerate() {
        let name = &mutant.name;
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        ensure!(
            !name.is_empty() && name.chars().all(plain),
            "`{name}` is no name: use a-z, 0-9, -"
        );
        ensure!(
            mutants[..at].iter().all(|other| other.name != *name),
            "`{name}` occurs twice"
        );
        mutant.build_command()?;
    }
    Ok(mutants)
}
