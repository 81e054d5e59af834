//! One run of a program: started behind the launcher, watched every few milliseconds, ended whole.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::Signal;

use super::energy::Meter;
use super::tree::Tree;
use crate::family::{
    GRACE, Left, PROC, Strangers, become_parent, end_left, kill_group, own_pid, reap_orphans,
    timespec,
};
use crate::launch::{End, Launcher, Outcome, unforked, unstarted};

/// How often memory and energy are looked at.
const SAMPLE: Duration = Duration::from_millis(5);
/// Looking takes at most one part in so many of the time, however many processes there are.
const SAMPLE_SHARE: u32 = 10;
/// How long a program may go on after a signal came, before it is killed.
const SIGNAL_GRACE: Duration = Duration::from_secs(1);

/// What is the same for all runs.
#[derive(Debug)]
pub(super) struct Setting<'a> {
    pub(super) launcher: &'a Launcher,
    pub(super) program: &'a [OsString],
    pub(super) show_output: bool,
    pub(super) show_errors: bool,
    pub(super) sys: &'a Path,
    /// The signal that came to the lab, or 0.
    pub(super) stop: &'a AtomicUsize,
}

/// What became of a run.
#[derive(Debug)]
pub(super) enum Ran {
    /// The program ended.
    Ended(Figures),
    /// There was nothing to start.
    NotStarted(std::io::Error),
    /// There was no process to start it in.
    NoProcess(std::io::Error),
    /// The launcher said nothing; this is how it ended.
    NoFigures(ExitStatus),
    /// This signal came to the lab, and the program was ended.
    Interrupted(usize),
}

/// What a run cost.
#[derive(Debug, Clone)]
pub(super) struct Figures {
    pub(super) end: End,
    pub(super) wall_s: f64,
    pub(super) user_s: f64,
    pub(super) sys_s: f64,
    /// The most that all its processes had together when somebody looked, or that one of those it
    /// waited for ever had, whichever is more.
    pub(super) peak_bytes: u64,
    /// What the machine used meanwhile, or why that is not known.
    pub(super) joules: Result<f64, String>,
    /// How many of its processes outlived it.
    pub(super) outlived: Left,
}

impl Setting<'_> {
    /// Runs the program once.
    ///
    /// # Errors
    /// The launcher cannot be started.
    pub(super) fn run(&self) -> Result<Ran> {
        become_parent();
        let strangers = Strangers::here();
        let mut meter = Meter::open(self.sys);
        let (report, report_end) = pipe_with(PipeFlags::CLOEXEC)?;
        let shown = |show| {
            if show {
                Stdio::inherit()
            } else {
                Stdio::null()
            }
        };
        let mut child = Command::new(self.launcher.program())
            .args(self.program)
            .stdin(Stdio::from(report_end))
            .stdout(shown(self.show_output))
            .stderr(shown(self.show_errors))
            .process_group(0)
            .spawn()
            .with_context(|| format!("cannot start {}", self.launcher.program().display()))?;
        let launcher = i32::try_from(child.id())?;
        let mut watch = Watch {
            tree: Tree::new(Path::new(PROC), own_pid(), launcher, strangers),
            launcher,
            report: File::from(report),
            said: String::new(),
            peak_bytes: 0,
        };
        let watched = watch.until_end(&mut meter, self.stop);
        let by_itself = matches!(watched, Ok(None));
        let grace = if by_itself { GRACE } else { Duration::ZERO };
        let outlived = end_left(launcher, watch.tree.strangers(), grace);
        // Elsewhere than on Linux nobody becomes our child, and the group is all we know.
        kill_group(launcher);
        let status = child.wait()?;
        if let Some(signal) = watched? {
            return Ok(Ran::Interrupted(signal));
        }
        let mut outcome = Outcome::unreported(String::new());
        if let Some(failure) = no_figures(&watch.said, status, &mut outcome) {
            return Ok(failure);
        }
        Ok(Ran::Ended(Figures {
            end: outcome.end,
            wall_s: outcome.wall_s,
            user_s: outcome.user_s,
            sys_s: outcome.sys_s,
            peak_bytes: watch.peak_bytes.max(outcome.peak_rss_bytes),
            joules: meter.map(|meter| meter.joules()),
            outlived,
        }))
    }
}

/// Reads the launcher's report into `outcome`, or says why there are no figures in it.
fn no_figures(report: &str, launcher: ExitStatus, outcome: &mut Outcome) -> Option<Ran> {
    let unstarted = unstarted(report).map(Ran::NotStarted);
    unstarted
        .or_else(|| unforked(report).map(Ran::NoProcess))
        .or_else(|| {
            let read = outcome.read_report(report);
            read.err().map(|_| Ran::NoFigures(launcher))
        })
}

/// A running program.
struct Watch {
    tree: Tree,
    launcher: i32,
    report: File,
    said: String,
    peak_bytes: u64,
}

impl Watch {
    /// Looks again and again until the launcher has reported; the signal that came meanwhile.
    fn until_end(
        &mut self,
        meter: &mut Result<Meter, String>,
        stop: &AtomicUsize,
    ) -> Result<Option<usize>> {
        let mut signalled: Option<(usize, Instant)> = None;
        loop {
            let began = Instant::now();
            self.peak_bytes = self.peak_bytes.max(self.tree.memory());
            measure(meter);
            reap_orphans(self.launcher);
            let signal = stop.load(Ordering::Relaxed);
            match signalled {
                None if signal != 0 => {
                    // What it would have got from the terminal, if it stood in our group.
                    let kind = i32::try_from(signal).ok().and_then(Signal::from_named_raw);
                    self.tree.signal(kind.unwrap_or(Signal::TERM));
                    signalled = Some((signal, began));
                }
                Some((signal, since)) if since.elapsed() > SIGNAL_GRACE => {
                    return Ok(Some(signal));
                }
                _ => {}
            }
            if self.reported(SAMPLE.max(began.elapsed() * SAMPLE_SHARE))? {
                measure(meter);
                return Ok(signalled.map(|(signal, _)| signal));
            }
        }
    }

    /// Waits so long for the end of the report.
    fn reported(&mut self, time: Duration) -> Result<bool> {
        let mut entry = [PollFd::new(&self.report, PollFlags::IN)];
        match poll(&mut entry, Some(&timespec(time))) {
            Ok(0) | Err(rustix::io::Errno::INTR) => return Ok(false),
            Ok(_) => {}
            Err(error) => return Err(error.into()),
        }
        let mut buffer = [0; 512];
        let count = self.report.read(&mut buffer)?;
        self.said += &String::from_utf8_lossy(&buffer[..count]);
        Ok(count == 0)
    }
}

/// A meter that fails stays failed, with its reason.
fn measure(meter: &mut Result<Meter, String>) {
    if let Ok(open) = meter
        && let Err(reason) = open.update()
    {
        *meter = Err(reason);
    }
}

#[cfg(test)]
mod tests;
