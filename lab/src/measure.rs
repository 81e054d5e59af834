//! Measures: round after round over all contenders, each round in another order, so that a drift of the machine hits
//! all alike; every answer is verified, and the results are saved after every single run.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::Result;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::{Map, Value};

use crate::catalogue::Contender;
use crate::clock::Clock;
use crate::figures::{self, FIGURES, Figure, Of, pairs};
use crate::format::{shorten, thousands};
use crate::input_file;
use crate::launch::{End, Launcher, Outcome};
use crate::paths::Paths;
use crate::plan::{OPS_FEWEST, order, share};
use crate::results::{Results, Row, Status, spread};
use crate::slope;
use crate::workload::Request;

/// How a line of error output begins that has the figures of a garbage collector.
const GC: &str = "gc:";

/// A run that was cut is made again with its operations divided by this.
const FEWER: u64 = 30;
/// Whoever has less time than this is not started.
const SHORTEST: Duration = Duration::from_millis(50);
/// A later run may take so many times as long as the first one did.
const LATER_TIMES: u32 = 4;

/// A contender that can run, with what it was asked for.
#[derive(Debug)]
pub struct Job<'a> {
    /// Who runs.
    pub contender: &'a Contender,
    /// The workload and its options, but for the number of operations, which is the row's.
    pub request: &'a Request,
    /// Its place in the results.
    pub row: usize,
}

impl Job<'_> {
    /// What to start for so many operations, and what it must print.
    #[must_use]
    pub fn command(&self, paths: &Paths, ops: u64) -> (Vec<String>, String) {
        let values = self.request.sized(ops);
        let argv = input_file::command(self.contender, self.request.workload, &values, paths);
        (argv, (self.request.workload.expected)(&values))
    }

    /// Has its row say that a run does so many operations.
    pub fn size(&self, row: &mut Row, paths: &Paths, ops: u64) {
        row.ops = ops;
        row.params = self.request.sized(ops).recorded();
        row.command = paths.show(&self.command(paths, ops).0);
    }
}

/// Whether a run was right, or what was wrong with it.
type Judged = Result<(), (Status, String)>;

/// What became of a run.
enum Ran {
    /// It ended, or was stopped.
    Over(Outcome, Judged),
    /// This signal came.
    Interrupted(usize),
}

/// What the runs of one job have given so far.
#[derive(Debug, Clone, Default)]
struct Given {
    good: Vec<Outcome>,
    /// The peak memory with one operation, if that was asked for.
    alone_bytes: Option<u64>,
    /// Nanoseconds an operation by each run and the one with fewer operations that followed it.
    slopes: Vec<f64>,
    /// One of those with fewer operations was stopped, and there are no more.
    was_stopped: bool,
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
        cut: None,
        switches: None,
        said: None,
        left_behind: None,
        gc: None,
        figures: None,
        raw_figures: Vec::new(),
        instructions_per_op: None,
        not_counted: None,
        slope_ns_per_op: None,
        no_slope: None,
    }
}

impl Measure<'_> {
    /// Runs all jobs and fills in their rows; the signal that interrupted it, if one did.
    ///
    /// Until the first run has ended, the files of an earlier measuring stay as they are.
    ///
    /// # Errors
    /// The launcher does not work or the results cannot be saved; never what a contender does.
    pub fn run(
        &self,
        jobs: &[Job<'_>],
        clock: &mut Clock,
        results: &mut Results,
    ) -> Result<Option<usize>> {
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
        let (started, part) = (Instant::now(), clock.part(jobs.len()));
        let mut runs = vec![self.runs; jobs.len()];
        for round in 0..self.runs {
            if round == 1 {
                let left = part.saturating_sub(started.elapsed());
                runs = self.later_runs(jobs, left, results);
            }
            for index in order(round, jobs.len()) {
                let (job, given, runs) = (&jobs[index], &mut given[index], runs[index]);
                let row = &mut results.results[job.row];
                bar.set_message(row.contender.clone());
                bar.inc(1);
                if round >= runs || matches!(row.status, Status::Failed | Status::Timeout) {
                    continue;
                }
                let signal = if round == 0 {
                    self.first(row, job, given, clock.next_share())?
                } else {
                    self.later(row, job, given, clock.left())?
                };
                if signal.is_none() || !results.is_empty_handed() {
                    results.save(self.files)?;
                }
                if signal.is_some() {
                    bar.finish_and_clear();
                    return Ok(signal);
                }
            }
        }
        bar.finish_and_clear();
        Ok(None)
    }

    /// The first run of a job, with fewer operations and once more if half of its share of the time was too
    /// short; the signal that came.
    fn first(
        &self,
        row: &mut Row,
        job: &Job<'_>,
        given: &mut Given,
        share: Duration,
    ) -> Result<Option<usize>> {
        if share < SHORTEST {
            row.status = Status::Timeout;
            row.reason = Some("cut: no time was left to start it".into());
            return Ok(None);
        }
        let limit = share / 2;
        let stopped = |row: &mut Row| {
            let stopped = row.status == Status::Timeout && limit < self.timeout;
            let took = seconds_text(limit);
            if stopped {
                row.reason = Some(format!("cut: stopped after {took}, its share of the time"));
            }
            stopped.then_some(took)
        };
        let signal = self.once(row, job, given, limit)?;
        let (wanted, fewer) = (row.ops, job.request.workload.round(row.ops / FEWER));
        let took = stopped(row).filter(|_| signal.is_none() && fewer >= OPS_FEWEST);
        let Some(took) = took else {
            return Ok(signal);
        };
        let [now, then] = [fewer, wanted].map(thousands);
        row.note = Some(format!(
            "cut to {now} operations instead of {then}: more took longer than its share of the time, {took}"
        ));
        job.size(row, self.paths, fewer);
        let signal = self.once(row, job, given, limit)?;
        stopped(row);
        Ok(signal)
    }

    /// One of the runs after the first; the signal that came. One that takes much longer than the first is the last.
    fn later(
        &self,
        row: &mut Row,
        job: &Job<'_>,
        given: &mut Given,
        left: Duration,
    ) -> Result<Option<usize>> {
        let first = row.raw_wall_s.first().copied().unwrap_or_default();
        let limit = later_limit(Duration::from_secs_f64(first)).min(left);
        if left < SHORTEST {
            row.cut(self.runs, "no time was left");
            return Ok(None);
        }
        let before = row.clone();
        let limited = left < Duration::MAX;
        let signal = self.once(row, job, given, if limited { limit } else { left })?;
        if row.status == Status::Timeout && limited && limit < self.timeout {
            *row = before;
            row.cut(
                self.runs,
                &format!("one more was stopped after {}", seconds_text(limit)),
            );
        }
        Ok(signal)
    }

    /// Runs a job with so many operations, and judges it.
    fn launch(&self, row: &mut Row, job: &Job<'_>, ops: u64, limit: Duration) -> Result<Ran> {
        let request = job.request;
        input_file::make(request.workload, &request.sized(ops), self.paths)?;
        let (argv, expected) = job.command(self.paths, ops);
        let outcome = self
            .launcher
            .run(&argv, &self.paths.root, limit, self.stop)?;
        if let End::Interrupted(signal) = outcome.end {
            return Ok(Ran::Interrupted(signal));
        }
        if outcome.left.ended > 0 {
            row.left_behind = row.left_behind.max(Some(outcome.left.ended));
        }
        let judged = verdict(&outcome, &expected, limit);
        Ok(Ran::Over(outcome, judged))
    }

    /// How many runs each job gets if those after the first one have so much time; the rows say who gets fewer.
    fn later_runs(&self, jobs: &[Job<'_>], left: Duration, results: &mut Results) -> Vec<u32> {
        let wall = |job: &Job<'_>| {
            let row = &results.results[job.row];
            let first = row.raw_wall_s.first().copied();
            let first = first.filter(|_| row.status == Status::Ok).unwrap_or(0.0);
            let fewer = self.fewer(row, job).unwrap_or(0);
            first * (1.0 + fewer as f64 / row.ops as f64)
        };
        let later = f64::from(self.runs - 1);
        let walls: Vec<f64> = jobs.iter().map(wall).collect();
        let needed: Vec<f64> = walls.iter().map(|wall| wall * later).collect();
        let share = share(&needed, left.as_secs_f64());
        let runs = walls
            .iter()
            .zip(&needed)
            .zip(jobs)
            .map(|((wall, needed), job)| {
                if *needed <= share {
                    return self.runs;
                }
                let row = &mut results.results[job.row];
                row.cut(
                    self.runs,
                    "more would have taken longer than its share of the time",
                );
                1 + (share / wall) as u32
            });
        runs.collect()
    }

    /// Runs a job once, the first time after a run with one operation if that is asked for; the signal that came.
    fn once(
        &self,
        row: &mut Row,
        job: &Job<'_>,
        given: &mut Given,
        limit: Duration,
    ) -> Result<Option<usize>> {
        let limit = limit.min(self.timeout);
        if job.request.has_memory_each() && given.good.is_empty() {
            match self.launch(row, job, 1, limit)? {
                Ran::Interrupted(signal) => return Ok(Some(signal)),
                Ran::Over(outcome, Ok(())) => given.alone_bytes = Some(outcome.peak_rss_bytes),
                Ran::Over(_, Err((status, reason))) => {
                    row.status = status;
                    row.reason = Some(format!("with one operation: {reason}"));
                    return Ok(None);
                }
            }
        }
        let (outcome, judged) = match self.launch(row, job, row.ops, limit)? {
            Ran::Interrupted(signal) => return Ok(Some(signal)),
            Ran::Over(outcome, judged) => (outcome, judged),
        };
        let wall_s = outcome.wall_s;
        record(row, job.request.workload.figures, outcome, judged, given);
        match self.fewer(row, job).filter(|_| !given.was_stopped) {
            Some(fewer) => self.with_fewer(row, job, given, fewer, (wall_s, limit)),
            None => Ok(None),
        }
    }

    /// How many operations the second run has, if there is one. The difference of two single runs is no slope.
    fn fewer(&self, row: &Row, job: &Job<'_>) -> Option<u64> {
        if self.runs < 2 || row.status != Status::Ok {
            return None;
        }
        slope::fewer(job.contender, job.request.workload, row)
    }

    /// After a run of so many seconds, one with fewer operations; the signal that came. The limit is for both. If the
    /// second is stopped, there is no slope, and the row stays as it is.
    fn with_fewer(
        &self,
        row: &mut Row,
        job: &Job<'_>,
        given: &mut Given,
        fewer: u64,
        (wall_s, limit): (f64, Duration),
    ) -> Result<Option<usize>> {
        let wall = Duration::from_secs_f64(wall_s);
        let limit = later_limit(wall).min(limit.saturating_sub(wall));
        let said = |reason: String| format!("with {} operations: {reason}", thousands(fewer));
        let judged = match self.launch(row, job, fewer, limit)? {
            Ran::Interrupted(signal) => return Ok(Some(signal)),
            Ran::Over(outcome, judged) => judged.map(|()| outcome.wall_s),
        };
        match judged {
            Ok(fewer_s) => {
                let slope = slope::ns_per_op([wall_s, fewer_s], [row.ops, fewer]);
                given.slopes.push(slope);
                slope::record(row, &given.slopes);
            }
            Err((Status::Timeout, reason)) => {
                given.was_stopped = true;
                (row.slope_ns_per_op, row.no_slope) = (None, Some(said(reason)));
            }
            Err((status, reason)) => (row.status, row.reason) = (status, Some(said(reason))),
        }
        Ok(None)
    }
}

/// How long a run may take after one that took so long.
fn later_limit(first: Duration) -> Duration {
    first
        .saturating_mul(LATER_TIMES)
        .max(Duration::from_secs(1))
}

/// Adds one run to its row, or says in the row what was wrong with it.
fn record(row: &mut Row, figures: &[Figure], outcome: Outcome, judged: Judged, given: &mut Given) {
    let complete = |()| {
        let missed = figures::check(figures, &outcome.stderr);
        missed.map_err(|what| (Status::Failed, what))
    };
    if let Err((status, reason)) = judged.and_then(complete) {
        row.status = status;
        row.reason = Some(reason);
        return;
    }
    row.said = last_words(&outcome);
    row.gc = collections(&outcome.stderr);
    let Given {
        good, alone_bytes, ..
    } = given;
    good.push(outcome);
    row.figures = figures::of_runs(figures, good, row.ops, *alone_bytes);
    if figures.iter().any(|figure| figure.of != Of::MemoryEach) {
        row.raw_figures = good.iter().map(|run| figures::said(&run.stderr)).collect();
    }
    let each = |pick: fn(&Outcome) -> f64| good.iter().map(pick).collect::<Vec<f64>>();
    row.status = Status::Ok;
    row.reason = None;
    row.runs = good.len();
    row.raw_wall_s = each(|outcome| outcome.wall_s);
    row.wall_s = spread(&row.raw_wall_s);
    row.ns_per_op = row.wall_s.map(|wall| wall.median * 1e9 / row.ops as f64);
    row.user_s = spread(&each(|outcome| outcome.user_s)).map(|user| user.median);
    row.sys_s = spread(&each(|outcome| outcome.sys_s)).map(|sys| sys.median);
    row.switches = spread(&each(|outcome| outcome.switches as f64)).map(|all| all.median as u64);
    row.peak_rss_bytes = good.iter().map(|outcome| outcome.peak_rss_bytes).max();
}

/// Judges one run: the right answer and exit 0, or what was wrong.
pub(crate) fn verdict(outcome: &Outcome, expected: &str, timeout: Duration) -> Judged {
    let failed = |reason: String| Err((Status::Failed, reason));
    let said = last_words(outcome).map_or_else(String::new, |line| format!(": {line}"));
    match &outcome.end {
        End::Timeout => {
            let reason = format!("stopped after {}", seconds_text(timeout));
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
            "printed {:?}, expected {:?}",
            shorten(&outcome.stdout),
            shorten(expected)
        )),
        End::Exited(status) => failed(format!("exit status {status}{said}")),
        End::Interrupted(signal) => failed(format!("interrupted by signal {signal}")),
        End::Unreported(how) => failed(format!("no figures, {how}{said}")),
    }
}

/// A time limit in words.
fn seconds_text(limit: Duration) -> String {
    format!("{} s", (limit.as_secs_f64() * 100.0).round() / 100.0)
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
