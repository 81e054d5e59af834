//! Reads from the headers of the living tasks what each waits for.

use std::panic::Location;

use gossamer_core::context::simulated::{self, Wanted};
use gossamer_core::header::{Description, WaitsFor};
use gossamer_core::waiter::Could;
use gossamer_sched::Tasks;

/// A living task.
#[derive(Debug)]
pub(crate) struct Living {
    /// Its header's address.
    pub(crate) address: usize,
    pub(crate) spawned: &'static Location<'static>,
    pub(crate) waits_for: WaitsFor,
    /// And what beside.
    pub(crate) also: Vec<Wanted>,
}

impl Living {
    /// True if what the task waits for has come, so that the task should have been woken. `at_rest` says that no task
    /// is enabled: then no other task will take what has come.
    pub(crate) fn could_go_on(&self, at_rest: bool) -> bool {
        match self.waits_for {
            WaitsFor::Operation { could_complete, .. } => match could_complete {
                Could::No => false,
                Could::IfOthersDoNot => at_rest,
                Could::Yes => true,
            },
            WaitsFor::Task(_) | WaitsFor::Foreign => false,
        }
    }
}

/// Looks at every living task. For a scheduler between two polls: nothing is being polled, no lock is held.
pub(crate) fn look(tasks: &Tasks<'_>) -> Vec<Living> {
    let mut living = Vec::new();
    tasks.for_each(|task| {
        living.push(Living {
            also: simulated::wanted_by(task.address()),
            ..look_at(task)
        });
    });
    living
}

/// True if one of the tasks should have been woken. Allocates nothing: it may be called at each step.
pub(crate) fn any_could_go_on(tasks: &Tasks<'_>, at_rest: bool) -> bool {
    let mut any = false;
    tasks.for_each(|task| any |= look_at(task).could_go_on(at_rest));
    any
}

fn look_at(task: &Description<'_>) -> Living {
    Living {
        address: task.address(),
        spawned: task.spawned,
        waits_for: task.waits_for(),
        also: Vec::new(),
    }
}
