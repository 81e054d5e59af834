//! Instructions an operation, counted by valgrind's callgrind: unlike a time, a count does not depend on
//! how busy the machine is.
//!
//! A contender runs a small size of the workload and a larger one; the difference over the
//! operations between them has no start of the process in it. Only contenders that say `counted` in
//! their list are counted: native ones that run on one thread, or the count would not repeat.

use std::fmt::Write;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;

use crate::catalogue::Contender;
use crate::format::figure;
use crate::input_file;
use crate::launch::{End, Launcher};
use crate::measure::verdict;
use crate::paths::Paths;
use crate::probe::{Found, Tools};
use crate::results::{Results, Status};
use crate::table::status_text;
use crate::workload::{Kind, Request, Workload};

/// How many operations the smaller run has.
const OPS: u64 = 20_000;
/// The two sizes where they must be powers of ten.
const POWERS: [u64; 2] = [1_000, 10_000];
const VALGRIND: [&str; 3] = [
    "valgrind",
    "--tool=callgrind",
    "--callgrind-out-file=/dev/null",
];
/// What to say without it.
const NO_VALGRIND: &str = "valgrind is not installed (`apt-get install valgrind`)";
const NOT_NATIVE: &str =
    "its list of contenders does not say `counted`: it has several threads, or is not native";

/// Why valgrind cannot be used, if so.
fn without_valgrind(tools: &Tools) -> Option<String> {
    match tools.ask([VALGRIND[0], "--version"]) {
        Found::Yes(_) => None,
        Found::No => Some(NO_VALGRIND.into()),
        Found::Mute(what) => Some(format!("{} {what}", VALGRIND[0])),
    }
}

/// How to count, the same for every contender.
#[derive(Debug)]
pub struct Counter<'a> {
    /// Starts valgrind.
    pub launcher: &'a Launcher,
    /// The folders.
    pub paths: &'a Paths,
    /// How long a single run under valgrind may take.
    pub timeout: Duration,
    /// Knows whether there is valgrind, and listens to signals.
    pub tools: &'a Tools,
    /// The files to save to after every contender.
    pub files: &'a [PathBuf],
}

/// What came out for one contender.
#[derive(Debug)]
enum Count {
    /// So many instructions an operation.
    PerOp(f64),
    /// None, and why.
    Not(String),
    /// This signal came to the lab.
    Interrupted(usize),
}

/// What came out of one run.
enum Counted {
    Whole(u64),
    Not(String),
    Interrupted(usize),
}

impl Counter<'_> {
    /// Counts the contenders and fills in their rows, one a contender in the same order; the signal that interrupted it, if one did.
    ///
    /// # Errors
    /// The launcher does not work or the results cannot be saved; never what a contender does.
    pub fn run(
        &self,
        contenders: &[&Contender],
        request: &Request,
        results: &mut Results,
    ) -> Result<Option<usize>> {
        let without_valgrind = without_valgrind(self.tools);
        for (index, contender) in contenders.iter().enumerate() {
            let row = &results.results[index];
            let count = if !contender.counted {
                Count::Not(NOT_NATIVE.into())
            } else if row.status != Status::Ok {
                Count::Not(status_text(row))
            } else if let Some(reason) = &without_valgrind {
                Count::Not(reason.clone())
            } else {
                self.count(contender, request)?
            };
            let row = &mut results.results[index];
            match count {
                Count::PerOp(instructions) => row.instructions_per_op = Some(instructions),
                Count::Not(reason) => row.not_counted = Some(reason),
                Count::Interrupted(signal) => return Ok(Some(signal)),
            }
            results.save(self.files)?;
        }
        Ok(None)
    }

    fn count(&self, contender: &Contender, request: &Request) -> Result<Count> {
        let [small, large] = sizes(request.workload);
        let mut counts = [0; 2];
        for (ops, count) in [small, large].into_iter().zip(&mut counts) {
            match self.whole(contender, request, ops)? {
                Counted::Whole(instructions) => *count = instructions,
                Counted::Not(reason) => return Ok(Count::Not(format!("under valgrind: {reason}"))),
                Counted::Interrupted(signal) => return Ok(Count::Interrupted(signal)),
            }
        }
        Ok(slope(counts, [small, large]).map_or_else(Count::Not, Count::PerOp))
    }

    /// The instructions of one whole run, whose answer is verified like that of any other.
    fn whole(&self, contender: &Contender, request: &Request, ops: u64) -> Result<Counted> {
        let values = request.sized(ops);
        let mut argv: Vec<String> = VALGRIND.map(String::from).to_vec();
        let workload = request.workload;
        input_file::make(workload, &values, self.paths)?;
        argv.extend(input_file::command(
            contender, workload, &values, self.paths,
        ));
        let mut outcome =
            self.launcher
                .run(&argv, &self.paths.root, self.timeout, self.tools.stop())?;
        if let End::Interrupted(signal) = outcome.end {
            return Ok(Counted::Interrupted(signal));
        }
        let (count, others) = collected(&outcome.stderr);
        outcome.stderr = others;
        let expected = (request.workload.expected)(&values);
        if let Err((_, reason)) = verdict(&outcome, &expected, self.timeout) {
            return Ok(Counted::Not(reason));
        }
        Ok(count.map_or_else(
            || Counted::Not("callgrind printed no count".into()),
            Counted::Whole,
        ))
    }
}

/// The two sizes that are counted: small, for valgrind is slow, and within what the workload allows.
fn sizes(workload: &Workload) -> [u64; 2] {
    match workload.option(workload.size).map(|option| &option.kind) {
        Some(Kind::PowerOfTen { .. }) => POWERS,
        Some(Kind::Number { range, .. }) => {
            let small = OPS.min(range[1] / 2);
            [small, 2 * small]
        }
        _ => [OPS, 2 * OPS],
    }
}

/// Instructions an operation, from the counts of two runs and their sizes.
fn slope([first, second]: [u64; 2], [small, large]: [u64; 2]) -> Result<f64, String> {
    if second <= first {
        return Err(format!(
            "{large} operations took {second} instructions, {small} took {first}: no difference to \
             divide"
        ));
    }
    Ok((second - first) as f64 / (large - small) as f64)
}

/// Callgrind's count, and the lines that are not valgrind's.
fn collected(stderr: &str) -> (Option<u64>, String) {
    let (own, others): (Vec<&str>, Vec<&str>) =
        stderr.lines().partition(|line| line.starts_with("=="));
    let count = own.iter().rev().find_map(|line| {
        let (_, number) = line.split_once("Collected :")?;
        number.trim().parse().ok()
    });
    (count, others.join("\n"))
}

/// What was counted as text; empty if nothing was tried.
#[must_use]
pub fn render(results: &Results, op: &str) -> String {
    let rows = &results.results;
    let tried =
        |row: &&crate::results::Row| row.instructions_per_op.is_some() || row.not_counted.is_some();
    let tried: Vec<_> = rows.iter().filter(tried).collect();
    let Some(width) = tried.iter().map(|row| row.contender.len()).max() else {
        return String::new();
    };
    let mut text = format!("\ninstructions/{op}:\n");
    for row in tried {
        let said = match (row.instructions_per_op, &row.not_counted) {
            (Some(instructions), _) => figure(instructions),
            (None, reason) => format!("not counted: {}", reason.as_deref().unwrap_or("")),
        };
        let _ = writeln!(text, "{:<width$}  {said}", row.contender);
    }
    text
}

#[cfg(test)]
mod tests;
