//! The switch between a poll and a stack.
//!
//! ```text
//!   the thread's stack             the fiber's stack
//!   ------------------             -----------------
//!   Fiber::poll ── resume ───────▶ body
//!                                    operation.wait()
//!                                      OnStack::wait: step() is pending
//!   Poll::Pending ◀─── suspend ──────── switch
//!        ⋮  (the operation wakes the task)
//!   Fiber::poll ── resume ────────────▶ step() is ready
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
//! (If the thread was unwinding already when the fiber was to end, such a wait ends the process: nothing tells it from
//! one that is not in a destructor.)

use std::any::Any;
use std::cell::Cell;
use std::io;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::NonNull;
use std::task::{Context, Waker};

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use gossamer_core::context;
use gossamer_core::parker::Parker;
use gossamer_core::platform::thread;
use gossamer_core::wait::Stackful;

/// The result of a fiber's closure: its output, or the payload of its panic.
pub(crate) type Outcome<T> = Result<T, Box<dyn Any + Send>>;

/// A stack with a closure on it.
pub(crate) type Switch<T> = Coroutine<Resumed, (), Outcome<T>>;

/// The message to a fiber that is resumed.
#[derive(Clone, Copy)]
pub(crate) struct Resumed {
    /// Of the poll that resumes it: valid until it stands still again.
    waker: NonNull<Waker>,
    /// Whether it is to unwind.
    end: bool,
    /// Whether the thread was unwinding already.
    unwinding: bool,
}

/// The payload with which a fiber that is to end unwinds.
struct Ended;

/// Bytes of a fiber's stack; only those that are used cost memory.
const STACK_BYTES: usize = 1 << 20;

pub(crate) fn new_stack() -> io::Result<DefaultStack> {
    DefaultStack::new(STACK_BYTES).map_err(|error| {
        let text = format!("no memory for a fiber's stack: {error}");
        io::Error::new(error.kind(), text)
    })
}

/// Puts a closure on a stack; it begins when it is resumed.
pub(crate) fn begin<F, T>(body: F, stack: DefaultStack) -> Switch<T>
where
    F: FnOnce() -> T + 'static,
    T: 'static,
{
    Coroutine::with_stack(stack, |yielder, resumed| {
        let fiber = OnStack {
            yielder,
            resumed: Cell::new(resumed),
        };
        fiber.is_running();
        catch_unwind(AssertUnwindSafe(body))
    })
}

/// Runs a fiber until it stands still (`None`) or has ended.
pub(crate) fn resume<T>(switch: &mut Switch<T>, waker: &Waker, end: bool) -> Option<Outcome<T>> {
    let resumed = Resumed {
        waker: NonNull::from(waker),
        end,
        unwinding: thread::panicking(),
    };
    // SAFETY: no fiber runs on this stack; the resumed fiber sets itself, in `is_running`.
    let outer = context::with(|context| unsafe { context.set_fiber(None) });
    let result = switch.resume(resumed);
    // SAFETY: the fiber that was set before, if any, runs on, on its own stack.
    context::with(|context| unsafe { context.set_fiber(outer) });
    match result {
        CoroutineResult::Yield(()) => None,
        CoroutineResult::Return(result) => Some(result),
    }
}

/// Has a fiber that stands still unwind: what it returned all the same.
///
/// # Panics
/// As the fiber does.
pub(crate) fn unwind<T>(mut switch: Switch<T>) -> Option<T> {
    // Its waits unwind, and wait no more, so this comes to an end with the body.
    match resume(&mut switch, Waker::noop(), true) {
        Some(Err(payload)) if payload.is::<Ended>() => None,
        Some(Err(_)) if gossamer_core::mutant!("ended_fiber_hides_panic") => None,
        Some(Err(payload)) => resume_unwind(payload),
        Some(Ok(output)) => Some(output),
        None => unreachable!("a fiber that is to end does not stand still"),
    }
}

/// A fiber, seen from its own stack.
struct OnStack<'a> {
    yielder: &'a Yielder<Resumed, ()>,
    resumed: Cell<Resumed>,
}

impl OnStack<'_> {
    /// Says that this fiber runs here.
    fn is_running(&self) {
        let this: NonNull<dyn Stackful + '_> = NonNull::from(self);
        // SAFETY: only the lifetime changes, of a pointer.
        let this =
            unsafe { mem::transmute::<NonNull<dyn Stackful + '_>, NonNull<dyn Stackful>>(this) };
        // SAFETY: it stays in its place at the bottom of the fiber's stack as long as the body runs, and `resume` takes
        // the word back whenever the fiber stands still or has ended.
        context::with(|context| unsafe { context.set_fiber(Some(this)) });
    }

    fn unwind_if_ending(&self) {
        if self.resumed.get().end {
            resume_unwind(Box::new(Ended));
        }
    }

    /// Whether this fiber unwinds, and not only the thread that resumed it.
    fn is_unwinding(&self) -> bool {
        thread::panicking() && !self.resumed.get().unwinding
    }
}

impl Stackful for OnStack<'_> {
    fn wait(&self, step: &mut dyn FnMut(&mut Context<'_>) -> bool) {
        if self.is_unwinding() {
            return block_thread(step);
        }
        let mut waker = Waker::noop().clone();
        loop {
            self.unwind_if_ending();
            // A waker of this wait's own: the step may wait itself, and the poll that resumed the fiber be over before
            // the step is.
            // SAFETY: `resume` borrows this waker, and returns only when the fiber stands still or has ended.
            waker.clone_from(unsafe { self.resumed.get().waker.as_ref() });
            if step(&mut Context::from_waker(&waker)) {
                return;
            }
            self.resumed.set(self.yielder.suspend(()));
            self.is_running();
        }
    }
}

/// Blocks the thread until `step` is done: so waits a destructor that runs while the fiber unwinds.
fn block_thread(step: &mut dyn FnMut(&mut Context<'_>) -> bool) {
    Parker::with(|parker| {
        while !step(&mut Context::from_waker(parker.waker())) {
            parker.park(|| false);
        }
    });
}
