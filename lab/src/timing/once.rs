//! One run of a program: started behind the launcher, watched every few milliseconds, ended whole.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Signal, kill_process_group};

use super::energy::Meter;
use super::tree::{Tree, become_parent, end_children, reap, timespec};
use crate::launch::{End, Launcher, Outcome, unstarted};

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
    /// How many of its processes outlived it and were ended.
    pub(super) outlived: usize,
}

impl Setting<'_> {
    /// Runs the program once.
    ///
    /// # Errors
    /// The launcher cannot be started, or ended without a report.
    pub(super) fn run(&self) -> Result<Ran> {
        become_parent();
        let mut meter = Meter::open(self.sys);
        let (report, report_end) = pipe_with(PipeFlags::CLOEXEC)?;
        let shown = |show| {
            if show {
                Stdio::inherit()
            } else {
                Stdio::null()
            }
        };
        // The child is not waited for by this handle: `reap` does that for all.
        let launcher = Command::new(self.launcher.program())
            .args(self.program)
            .stdin(Stdio::from(report_end))
            .stdout(shown(self.show_output))
            .stderr(shown(self.show_errors))
            .process_group(0)
            .spawn()
            .with_context(|| format!("cannot start {}", self.launcher.program().display()))?
            .id();
        let launcher = i32::try_from(launcher)?;
        let mut watch = Watch {
            tree: Tree::new(Path::new("/proc"), own_pid(), launcher),
            report: File::from(report),
            said: String::new(),
            peak_bytes: 0,
        };
        let watched = watch.until_end(&mut meter, self.stop);
        if !cfg!(target_os = "linux")
            && let Some(group) = Pid::from_raw(launcher)
        {
            // Elsewhere than on Linux nobody becomes our child, and the group is all we know.
            let _ = kill_process_group(group, Signal::KILL);
        }
        let outlived = end_children(launcher);
        if let Some(signal) = watched? {
            return Ok(Ran::Interrupted(signal));
        }
        if let Some(error) = unstarted(&watch.said) {
            return Ok(Ran::NotStarted(error));
        }
        let mut outcome = Outcome::unreported(String::new());
        if outcome.read_report(&watch.said).is_err() {
            bail!("no figures: the program killed its whole process group, the launcher included");
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

fn own_pid() -> i32 {
    rustix::process::getpid().as_raw_nonzero().get()
}

/// A running program.
struct Watch {
    tree: Tree,
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
            reap();
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
