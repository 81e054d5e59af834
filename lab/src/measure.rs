//! Measures: round after round over all contenders, so that a drift of the machine hits all
//! alike; every answer is verified, and the results are saved after every single run.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::Result;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::{Map, Value};

use crate::figures::{self, FIGURES, Figure, pairs};
use crate::format::shorten;
use crate::launch::{End, Launcher, Outcome};
use crate::paths::Paths;
use crate::results::{Results, Row, Status, spread};

/// How a line of error output begins that has the figures of a garbage collector.
const GC: &str = "gc:";

/// A contender that can run: how, and which row of the results is its.
#[derive(Debug, Clone)]
pub struct Job {
    /// The command with all options.
    pub argv: Vec<String>,
    /// The one line it must print.
    pub expected: String,
    /// Its place in the results.
    pub row: usize,
    /// What is looked at beside time.
    pub figures: &'static [Figure],
    /// The command and the answer of a run with one operation, if the memory of one more is asked for.
    pub alone: Option<(Vec<String>, String)>,
}

/// What the runs of one job have given so far.
#[derive(Debug, Clone, Default)]
struct Given {
    good: Vec<Outcome>,
    /// The peak memory with one operation, if that was asked for.
    alone_bytes: Option<u64>,
}

/// How to measure, the same for every workload.
#[derive(Debug)]
pub struct Measure<'a> {
    /// Starts the contenders.
    pub launcher: &'a Launcher,
    /// The folders.
    pub paths: &'a Paths,
    /// How many rounds.
    pub runs: u32,
    /// How long a single run may take.
    pub timeout: Duration,
    /// The signal that came to the lab, or 0.
    pub stop: &'a AtomicUsize,
    /// The files to save to after every run.
    pub files: &'a [PathBuf],
}

/// The row of a contender that has not run yet; it stays like this if the lab is interrupted.
#[must_use]
pub fn waiting_row(workload: &str, contender: &str, params: Map<String, Value>, ops: u64) -> Row {
    Row {
        workload: workload.into(),
        contender: contender.into(),
        category: String::new(),
        status: Status::Skipped,
        reason: Some("interrupted before its first run".into()),
        params,
        ops,
        runs: 0,
        wall_s: None,
        ns_per_op: None,
        user_s: None,
        sys_s: None,
        peak_rss_bytes: None,
        raw_wall_s: Vec::new(),
        command: String::new(),
        note: None,
        switches: None,
        said: None,
        left_behind: None,
        gc: None,
        figures: None,
        instructions_per_op: None,
        not_counted: None,
    }
}

impl Measure<'_> {
    /// Runs all jobs and fills in their rows; the signal that interrupted it, if one did.
    ///
    /// Until the first run has ended, the files of an earlier measuring stay as they are.
    ///
    /// # Errors
    /// The launcher does not work or the results cannot be saved; never what a contender does.
    pub fn run(&self, jobs: &[Job], results: &mut Results) -> Result<Option<usize>> {
        let signal = self.stop.load(Ordering::Relaxed);
        if signal != 0 {
            return Ok(Some(signal));
        }
        if jobs.is_empty() {
            // Nothing can run, and that is a result.
            results.save(self.files)?;
        }
        let bar = progress(u64::from(self.runs) * jobs.len() as u64);
        let mut given = vec![Given::default(); jobs.len()];
        for _ in 0..self.runs {
            for (job, given) in jobs.iter().zip(&mut given) {
                let row = &mut results.results[job.row];
                bar.set_message(row.contender.clone());
                if matches!(row.status, Status::Failed | Status::Timeout) {
                    bar.inc(1);
                    continue;
                }
                if let Some(signal) = self.once(row, job, given)? {
                    bar.finish_and_clear();
                    return Ok(Some(signal));
                }
                results.save(self.files)?;
                bar.inc(1);
            }
        }
        bar.finish_and_clear();
        Ok(None)
    }

    /// Runs a job once, the first time after a run with one operation if that is asked for; the signal that came.
    fn once(&self, row: &mut Row, job: &Job, given: &mut Given) -> Result<Option<usize>> {
        let run = |argv: &[String]| {
            let root = &self.paths.root;
            self.launcher.run(argv, root, self.timeout, self.stop)
        };
        if let Some((argv, expected)) = job.alone.as_ref().filter(|_| given.good.is_empty()) {
            let outcome = run(argv)?;
            if let End::Interrupted(signal) = outcome.end {
                return Ok(Some(signal));
            }
            match verdict(&outcome, expected, self.timeout) {
                Ok(()) => given.alone_bytes = Some(outcome.peak_rss_bytes),
                Err((status, reason)) => {
                    row.status = status;
                    row.reason = Some(format!("with one operation: {reason}"));
                    return Ok(None);
                }
            }
        }
        let outcome = run(&job.argv)?;
        if let End::Interrupted(signal) = outcome.end {
            return Ok(Some(signal));
        }
        self.record(row, job, outcome, given);
        Ok(None)
    }

    /// Adds one run to its row, or says in the row what was wrong with it.
    fn record(&self, row: &mut Row, job: &Job, outcome: Outcome, given: &mut Given) {
        if outcome.left.ended > 0 {
            row.left_behind = row.left_behind.max(Some(outcome.left.ended));
        }
        let complete = |()| {
            let missed = figures::check(job.figures, &outcome.stderr);
            missed.map_err(|what| (Status::Failed, what))
        };
        let judged = verdict(&outcome, &job.expected, self.timeout).and_then(complete);
        if let Err((status, reason)) = judged {
            row.status = status;
            row.reason = Some(reason);
            return;
        }
        row.said = last_words(&outcome);
        row.gc = collections(&outcome.stderr);
        let Given { good, alone_bytes } = given;
        good.push(outcome);
        row.figures = figures::of_runs(job.figures, good, row.ops, *alone_bytes);
        let each = |pick: fn(&Outcome) -> f64| good.iter().map(pick).collect::<Vec<f64>>();
        row.status = Status::Ok;
        row.reason = None;
        row.runs = good.len();
        row.raw_wall_s = each(|outcome| outcome.wall_s);
        row.wall_s = spread(&row.raw_wall_s);
        row.ns_per_op = row.wall_s.map(|wall| wall.median * 1e9 / row.ops as f64);
        row.user_s = spread(&each(|outcome| outcome.user_s)).map(|user| user.median);
        row.sys_s = spread(&each(|outcome| outcome.sys_s)).map(|sys| sys.median);
        row.switches =
            spread(&each(|outcome| outcome.switches as f64)).map(|all| all.median as u64);
        row.peak_rss_bytes = good.iter().map(|outcome| outcome.peak_rss_bytes).max();
    }
}

/// Judges one run: the right answer and exit 0, or what was wrong.
pub(crate) fn verdict(
    outcome: &Outcome,
    expected: &str,
    timeout: Duration,
) -> Result<(), (Status, String)> {
    let failed = |reason: String| Err((Status::Failed, reason));
    let said = last_words(outcome).map_or_else(String::new, |line| format!(": {line}"));
    match &outcome.end {
        End::Timeout => {
            let reason = format!("stopped after {} s", timeout.as_secs());
            Err((Status::Timeout, reason))
        }
        _ if outcome.left.alive > 0 => failed(format!(
            "left processes behind that cannot be ended ({}); they run beside all others",
            outcome.left.alive
        )),
        End::Flooded => failed("printed more than 1 MiB instead of one line".into()),
        End::FloodedErrors => failed("printed more than 64 MiB of errors".into()),
        End::Signalled(signal) => failed(format!("killed by {}{said}", signal_name(*signal))),
        End::Exited(0) if outcome.stdout.trim() == expected => Ok(()),
        End::Exited(0) => failed(format!(
            "printed {:?}, expected {expected:?}",
            shorten(&outcome.stdout)
        )),
        End::Exited(status) => failed(format!("exit status {status}{said}")),
        End::Interrupted(signal) => failed(format!("interrupted by signal {signal}")),
        End::Unreported(how) => failed(format!("no figures, {how}{said}")),
    }
}

/// The last line of the error output that says anything to people.
fn last_words(outcome: &Outcome) -> Option<String> {
    let mut lines = outcome.stderr.lines().rev();
    lines
        .find(|line| !line.trim().is_empty() && !line.starts_with(GC) && !line.starts_with(FIGURES))
        .map(shorten)
}

/// What a managed contender says of its collector: a line `gc: name=value …` among the error output.
fn collections(stderr: &str) -> Option<Map<String, Value>> {
    let line = stderr
        .lines()
        .rev()
        .find_map(|line| line.strip_prefix(GC))?;
    Some(pairs(line))
}

/// The name of a signal that ends programs.
pub(crate) fn signal_name(number: i32) -> String {
    let name = match number {
        4 => "SIGILL",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL (out of memory?)",
        11 => "SIGSEGV",
        15 => "SIGTERM",
        _ => return format!("signal {number}"),
    };
    name.into()
}

/// A bar on stderr; indicatif hides it where that is no terminal, and it has no colours.
fn progress(runs: u64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(runs), ProgressDrawTarget::stderr());
    let template = "{wide_bar} {pos}/{len} runs, {elapsed} of about {duration}, {msg:30}";
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_secs(1));
    bar
}
