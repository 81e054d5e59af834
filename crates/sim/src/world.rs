//! The tasks of a simulation: their numbers, names and ends, and the trace of it all.

use std::any::Any;
use std::sync::Arc;

use gossamer_core::context::simulated;
use gossamer_sched::{Runnable, TurnEnd};
use gossamer_task::locals;

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
    /// Whether what happens is recorded there, and the tasks' names.
    is_traced: bool,
    /// The first task that panicked during its poll, or thread that did when it was to end, and its message.
    pub(crate) panicked: Option<(usize, String)>,
    /// The number of the living task at each address.
    numbers: Numbers,
    /// The task whose turn it is.
    chosen: usize,
    /// By number: whether a task has not had a turn yet. It names itself in its first.
    is_new: Vec<bool>,
    threads: Arc<Threads>,
}

/// Addresses of tasks and their numbers, by address: quicker than a hash table, as few tasks live at a time.
#[derive(Debug)]
struct Numbers(Vec<(usize, usize)>);

impl Numbers {
    /// Where the task at this address is, or would be.
    fn place(&self, address: usize) -> Result<usize, usize> {
        self.0.binary_search_by_key(&address, |(at, _)| *at)
    }
}

impl World {
    pub(crate) fn new(threads: Arc<Threads>, is_traced: bool) -> Self {
        Self {
            trace: Trace::default(),
            is_traced,
            panicked: None,
            numbers: Numbers(Vec::with_capacity(TASKS)),
            chosen: 0,
            is_new: Vec::new(),
            threads,
        }
    }

    /// A run begins.
    pub(crate) fn begin(&mut self) {
        self.trace = Trace::default();
        self.panicked = None;
        self.numbers.0.clear();
        self.chosen = 0;
        self.is_new.clear();
    }

    /// The number of a living task, which it gets now if it is new. The first is the root, which the program did not
    /// spawn.
    pub(crate) fn number(&mut self, task: &Runnable) -> usize {
        let address = task.id().address();
        match self.numbers.place(address) {
            Ok(at) => self.numbers.0[at].1,
            Err(at) => self.add(task, at),
        }
    }

    /// A task that is new, with its place among the numbers.
    fn add(&mut self, task: &Runnable, at: usize) -> usize {
        let number = self.is_new.len();
        self.numbers.0.insert(at, (task.id().address(), number));
        self.is_new.push(true);
        if number != 0 {
            let at = task.spawned_at();
            self.note(TraceEvent::Spawned { task: number, at });
        }
        number
    }

    /// How many tasks there were so far.
    pub(crate) fn tasks(&self) -> usize {
        self.is_new.len()
    }

    /// The number of the living task at this address.
    pub(crate) fn number_at(&self, address: usize) -> Option<usize> {
        let at = self.numbers.place(address).ok()?;
        Some(self.numbers.0[at].1)
    }

    /// The address of the task whose end is told at this one: there is the task itself, or the handle of a thread.
    pub(crate) fn task_told_at(&self, address: usize) -> usize {
        self.threads.task_of(address).unwrap_or(address)
    }

    /// It is the turn of the task with this number, at this address.
    pub(crate) fn begin_turn(&mut self, task: usize, address: usize, enabled: usize) {
        self.chosen = task;
        simulated::begin_turn(address, task);
        self.note(TraceEvent::Chosen { task, enabled });
    }

    /// Whether the task whose turn it is has had none before, which is of interest where its name is.
    pub(crate) fn is_first_turn(&self) -> bool {
        self.is_traced && self.is_new[self.chosen]
    }

    /// The turn of the task at this address, which has begun last, is over.
    ///
    /// # Returns
    /// Whether it was the last turn of the root.
    pub(crate) fn end_turn(&mut self, address: usize, end: TurnEnd<'_>) -> bool {
        let task = self.chosen;
        if self.is_traced
            && std::mem::take(&mut self.is_new[task])
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
        if let Ok(at) = self.numbers.place(address)
            && !gossamer_core::mutant!("ended_keeps_its_number")
        {
            self.numbers.0.remove(at);
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
        let mut left: Vec<_> = self.numbers.0.drain(..).map(|(_, task)| task).collect();
        left.sort_unstable();
        for task in left {
            let how = End::Dropped;
            self.note(TraceEvent::Ended { task, how });
        }
    }

    pub(crate) fn note(&mut self, event: TraceEvent) {
        if self.is_traced {
            self.trace.note(event);
        }
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
