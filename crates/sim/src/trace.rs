//! The trace of a run: its events, step by step.

use std::collections::BTreeMap;
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

/// How a task is called in what is printed.
pub(crate) fn called(task: usize, name: Option<&str>) -> String {
    match name {
        Some(name) => format!("task {task} `{name}`"),
        None => format!("task {task}"),
    }
}

impl TraceEvent {
    fn write<'a>(
        &self,
        f: &mut fmt::Formatter<'_>,
        name: impl Fn(usize) -> Option<&'a str>,
    ) -> fmt::Result {
        let task = |task: usize| called(task, name(task));
        match *self {
            Self::Spawned { task: number, at } => write!(f, "{} spawned at {at}", task(number)),
            Self::Chosen {
                task: number,
                enabled,
            } => write!(f, "{} runs (of {enabled} enabled)", task(number)),
            Self::Ended { task: number, how } => {
                let how = match how {
                    End::Returned => "returned",
                    End::Panicked => "panicked",
                    End::Dropped => "was dropped",
                };
                write!(f, "{} {how}", task(number))
            }
            Self::Advanced { to } => write!(f, "time is {to:?}"),
        }
    }
}

impl fmt::Display for TraceEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, |_| None)
    }
}

/// All events of a run, if they are recorded. Two runs with the same choices have equal traces.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trace(Option<Box<Recorded>>);

/// There is room for so many events at first, as small programs are run very often.
const EVENTS: usize = 64;

#[derive(Debug, Clone, PartialEq, Eq)]
struct Recorded {
    events: Vec<TraceEvent>,
    /// The names of those tasks that have one.
    names: BTreeMap<usize, String>,
}

impl Trace {
    /// The events, oldest first.
    pub fn events(&self) -> &[TraceEvent] {
        self.0.as_ref().map_or(&[], |recorded| &recorded.events)
    }

    /// The name that the task with this number was given by a
    /// [`TaskBuilder`](https://docs.rs/gossamer-rt/latest/gossamer/task/struct.TaskBuilder.html).
    pub fn name(&self, task: usize) -> Option<&str> {
        self.0.as_ref()?.names.get(&task).map(String::as_str)
    }

    pub(crate) fn note(&mut self, event: TraceEvent) {
        self.recorded().events.push(event);
    }

    /// Forgets the events after the first `count`.
    pub(crate) fn truncate(&mut self, count: usize) {
        if let Some(recorded) = &mut self.0 {
            recorded.events.truncate(count);
        }
    }

    pub(crate) fn set_name(&mut self, task: usize, name: String) {
        self.recorded().names.insert(task, name);
    }

    fn recorded(&mut self) -> &mut Recorded {
        self.0.get_or_insert_with(|| {
            Box::new(Recorded {
                events: Vec::with_capacity(EVENTS),
                names: BTreeMap::new(),
            })
        })
    }

    /// Writes the last `count` events, a line each.
    pub(crate) fn write_last(&self, f: &mut fmt::Formatter<'_>, count: usize) -> fmt::Result {
        let from = self.events().len().saturating_sub(count);
        for (at, event) in self.events().iter().enumerate().skip(from) {
            write!(f, "\n  {at:>4} ")?;
            event.write(f, |task| self.name(task))?;
        }
        Ok(())
    }
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_last(f, self.events().len())
    }
}
