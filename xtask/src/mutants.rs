//! Planted bugs: each must make its gate fail, or the gate guards nothing.
//!
//! For each row of `xtask/mutants.toml`, with `--cfg mutants` for the crates of the workspace:
//! 1. the gate is built: a build that fails has caught nothing;
//! 2. the gate passes *without* the bug (once for each distinct gate): a gate that always fails
//!    would seem to catch everything. The bug's name is empty then, so that a gate which builds something itself
//!    builds the same;
//! 3. the gate runs with the bug, which the environment names (`GOSSAMER_MUTANT`), under a time limit, and must fail;
//!    one that passes gets two more chances, and the gate without the bug as many.
//!
//! All builds share `target/mutants`, and mostly one build serves all bugs; what the gates print is kept in
//! `target/mutants/log`. The flag is given by a wrapper of the compiler, not by `RUSTFLAGS`: so what the workspace
//! depends on is built once for each kind of gate.

use std::collections::BTreeMap;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

pub mod gate;
pub mod table;

use gate::{Job, Outcome};
use table::Mutant;

/// How long a build may take, and a gate without the bug at least.
const BUILD_LIMIT: Duration = Duration::from_secs(1800);

/// How often a gate may let its bug pass: one with threads of the system may meet it or not, on a busy machine.
const ATTEMPTS: u32 = 3;

/// What names the bug for the program, and what names the wrapper for cargo.
const PLANTED: &str = "GOSSAMER_MUTANT";
const WRAPPER: &str = "RUSTC_WORKSPACE_WRAPPER";

/// Somebody asked for a mutant that is not in the table.
#[derive(Debug)]
pub struct UnknownMutant(String);

impl std::fmt::Display for UnknownMutant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UnknownMutant {}

/// What became of one planted bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The gate failed, as it must.
    Caught,
    /// The gate ran past its limit, which the table accepts as a failure.
    CaughtByHanging,
    /// The gate passed although the bug was there.
    Missed,
    /// The gate ran past its limit and the table does not accept that.
    TimedOut,
    /// The gate does not build with the bug.
    BuildError,
    /// The gate fails, does not build or hangs without the bug.
    BrokenGate,
}

impl Verdict {
    /// Whether the gate did its work.
    pub fn is_caught(self) -> bool {
        matches!(self, Verdict::Caught | Verdict::CaughtByHanging)
    }

    fn words(self) -> &'static str {
        match self {
            Verdict::Caught => "caught",
            Verdict::CaughtByHanging => "caught (hangs)",
            Verdict::Missed => "MISSED: the gate passes with the bug",
            Verdict::TimedOut => "TIMED OUT: not caught",
            Verdict::BuildError => "BUILD ERROR: does not compile with the bug",
            Verdict::BrokenGate => "BROKEN GATE: does not pass without the bug",
        }
    }
}

/// Plants the bugs of the table at `root`, or only the one named, and says what became of each; last of all, once more,
/// of those that were not caught. Answers whether all were.
///
/// # Errors
/// When the table cannot be read, a gate's program cannot be started, or `only` is no mutant
/// ([`UnknownMutant`]).
pub fn run(root: &Path, only: Option<&str>) -> Result<bool> {
    let text = std::fs::read_to_string(root.join(table::TABLE)).context(table::TABLE)?;
    let mutants = select(table::parse(&text)?, only)?;
    let mut runner = Runner::new(root)?;
    let mut rows = Vec::new();
    for mutant in mutants {
        println!("mutant {}: {}", mutant.name, mutant.breaks);
        let start = Instant::now();
        let (verdict, shown_by) = runner.judge(&mutant)?;
        let seconds = start.elapsed().as_secs_f64();
        if !verdict.is_caught() {
            shown_by.show_log();
        }
        println!("       {} ({seconds:.1} s)", verdict.words());
        rows.push((mutant.name, verdict, seconds, shown_by));
    }
    let left: Vec<_> = rows.iter().filter(|row| !row.1.is_caught()).collect();
    println!(
        "\nmutants: {} of {} caught",
        rows.len() - left.len(),
        rows.len()
    );
    for (name, verdict, seconds, _) in &rows {
        println!("  {name:<32} {seconds:>7.1} s  {}", verdict.words());
    }
    // Who sees only the end of all this, sees which they are.
    for (name, verdict, _, shown_by) in &left {
        println!("\nnot caught: {name}: {}", verdict.words());
        shown_by.show_log();
    }
    Ok(left.is_empty())
}

fn select(mutants: Vec<Mutant>, only: Option<&str>) -> Result<Vec<Mutant>> {
    let Some(only) = only else { return Ok(mutants) };
    let names: Vec<&str> = mutants.iter().map(|mutant| mutant.name.as_str()).collect();
    if !names.contains(&only) {
        let known = if names.is_empty() {
            "none yet".to_string()
        } else {
            names.join(", ")
        };
        let message = format!(
            "no mutant `{only}`; expected one of {} ({known})",
            table::TABLE
        );
        return Err(UnknownMutant(message).into());
    }
    Ok(mutants
        .into_iter()
        .filter(|mutant| mutant.name == only)
        .collect())
}

/// Runs gates, and remembers which of them pass without a bug.
pub struct Runner {
    root: PathBuf,
    target: PathBuf,
    controls: BTreeMap<String, (bool, Job)>,
}

impl Runner {
    /// A runner for the workspace at `root`.
    ///
    /// # Errors
    /// When the folder for the logs cannot be made.
    pub fn new(root: &Path) -> Result<Runner> {
        let root = root
            .canonicalize()
            .with_context(|| format!("{}", root.display()))?;
        let target = root.join("target/mutants");
        std::fs::create_dir_all(target.join("log")).context("target/mutants/log")?;
        Ok(Runner {
            root,
            target,
            controls: BTreeMap::new(),
        })
    }

    /// Plants one bug and runs its gate: what became of it, and the command that showed that.
    ///
    /// # Errors
    /// When the gate's program cannot be started.
    pub fn judge(&mut self, mutant: &Mutant) -> Result<(Verdict, Job)> {
        let build = self.job(mutant, &mutant.build_command()?, "build", BUILD_LIMIT)?;
        if build.run()? != Outcome::Passed {
            return Ok((Verdict::BuildError, build));
        }
        let (passes, control) = self.passes_without(mutant)?;
        if !passes {
            return Ok((Verdict::BrokenGate, control));
        }
        let limit = Duration::from_secs(mutant.limit_s);
        let mut gate = self.job(mutant, &mutant.gate, "gate", limit)?;
        gate.env.insert(PLANTED.to_string(), mutant.name.clone());
        let mut verdict = verdict_of(&gate, mutant.hang_ok)?;
        let mut attempts = 1;
        while verdict == Verdict::Missed && attempts < ATTEMPTS {
            attempts += 1;
            println!("       missed; attempt {attempts} of {ATTEMPTS}");
            verdict = verdict_of(&gate, mutant.hang_ok)?;
        }
        if verdict.is_caught() {
            // A gate that fails now and then, bug or no bug, would seem to have caught it. It has passed once already.
            for _ in 1..attempts {
                if control.run()? != Outcome::Passed {
                    return Ok((Verdict::BrokenGate, control));
                }
            }
        }
        Ok((verdict, gate))
    }

    /// Whether the mutant's gate passes without the bug, and the command that showed it (maybe another mutant's).
    fn passes_without(&mut self, mutant: &Mutant) -> Result<(bool, Job)> {
        if mutant.compiled {
            // Its gate is a build with the bug: without it, it is another one.
            return self.passes_uncompiled(mutant);
        }
        let key = format!("{:?} {} {:?}", mutant.gate, mutant.rustflags, mutant.env);
        if let Some(known) = self.controls.get(&key) {
            return Ok(known.clone());
        }
        let limit = BUILD_LIMIT.max(Duration::from_secs(mutant.limit_s));
        let mut control = self.job(mutant, &mutant.gate, "control", limit)?;
        // No bug has this name. A gate that builds for itself takes it as the sign to build with the flag.
        control.env.insert(PLANTED.to_string(), String::new());
        let known = (control.run()? == Outcome::Passed, control);
        self.controls.insert(key, known.clone());
        Ok(known)
    }

    /// The same for one that needs a build of its own.
    fn passes_uncompiled(&self, mutant: &Mutant) -> Result<(bool, Job)> {
        let mut control = self.job(mutant, &mutant.gate, "control", BUILD_LIMIT)?;
        control.env.remove(WRAPPER);
        Ok((control.run()? == Outcome::Passed, control))
    }

    /// Writes the wrapper that adds the flag. Cargo keeps what each wrapper makes apart, by its path.
    fn wrapper(&self, mutant: &Mutant) -> Result<PathBuf> {
        let (name, text) = mutant.wrapper();
        let path = self.target.join("plant").join(name);
        if std::fs::read_to_string(&path).is_ok_and(|known| known == text) {
            return Ok(path);
        }
        let write = || {
            std::fs::create_dir_all(self.target.join("plant"))?;
            std::fs::write(&path, text)?;
            std::fs::set_permissions(&path, Permissions::from_mode(0o755))
        };
        write().with_context(|| format!("{}", path.display()))?;
        Ok(path)
    }

    /// A command without the bug, but with the flag.
    fn job(&self, mutant: &Mutant, command: &[String], step: &str, limit: Duration) -> Result<Job> {
        let wrapper = self.wrapper(mutant)?.to_string_lossy().into_owned();
        let mut env = mutant.env.clone();
        env.insert(WRAPPER.to_string(), wrapper);
        env.insert("RUSTFLAGS".to_string(), mutant.rustflags.clone());
        env.insert(
            "CARGO_TARGET_DIR".to_string(),
            self.target.to_string_lossy().into_owned(),
        );
        Ok(Job {
            folder: self.root.clone(),
            command: command.to_vec(),
            env,
            limit,
            log: self.target.join(format!("log/{}.{step}", mutant.name)),
        })
    }
}

/// Runs a gate with its bug.
fn verdict_of(gate: &Job, hang_ok: bool) -> Result<Verdict> {
    Ok(match gate.run()? {
        Outcome::Failed => Verdict::Caught,
        Outcome::TimedOut if hang_ok => Verdict::CaughtByHanging,
        Outcome::TimedOut => Verdict::TimedOut,
        Outcome::Passed => Verdict::Missed,
    })
}

#[cfg(test)]
mod tests;
