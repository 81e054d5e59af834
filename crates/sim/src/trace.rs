//! The trace of a run: its events, step by step.

use std::fmt;
use std::panic::Location;
use std::time::Duration;

/// One thing that happened. Tasks are numbered in the order in which they were spawned; the root is 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceEvent {
    /// A task was spawned.
    Spawned {
        /// Its number.
        task: usize,
        /// Where.
        at: &'static Location<'static>,
    },
    /// A task was chosen: its future is polled (or dropped, if it was aborted).
    Chosen {
        /// Its number.
        task: usize,
        /// Among how many.
        enabled: usize,
    },
    /// A task's future is gone.
    Ended {
        /// Its number.
        task: usize,
        /// How it ended.
        how: End,
    },
    /// Nothing was enabled, so time moved.
    Advanced {
        /// The time since the start.
        to: Duration,
    },
}

/// How a task ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// With an output.
    Returned,
    /// By a panic during its poll.
    Panicked,
    /// Dropped unfinished: aborted, or left over when the run ended.
    Dropped,
}

impl fmt::Display for TraceEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Spawned { task, at } => write!(f, "task {task} spawned at {at}"),
            Self::Chosen { task, enabled } => write!(f, "task {task} runs (of {enabled} enabled)"),
            Self::Ended {
                task,
                how: End::Returned,
            } => write!(f, "task {task} returned"),
            Self::Ended {
                task,
                how: End::Panicked,
            } => write!(f, "task {task} panicked"),
            Self::Ended {
                task,
                how: End::Dropped,
            } => write!(f, "task {task} was dropped"),
            Self::Advanced { to } => write!(f, "time is {to:?}"),
        }
    }
}

/// All events of a run. Two runs with the same choices have equal traces.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trace(pub(crate) Vec<TraceEvent>);

impl Trace {
    /// The events, oldest first.
    pub fn events(&self) -> &[TraceEvent] {
        &self.0
    }

    /// Writes the last `count` events, a line each.
    pub(crate) fn write_last(&self, f: &mut fmt::Formatter<'_>, count: usize) -> fmt::Result {
        let from = self.0.len().saturating_sub(count);
        for (at, event) in self.0.iter().enumerate().skip(from) {
            write!(f, "\n  {at:>4} {event}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_last(f, self.0.len())
    }
}
