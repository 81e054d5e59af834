//! Mutants: each must make its gate fail, or the gate guards nothing.
//!
//! For each row of `xtask/mutants.toml` that is asked for ([`choice`]):
//! 1. The gate is built, with all bugs in it and none chosen ([`plant`]): a build that fails has caught nothing. One
//!    build serves nearly all bugs, and the builds come first, one after the other.
//! 2. The gate passes *without* the bug (once for each distinct gate): a gate that always fails would seem to catch
//!    everything. The bug's name is empty then, so that a gate which builds something itself builds the same.
//! 3. The gate runs with the bug, which the environment names (`GOSSAMER_MUTANT`), under a time limit, and must fail.
//! 4. A gate that lets its bug pass gets two more chances, when the others have ended, and the gate without the bug as
//!    many.
//!
//! In steps 2 and 3 several gates run at a time. What they print is kept in `target/mutants/log`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::parallel;

pub mod choice;
pub mod gate;
pub mod plant;
pub mod table;

use choice::Which;
use gate::{Job, Outcome};
use plant::{MUTANT, WRAPPER};
use table::Mutant;

/// How long a build may take, and a gate without the bug at least.
const BUILD_LIMIT: Duration = Duration::from_secs(1800);

/// How often a gate may let its bug pass: one with threads of the system may meet it or not, on a busy machine.
const ATTEMPTS: u32 = 3;

/// How many gates run at a time for each processor: many with a bug only wait for what never comes.
const GATES_EACH: usize = 2;

/// Somebody asked for a mutant that is not in the table.
#[derive(Debug)]
pub struct UnknownMutant(String);

impl std::fmt::Display for UnknownMutant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UnknownMutant {}

/// What became of one mutant.
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

/// What became of a bug, the command that showed it, and how long that took.
pub struct Judged {
    /// What became of it.
    pub verdict: Verdict,
    /// The last command that was run for it.
    pub shown_by: Job,
    /// Without the build, and without the gate's run before the first of its bugs.
    pub took: Duration,
}

/// Plants the bugs of the table at `root` that are asked for, and says what became of each; last of all, once more, of
/// those that were not caught. Answers whether all were.
///
/// # Errors
/// When the table cannot be read, a gate's program cannot be started, or a name is no mutant's ([`UnknownMutant`]).
pub fn run(root: &Path, which: Which<'_>) -> Result<bool> {
    let text = std::fs::read_to_string(root.join(table::TABLE)).context(table::TABLE)?;
    let mutants = choice::choose(root, table::parse(&text)?, which)?;
    let judged = Runner::new(root)?.judge(&mutants)?;
    let rows: Vec<_> = mutants.iter().zip(judged).collect();
    let left: Vec<_> = rows
        .iter()
        .filter(|(_, judged)| !judged.verdict.is_caught())
        .collect();
    println!(
        "\nmutants: {} of {} caught",
        rows.len() - left.len(),
        rows.len()
    );
    for (mutant, Judged { verdict, took, .. }) in &rows {
        let (seconds, words) = (took.as_secs_f64(), verdict.words());
        println!("  {:<32} {seconds:>7.1} s  {words}", mutant.name);
    }
    // Who sees only the end of all this, sees which they are.
    for (mutant, judged) in &left {
        println!("\nnot caught: {}: {}", mutant.name, judged.verdict.words());
        judged.shown_by.show_log();
    }
    Ok(left.is_empty())
}

/// Runs gates.
pub struct Runner {
    root: PathBuf,
    logs: PathBuf,
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
        let logs = root.join("target/mutants/log");
        std::fs::create_dir_all(&logs).context("target/mutants/log")?;
        Ok(Runner { root, logs })
    }

    /// Plants each bug and runs its gate: what became of them, in their order.
    ///
    /// # Errors
    /// When a gate's program cannot be started.
    pub fn judge(&self, mutants: &[Mutant]) -> Result<Vec<Judged>> {
        let mut judged = self.build(mutants)?;
        let mut gates: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (at, mutant) in mutants.iter().enumerate() {
            if !judged.contains_key(&at) {
                gates.entry(gate_of(mutant)).or_default().push(at);
            }
        }
        // In the table's order, in which the long ones are spread.
        let mut gates: Vec<Vec<usize>> = gates.into_values().collect();
        gates.sort();
        let width = GATES_EACH * parallel::processors();
        let ran = parallel::each(&gates, width, |gate| {
            let bugs: Vec<&Mutant> = gate.iter().map(|at| &mutants[*at]).collect();
            self.judge_gate(&bugs)
        })?;
        judged.extend(gates.into_iter().flatten().zip(ran.into_iter().flatten()));
        for (at, judged) in &mut judged {
            if judged.verdict == Verdict::Missed {
                *judged = self.judge_alone(&mutants[*at])?;
            }
        }
        Ok(judged.into_values().collect())
    }

    /// Builds every gate; gives those bugs that this has settled, by their place in the list.
    fn build(&self, mutants: &[Mutant]) -> Result<BTreeMap<usize, Judged>> {
        let start = Instant::now();
        let mut known: BTreeMap<String, (Outcome, Job)> = BTreeMap::new();
        let mut settled = BTreeMap::new();
        for (at, mutant) in mutants.iter().enumerate() {
            for (verdict, job) in self.builds(mutant)? {
                let key = format!("{:?} {:?}", job.command, job.env);
                if !known.contains_key(&key) {
                    known.insert(key.clone(), (job.run()?, job));
                }
                let (outcome, job) = &known[&key];
                if *outcome != Outcome::Passed && !settled.contains_key(&at) {
                    let shown_by = job.clone();
                    settled.insert(at, judged(mutant, verdict, shown_by, start));
                }
            }
        }
        let (seconds, builds) = (start.elapsed().as_secs_f64(), known.len());
        println!("mutants: {builds} builds ({seconds:.1} s)");
        Ok(settled)
    }

    /// What has to be built for a bug, and what it is if that fails.
    fn builds(&self, mutant: &Mutant) -> Result<Vec<(Verdict, Job)>> {
        let command = mutant.build_command()?;
        let job = self.job(mutant, &command, "build", BUILD_LIMIT)?;
        let mut builds = vec![(Verdict::BuildError, job)];
        if mutant.compiled {
            let mut control = self.control(mutant)?;
            (control.command, control.limit) = (command, BUILD_LIMIT);
            builds.push((Verdict::BrokenGate, control));
        }
        Ok(builds)
    }

    /// Plants bugs that have the same gate, one after the other.
    fn judge_gate(&self, mutants: &[&Mutant]) -> Result<Vec<Judged>> {
        let start = Instant::now();
        let control = self.control(mutants[0])?;
        let passes = control.run()? == Outcome::Passed;
        let judge = |mutant: &&Mutant| {
            if !passes {
                let broken = Verdict::BrokenGate;
                return Ok(judged(mutant, broken, control.clone(), start));
            }
            let start = Instant::now();
            let gate = self.gate(mutant)?;
            let verdict = verdict_of(&gate, mutant.hang_ok)?;
            Ok(judged(mutant, verdict, gate, start))
        };
        mutants.iter().map(judge).collect()
    }

    /// Gives a gate that has let its bug pass its other chances.
    fn judge_alone(&self, mutant: &Mutant) -> Result<Judged> {
        let start = Instant::now();
        let (control, gate) = (self.control(mutant)?, self.gate(mutant)?);
        let mut verdict = Verdict::Missed;
        for attempt in 2..=ATTEMPTS {
            println!("{}: attempt {attempt} of {ATTEMPTS}", mutant.name);
            // A gate that fails now and then, bug or no bug, would seem to have caught it.
            if control.run()? != Outcome::Passed {
                return Ok(judged(mutant, Verdict::BrokenGate, control, start));
            }
            verdict = verdict_of(&gate, mutant.hang_ok)?;
            if verdict != Verdict::Missed {
                break;
            }
        }
        Ok(judged(mutant, verdict, gate, start))
    }

    /// The gate with the bug.
    fn gate(&self, mutant: &Mutant) -> Result<Job> {
        let limit = Duration::from_secs(mutant.limit_s);
        let mut gate = self.job(mutant, &mutant.gate, "gate", limit)?;
        gate.env.insert(MUTANT.to_string(), mutant.name.clone());
        Ok(gate)
    }

    /// The gate without the bug.
    fn control(&self, mutant: &Mutant) -> Result<Job> {
        let limit = BUILD_LIMIT.max(Duration::from_secs(mutant.limit_s));
        let mut control = self.job(mutant, &mutant.gate, "control", limit)?;
        if mutant.compiled {
            // Its gate is a build with the bug: without it, it is another one.
            control.env.remove(WRAPPER);
        }
        Ok(control)
    }

    /// A command in a build that has the bug, which is not chosen.
    fn job(&self, mutant: &Mutant, command: &[String], step: &str, limit: Duration) -> Result<Job> {
        let mut env = match mutant.compiled {
            true => plant::compiled(&self.root, &mutant.rustflags, &mutant.name)?,
            false => plant::environment(&self.root, &mutant.rustflags)?,
        };
        env.extend(mutant.env.clone());
        Ok(Job {
            folder: self.root.clone(),
            command: command.to_vec(),
            env,
            limit,
            log: self.logs.join(format!("{}.{step}", mutant.name)),
        })
    }
}

/// What makes two gates the same.
fn gate_of(mutant: &Mutant) -> String {
    let own = mutant.compiled.then_some(&mutant.name);
    format!(
        "{:?} {} {:?} {own:?}",
        mutant.gate, mutant.rustflags, mutant.env
    )
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

/// Says what became of a bug.
fn judged(mutant: &Mutant, verdict: Verdict, shown_by: Job, start: Instant) -> Judged {
    let took = start.elapsed();
    let (seconds, words) = (took.as_secs_f64(), verdict.words());
    println!("mutant {}: {words} ({seconds:.1} s)", mutant.name);
    Judged {
        verdict,
        shown_by,
        took,
    }
}

#[cfg(test)]
mod tests;
