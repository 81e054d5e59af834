//! The tasks of a simulation: their numbers, names and ends, and the trace of it all.

use std::any::Any;
use std::sync::Arc;

use gossamer_core::context::simulated;
use gossamer_sched::{Runnable, TurnEnd};
use gossamer_task::locals;
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::chooser::is_stop;
use crate::relay::Threads;
use crate::trace::{End, Trace, TraceEvent};

/// There is room for so many tasks at first.
const TASKS: usize = 14;

/// What the scheduler knows of the tasks. It learns of each when it is pushed for the first time, and of its end when
/// its turn is over.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) trace: Trace,
    /// The first task that panicked during its poll, or thread that did when it was to end, and its message.
    pub(crate) panicked: Option<(usize, String)>,
    /// The number of the living task at each address.
    numbers: FxHashMap<usize, usize>,
    /// The task whose turn it is.
    chosen: usize,
    /// By number: whether a task has not had a turn yet. It names itself in its first.
    is_new: Vec<bool>,
    threads: Arc<Threads>,
}

impl World {
    pub(crate) fn new(threads: Arc<Threads>) -> Self {
        Self {
            trace: Trace::default(),
            panicked: None,
            numbers: FxHashMap::with_capacity_and_hasher(TASKS, FxBuildHasher),
            chosen: 0,
            is_new: Vec::new(),
            threads,
        }
    }

    /// The number of a living task, which it gets now if it is new. The first is the root, which the program did not
    /// spawn.
    pub(crate) fn number(&mut self, task: &Runnable) -> usize {
        let next = self.is_new.len();
        let number = *self.numbers.entry(task.id().address()).or_insert(next);
        if number == next {
            self.is_new.push(true);
            if number != 0 {
                let at = task.spawned_at();
                self.note(TraceEvent::Spawned { task: number, at });
            }
        }
        number
    }

    /// How many tasks there were so far.
    pub(crate) fn tasks(&self) -> usize {
        self.is_new.len()
    }

    /// The number of the living task at this address.
    pub(crate) fn number_at(&self, address: usize) -> Option<usize> {
        self.numbers.get(&address).copied()
    }

    /// The address of the task whose end is told at this one: there is the task itself, or the handle of a thread.
    pub(crate) fn task_told_at(&self, address: usize) -> usize {
        self.threads.task_of(address).unwrap_or(address)
    }

    /// It is the turn of the task with this number, at this address.
    pub(crate) fn begin_turn(&mut self, task: usize, address: usize, enabled: usize) {
        self.go_on_with_turn(task, address);
        self.note(TraceEvent::Chosen { task, enabled });
    }

    /// It goes on with its last turn.
    pub(crate) fn go_on_with_turn(&mut self, task: usize, address: usize) {
        simulated::begin_turn(address, task);
        self.chosen = task;
    }

    /// The task whose turn it is, or was last.
    pub(crate) fn chosen(&self) -> usize {
        self.chosen
    }

    /// The turn of the task at this address, which has begun last, is over.
    ///
    /// # Returns
    /// Whether it was the last turn of the root.
    pub(crate) fn end_turn(&mut self, address: usize, end: TurnEnd<'_>) -> bool {
        let task = self.chosen;
        if std::mem::take(&mut self.is_new[task])
            && let Some(name) = locals::name_at(address)
            && !gossamer_core::mutant!("names_unread")
        {
            self.trace.set_name(task, name);
        }
        let how = match end {
            TurnEnd::Pending => return false,
            TurnEnd::Returned => End::Returned,
            TurnEnd::Dropped => End::Dropped,
            TurnEnd::Panicked(payload) if is_stop(payload) => End::Dropped,
            TurnEnd::Panicked(payload) => {
                self.panicked
                    .get_or_insert_with(|| (task, message(payload)));
                End::Panicked
            }
        };
        simulated::ended(address);
        if !gossamer_core::mutant!("ended_keeps_its_number") {
            self.numbers.remove(&address);
        }
        self.note(TraceEvent::Ended { task, how });
        task == 0
    }

    /// The simulation has ended: what was left has been dropped.
    pub(crate) fn end(&mut self) {
        if let Some((address, message)) = self.threads.take_late_panic()
            && let Some(task) = self.number_at(address)
        {
            self.panicked.get_or_insert((task, message));
        }
        let mut left: Vec<_> = self.numbers.drain().map(|(_, task)| task).collect();
        left.sort_unstable();
        for task in left {
            let how = End::Dropped;
            self.note(TraceEvent::Ended { task, how });
        }
    }

    pub(crate) fn note(&mut self, event: TraceEvent) {
        self.trace.note(event);
    }
}

/// Returns the message in a panic's payload.
pub(crate) fn message(payload: &(dyn Any + Send)) -> String {
    if let Some(text) = payload.downcast_ref::<&'static str>() {
        (*text).to_owned()
    } else if let Some(text) = payload.downcast_ref::<String>() {
        text.clone()
    } else {
        "(the payload is no text)".to_owned()
    }
}
