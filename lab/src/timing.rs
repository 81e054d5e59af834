//! `lab time PROGRAM…`: time, memory of the whole process tree, and energy of any program; the
//! seed's xtime, with its options and its line.
//!
//! Each run goes through `once`: behind the launcher, watched by what `/proc` and `/sys`
//! show. Then its line, its record, and, after the last one, what all have in common.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::Args;

use crate::error::BadInput;
use crate::family;
use crate::launch::{End, Launcher};
use crate::measure::signal_name;
use crate::paths::Paths;
use crate::probe::listen;
use crate::{esay, esayln, sayln};
use once::{Figures, Ran, Setting};
use record::Records;

pub mod energy;
mod once;
mod record;
mod show;
mod tree;

/// How often a signal is looked for between two runs.
const PAUSE_SLICE: Duration = Duration::from_millis(100);
const PAUSE_MAX_S: f64 = 86_400.0;

/// The options of `lab time`.
#[derive(Debug, Args)]
#[command(after_help = "\
On stderr comes what xtime prints: the most memory that all processes of the program had together,
the time as hours:minutes:seconds, and the energy that the machine's processors used meanwhile (by
RAPL; ? and a reason where it has no counter or only root may read it):
  sleep: == 1.69MB, 00:00:01.002345678 (12.345 J energy) ==
KB, MB, … are units of 1,024. The program gets no input. What outlives it is ended.

FILE of -o gets a line of CSV a run that went well: name,lang,bytes,seconds,joules.

The exit code is the program's own: 128 + N if signal N killed it, 127 if there is no such program,
126 if it cannot be started, 130 or 143 interrupted; 1 if no program is given or the lab fails, 2 for
a bad option.")]
pub struct Options {
    /// Do not print the program's name.
    #[arg(short)]
    pub quiet: bool,
    /// Show what the program prints as errors, which is hidden otherwise.
    #[arg(short = 'e')]
    pub show_errors: bool,
    /// Show what the program prints, which is hidden otherwise.
    #[arg(short = 's')]
    pub show_output: bool,
    /// Append each run to FILE, under a name and a language.
    #[arg(short = 'o', num_args = 3, action = clap::ArgAction::Set, value_names = ["NAME", "LANG", "FILE"])]
    pub output: Vec<String>,
    /// How often the program runs.
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub runs: u32,
    /// How long to wait between two runs, so that the processor cools down.
    #[arg(long, value_name = "SECONDS", default_value = "10", allow_negative_numbers = true, value_parser = pause_time)]
    pub pause: f64,
    /// Print one JSON object on stdout instead.
    #[arg(long, conflicts_with = "show_output")]
    pub json: bool,
    /// The root of the files in which energy is counted (for tests).
    #[arg(long, hide = true, value_name = "DIR", default_value = "/sys")]
    pub sys: PathBuf,
    /// The program and its arguments.
    #[arg(trailing_var_arg = true, value_name = "PROGRAM")]
    pub program: Vec<OsString>,
}

fn pause_time(text: &str) -> Result<f64, String> {
    let seconds = text.parse::<f64>().ok();
    seconds
        .filter(|seconds| (0.0..=PAUSE_MAX_S).contains(seconds))
        .ok_or_else(|| format!("give a number of seconds from 0 to {PAUSE_MAX_S}"))
}

/// Runs the program and prints what it cost; the exit code.
///
/// # Errors
/// [`BadInput`], or whatever keeps the lab itself from working.
pub fn run(options: &Options, paths: &Paths) -> Result<u8> {
    let Some(name) = options.program.first() else {
        esayln!("ERROR: No program given");
        if options.json {
            sayln!("{:#}", record::object(&[], &[], Some("no program given")));
        }
        return Ok(1);
    };
    let records = if options.output.is_empty() {
        None
    } else {
        let records = Records::open(&options.output);
        Some(records.map_err(|error| BadInput(format!("-o: {error:#}")))?)
    };
    let stop = listen()?;
    let launcher = Launcher::build(&paths.bin, &stop)?;
    let session = Session {
        options,
        name: name.to_string_lossy().into_owned(),
        records,
        setting: Setting {
            launcher: &launcher,
            program: &options.program,
            show_output: options.show_output,
            show_errors: options.show_errors,
            sys: &options.sys,
            stop: &stop,
        },
    };
    let mut runs = Vec::new();
    let ended = session.measure(&mut runs);
    if let Err(error) = &ended {
        session.object(&runs, Some(&format!("{error:#}")));
    }
    let ended = ended?;
    session.present(&runs, &ended);
    Ok(ended.code)
}

/// How it all ended: the exit code, and why it is none, in words.
struct Ended {
    code: u8,
    failure: Option<String>,
}

/// All runs of a program.
struct Session<'a> {
    options: &'a Options,
    name: String,
    records: Option<Records>,
    setting: Setting<'a>,
}

impl Session<'_> {
    /// Runs until all runs are done or one goes wrong.
    fn measure(&self, runs: &mut Vec<Figures>) -> Result<Ended> {
        for number in 0..self.options.runs {
            if number > 0
                && let Some(signal) = self.pause()
            {
                return Ok(interrupted(signal));
            }
            let figures = match self.setting.run()? {
                Ran::Ended(figures) => figures,
                Ran::Interrupted(signal) => return Ok(interrupted(signal)),
                Ran::NotStarted(error) => return Ok(not_started(&error)),
                Ran::NoProcess(error) => return Ok(no_process(&error)),
                Ran::NoFigures(launcher) => return Ok(no_figures(launcher)),
            };
            self.print(&figures);
            let ended = judge(&figures.end);
            if let (None, Some(records)) = (&ended.failure, &self.records) {
                records.add(&figures)?;
            }
            runs.push(figures);
            if ended.failure.is_some() {
                return Ok(ended);
            }
        }
        Ok(Ended {
            code: 0,
            failure: None,
        })
    }

    /// Waits between two runs; the signal that came meanwhile.
    fn pause(&self) -> Option<usize> {
        let until = Instant::now() + Duration::from_secs_f64(self.options.pause);
        loop {
            let signal = self.setting.stop.load(Ordering::Relaxed);
            if signal != 0 {
                return Some(signal);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            family::pause(left.min(PAUSE_SLICE));
        }
    }

    fn print(&self, figures: &Figures) {
        let name = (!self.options.quiet).then_some(self.name.as_str());
        let joules = figures.joules.as_ref().ok().copied();
        if !self.options.json {
            let line = show::line(name, figures.peak_bytes, figures.wall_s, joules);
            esayln!("{line}");
        }
        let (name, outlived) = (&self.name, figures.outlived);
        if outlived.ended > 0 {
            let ended = outlived.ended;
            esayln!("{name}: {ended} of its processes outlived it and were ended");
        }
        if outlived.alive > 0 {
            let alive = outlived.alive;
            esayln!("{name}: {alive} of its processes outlived it and cannot be ended");
        }
    }

    /// The object of `--json`, whatever came of it.
    fn object(&self, runs: &[Figures], failure: Option<&str>) {
        if self.options.json {
            let words = self.options.program.iter();
            let words: Vec<String> = words.map(|w| w.to_string_lossy().into_owned()).collect();
            sayln!("{:#}", record::object(&words, runs, failure));
        }
    }

    /// What is said after the last run.
    fn present(&self, runs: &[Figures], ended: &Ended) {
        let failure = ended.failure.as_deref();
        if let Some(failure) = failure {
            esayln!("{}: {failure}", self.name);
        }
        if self.options.json {
            self.object(runs, failure);
            return;
        }
        if let Some(reason) = runs.iter().find_map(|run| run.joules.as_ref().err()) {
            esayln!("energy unknown: {reason}");
        }
        if runs.len() > 1 && failure.is_none() {
            let (bytes, wall_s, joules) = record::columns(runs);
            esayln!("{} runs:", runs.len());
            esay!("{}", show::summary(&bytes, &wall_s, joules.as_deref()));
        }
    }
}

fn no_process(error: &std::io::Error) -> Ended {
    Ended {
        code: 126,
        failure: Some(format!(
            "cannot be started: there is no process for it: {error}; end some others, or allow more"
        )),
    }
}

/// Whoever is killed has a program that kills; the launcher itself fails by its exit status.
fn no_figures(launcher: ExitStatus) -> Ended {
    let why = match launcher.signal() {
        Some(_) => "the program killed its whole process group, the launcher included".into(),
        None => format!("the launcher failed ({launcher})"),
    };
    Ended {
        code: 1,
        failure: Some(format!("no figures: {why}")),
    }
}

fn interrupted(signal: usize) -> Ended {
    Ended {
        code: u8::try_from(128 + signal).unwrap_or(1),
        failure: Some("interrupted, and ended with all its processes".into()),
    }
}

/// As shells do.
fn not_started(error: &std::io::Error) -> Ended {
    let missing = error.kind() == ErrorKind::NotFound;
    Ended {
        code: if missing { 127 } else { 126 },
        failure: Some(format!(
            "cannot be started: {error}; expected a program on the path, or the path of one"
        )),
    }
}

/// Status 0 is well; everything else has words, and becomes our own exit code.
fn judge(end: &End) -> Ended {
    let (code, failure) = match end {
        End::Exited(0) => (0, None),
        End::Exited(status) => (
            u8::try_from(*status).unwrap_or(1),
            Some(format!("failed: exit status {status}")),
        ),
        End::Signalled(signal) => (
            u8::try_from(128 + signal).unwrap_or(1),
            Some(format!("failed: killed by {}", signal_name(*signal))),
        ),
        // The launcher reports nothing else.
        other => (1, Some(format!("failed: {other:?}"))),
    };
    Ended { code, failure }
}
