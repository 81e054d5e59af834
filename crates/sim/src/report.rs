//! The report of a run in which nothing can happen any more: each waiting task, and what it waits for.

use std::collections::HashMap;
use std::fmt;
use std::panic::Location;

use gossamer_core::context::simulated::{self, Wanted};
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
    /// Each branch of a select that is known.
    waits_for: Vec<Waits>,
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
        /// Where the operation was called, if it knows.
        called: Option<&'static Location<'static>>,
        /// Whether it could complete now, so that its wake-up was lost.
        could_complete: bool,
        /// Whether others were woken for what it waits for, and are neither polled nor dropped.
        is_promised: bool,
        /// The tasks that hold it, if it is a lock (in a build with debug assertions).
        held_by: Vec<Holder>,
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

/// A task that holds a lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// Its number; `None`: a task that has ended, and has given the lock to somebody or forgotten it.
    pub task: Option<usize>,
    /// Its name, if it has one.
    pub name: Option<String>,
}

impl Report {
    pub(crate) fn new(living: Vec<Living>, world: &World) -> Self {
        let mut living: Vec<_> = living
            .into_iter()
            .filter_map(|task| Some((world.number_at(task.address)?, task)))
            .collect();
        living.sort_by_key(|(number, _)| *number);
        let spawned = living.iter().map(|(_, task)| (task.address, task.spawned));
        let mut reporter = Reporter {
            spawned: spawned.collect(),
            world,
            objects: Vec::new(),
        };
        let waiting = living.into_iter().map(|(task, living)| {
            let first = reporter.waits(living.waits_for);
            let also = living.also.into_iter();
            let mut waits_for: Vec<_> = also.map(|wanted| reporter.wants(wanted)).collect();
            if first != Waits::Foreign || waits_for.is_empty() {
                waits_for.insert(0, first);
            }
            Waiting {
                task,
                name: reporter.name(task),
                spawned: (task != 0).then_some(living.spawned),
                waits_for,
            }
        });
        Self(waiting.collect())
    }

    /// Whether something outside is waited for.
    pub(crate) fn is_open(&self) -> bool {
        self.waiting().any(|(_, waits)| *waits == Waits::Outside)
            && !gossamer_core::mutant!("outside_is_deadlock")
    }

    /// The number of each waiting task and what it waits for: more than once, if it waits for whichever of several things
    /// comes first.
    pub fn waiting(&self) -> impl Iterator<Item = (usize, &Waits)> {
        self.0.iter().flat_map(|waiting| {
            let waits = waiting.waits_for.iter();
            waits.map(|waits| (waiting.task, waits))
        })
    }
}

/// Makes a report of addresses.
struct Reporter<'a> {
    /// Where each living task was spawned.
    spawned: HashMap<usize, &'static Location<'static>>,
    world: &'a World,
    objects: Vec<usize>,
}

impl Reporter<'_> {
    fn name(&self, task: usize) -> Option<String> {
        self.world.trace.name(task).map(str::to_owned)
    }

    /// What the header of a task says.
    fn waits(&mut self, what: WaitsFor) -> Waits {
        match what {
            WaitsFor::Operation {
                name,
                object,
                called,
                could_complete,
            } => Waits::Operation {
                name,
                object: small_number(&mut self.objects, object),
                called: Some(called),
                could_complete: could_complete != Could::No,
                is_promised: could_complete == Could::IfOthersDoNot
                    && !gossamer_core::mutant!("report_conceals_promises"),
                held_by: self.holders(object),
            },
            WaitsFor::Task(address) => self.end_of(address),
            WaitsFor::Foreign => Waits::Foreign,
        }
    }

    /// What an operation has told beside.
    fn wants(&mut self, what: Wanted) -> Waits {
        match what {
            Wanted::Operation {
                name,
                object,
                called,
            } => Waits::Operation {
                name,
                object: small_number(&mut self.objects, object),
                called,
                could_complete: false,
                is_promised: false,
                held_by: self.holders(object),
            },
            Wanted::Task(address) | Wanted::Join(address) => self.end_of(address),
        }
    }

    fn end_of(&self, address: usize) -> Waits {
        let address = self.world.task_told_at(address);
        match (self.world.number_at(address), self.spawned.get(&address)) {
            (Some(task), Some(spawned)) => Waits::Task {
                task,
                name: self.name(task),
                spawned,
            },
            _ => Waits::Outside,
        }
    }

    fn holders(&self, lock: usize) -> Vec<Holder> {
        let holders = simulated::holders_of(lock).into_iter();
        let holder = |address| {
            let task = self.world.number_at(address);
            let name = task.and_then(|task| self.name(task));
            Holder { task, name }
        };
        holders.map(holder).collect()
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
            for (at, waits) in waits_for.iter().enumerate() {
                let before = if at == 0 {
                    " waits for"
                } else {
                    "\n    or for"
                };
                write!(f, "{before} {waits}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.task {
            Some(task) => f.write_str(&called(task, self.name.as_deref())),
            None => f.write_str("a task that has ended"),
        }
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
                held_by,
            } => {
                let kind = name.split("::").next().unwrap_or(name);
                write!(f, "{name} on {kind} #{object}")?;
                if let Some(called) = called {
                    write!(f, ", called at {called}")?;
                }
                for (at, holder) in held_by.iter().enumerate() {
                    let before = if at == 0 { ", held by" } else { " and" };
                    write!(f, "{before} {holder}")?;
                }
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
