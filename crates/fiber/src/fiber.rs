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
//! # A fiber stays with its thread
//!
//! Its stack may hold what is not `Send`, and addresses of thread-locals. So a fiber may be moved to another thread
//! only before its first poll. From then on its task is pinned: the runtime polls and drops it on that thread. Who
//! polls it elsewhere all the same gets a panic; who drops it elsewhere leaves the stack, with all that is on it, to
//! that thread, which ends it when it ends itself (see `ending.rs`).
//!
//! No check finds code whose soundness relies on thread-locals being used like a stack (`scoped_tls` and its kin, a
//! lazy initialiser that waits) and that stands still in the midst of it. So the program promises that there is none
//! (`contract.rs`).
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
use std::future::Future;
use std::io::{self, Write};
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::ptr::NonNull;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use gossamer_core::parker::Parker;
use gossamer_core::platform::thread;
use gossamer_core::wait::Stackful;
use gossamer_core::{context, task_locals};

use crate::contract::Fibers;
use crate::ending;
use crate::standing::Standing;

/// A closure that can stand still: a future, complete when the closure has returned.
///
/// # Panics
/// A panic of the closure is the poll's.
pub struct Fiber<F, T>(State<F, T>);

/// What a fiber's closure returned, or panicked with.
pub(crate) type Outcome<T> = Result<T, Box<dyn Any + Send>>;

/// A stack with a closure on it.
pub(crate) type Switch<T> = Coroutine<Resumed, (), Outcome<T>>;

enum State<F, T> {
    /// Not begun.
    New { body: F, stack: DefaultStack },
    /// Begun.
    Begun(Arc<Standing<T>>),
    /// The body has ended, or is ending.
    Over,
}

/// What a fiber is told when it goes on.
#[derive(Clone, Copy)]
pub(crate) struct Resumed {
    /// Of the poll that resumes it: valid until it stands still again.
    waker: NonNull<Waker>,
    /// Whether it is to unwind.
    end: bool,
    /// Whether the thread was unwinding already.
    unwinding: bool,
}

/// What a fiber that is to end unwinds with.
struct Ended;

// Nothing points into it: the closure moves to the stack when it begins.
impl<F, T> Unpin for Fiber<F, T> {}

impl<F, T> Fiber<F, T>
where
    F: FnOnce() -> T + 'static,
    T: 'static,
{
    /// A fiber that begins when it is polled. Its stack (1 MiB of address space, with a guard page) is there from now
    /// on.
    ///
    /// # Errors
    /// The program has not promised what fibers need ([`Unsupported`](io::ErrorKind::Unsupported)), or the system
    /// grants no memory for the stack: the closure comes back.
    pub fn new(body: F, promised: Option<Fibers>) -> Result<Self, (io::Error, F)> {
        match Fibers::check(promised).and_then(|()| new_stack()) {
            Ok(stack) => Ok(Self(State::New { body, stack })),
            Err(error) => Err((error, body)),
        }
    }

    /// The closure, if it has not begun.
    pub fn into_body(mut self) -> Option<F> {
        match mem::replace(&mut self.0, State::Over) {
            State::New { body, .. } => Some(body),
            begun => {
                self.0 = begun;
                None
            }
        }
    }

    fn begin(body: F, stack: DefaultStack) -> Switch<T> {
        Coroutine::with_stack(stack, |yielder, resumed| {
            let fiber = OnStack {
                yielder,
                resumed: Cell::new(resumed),
            };
            fiber.is_running();
            catch_unwind(AssertUnwindSafe(body))
        })
    }
}

/// Bytes of a fiber's stack; only those that are used cost memory.
const STACK_BYTES: usize = 1 << 20;

fn new_stack() -> io::Result<DefaultStack> {
    DefaultStack::new(STACK_BYTES).map_err(|error| {
        let text = format!("no memory for a fiber's stack: {error}");
        io::Error::new(error.kind(), text)
    })
}

impl<F, T> Future for Fiber<F, T>
where
    F: FnOnce() -> T + 'static,
    T: 'static,
{
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        assert!(
            !ending::is_ending(),
            "a fiber was polled while its thread ends: thread-locals that it uses may be gone"
        );
        if let State::New { .. } = self.0
            && let State::New { body, stack } = mem::replace(&mut self.0, State::Over)
        {
            context::with(context::Context::pin_polled);
            self.0 = State::Begun(Standing::new(Self::begin(body, stack)));
        }
        let State::Begun(standing) = &self.0 else {
            panic!("a fiber was polled after it had ended");
        };
        assert!(
            standing.is_here(),
            "a fiber that began on {:?} was polled on {:?}: it stays with its thread",
            standing.on(),
            thread::current().id()
        );
        match standing.resume(NonNull::from(cx.waker())) {
            None => {
                ending::watch();
                Poll::Pending
            }
            Some(result) => {
                self.0 = State::Over;
                context::with(context::Context::unpin_polled);
                Poll::Ready(result.unwrap_or_else(|payload| resume_unwind(payload)))
            }
        }
    }
}

/// Runs a fiber until it stands still (`None`) or has ended.
pub(crate) fn resume<T>(
    switch: &mut Switch<T>,
    waker: NonNull<Waker>,
    end: bool,
) -> Option<Outcome<T>> {
    let resumed = Resumed {
        waker,
        end,
        unwinding: thread::panicking(),
    };
    // SAFETY: none runs on this stack; the fiber that is resumed says so itself.
    let outer = context::with(|context| unsafe { context.set_fiber(None) });
    let result = switch.resume(resumed);
    // SAFETY: what ran here before runs on, on its own stack.
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
    match resume(&mut switch, NonNull::from(Waker::noop()), true) {
        Some(Err(payload)) if payload.is::<Ended>() => None,
        Some(Err(_)) if gossamer_core::mutant!("ended_fiber_hides_panic") => None,
        Some(Err(payload)) => resume_unwind(payload),
        Some(Ok(output)) => Some(output),
        None => unreachable!("a fiber that is to end does not stand still"),
    }
}

impl<F, T> Drop for Fiber<F, T> {
    fn drop(&mut self) {
        let State::Begun(standing) = mem::replace(&mut self.0, State::Over) else {
            return;
        };
        context::with(context::Context::unpin_polled);
        if standing.has_been_ended() {
            if let Some(payload) = standing.take_panic() {
                resume_unwind(payload);
            }
            return;
        }
        if standing.is_here() && !ending::is_ending() {
            drop(standing.unwind());
            return;
        }
        if !gossamer_core::mutant!("leaked_fiber_loses_values") {
            task_locals::leak_polled();
        }
        if !standing.is_here() {
            // Nobody is left to be told that it could not be said.
            let _said = writeln!(
                io::stderr(),
                "gossamer: a fiber that began on {on:?} was dropped on another thread: its stack, with all that is on it, \
                 stays until {on:?} ends, as only that thread may use it",
                on = standing.on()
            );
        }
        if gossamer_core::mutant!("left_fiber_is_leaked") {
            mem::forget(standing);
        }
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
        // SAFETY: only the lifetime changes. It stays in its place at the bottom of the fiber's stack as long as the
        // body runs, and `resume` takes the word back whenever the fiber stands still or has ended.
        unsafe {
            let this = mem::transmute::<NonNull<dyn Stackful + '_>, NonNull<dyn Stackful>>(this);
            context::with(|context| context.set_fiber(Some(this)));
        }
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
            // SAFETY: of the poll that has resumed the fiber, and that lasts until it stands still.
            waker.clone_from(unsafe { self.resumed.get().waker.as_ref() });
            if step(&mut Context::from_waker(&waker)) {
                return;
            }
            self.resumed.set(self.yielder.suspend(()));
            self.is_running();
        }
    }
}

/// What a wait does in a destructor while the fiber unwinds.
fn block_thread(step: &mut dyn FnMut(&mut Context<'_>) -> bool) {
    Parker::with(|parker| {
        while !step(&mut Context::from_waker(parker.waker())) {
            parker.park(|| false);
        }
    });
}
