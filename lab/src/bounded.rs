//! Runs a tool that the lab asks for its version or builds with, such that it can neither go on
//! nor print without end. (One that cannot be killed, because the kernel holds it, is waited for.)
//!
//! Like a contender (`launch`) it leads a process group of its own, which is killed whole before
//! its leader is waited for, and what it leaves behind is ended. Nothing is measured, so there is
//! no launcher: the launcher itself is built like this.

use std::io::{Error, Result};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::family::{
    GRACE, Strangers, become_parent, end_left, has_ended, kill_group, reap_orphans, send,
};
use crate::pipes::{Stream, drain, read_some};

/// How often the end, and a signal to the lab itself, are looked for while nothing is printed.
const SLICE: Duration = Duration::from_millis(10);

/// What a tool may use up.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// How long it may take.
    pub time: Duration,
    /// How much it may print, and as much again as errors; a whole number of MiB.
    pub output_max: usize,
    /// How much of the end of both is kept.
    pub kept: usize,
}

/// How a tool ended.
#[derive(Debug)]
pub enum End {
    /// By itself.
    Exited(ExitStatus),
    /// It was killed because its time was up.
    Late,
    /// It was killed because it printed more than anybody reads.
    Flooded,
    /// It was killed because this signal came to the lab.
    Interrupted(usize),
}

/// What a tool did.
#[derive(Debug)]
pub struct Ran {
    /// How it ended.
    pub end: End,
    /// The end of what it printed.
    pub stdout: String,
    /// The end of what it printed as errors.
    pub stderr: String,
}

impl Limits {
    /// The time in words: 10 s, 20 min.
    #[must_use]
    pub fn time_text(&self) -> String {
        match self.time.as_secs() {
            seconds if seconds >= 60 && seconds.is_multiple_of(60) => {
                format!("{} min", seconds / 60)
            }
            seconds => format!("{seconds} s"),
        }
    }

    /// What is said of a flood.
    #[must_use]
    pub fn flood_text(&self) -> String {
        format!("printed more than {} MiB", self.output_max >> 20)
    }
}

/// Runs `command`, which gets no input, until it ends, a limit is reached, or `stop` holds a
/// signal. Nobody else in this process may start processes meanwhile: they would be ended with it.
///
/// # Errors
/// It cannot be started; what it does wrong is no error but an [`End`].
pub fn run(command: &mut Command, limits: &Limits, stop: &AtomicUsize) -> Result<Ran> {
    become_parent();
    let strangers = Strangers::here();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()?;
    let leader = i32::try_from(child.id()).map_err(Error::other)?;
    let mut streams = [
        Stream::of(child.stdout.take(), limits.output_max, limits.kept)?,
        Stream::of(child.stderr.take(), limits.output_max, limits.kept)?,
    ];
    let verdict = until_end(leader, &mut streams, limits, stop);
    let by_itself = matches!(verdict, Ok(None));
    if !by_itself {
        kill_group(leader);
        // It may have left the group that it led.
        send(leader, Signal::KILL);
    }
    end_left(
        leader,
        &strangers,
        if by_itself { GRACE } else { Duration::ZERO },
    );
    kill_group(leader);
    let drained = drain(&mut streams);
    let status = child.wait()?;
    drained?;
    let flooded = streams.iter().any(Stream::is_flooded);
    let end = verdict?.or(flooded.then_some(End::Flooded));
    let [stdout, stderr] = streams.map(|stream| stream.text());
    Ok(Ran {
        end: end.unwrap_or(End::Exited(status)),
        stdout,
        stderr,
    })
}

/// Waits for the end; `Some` if the tool has to be killed before it comes.
fn until_end(
    leader: i32,
    streams: &mut [Stream],
    limits: &Limits,
    stop: &AtomicUsize,
) -> Result<Option<End>> {
    let deadline = Instant::now() + limits.time;
    while !has_ended(leader) {
        let signal = stop.load(Ordering::Relaxed);
        if signal != 0 {
            return Ok(Some(End::Interrupted(signal)));
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(Some(End::Late));
        }
        if !read_some(streams, left.min(SLICE))? {
            reap_orphans(leader);
        }
        if streams.iter().any(Stream::is_flooded) {
            return Ok(Some(End::Flooded));
        }
    }
    Ok(None)
}
