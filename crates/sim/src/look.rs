//! What the living tasks wait for, read from their headers: the one `MVar` with unsafe code.

use std::panic::Location;
use std::ptr::NonNull;

use gossamer_core::header::Description;
use gossamer_core::waiter::{Could, Node};
use gossamer_sched::Tasks;

/// A living task.
#[derive(Debug)]
pub(crate) struct Living {
    /// Its header's address.
    pub(crate) address: usize,
    pub(crate) spawned: &'static Location<'static>,
    pub(crate) waits_for: WaitsFor,
}

/// What a living task waits for.
#[derive(Debug)]
pub(crate) enum WaitsFor {
    Operation {
        name: &'static str,
        /// The primitive's address.
        object: usize,
        called: &'static Location<'static>,
        could_complete: Could,
    },
    /// The end of the task at this address, which may be gone by now.
    Task(usize),
    /// Nothing that says what it is.
    Foreign,
}

impl Living {
    /// Whether what it waits for has come, so that somebody should have woken it. When nothing is enabled, nobody else
    /// comes for it.
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
    tasks.for_each(|task| living.push(look_at(&task)));
    living
}

/// Whether somebody should have woken one of them. Allocates nothing: it may be asked at each step.
pub(crate) fn any_could_go_on(tasks: &Tasks<'_>, at_rest: bool) -> bool {
    let mut any = false;
    tasks.for_each(|task| any |= look_at(&task).could_go_on(at_rest));
    any
}

fn look_at(task: &Description) -> Living {
    let waits_for = match (task.waits_for.node(), task.waits_for.task()) {
        (Some(node), _) => look_at_node(node),
        (None, Some(joined)) => WaitsFor::Task(joined.as_ptr().addr()),
        (None, None) => WaitsFor::Foreign,
    };
    Living {
        address: task.task.as_ptr().addr(),
        spawned: task.spawned,
        waits_for,
    }
}

fn look_at_node(parked: NonNull<Node>) -> WaitsFor {
    // SAFETY: the header of a living task that is not scheduled names a node only as long as the operation around
    // it exists: a wake overwrites the name before the scheduler looks, and the operation's end takes it back; on
    // another thread, where it cannot, it ends the process. An operation that is forgotten keeps its memory, as it
    // is pinned.
    let node = unsafe { parked.as_ref() };
    // SAFETY: a node that a task is parked on has been parked.
    let kind = unsafe { node.kind() };
    // SAFETY: alive as above, and of its own kind; an operation borrows its primitive, so that one is alive too,
    // unless the operation was forgotten and the primitive then moved (docs/UNSAFE.md); between two polls of a
    // simulation no lock is held.
    let could_complete = unsafe { (kind.could_complete)(parked) };
    WaitsFor::Operation {
        name: kind.name,
        object: node.object().addr(),
        called: node.location(),
        could_complete,
    }
}
