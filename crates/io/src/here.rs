//! Which poller tells of what is waited for here.
//!
//! The one of the runtime whose tasks this thread runs; or of the runtimes that it would run while it waits. Where nobody
//! polls for the one that waits (a bare thread, a task of `Model::Threads`, another executor's task), it is the poller of
//! the process, which has a thread of its own.

use std::any::Any;
use std::io;
use std::sync::Arc;

use gossamer_core::context;
use gossamer_core::moment::Moment;
use gossamer_core::parker::Parker;
use gossamer_core::platform::{Mutex, per_process, start_thread};
use gossamer_core::poller::{Attended, Poller, PollerCell, owned_cell};
use gossamer_sched::{here, is_polled_by, simulated_threads};

use crate::epoll::Epoll;
use crate::registry::Registry;

/// Calls `with` with the poller's cell.
///
/// # Errors
/// In a simulation, where nobody polls; or as of [`process_cell`].
pub(crate) fn with_cell<R>(with: impl FnOnce(&PollerCell) -> R) -> io::Result<R> {
    if simulated_threads().is_some() {
        return Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "a socket has to wait in a simulation, where nothing can tell of it: give the program a channel in its place",
        ));
    }
    if let Some(here) = here() {
        let cell = here.poller();
        if cell.is_attended(is_polled_by(cell.number())) {
            return Ok(with(cell));
        }
    }
    let waits = context::with(|context| context.waits() && context.shard() == context::NOWHERE);
    if waits && let Some(owned) = owned_cell() {
        return Ok(with(&owned));
    }
    Ok(with(process_cell()?))
}

/// The poller of a cell, which is made if there is none.
///
/// # Errors
/// The process has no descriptors left.
fn poller_of(cell: &PollerCell) -> io::Result<Arc<Epoll>> {
    let new = || Epoll::new().map(|new| new as Arc<dyn Poller>);
    let poller: Arc<dyn Any + Send + Sync> = cell.get_or_try_init(new)?.clone();
    Ok(poller.downcast().expect("there are no other pollers"))
}

/// The process's own poller, and whether its thread has been started.
struct OfProcess {
    cell: PollerCell,
    is_started: Mutex<bool>,
}

per_process! {
    fn of_process() -> OfProcess = OfProcess {
        cell: PollerCell::new(Attended::Always),
        is_started: Mutex::new(false),
    }
}

/// Where the sockets of this cell's poller are registered.
///
/// # Errors
/// The process has no descriptors left.
pub(crate) fn registry_of(cell: &PollerCell) -> io::Result<Arc<Registry>> {
    poller_of(cell).map(|poller| poller.registry.clone())
}

/// The cell of the process's own poller, whose thread has been started.
///
/// # Errors
/// The system grants no thread, or no descriptors.
pub(crate) fn process_cell() -> io::Result<&'static PollerCell> {
    let OfProcess { cell, is_started } = of_process();
    let mut is_started = is_started.lock();
    if !*is_started {
        poller_of(cell)?;
        start_thread("gossamer-poller", None, || poll_for_process(cell)).map_err(|error| {
            // Not of its own kind, which is `WouldBlock`: that would say that the operation waits.
            io::Error::other(format!(
                "the thread that waits for sockets could not be started: {error}"
            ))
        })?;
        *is_started = true;
    }
    Ok(cell)
}

/// Polls for the process. While no socket waits, the thread sleeps for good, as others do.
fn poll_for_process(cell: &PollerCell) {
    Parker::with(|parker| {
        cell.set_caller(parker.waker().clone());
        loop {
            match cell.sit() {
                Some(seat) => {
                    parker.park_at(Some(&seat), Moment::NEVER, &mut || false);
                    seat.deliver();
                }
                None => parker.park(&mut || cell.is_used()),
            }
        }
    });
}
