//! Starts one program behind the launcher, watches it, and says how it ended and what it cost.
//!
//! The launcher (`launcher/launcher.c` says why it exists) leads a process group of its own. The
//! group is killed whole, and always *before* the launcher is reaped: until then its number
//! cannot belong to somebody else. That ends a contender that hangs and one that floods us.
//!
//! What outlives it, in its group or out of it, becomes the lab's child and would run beside the
//! next contender: after each run everybody below the lab that was not there before is ended
//! (`family`), and counted if the program had ended by itself.
//!
//! One thread polls three pipes (report, output, errors), so that nothing here waits for the end
//! of a pipe that a stray grandchild holds open.

use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::pipe::{PipeFlags, pipe_with};

use crate::bounded::{self, Limits};
use crate::error::Interrupted;
use crate::family::{GRACE, Left, Strangers, become_parent, end_left, kill_group, reap_orphans};
use crate::pipes::{Stream, drain, read_some};

const SOURCE: &str = include_str!("../launcher/launcher.c");
/// More output than this is a flood: the workloads' answers are one line.
const OUTPUT_MAX: usize = 1 << 20;
/// More errors than this are a flood as well: reading them takes a processor from the others.
const ERRORS_MAX: usize = 64 << 20;
/// Of the error output the end is kept: that is where the reason stands.
const ERRORS_KEPT: usize = 16 << 10;
/// The launcher is compiled in a fraction of a second.
const COMPILING: Limits = Limits {
    time: Duration::from_secs(60),
    output_max: 1 << 20,
    kept: 16 << 10,
};
/// How often a signal to the lab itself is looked for.
const POLL_SLICE: Duration = Duration::from_millis(100);

/// How a program ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// It exited with this status.
    Exited(i32),
    /// This signal killed it.
    Signalled(i32),
    /// It was killed because its time was up.
    Timeout,
    /// It was killed because it printed more than an answer could be.
    Flooded,
    /// It was killed because it printed more errors than anybody reads.
    FloodedErrors,
    /// It was killed because this signal came to the lab.
    Interrupted(usize),
    /// The launcher ended without a report: killed by its contender, or out of processes.
    Unreported(String),
}

/// What a program did and cost; the costs are zero unless it ended by itself.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// How it ended.
    pub end: End,
    /// From fork to exit, by the launcher's monotonic clock.
    pub wall_s: f64,
    /// Processor time in user mode, with that of its waited-for children.
    pub user_s: f64,
    /// Processor time in the kernel, likewise.
    pub sys_s: f64,
    /// The most memory it had resident at once.
    pub peak_rss_bytes: u64,
    /// How often the kernel switched away from one of its threads, for whatever reason.
    pub switches: u64,
    /// What it printed.
    pub stdout: String,
    /// The end of what it printed as errors.
    pub stderr: String,
    /// What of it was still there when it had ended by itself.
    pub left: Left,
}

impl Outcome {
    /// Of a program whose launcher has not said anything.
    #[must_use]
    pub fn unreported(how: String) -> Outcome {
        Outcome {
            end: End::Unreported(how),
            wall_s: 0.0,
            user_s: 0.0,
            sys_s: 0.0,
            peak_rss_bytes: 0,
            switches: 0,
            stdout: String::new(),
            stderr: String::new(),
            left: Left::default(),
        }
    }

    /// Fills in what the launcher's last line says.
    ///
    /// # Errors
    /// It is not such a line; then nothing is certain.
    pub fn read_report(&mut self, report: &str) -> Result<()> {
        let line = report.lines().last().unwrap_or_default();
        let words: Vec<&str> = line.split_whitespace().collect();
        let [wall, user, sys, peak, switches, kind, number] = words[..] else {
            bail!("expected seven words, found {line:?}");
        };
        self.wall_s = wall.parse::<f64>()? / 1e9;
        self.user_s = user.parse::<f64>()? / 1e6;
        self.sys_s = sys.parse::<f64>()? / 1e6;
        self.peak_rss_bytes = peak.parse()?;
        self.switches = switches.parse()?;
        let number = number.parse()?;
        self.end = if kind == "signal" {
            End::Signalled(number)
        } else {
            End::Exited(number)
        };
        Ok(())
    }
}

/// Why the program could not be started, if the launcher's report says so.
#[must_use]
pub fn unstarted(report: &str) -> Option<std::io::Error> {
    errno(report, "unstarted ")
}

/// Why there was no process to start the program in, if the launcher's report says so.
#[must_use]
pub fn unforked(report: &str) -> Option<std::io::Error> {
    errno(report, "unforked ")
}

fn errno(report: &str, word: &str) -> Option<std::io::Error> {
    let number = report.lines().next()?.strip_prefix(word)?;
    Some(std::io::Error::from_raw_os_error(number.parse().ok()?))
}

/// The built launcher.
#[derive(Debug, Clone)]
pub struct Launcher {
    program: PathBuf,
}

impl Launcher {
    /// Compiles the launcher into `folder`: statically, which makes it smallest, or else not.
    ///
    /// # Errors
    /// There is no working C compiler, the folder cannot be written, or `stop` holds a signal.
    pub fn build(folder: &Path, stop: &AtomicUsize) -> Result<Launcher> {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot make the folder {}", folder.display()))?;
        // Built under a name of our own and renamed: two labs may do this at the same time.
        let source = folder.join(format!("launcher-{}.c", std::process::id()));
        let built = source.with_extension("new");
        std::fs::write(&source, SOURCE)?;
        let attempts: [&[&str]; 2] = [&["-O2", "-static"], &["-O2"]];
        let mut compiled = Ok(());
        for flags in attempts {
            let mut compiler = Command::new("cc");
            compiler.args(flags).arg("-o").arg(&built).arg(&source);
            compiled = compile(&mut compiler, stop);
            if compiled.is_ok() {
                break;
            }
        }
        std::fs::remove_file(&source)?;
        compiled?;
        let program = folder.join("launcher");
        std::fs::rename(&built, &program)?;
        Ok(Launcher { program })
    }

    /// The program, for those who watch it themselves.
    #[must_use]
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Runs `argv` in `folder` until it ends, `timeout` is over, or `stop` holds a signal.
    ///
    /// # Errors
    /// The launcher cannot be started; what the program does wrong is no error but an [`End`].
    pub fn run(
        &self,
        argv: &[String],
        folder: &Path,
        timeout: Duration,
        stop: &AtomicUsize,
    ) -> Result<Outcome> {
        become_parent();
        let strangers = Strangers::here();
        let (report, report_end) = pipe_with(PipeFlags::CLOEXEC)?;
        // The command must be gone after this, with its copy of the pipe's other end.
        let mut child = Command::new(&self.program)
            .args(argv)
            .current_dir(folder)
            .stdin(Stdio::from(report_end))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .with_context(|| format!("cannot start {}", self.program.display()))?;
        let launcher = i32::try_from(child.id())?;
        let mut watch = Watch::new(&mut child, report)?;
        let verdict = watch.until_end(launcher, Instant::now() + timeout, stop);
        let by_itself = matches!(verdict, Ok(None));
        if !by_itself {
            kill_group(launcher);
        }
        let grace = if by_itself { GRACE } else { Duration::ZERO };
        let mut left = end_left(launcher, &strangers, grace);
        if !by_itself {
            // They were ended with it, which is what its row says.
            left.ended = 0;
        }
        kill_group(launcher);
        let drained = drain(&mut watch.streams);
        let status = child.wait()?;
        drained?;
        Ok(watch.outcome(verdict?, status, left))
    }
}

/// Has the compiler do its work, or says what kept it from that.
fn compile(compiler: &mut Command, stop: &AtomicUsize) -> Result<()> {
    let problem = match bounded::run(compiler, &COMPILING, stop) {
        Err(error) => error.to_string(),
        Ok(ran) => match ran.end {
            bounded::End::Exited(status) if status.success() => return Ok(()),
            bounded::End::Exited(_) => ran.stderr.trim().to_owned(),
            bounded::End::Late => format!("it was stopped after {}", COMPILING.time_text()),
            bounded::End::Flooded => format!("it {}", COMPILING.flood_text()),
            bounded::End::Interrupted(signal) => return Err(Interrupted(signal).into()),
        },
    };
    bail!("cannot build the launcher with `cc` (install a C compiler): {problem}")
}

/// The three pipes of a running program: report, output, errors.
struct Watch {
    streams: [Stream; 3],
}

const REPORT: usize = 0;
const OUTPUT: usize = 1;
const ERRORS: usize = 2;

impl Watch {
    fn new(child: &mut Child, report: OwnedFd) -> Result<Watch> {
        let (output, errors) = (child.stdout.take(), child.stderr.take());
        let streams = [
            Stream::new(report, usize::MAX, usize::MAX),
            Stream::of(output, OUTPUT_MAX, usize::MAX)?,
            Stream::of(errors, ERRORS_MAX, ERRORS_KEPT)?,
        ];
        Ok(Watch { streams })
    }

    /// Waits for the report; `Some` if the program has to be killed before it comes.
    fn until_end(
        &mut self,
        launcher: i32,
        deadline: Instant,
        stop: &AtomicUsize,
    ) -> Result<Option<End>> {
        while self.streams[REPORT].is_open() {
            let left = deadline.saturating_duration_since(Instant::now());
            let signal = stop.load(Ordering::Relaxed);
            if signal != 0 {
                return Ok(Some(End::Interrupted(signal)));
            }
            if left.is_zero() {
                return Ok(Some(End::Timeout));
            }
            if !read_some(&mut self.streams, left.min(POLL_SLICE))? {
                reap_orphans(launcher);
            }
            let flood = self.flood();
            if flood.is_some() {
                return Ok(flood);
            }
        }
        Ok(None)
    }

    fn flood(&self) -> Option<End> {
        if self.streams[OUTPUT].is_flooded() {
            Some(End::Flooded)
        } else if self.streams[ERRORS].is_flooded() {
            Some(End::FloodedErrors)
        } else {
            None
        }
    }

    fn outcome(&self, verdict: Option<End>, launcher: ExitStatus, left: Left) -> Outcome {
        let mut outcome = Outcome::unreported(format!("the launcher ended with {launcher}"));
        outcome.stdout = self.streams[OUTPUT].text();
        outcome.stderr = self.streams[ERRORS].text();
        outcome.left = left;
        if let Some(end) = verdict.or_else(|| self.flood()) {
            outcome.end = end;
        } else {
            // Without a readable report the end stays what it is above.
            let _ = outcome.read_report(&self.streams[REPORT].text());
        }
        outcome
    }
}
