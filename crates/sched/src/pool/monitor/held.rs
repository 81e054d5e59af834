//! Whether a poll holds its worker, or the worker's thread is only kept from running.
//!
//! A thread that the system has preempted in a poll is no hostage-holder: its task needs a processor, and a spare would
//! only want the same one. So time counts against a poll only while its thread *runs* or is *blocked*. Between two
//! looks at a thread that is blocked in the end, that is all the time but its waits for a processor, which the system
//! adds up once they are over. Of a thread that could run it is its CPU time; how long it was blocked before is not
//! known, and is left out.
//!
//! Where the system tells nothing of a thread, wall time decides, and the report cannot tell a computation from a call.

use std::time::{Duration, Instant};

use gossamer_core::platform::{ThreadLook, ThreadNumber};

/// One look at what a thread has done so far.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sample {
    /// Before the look, and after it: the one who looks may be preempted meanwhile.
    began: Instant,
    ended: Instant,
    /// The answer of the operating system.
    look: Option<ThreadLook>,
}

/// How a poll holds its worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Hold {
    /// Its thread is blocked: in a call, on a lock of the operating system's, in a page fault.
    Blocked,
    /// Its thread computes.
    Busy,
}

impl Sample {
    pub(super) fn of(thread: Option<ThreadNumber>) -> Self {
        let began = Instant::now();
        let look = thread.and_then(ThreadNumber::look);
        let ended = Instant::now();
        Self { began, ended, look }
    }

    /// Returns this sample with the CPU time `cpu`, if there is one, from earlier in the same poll.
    pub(super) fn since(self, cpu: Option<Duration>) -> Self {
        let earlier = |look: ThreadLook| ThreadLook {
            cpu: cpu.unwrap_or(look.cpu),
            ..look
        };
        Self {
            look: self.look.map(earlier),
            ..self
        }
    }

    /// For how long its thread has certainly run or been blocked since `before`, and which of the two prevailed.
    pub(super) fn held_since(&self, before: &Self) -> (Duration, Hold) {
        let wall = self.began.saturating_duration_since(before.ended);
        let (Some(now), Some(before)) = (self.look, before.look) else {
            return (wall, Hold::Blocked);
        };
        if gossamer_core::mutant!("preempted_is_stuck") {
            return (wall, Hold::Busy);
        }
        let ran = now.cpu.saturating_sub(before.cpu);
        let queued = now.queued.saturating_sub(before.queued);
        let held = if now.is_blocked && !gossamer_core::mutant!("blocked_is_preempted") {
            wall.saturating_sub(queued).max(ran)
        } else {
            ran
        };
        let is_busy = ran > held / 2;
        (held, if is_busy { Hold::Busy } else { Hold::Blocked })
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
