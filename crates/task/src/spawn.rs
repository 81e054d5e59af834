//! Making a task and giving it to its home.

use std::panic::Location;
use std::ptr::NonNull;

use gossamer_core::context;
use gossamer_core::header::life::{QUEUED, Queue};
use gossamer_core::header::{Failure, Header, Place, release};
use gossamer_core::home::Home;

use crate::cell;
use crate::handle::JoinHandle;

/// Makes a task that any thread may drive, and queues it at `home`.
///
/// If the home is closing, the future is dropped here and now and the handle says so.
///
/// # Safety
/// The home has not been closed: its runtime lives.
pub unsafe fn spawn<F>(
    home: &'static Home,
    future: F,
    spawned: &'static Location<'static>,
) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    // SAFETY: the future is `Send`, so any driver may poll it, and `'static`.
    unsafe { start(home, future, spawned, false) }
}

/// Makes a task of the current local scope of `home`, and queues it there.
///
/// If the scope is ending, the future is dropped here and now and the handle says so.
///
/// # Safety
/// This thread holds the claim of `home`, and drops all tasks of the scope before it gives it up.
pub unsafe fn spawn_local<F>(
    home: &'static Home,
    future: F,
    spawned: &'static Location<'static>,
) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    // SAFETY: polled and dropped by this thread alone, as the caller vouches.
    unsafe { start(home, future, spawned, true) }
}

/// Drops the future here and now: there is no home for it. The handle says that it was cancelled.
pub fn spawn_nowhere<F: Future>(
    future: F,
    spawned: &'static Location<'static>,
) -> JoinHandle<F::Output> {
    let place = Place::spawned_elsewhere(context::NOWHERE, false);
    let task = cell::allocate(place, spawned, future);
    // SAFETY: the new task is held by one handle, which is this one, of this type.
    let handle = unsafe { JoinHandle::new(task) };
    // SAFETY: new and in no list.
    unsafe { turn_away(task) };
    handle
}

/// Makes the task that a blocking call waits for; it may borrow from the caller.
///
/// # Safety
/// As [`spawn_local`]; and before anything that the future borrows ends, the task has finished and its
/// output has been taken.
pub unsafe fn spawn_root<F: Future>(
    home: &'static Home,
    future: F,
    spawned: &'static Location<'static>,
) -> JoinHandle<F::Output> {
    // SAFETY: passed on to the caller.
    unsafe { start(home, future, spawned, true) }
}

/// # Safety
/// The future may be polled and dropped by whoever drives the home (for a local task: by this
/// thread until the scope ends), and lives that long.
unsafe fn start<F: Future>(
    home: &'static Home,
    future: F,
    spawned: &'static Location<'static>,
    local: bool,
) -> JoinHandle<F::Output> {
    home.cell_made();
    let here = context::drives(home.index());
    let runs_here = here && !home.driver.closing.get();
    let place = if runs_here && !local && home.pool() != 0 {
        Place::spawned_in_pool(home.index())
    } else if runs_here {
        Place::spawned_here(home.index(), local)
    } else {
        Place::spawned_elsewhere(home.index(), local)
    };
    let task = cell::allocate(place, spawned, future);
    // SAFETY: the new task is held by one handle, which is this one, of this type.
    let handle = unsafe { JoinHandle::new(task) };
    if runs_here {
        // SAFETY: this thread drives the home; the task is new, scheduled and in no list or queue.
        unsafe {
            if !place.is_new() {
                home.driver.list_of(place).push(task);
            }
            context::with(|context| context.push_new(task));
        }
    } else if here {
        // SAFETY: new and in no list; we drive its home.
        unsafe { turn_away(task) };
    } else {
        // SAFETY: new and in no list.
        unsafe { send(task, home) };
    }
    handle
}

/// # Safety
/// A new task in no list, of a home that is not driven by the current context.
unsafe fn send(task: NonNull<Header>, home: &'static Home) {
    // SAFETY: held by its handle, and by `ALIVE`.
    let queue = unsafe { task.as_ref() }.life.queue();
    debug_assert_eq!(queue, Queue::Push, "a new task is in no inbox");
    match home.push(task) {
        Ok(Some(driver)) => driver.wake(),
        Ok(None) => {}
        // SAFETY: the hold stayed ours, and nobody else knows the task.
        Err(_) => unsafe {
            turn_away(task);
            release(task, QUEUED);
        },
    }
}

/// # Safety
/// A new task in no list, known to nobody but its handle.
unsafe fn turn_away(task: NonNull<Header>) {
    // SAFETY: nobody else touches a new task, so this thread may act as its driver.
    unsafe {
        (task.as_ref().vtable.fail)(task, Failure::Cancelled);
        Header::finish(task);
    }
}
