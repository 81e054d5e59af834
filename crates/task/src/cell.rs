//! The allocation of one task: header, and a place for the future, then for its output.
//!
//! Which of the two is there is not stored: the header's state says so (`DONE`: the output, until
//! its owner takes it).

use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context, Poll};

use gossamer_core::header::{Failure, Header, TaskState, Vtable};
use gossamer_core::panics::{self, swallow};
use gossamer_core::{platform, waker};

use crate::locals;

/// A task's memory.
#[repr(C)]
struct Cell<F: Future> {
    header: Header,
    stage: platform::UnsafeCell<Stage<F>>,
}

/// The future, or what came of it: a pointer to this is one to either.
#[repr(C)]
union Stage<F: Future> {
    future: ManuallyDrop<F>,
    output: ManuallyDrop<Output<F>>,
}

type Output<F> = Result<<F as Future>::Output, Failure>;

/// Allocates a task.
pub(crate) fn allocate<F: Future>(
    state: TaskState,
    spawned: &'static std::panic::Location<'static>,
    future: F,
) -> NonNull<Header> {
    let cell = Box::new(Cell {
        header: Header::new(Cell::<F>::VTABLE, state, spawned),
        stage: platform::UnsafeCell::new(Stage {
            future: ManuallyDrop::new(future),
        }),
    });
    NonNull::from_mut(Box::leak(cell)).cast()
}

/// Puts another future of the same type in the place of one that has nothing to drop.
///
/// # Safety
/// Allocated for this type; the future is present, and nobody else touches it.
pub(crate) unsafe fn set_future<F: Future>(task: NonNull<Header>, future: F) {
    // SAFETY: the caller vouches for the type, and the task is alive.
    let cell = unsafe { Cell::<F>::of(task) };
    cell.stage.with_mut(|stage| {
        // SAFETY: nobody else touches the stage.
        unsafe { stage.cast::<F>().write(future) };
    });
}

impl<F: Future> Cell<F> {
    const VTABLE: &'static Vtable = &Vtable {
        poll: Self::poll,
        fail: Self::fail,
        take_output: Self::take_output,
        drop_output: Self::drop_output,
        free: Self::free,
        end_locals: locals::end_task,
        leak_locals: locals::leak_task,
    };

    /// # Safety
    /// The task's cell is of this type, and alive.
    #[inline(always)]
    unsafe fn of<'a>(task: NonNull<Header>) -> &'a Self {
        // SAFETY: the header is the first field of such a cell.
        unsafe { task.cast::<Self>().as_ref() }
    }

    /// # Safety
    /// See [`Vtable::poll`].
    unsafe fn poll(task: NonNull<Header>) -> Poll<()> {
        // SAFETY: the vtable is that of this very type of cell, and the task is alive.
        let cell = unsafe { Self::of(task) };
        // SAFETY: alive during the poll, and not dropped.
        let waker = unsafe { waker::borrowed(task) };
        let polled = cell.stage.with_mut(|stage| {
            // SAFETY: the runner owns the future, which is present.
            let future = unsafe { &mut *stage.cast::<F>() };
            // SAFETY: it stays in its cell until it is dropped.
            let future = unsafe { Pin::new_unchecked(future) };
            future.poll(&mut Context::from_waker(&waker))
        });
        match polled {
            Poll::Pending => Poll::Pending,
            Poll::Ready(output) => {
                // SAFETY: the future is present, and done with.
                unsafe { cell.replace_future(Ok(output)) };
                Poll::Ready(())
            }
        }
    }

    /// # Safety
    /// See [`Vtable::fail`].
    unsafe fn fail(task: NonNull<Header>, failure: Failure) {
        // SAFETY: as in `poll`.
        let cell = unsafe { Self::of(task) };
        // SAFETY: the future is present, and done with.
        unsafe { cell.replace_future(Err(failure)) };
    }

    /// Drops the future and stores `output`. If the drop panics, that panic is the task's result,
    /// unless it has panicked before.
    ///
    /// # Safety
    /// On the runner, the future present.
    unsafe fn replace_future(&self, output: Result<F::Output, Failure>) {
        let dropped = panics::caught(&mut || {
            self.stage.with_mut(|stage| {
                // SAFETY: present, and not used again whether or not the drop panics; `caught` runs this once.
                unsafe { stage.cast::<F>().drop_in_place() };
            });
        });
        let output = match (dropped, output) {
            (Ok(()), output) => output,
            (Err(second), output @ Err(Failure::Panicked(_))) => {
                swallow(second);
                output
            }
            (Err(payload), output) => {
                panics::end(|| drop(output));
                Err(Failure::panicked(payload))
            }
        };
        self.stage.with_mut(|stage| {
            // SAFETY: the runner owns the stage until it publishes the output.
            unsafe { stage.cast::<Output<F>>().write(output) };
        });
    }

    /// # Safety
    /// See [`Vtable::take_output`].
    unsafe fn take_output(task: NonNull<Header>, into: *mut ()) {
        // SAFETY: as in `poll`.
        let cell = unsafe { Self::of(task) };
        cell.stage.with_mut(|stage| {
            let output = stage.cast::<Output<F>>();
            // SAFETY: the output is present, the caller owns it and does not read it again; the caller gives memory for
            // exactly this type.
            unsafe { output.copy_to_nonoverlapping(into.cast(), 1) };
        });
    }

    /// # Safety
    /// See [`Vtable::drop_output`].
    unsafe fn drop_output(task: NonNull<Header>) {
        // SAFETY: as in `poll`.
        let cell = unsafe { Self::of(task) };
        // SAFETY: the output is present, the caller owns it and does not read it again.
        let drop_output =
            |stage: *mut Stage<F>| unsafe { stage.cast::<Output<F>>().drop_in_place() };
        cell.stage.with_mut(drop_output);
    }

    /// # Safety
    /// See [`Vtable::free`].
    unsafe fn free(task: NonNull<Header>) {
        let cell = task.cast::<Self>().as_ptr();
        // SAFETY: made by `Box::new`, and nobody holds it any more. The stage is a union, so its
        // content (gone already) is not dropped.
        drop(unsafe { Box::from_raw(cell) });
    }
}
