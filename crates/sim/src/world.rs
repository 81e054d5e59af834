//! The state that a simulation's scheduler and its tasks share: clock, trace, numbers of tasks.

use std::collections::HashMap;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use gossamer_core::platform::Mutex;

use crate::trace::{End, Trace, TraceEvent};

/// The shared world. Never locked while user code runs (wakers included).
pub(crate) type Shared = Arc<Mutex<World>>;

#[derive(Debug, Default)]
pub(crate) struct World {
    pub(crate) now: Duration,
    pub(crate) trace: Trace,
    /// The first task that panicked during its poll, and its message.
    pub(crate) panicked: Option<(usize, String)>,
    /// Whether the task with this number has ended.
    ended: Vec<bool>,
    /// The number of the task at an address. One that is not here is the root.
    numbers: HashMap<usize, usize>,
}

impl World {
    /// Gives a new task its number. The first is the root, which the program did not spawn.
    pub(crate) fn add_task(&mut self, at: &'static Location<'static>) -> usize {
        let task = self.ended.len();
        self.ended.push(false);
        if task != 0 {
            self.trace.0.push(TraceEvent::Spawned { task, at });
        }
        task
    }

    /// Says at which address the task lives. An older one there is long gone.
    pub(crate) fn set_address(&mut self, task: usize, address: usize) {
        self.numbers.insert(address, task);
    }

    /// The number of the task at this address.
    pub(crate) fn number_at(&self, address: usize) -> usize {
        self.numbers.get(&address).copied().unwrap_or(0)
    }

    pub(crate) fn end_task(&mut self, task: usize, how: End) {
        self.ended[task] = true;
        self.trace.0.push(TraceEvent::Ended { task, how });
    }

    pub(crate) fn has_ended(&self, task: usize) -> bool {
        self.ended[task]
    }

    /// Time has moved on.
    pub(crate) fn advance(&mut self, to: Duration) {
        self.now = to;
        self.trace.0.push(TraceEvent::Advanced { to });
    }
}
