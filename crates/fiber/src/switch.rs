//! The switch between a poll and a stack.
//!
//! ```text
//!   the thread's stack             the fiber's stack
//!   ------------------             -----------------
//!   Fiber::poll ── resume ───────▶ body
//!                                    operation.wait()
//!                                      the operation's poll is pending
//!   Poll::Pending ◀─── suspend ──────── switch
//!        ⋮  (the operation wakes the task)
//!   Fiber::poll ── resume ────────────▶ its poll is ready
//!                                    body returns
//!   Poll::Ready ◀──────────────────  the end
//! ```
//!
//! # The end of a fiber that has not returned
//!
//! Dropping a fiber that stands still resumes it once more: the wait it stands in unwinds, by an ordinary panic
//! without a message, and so does each later one, until the body has ended. A wait in a destructor that runs
//! because the fiber unwinds cannot unwind again, and must not stand still (the thread is unwinding, and others
//! would believe it is their panic): it blocks the thread, for good if what it waits for comes from that thread.
//! A wait inside a [foreign call](gossamer_core::wait::foreign) does not unwind either: until that has returned it blocks
//! the thread as well. (An abort does not come so far: the runner waits.)
//! (If the thread was unwinding already when the fiber was to end, such a wait ends the process: nothing tells it from
//! one that is not in a destructor.)

use std::any::Any;
use std::cell::{Cell, UnsafeCell};
use std::marker::PhantomPinned;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::NonNull;
use std::task::Waker;

use corosensei::{Coroutine, CoroutineResult};
use gossamer_core::context;
use gossamer_core::fiber::{self, Ended, Resumed};
use gossamer_core::platform::thread::{self, ThreadId};
use gossamer_core::platform::thread_local;
use gossamer_core::waker::task_of;

use crate::stack::{Stack, watch_thread};

/// The result of a fiber's closure: its output, or the payload of its panic.
pub(crate) type Outcome<T> = Result<T, Box<dyn Any + Send>>;

/// A stack with a closure on it.
pub(crate) type Running<T> = Coroutine<NonNull<Resumed>, (), Outcome<T>, Stack>;

/// A stack with a closure on it, which only the thread uses that has made it.
pub(crate) struct Switch<T> {
    on: ThreadId,
    /// Taken out when the closure has ended, or is to end.
    stack: UnsafeCell<Option<Running<T>>>,
    /// Its thread knows where it is ([`standing`](crate::standing)).
    _pinned: PhantomPinned,
}

// SAFETY: the stack is used by its own thread alone: `resume` checks that, and the drop leaves it alone elsewhere. So
// what is on the stack stays with that thread; what the closure returns is `Send`.
unsafe impl<T: Send> Send for Switch<T> {}

thread_local! {
    /// This thread, as soon as a fiber has begun here. It can be asked for also while thread-locals are destroyed.
    static ID: Cell<Option<ThreadId>> = const { Cell::new(None) };
}

impl<T> Switch<T> {
    /// Puts a closure on a stack; it begins when it is resumed.
    pub(crate) fn new<F>(body: F, stack: Stack) -> Self
    where
        F: FnOnce() -> T + 'static,
        T: 'static,
    {
        // corosensei takes no larger ones, and none with a larger alignment.
        if const { size_of::<F>() > 512 || align_of::<F>() > 16 } {
            Self::put(Box::new(body), stack)
        } else {
            Self::put(body, stack)
        }
    }

    fn put<F>(body: F, stack: Stack) -> Self
    where
        F: FnOnce() -> T + 'static,
        T: 'static,
    {
        let on = ID.with(Cell::get).unwrap_or_else(|| {
            let id = thread::current().id();
            ID.with(|here| here.set(Some(id)));
            watch_thread();
            id
        });
        let stack = Coroutine::with_stack(stack, |yielder, resumed| {
            // SAFETY: at the bottom of the coroutine's stack; `resume` does what the others have to, on this thread alone.
            unsafe { fiber::begin(yielder, resumed, || catch_unwind(AssertUnwindSafe(body))) }
        });
        Self {
            on,
            stack: UnsafeCell::new(Some(stack)),
            _pinned: PhantomPinned,
        }
    }

    /// The thread that it stays with. Any thread may ask.
    pub(crate) fn on(&self) -> ThreadId {
        self.on
    }

    /// Whether that is this one. Any thread may ask.
    pub(crate) fn is_here(&self) -> bool {
        ID.with(Cell::get) == Some(self.on)
    }

    #[cold]
    fn polled_elsewhere(&self) -> ! {
        panic!(
            "a fiber that began on {:?} was polled on {:?}: it stays with its thread",
            self.on,
            thread::current().id()
        );
    }

    /// Runs the closure until it stands still (`None`) or has ended.
    ///
    /// # Panics
    /// It has ended before, or this is not its thread.
    #[inline(always)]
    pub(crate) fn resume(&mut self, waker: &Waker) -> Option<Outcome<T>> {
        if !self.is_here() {
            self.polled_elsewhere();
        }
        let stack = self.stack.get_mut();
        let running = stack.as_mut().expect("its thread has not ended it");
        let outcome = resume(running, waker, false)?;
        *stack = None;
        Some(outcome)
    }

    /// Takes the stack out, which its own thread may end, and others may only move. One on which the closure runs stays
    /// for good: the process ends in the midst of it.
    pub(crate) fn take(&mut self) -> Option<Running<T>> {
        // SAFETY: it is there, and nobody else has it.
        unsafe { Self::take_of(NonNull::from(self)) }
    }

    /// As [`Switch::take`], where others may ask meanwhile whose it is.
    ///
    /// # Safety
    /// It is there, and nobody else resumes it or takes its stack.
    pub(crate) unsafe fn take_of(switch: NonNull<Self>) -> Option<Running<T>> {
        // SAFETY: it is there, as the caller says.
        let switch = unsafe { switch.as_ref() };
        // SAFETY: nobody else touches the stack, as the caller says.
        let stack = unsafe { &mut *switch.stack.get() }.take()?;
        if stack.done() {
            mem::forget(stack);
            return None;
        }
        Some(stack)
    }
}

impl<T> Drop for Switch<T> {
    fn drop(&mut self) {
        let stack = self.take();
        if !self.is_here() {
            mem::forget(stack);
        }
    }
}

/// Runs a fiber until it stands still (`None`) or has ended.
#[inline(always)]
fn resume<T>(switch: &mut Running<T>, waker: &Waker, end: bool) -> Option<Outcome<T>> {
    let resumed = Resumed {
        waker: NonNull::from(waker),
        end,
        unwinding: thread::panicking(),
    };
    debug_assert!(
        !end || task_of(waker).is_none(),
        "it is to see that it ends"
    );
    // The fiber, if any, in which this one is resumed.
    let outer = context::with(context::Context::fiber);
    let result = match gossamer_core::mutant!("fiber_is_in_the_select") {
        true => switch.resume(NonNull::from(&resumed)),
        false => context::outside_selects(|| switch.resume(NonNull::from(&resumed))),
    };
    // SAFETY: it runs on, on its own stack.
    context::with(|context| unsafe { context.set_fiber(outer) });
    match result {
        CoroutineResult::Yield(()) => None,
        CoroutineResult::Return(result) => Some(result),
    }
}

/// Has a fiber that stands still unwind, on its thread: what it returned all the same.
///
/// # Panics
/// As the fiber does.
pub(crate) fn unwind<T>(mut switch: Running<T>) -> Option<T> {
    // Its waits unwind, and wait no more, so this comes to an end with the body.
    match resume(&mut switch, Waker::noop(), true) {
        Some(Err(payload)) if payload.is::<Ended>() => None,
        Some(Err(_)) if gossamer_core::mutant!("ended_fiber_hides_panic") => None,
        Some(Err(payload)) => resume_unwind(payload),
        Some(Ok(output)) => Some(output),
        None => unreachable!("a fiber that is to end does not stand still"),
    }
}

#[cfg(test)]
mod tests;
