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

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::pipe::{PipeFlags, pipe_with};

use crate::family::{
    GRACE, Left, Strangers, become_parent, end_left, kill_group, reap_orphans, timespec,
};

const SOURCE: &str = include_str!("../launcher/launcher.c");
/// More output than this is a flood: the workloads' answers are one line.
const OUTPUT_MAX: usize = 1 << 20;
/// More errors than this are a flood as well: reading them takes a processor from the others.
const ERRORS_MAX: usize = 64 << 20;
/// Of the error output the end is kept: that is where the reason stands.
const ERRORS_KEPT: usize = 16 << 10;
/// How often a signal to the lab itself is looked for.
const POLL_SLICE: Duration = Duration::from_millis(100);
/// How long output may still arrive after the end; only a process that nobody could end uses it.
const DRAIN_MAX: Duration = Duration::from_millis(500);

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
    /// There is no working C compiler, or the folder cannot be written.
    pub fn build(folder: &Path) -> Result<Launcher> {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot make the folder {}", folder.display()))?;
        // Built under a name of our own and renamed: two labs may do this at the same time.
        let source = folder.join(format!("launcher-{}.c", std::process::id()));
        let built = source.with_extension("new");
        std::fs::write(&source, SOURCE)?;
        let attempts: [&[&str]; 2] = [&["-O2", "-static"], &["-O2"]];
        let mut problem = String::new();
        for flags in attempts {
            let output = Command::new("cc")
                .args(flags)
                .arg("-o")
                .arg(&built)
                .arg(&source)
                .output();
            match output {
                Ok(output) if output.status.success() => {
                    let program = folder.join("launcher");
                    std::fs::rename(&built, &program)?;
                    std::fs::remove_file(&source)?;
                    return Ok(Launcher { program });
                }
                Ok(output) => problem = String::from_utf8_lossy(&output.stderr).into_owned(),
                Err(error) => problem = error.to_string(),
            }
        }
        let _ = std::fs::remove_file(&source);
        bail!(
            "cannot build the launcher with `cc` (install a C compiler): {}",
            problem.trim()
        )
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
        let drained = watch.drain();
        let status = child.wait()?;
        drained?;
        Ok(watch.outcome(verdict?, status, left))
    }
}

/// A pipe we read and what came out of it so far.
struct Stream {
    file: Option<File>,
    data: Vec<u8>,
    /// How much came, whether it was kept or not.
    total: usize,
    keep_end: bool,
}

impl Stream {
    fn new(fd: OwnedFd, keep_end: bool) -> Stream {
        Stream {
            file: Some(File::from(fd)),
            data: Vec::new(),
            total: 0,
            keep_end,
        }
    }

    /// Reads what is there; called only when poll said that reading does not block.
    fn read(&mut self) -> Result<()> {
        let mut buffer = [0; 16 << 10];
        let Some(file) = &mut self.file else {
            return Ok(());
        };
        let count = match file.read(&mut buffer) {
            Ok(count) => count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        if count == 0 {
            self.file = None;
        }
        self.total += count;
        self.data.extend_from_slice(&buffer[..count]);
        if self.keep_end && self.data.len() > ERRORS_KEPT {
            self.data.drain(..self.data.len() - ERRORS_KEPT);
        }
        Ok(())
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.data).into_owned()
    }
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
        let output = child
            .stdout
            .take()
            .ok_or_else(|| anyhow!("no output pipe"))?;
        let errors = child
            .stderr
            .take()
            .ok_or_else(|| anyhow!("no error pipe"))?;
        let streams = [
            Stream::new(report, false),
            Stream::new(output.into(), false),
            Stream::new(errors.into(), true),
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
        while self.streams[REPORT].file.is_some() {
            let left = deadline.saturating_duration_since(Instant::now());
            let signal = stop.load(Ordering::Relaxed);
            if signal != 0 {
                return Ok(Some(End::Interrupted(signal)));
            }
            if left.is_zero() {
                return Ok(Some(End::Timeout));
            }
            if !self.poll_once(left.min(POLL_SLICE))? {
                reap_orphans(launcher);
            }
            let flood = self.flood();
            if flood.is_some() {
                return Ok(flood);
            }
        }
        Ok(None)
    }

    /// Reads what was still on the way after the group was killed.
    fn drain(&mut self) -> Result<()> {
        let deadline = Instant::now() + DRAIN_MAX;
        while self.streams.iter().any(|stream| stream.file.is_some()) && self.flood().is_none() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            self.poll_once(left)?;
        }
        Ok(())
    }

    fn flood(&self) -> Option<End> {
        if self.streams[OUTPUT].total > OUTPUT_MAX {
            Some(End::Flooded)
        } else if self.streams[ERRORS].total > ERRORS_MAX {
            Some(End::FloodedErrors)
        } else {
            None
        }
    }

    /// Reads what comes in this time; whether anything came.
    fn poll_once(&mut self, wait: Duration) -> Result<bool> {
        let open: Vec<usize> = (0..3).filter(|&i| self.streams[i].file.is_some()).collect();
        let mut entries: Vec<PollFd<'_>> = self
            .streams
            .iter()
            .filter_map(|stream| stream.file.as_ref())
            .map(|file| PollFd::new(file, PollFlags::IN))
            .collect();
        match poll(&mut entries, Some(&timespec(wait))) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let ready: Vec<bool> = entries
            .iter()
            .map(|entry| !entry.revents().is_empty())
            .collect();
        let any = ready.contains(&true);
        for (index, _) in open.into_iter().zip(ready).filter(|(_, ready)| *ready) {
            self.streams[index].read()?;
        }
        Ok(any)
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
