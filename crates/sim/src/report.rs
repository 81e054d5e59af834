//! The report of a run in which nothing can happen any more: each waiting task, and what it waits for.

use std::collections::HashMap;
use std::fmt;
use std::panic::Location;

use gossamer_core::header::WaitsFor;
use gossamer_core::waiter::Could;

use crate::look::Living;
use crate::trace::called;
use crate::world::World;

/// The tasks that wait, in the order in which they were spawned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report(Vec<Waiting>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Waiting {
    task: usize,
    name: Option<String>,
    /// `None` for the root: so the report does not depend on where in the program the simulation is called.
    spawned: Option<&'static Location<'static>>,
    waits_for: Waits,
}

/// The operation, task or future that a task waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Waits {
    /// An operation on a primitive.
    Operation {
        /// The operation: `"MVar::take"`.
        name: &'static str,
        /// Which primitive: the n-th of this report, from 1.
        object: usize,
        /// Where the operation was called.
        called: &'static Location<'static>,
        /// Whether it could complete now, so that its wake-up was lost.
        could_complete: bool,
        /// Whether others were woken for what it waits for, and are neither polled nor dropped.
        is_promised: bool,
    },
    /// The end of another waiting task.
    Task {
        /// Its number.
        task: usize,
        /// Its name, if it has one.
        name: Option<String>,
        /// Where it was spawned.
        spawned: &'static Location<'static>,
    },
    /// The end of what is no task of the simulation: of a thread outside, or of another runtime's task.
    Outside,
    /// A future that does not say what it is.
    Foreign,
}

impl Report {
    pub(crate) fn new(living: Vec<Living>, world: &World) -> Self {
        let mut living: Vec<_> = living
            .into_iter()
            .filter_map(|task| Some((world.number_at(task.address)?, task)))
            .collect();
        living.sort_by_key(|(number, _)| *number);
        let known: HashMap<usize, (usize, &'static Location<'static>)> = living
            .iter()
            .map(|(number, task)| (task.address, (*number, task.spawned)))
            .collect();
        let name = |task: usize| world.trace.name(task).map(str::to_owned);
        let mut objects = Vec::new();
        let waiting = living.into_iter().map(|(task, living)| Waiting {
            task,
            name: name(task),
            spawned: (task != 0).then_some(living.spawned),
            waits_for: match living.waits_for {
                WaitsFor::Operation {
                    name,
                    object,
                    called,
                    could_complete,
                } => {
                    let object = small_number(&mut objects, object);
                    Waits::Operation {
                        name,
                        object,
                        called,
                        could_complete: could_complete != Could::No,
                        is_promised: could_complete == Could::IfOthersDoNot
                            && !gossamer_core::mutant!("report_conceals_promises"),
                    }
                }
                WaitsFor::Task(address) => match known.get(&world.task_told_at(address)) {
                    Some(&(task, spawned)) => Waits::Task {
                        task,
                        name: name(task),
                        spawned,
                    },
                    None => Waits::Outside,
                },
                WaitsFor::Foreign => Waits::Foreign,
            },
        });
        Self(waiting.collect())
    }

    /// Whether something outside is waited for.
    pub(crate) fn is_open(&self) -> bool {
        let mut waits = self.0.iter().map(|waiting| &waiting.waits_for);
        waits.any(|waits| *waits == Waits::Outside)
            && !gossamer_core::mutant!("outside_is_deadlock")
    }

    /// The number of each waiting task and what it waits for.
    pub fn waiting(&self) -> impl Iterator<Item = (usize, &Waits)> {
        self.0
            .iter()
            .map(|waiting| (waiting.task, &waiting.waits_for))
    }
}

/// Addresses differ from run to run; the order in which they come up does not.
fn small_number(objects: &mut Vec<usize>, object: usize) -> usize {
    let known = objects.iter().position(|other| *other == object);
    1 + known.unwrap_or_else(|| {
        objects.push(object);
        objects.len() - 1
    })
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Waiting {
            task,
            name,
            spawned,
            waits_for,
        } in &self.0
        {
            let task = called(*task, name.as_deref());
            match spawned {
                Some(spawned) => write!(f, "\n  {task}, spawned at {spawned},")?,
                None => write!(f, "\n  {task}, the root,")?,
            }
            write!(f, " waits for {waits_for}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Waits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Operation {
                name,
                object,
                called,
                could_complete,
                is_promised,
            } => {
                let kind = name.split("::").next().unwrap_or(name);
                write!(f, "{name} on {kind} #{object}, called at {called}")?;
                f.write_str(match (could_complete, is_promised) {
                    (_, true) => {
                        " (which could complete, but for another one: that was woken, holds a reservation, and is not polled)"
                    }
                    (true, false) => " (which could complete)",
                    (false, false) => "",
                })
            }
            Self::Task {
                task,
                name,
                spawned,
            } => {
                let task = called(*task, name.as_deref());
                write!(f, "the end of {task}, spawned at {spawned}")
            }
            Self::Outside => f.write_str("the end of a thread outside, or of another runtime's task"),
            Self::Foreign => f.write_str(
                "a foreign future (if a thread outside wakes it: a simulation does not wait for that)",
            ),
        }
    }
}
