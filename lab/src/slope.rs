//! Nanoseconds an operation without the start of the process: a contender runs two sizes of the workload, and the
//! difference of their times over the operations between has no start and no end in it.
//!
//! In a short run the start is much of the time: what a virtual machine loads, or a runtime's threads. The two sizes run
//! one right after the other, in rounds as the measuring does, so that a drift of the machine hits both alike.

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
use crate::plan::order;
use crate::probe::Tools;
use crate::results::{Results, Status, spread};
use crate::table::status_text;
use crate::workload::{Kind, Request, Workload};

/// What to say if the median of all rounds is nothing or less.
const NO_LONGER: &str = "more operations took no longer: nearly all is the start";

/// How to measure it, the same for every contender.
#[derive(Debug)]
pub struct Sloper<'a> {
    /// Starts the contenders.
    pub launcher: &'a Launcher,
    /// The folders.
    pub paths: &'a Paths,
    /// How many rounds.
    pub runs: u32,
    /// How long a single run may take.
    pub timeout: Duration,
    /// Listens to signals.
    pub tools: &'a Tools,
    /// The files to save to after every round.
    pub files: &'a [PathBuf],
}

/// What came out of a run or two.
enum Came<T> {
    Right(T),
    Wrong(String),
    Interrupted(usize),
}

impl Sloper<'_> {
    /// Measures the contenders and fills in their rows, one a contender in the same order; the signal that interrupted
    /// it, if one did.
    ///
    /// # Errors
    /// The launcher does not work or the results cannot be saved; never what a contender does.
    pub fn run(
        &self,
        contenders: &[&Contender],
        request: &Request,
        results: &mut Results,
    ) -> Result<Option<usize>> {
        let mut slopes = vec![Vec::new(); contenders.len()];
        for round in 0..self.runs {
            for index in order(round, contenders.len()) {
                let (contender, row) = (contenders[index], &mut results.results[index]);
                if row.no_slope.is_some() {
                    continue;
                }
                let came = match sizes(contender, request.workload, row.ops) {
                    _ if row.status != Status::Ok => Came::Wrong(status_text(row)),
                    Ok(sizes) => self.both(contender, request, sizes)?,
                    Err(reason) => Came::Wrong(reason),
                };
                match came {
                    Came::Right(slope) => slopes[index].push(slope),
                    Came::Wrong(reason) => {
                        (row.slope_ns_per_op, row.no_slope) = (None, Some(reason));
                    }
                    Came::Interrupted(signal) => return Ok(Some(signal)),
                }
                if row.no_slope.is_none() {
                    row.slope_ns_per_op = middle(&slopes[index]);
                    let is_over = round + 1 == self.runs && row.slope_ns_per_op.is_none();
                    row.no_slope = is_over.then(|| NO_LONGER.into());
                }
            }
            results.save(self.files)?;
        }
        Ok(None)
    }

    /// Nanoseconds an operation, from one run of each size.
    fn both(
        &self,
        contender: &Contender,
        request: &Request,
        [small, large]: [u64; 2],
    ) -> Result<Came<f64>> {
        let mut walls = [0.0; 2];
        for (ops, wall) in [small, large].into_iter().zip(&mut walls) {
            match self.wall(contender, request, ops)? {
                Came::Right(seconds) => *wall = seconds,
                Came::Wrong(reason) => return Ok(Came::Wrong(reason)),
                Came::Interrupted(signal) => return Ok(Came::Interrupted(signal)),
            }
        }
        Ok(Came::Right(slope(walls, [small, large])))
    }

    /// The seconds of one whole run, whose answer is verified like that of any other.
    fn wall(&self, contender: &Contender, request: &Request, ops: u64) -> Result<Came<f64>> {
        let (workload, values) = (request.workload, request.sized(ops));
        input_file::make(workload, &values, self.paths)?;
        let argv = input_file::command(contender, workload, &values, self.paths);
        let stop = self.tools.stop();
        let outcome = self
            .launcher
            .run(&argv, &self.paths.root, self.timeout, stop)?;
        if let End::Interrupted(signal) = outcome.end {
            return Ok(Came::Interrupted(signal));
        }
        let expected = (workload.expected)(&values);
        Ok(match verdict(&outcome, &expected, self.timeout) {
            Ok(()) => Came::Right(outcome.wall_s),
            Err((_, reason)) => Came::Wrong(format!("with {ops} operations: {reason}")),
        })
    }
}

/// Nanoseconds an operation, from the seconds of two runs and their sizes.
fn slope([first, second]: [f64; 2], [small, large]: [u64; 2]) -> f64 {
    (second - first) * 1e9 / (large - small) as f64
}

/// The median of the rounds, unless it is no time at all.
fn middle(slopes: &[f64]) -> Option<f64> {
    let middle = spread(slopes)?.median;
    (middle > 0.0).then_some(middle)
}

/// The row's own size and half of it (a tenth where it must be a power of ten), or why there are no two.
fn sizes(contender: &Contender, workload: &Workload, ops: u64) -> Result<[u64; 2], String> {
    let small = match workload.option(workload.size).map(|option| &option.kind) {
        None => return Err("a run is one operation".into()),
        Some(Kind::PowerOfTen { .. }) => ops / 10,
        Some(_) => ops / 2,
    };
    let spec = contender.workload.get(workload.name);
    let least = spec.and_then(|spec| spec.at_least.get(workload.size));
    if small == 0 || least.is_some_and(|least| small < *least) {
        return Err(format!("it has no smaller size than {ops}"));
    }
    Ok([small, ops])
}

/// What was measured as text; empty if nothing was tried.
#[must_use]
pub fn render(results: &Results, op: &str) -> String {
    let rows = results.results.iter();
    let tried = rows.filter(|row| row.slope_ns_per_op.is_some() || row.no_slope.is_some());
    let tried: Vec<_> = tried.collect();
    let Some(width) = tried.iter().map(|row| row.contender.len()).max() else {
        return String::new();
    };
    let mut text = format!("\nns/{op} without the start, by the slope of two sizes:\n");
    for row in tried {
        let said = match (row.slope_ns_per_op, &row.no_slope) {
            (Some(slope), _) => figure(slope),
            (None, reason) => format!("none: {}", reason.as_deref().unwrap_or("")),
        };
        let _ = writeln!(text, "{:<width$}  {said}", row.contender);
    }
    text
}

#[cfg(test)]
mod tests;
