//! A join handle for something that is no task: whoever has the promise gives the output.
//!
//! It is a task that is in no shard and is never scheduled. The owner of the promise acts as its runner, once.

use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::panic::Location;
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context, Poll};

use gossamer_core::context::NOWHERE;
use gossamer_core::header::{Failure, Header, Payload, TaskState};

use crate::cell;
use crate::handle::JoinHandle;

/// The right, and the duty, to give a [`JoinHandle`] its output. Dropped without, the handle says that it was
/// cancelled.
#[derive(Debug)]
pub struct Promise<T> {
    task: NonNull<Header>,
    _output: PhantomData<T>,
}

// SAFETY: nobody else touches the task's future, and the output is `Send`.
unsafe impl<T: Send> Send for Promise<T> {}

/// The future of such a task: ready with what was put there.
struct Given<T>(Option<T>);

// Not pinned structurally: the output is moved in and out.
impl<T> Unpin for Given<T> {}

impl<T> Future for Given<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<T> {
        self.0.take().map_or(Poll::Pending, Poll::Ready)
    }
}

/// A promise, and the handle that waits for it. Aborting the handle does nothing.
pub fn promise<T>(made: &'static Location<'static>) -> (Promise<T>, JoinHandle<T>) {
    let state = TaskState::spawned_elsewhere(NOWHERE, false);
    let task = cell::allocate(state, made, Given::<T>(None));
    // SAFETY: the new task is held by one handle, which is this one, of this type.
    let handle = unsafe { JoinHandle::new(task) };
    let promise = Promise {
        task,
        _output: PhantomData,
    };
    (promise, handle)
}

impl<T> Promise<T> {
    /// Gives the output, or the payload of a panic. If nobody wants it, it is dropped here; a panic of that drop
    /// ends here.
    pub fn keep(self, output: Result<T, Payload>) {
        // From here on the task is finished once, whatever panics.
        let task = ManuallyDrop::new(self).task;
        let output = match output {
            Ok(output) => output,
            // SAFETY: as its runner, once; the future is present.
            Err(payload) => return unsafe { Header::fail(task, Failure::panicked(payload)) },
        };
        // SAFETY: the cell was allocated for this type of future; nobody else touches it.
        unsafe { cell::set_future(task, Given(Some(output))) };
        // SAFETY: as its runner; the promise has kept the task alive.
        let vtable = unsafe { task.as_ref() }.vtable;
        // SAFETY: as its runner; the future is present, and ready.
        let polled = unsafe { (vtable.poll)(task) };
        debug_assert!(polled.is_ready(), "the output was put there");
        // SAFETY: as its runner, the output is stored, and this happens once.
        unsafe { Header::finish(task) };
    }
}

impl<T> Drop for Promise<T> {
    fn drop(&mut self) {
        // SAFETY: not kept, so the future is present; as its runner, once.
        unsafe { Header::fail(self.task, Failure::Cancelled) };
    }
}
