//! `lab run … --gate BASELINE.json`: no contender may take more instructions an operation than it did
//! in an earlier run. Times are never judged: they drift by tens of percent, instructions do not.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail, ensure};
use serde_json::{Map, Value};

use crate::format::thousands;
use crate::machine::Machine;
use crate::results::{Results, Row};
use crate::workload::Request;

/// How much more, in percent, is not worse unless something else is asked for.
pub const TOLERANCE_PERCENT: f64 = 2.0;

/// An earlier run and what is compared with it.
#[derive(Debug)]
pub struct Gate {
    file: PathBuf,
    /// The instructions of each contender that was counted.
    before: BTreeMap<String, f64>,
    machine: Machine,
    tolerance_percent: f64,
}

/// One contender, then and now.
#[derive(Debug, Clone, PartialEq)]
pub struct Compared {
    /// Its name.
    pub contender: String,
    /// Instructions an operation in the baseline.
    pub before: f64,
    /// What became of them.
    pub verdict: Verdict,
}

/// What a comparison says.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// So many now, which is within the tolerance.
    Same(f64),
    /// So many now, which is fewer by more than the tolerance.
    Better(f64),
    /// So many now, which is too many.
    Worse(f64),
    /// It could not be counted now, for this reason; that does not pass either.
    Missing(String),
}

impl Gate {
    /// Reads a baseline for runs like this one.
    ///
    /// # Errors
    /// The file is no results, has nothing counted, is of another workload, or was counted with other
    /// options.
    pub fn load(path: &Path, request: &Request, tolerance_percent: f64) -> Result<Gate> {
        Gate::of(path, Results::load(path)?, request, tolerance_percent)
    }

    /// The same from results that have been read.
    ///
    /// # Errors
    /// As [`Gate::load`].
    pub fn of(
        path: &Path,
        baseline: Results,
        request: &Request,
        tolerance_percent: f64,
    ) -> Result<Gate> {
        let (shown, name) = (path.display(), request.workload.name);
        if let Some(other) = baseline.results.iter().find(|row| row.workload != name) {
            bail!(
                "{shown} is of workload {}, expected {name}; give a baseline of {name}",
                other.workload
            );
        }
        let mut before = BTreeMap::new();
        for row in &baseline.results {
            let Some(instructions) = row.instructions_per_op else {
                continue;
            };
            ensure!(
                instructions > 0.0,
                "{shown}: {} has {instructions} instructions, expected more than 0; the file was \
                 changed, make it again",
                row.contender
            );
            let (then, now) = (options(request, row.params.clone()), own_options(request));
            ensure!(
                then == now,
                "{shown}: {} was counted with {}, this run has {}; give the same options",
                row.contender,
                Value::from(then),
                Value::from(now)
            );
            before.insert(row.contender.clone(), instructions);
        }
        ensure!(
            !before.is_empty(),
            "{shown} has no row with instructions_per_op; make a baseline with `lab run {name} … \
             --count --json FILE`"
        );
        Ok(Gate {
            file: path.to_owned(),
            before,
            machine: baseline.machine,
            tolerance_percent,
        })
    }

    /// Checks that something will be compared, and takes only what is `selected` if that was asked for
    /// by name; otherwise a contender that is gone does not pass.
    ///
    /// # Errors
    /// There is nothing to compare.
    pub fn only(&mut self, selected: &[&str], by_name: bool) -> Result<()> {
        let known: Vec<&str> = self.before.keys().map(String::as_str).collect();
        ensure!(
            selected.iter().any(|name| self.covers(name)),
            "{} has counts for {} only, none of which would run; select one of them",
            self.file.display(),
            known.join(", ")
        );
        if by_name {
            self.before
                .retain(|name, _| selected.contains(&name.as_str()));
        }
        Ok(())
    }

    /// Whether the baseline has a count for this contender.
    #[must_use]
    pub fn covers(&self, contender: &str) -> bool {
        self.before.contains_key(contender)
    }

    /// Compares rows with the baseline: one comparison for each contender that has a count there.
    #[must_use]
    pub fn compare(&self, rows: &[Row]) -> Vec<Compared> {
        let compared = |(contender, before): (&String, &f64)| {
            let row = rows.iter().find(|row| row.contender == *contender);
            let verdict = match row {
                Some(row) => self.verdict(*before, row),
                None => Verdict::Missing("there is no such contender any more".into()),
            };
            Compared {
                contender: contender.clone(),
                before: *before,
                verdict,
            }
        };
        self.before.iter().map(compared).collect()
    }

    fn verdict(&self, before: f64, row: &Row) -> Verdict {
        let Some(now) = row.instructions_per_op else {
            let reason = row.not_counted.as_deref().unwrap_or("it was not tried");
            return Verdict::Missing(reason.into());
        };
        let share = self.tolerance_percent / 100.0;
        if now > before * (1.0 + share) {
            Verdict::Worse(now)
        } else if now < before * (1.0 - share) {
            Verdict::Better(now)
        } else {
            Verdict::Same(now)
        }
    }

    /// The comparisons as a table, and what else a reader should know.
    #[must_use]
    pub fn render(&self, compared: &[Compared], op: &str, here: &Machine) -> String {
        let mut text = format!(
            "\ninstructions/{op}, at most {} % more than in {}:\n",
            self.tolerance_percent,
            self.file.display()
        );
        let names = compared.iter().map(|line| line.contender.len());
        let width = names.max().unwrap_or(0).max("contender".len());
        let _ = writeln!(
            text,
            "{:<width$}  {:>12}  {:>12}  {:>9}",
            "contender", "baseline", "now", "change"
        );
        for line in compared {
            let (now, word) = match &line.verdict {
                Verdict::Same(now) => (*now, ""),
                Verdict::Better(now) => (*now, "  better"),
                Verdict::Worse(now) => (*now, "  WORSE"),
                Verdict::Missing(reason) => {
                    let (name, before) = (&line.contender, shown(line.before));
                    let _ = writeln!(text, "{name:<width$}  {before:>12}  NOT COUNTED: {reason}");
                    continue;
                }
            };
            let change = format!("{:+.1} %", (now / line.before - 1.0) * 100.0);
            let _ = writeln!(
                text,
                "{:<width$}  {:>12}  {:>12}  {change:>9}{word}",
                line.contender,
                shown(line.before),
                shown(now)
            );
        }
        let then = &self.machine;
        for (what, then, now) in [
            ("processor", &then.arch, &here.arch),
            ("rustc", &then.rustc, &here.rustc),
            ("C compiler", &then.gcc, &here.gcc),
        ] {
            if then != now {
                let _ = writeln!(text, "another {what} than then: {now}, baseline {then}");
            }
        }
        text
    }
}

/// Whether all may pass.
#[must_use]
pub fn holds(compared: &[Compared]) -> bool {
    let passes = |line: &Compared| matches!(line.verdict, Verdict::Same(_) | Verdict::Better(_));
    compared.iter().all(passes)
}

/// The options that bear on a count: all but the size.
fn options(request: &Request, mut params: Map<String, Value>) -> Map<String, Value> {
    params.remove(request.workload.size);
    params
}

fn own_options(request: &Request) -> Map<String, Value> {
    options(request, request.values.recorded())
}

/// One decimal, where a tenth of an instruction may matter.
fn shown(instructions: f64) -> String {
    if instructions < 10_000.0 {
        format!("{instructions:.1}")
    } else {
        thousands(instructions.round() as u64)
    }
}

#[cfg(test)]
mod tests;
