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
use std::cell::{Cell, RefCell};
use std::io::{self, Write};
use std::mem::{self, ManuallyDrop};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::NonNull;
use std::task::{Context, Waker};

use corosensei::{Coroutine, CoroutineResult, Yielder};
use errno::{errno, set_errno};
use gossamer_core::context;
use gossamer_core::parker::Parker;
use gossamer_core::platform::thread::{self, ThreadId};
use gossamer_core::platform::thread_local;
use gossamer_core::wait::Stackful;
use gossamer_core::waker::task_of;

use crate::stack::{Stack, watch_thread};

/// The result of a fiber's closure: its output, or the payload of its panic.
pub(crate) type Outcome<T> = Result<T, Box<dyn Any + Send>>;

/// A stack with a closure on it.
type Running<T> = Coroutine<NonNull<Resumed>, (), Outcome<T>, Stack>;

/// A stack with a closure on it, which only the thread uses that has made it.
pub(crate) struct Switch<T> {
    on: ThreadId,
    /// Taken out when the closure has ended, or is to end.
    stack: RefCell<Option<Running<T>>>,
    /// The fiber as `.wait()` sees it, while it stands still.
    standing: Cell<Option<NonNull<dyn Stackful>>>,
}

// SAFETY: `stack` is used by its own thread alone: `resume` and `unwind` check that, and the drop leaves it alone
// elsewhere. So what is on the stack stays with that thread; what the closure returns is `Send`.
unsafe impl<T: Send> Send for Switch<T> {}
// SAFETY: as above; other threads can ask whose it is, which does not change.
unsafe impl<T: Send> Sync for Switch<T> {}

thread_local! {
    /// This thread, as soon as a fiber has begun here. It can be asked for also while thread-locals are destroyed.
    static ID: Cell<Option<ThreadId>> = const { Cell::new(None) };
}

/// The message to a fiber that is resumed.
struct Resumed {
    /// Of the poll that resumes it.
    waker: NonNull<Waker>,
    /// Whether it is to unwind.
    end: bool,
    /// Whether the thread was unwinding already.
    unwinding: bool,
}

/// The payload with which a fiber that is to end unwinds.
struct Ended;

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
            let fiber = OnStack {
                yielder,
                resumed: Cell::new(resumed),
                steps: Cell::new(0),
                kept: RefCell::default(),
                has_kept: Cell::new(false),
                foreign: Cell::new(0),
                said_why: Cell::new(false),
            };
            fiber.is_running();
            catch_unwind(AssertUnwindSafe(body))
        });
        Self {
            on,
            stack: RefCell::new(Some(stack)),
            standing: Cell::new(None),
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

    #[inline(always)]
    fn check(&self) {
        if !self.is_here() {
            self.polled_elsewhere();
        }
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
    pub(crate) fn resume(&self, waker: &Waker) -> Option<Outcome<T>> {
        self.check();
        let mut stack = self.stack.borrow_mut();
        let running = stack.as_mut().expect("its thread has not ended it");
        let outcome = resume(running, &self.standing, waker, false)?;
        *stack = None;
        Some(outcome)
    }

    /// Has the closure unwind, if it stands still: what it returned all the same.
    ///
    /// # Panics
    /// As the closure does; or this is not its thread.
    pub(crate) fn unwind(&self) -> Option<T> {
        self.check();
        let stack = self.stack.borrow_mut().take();
        stack.and_then(|stack| unwind(stack, &self.standing))
    }
}

impl<T> Drop for Switch<T> {
    fn drop(&mut self) {
        if !self.is_here() {
            mem::forget(self.stack.take());
        }
    }
}

/// Runs a fiber until it stands still (`None`) or has ended.
#[inline(always)]
fn resume<T>(
    switch: &mut Running<T>,
    standing: &Cell<Option<NonNull<dyn Stackful>>>,
    waker: &Waker,
    end: bool,
) -> Option<Outcome<T>> {
    let resumed = Resumed {
        waker: NonNull::from(waker),
        end,
        unwinding: thread::panicking(),
    };
    // SAFETY: the fiber that runs here until it stands still (which sets itself when it begins).
    let outer = context::with(|context| unsafe { context.set_fiber(standing.get()) });
    let result = match gossamer_core::mutant!("fiber_is_in_the_select") {
        true => switch.resume(NonNull::from(&resumed)),
        false => context::outside_selects(|| switch.resume(NonNull::from(&resumed))),
    };
    // SAFETY: the fiber that was set before, if any, runs on, on its own stack.
    standing.set(context::with(|context| unsafe { context.set_fiber(outer) }));
    match result {
        CoroutineResult::Yield(()) => None,
        CoroutineResult::Return(result) => Some(result),
    }
}

/// Has a fiber that stands still unwind: what it returned all the same.
///
/// # Panics
/// As the fiber does.
fn unwind<T>(mut switch: Running<T>, standing: &Cell<Option<NonNull<dyn Stackful>>>) -> Option<T> {
    // Its waits unwind, and wait no more, so this comes to an end with the body.
    match resume(&mut switch, standing, Waker::noop(), true) {
        Some(Err(payload)) if payload.is::<Ended>() => None,
        Some(Err(_)) if gossamer_core::mutant!("ended_fiber_hides_panic") => None,
        Some(Err(payload)) => resume_unwind(payload),
        Some(Ok(output)) => Some(output),
        None => unreachable!("a fiber that is to end does not stand still"),
    }
}

/// A fiber, seen from its own stack.
struct OnStack<'a> {
    yielder: &'a Yielder<NonNull<Resumed>, ()>,
    /// On the stack of who resumed it: valid until it stands still again.
    resumed: Cell<NonNull<Resumed>>,
    /// How many steps of waits go on, each inside the one before.
    steps: Cell<u32>,
    /// The wakers that those steps have, of polls that are over.
    kept: RefCell<Vec<Waker>>,
    has_kept: Cell<bool>,
    /// How many foreign calls go on, each inside the one before.
    foreign: Cell<u32>,
    /// Whether it was said that such a call keeps the thread.
    said_why: Cell<bool>,
}

impl OnStack<'_> {
    /// Says that this fiber runs here, as it begins.
    fn is_running(&self) {
        let this: NonNull<dyn Stackful + '_> = NonNull::from(self);
        // SAFETY: only the lifetime changes, of a pointer.
        let this =
            unsafe { mem::transmute::<NonNull<dyn Stackful + '_>, NonNull<dyn Stackful>>(this) };
        // SAFETY: it stays in its place at the bottom of the fiber's stack as long as the body runs, and `resume` takes
        // the word back when the fiber stands still, and sets it when it goes on.
        context::with(|context| unsafe { context.set_fiber(Some(this)) });
    }

    fn resumed(&self) -> &Resumed {
        // SAFETY: `resume` has it on its stack until the fiber stands still, and this is called while it runs.
        unsafe { self.resumed.get().as_ref() }
    }

    /// Of the poll that goes on.
    fn waker(&self) -> &Waker {
        // SAFETY: `resume` borrows it, and returns only when the fiber stands still or has ended.
        unsafe { self.resumed().waker.as_ref() }
    }

    fn unwind_if_ending(&self) {
        if self.resumed().end {
            resume_unwind(Box::new(Ended));
        }
    }

    /// Whether this fiber unwinds, and not only the thread that resumed it.
    fn is_unwinding(&self) -> bool {
        thread::panicking() && !self.resumed().unwinding
    }

    /// Whether it is to end, and is in the midst of a foreign call.
    fn ends_after_call(&self) -> bool {
        let is_foreign =
            self.foreign.get() > 0 && !gossamer_core::mutant!("foreign_call_is_unwound");
        is_foreign && self.resumed().end
    }

    /// Ends the fiber if that is due: else one that makes one foreign call after the other would never end.
    fn end_between_calls(&self) {
        self.unwind_if_ending();
        if context::with(context::Context::is_polled_cancelled) {
            // The runner drops it instead of polling it again.
            self.waker().wake_by_ref();
            self.stand_still();
            self.unwind_if_ending();
        }
    }

    /// No step goes on that has one of the wakers that were kept.
    #[cold]
    #[inline(never)]
    fn let_go(&self) {
        self.has_kept.set(false);
        // Dropping them may wait.
        drop(self.kept.take());
    }

    /// The fiber stands still inside a step, which has the waker of a poll that is over then.
    #[cold]
    fn keep_waker(&self) {
        let waker = self.waker();
        let is_kept = |last: &Waker| last.will_wake(waker);
        if !self.kept.borrow().last().is_some_and(is_kept) {
            let waker = waker.clone();
            self.kept.borrow_mut().push(waker);
            self.has_kept.set(true);
        }
    }
}

impl Stackful for OnStack<'_> {
    /// So waits a destructor that runs while the fiber unwinds, and a fiber that is polled with a foreign waker.
    fn wait(&self, step: &mut dyn FnMut(&mut Context<'_>) -> bool) {
        if self.is_unwinding() {
            return block_thread(step, None);
        }
        loop {
            if self.ends_after_call() {
                let why = (!self.said_why.replace(true)).then_some(ENDS_AFTER_CALL);
                return block_thread(step, why);
            }
            self.unwind_if_ending();
            // Of this wait's own: the step may wait itself, and the poll that resumed the fiber be over before the step
            // is.
            let waker = self.waker().clone();
            if step(&mut Context::from_waker(&waker)) {
                return;
            }
            self.stand_still();
        }
    }

    fn begin_step(&self) -> Option<ManuallyDrop<Waker>> {
        // (A fiber that is to end is resumed with no task's waker.)
        if self.is_unwinding() || task_of(self.waker()).is_none() {
            return None;
        }
        self.steps.set(self.steps.get() + 1);
        // SAFETY: it wakes a task of ours, which is there until the fiber stands still or has ended. If it stands still
        // inside the step, `kept` has a clone, which holds the task, until the step is over.
        Some(ManuallyDrop::new(unsafe { self.resumed().waker.read() }))
    }

    fn end_step(&self) {
        let around = self.steps.get() - 1;
        self.steps.set(around);
        if around == 0 && self.has_kept.get() {
            self.let_go();
        }
    }

    #[inline(always)]
    fn stand_still(&self) {
        if self.steps.get() > 0 {
            self.keep_waker();
        }
        let errno = errno();
        self.resumed.set(self.yielder.suspend(()));
        if !gossamer_core::mutant!("errno_is_shared") {
            set_errno(errno);
        }
    }

    fn foreign_call_begins(&self) {
        if self.foreign.get() == 0 {
            if !self.is_unwinding() && !gossamer_core::mutant!("calls_in_a_row_are_one") {
                self.end_between_calls();
            }
            context::with(context::Context::foreign_call_begins);
        }
        self.foreign.set(self.foreign.get() + 1);
    }

    fn foreign_call_returned(&self) {
        let left = self.foreign.get() - 1;
        self.foreign.set(left);
        if left > 0 {
            return;
        }
        context::with(context::Context::foreign_call_returned);
        let is_cancelled = context::with(context::Context::is_polled_cancelled);
        if is_cancelled && !gossamer_core::mutant!("abort_waits_for_ever") {
            // The runner looks again when the fiber has stood still.
            self.waker().wake_by_ref();
        }
    }
}

/// Said when a foreign call keeps a thread.
const ENDS_AFTER_CALL: &str = "gossamer: a fiber's runtime or thread ends while the fiber waits in a foreign call: the \
     thread blocks until the call has returned";

/// Said besides where nothing is left that could end the wait.
const IN_A_SIMULATION: &str = "gossamer: in a simulation, which has ended, it never returns: have the fiber end before the \
     simulation's root does";

/// Blocks the thread until `step` is done; says why, if it has to wait.
fn block_thread(step: &mut dyn FnMut(&mut Context<'_>) -> bool, mut why: Option<&str>) {
    let errno = errno();
    Parker::with(|parker| {
        while !step(&mut Context::from_waker(parker.waker())) {
            if let Some(why) = why.take() {
                // If the write fails, there is nowhere left to report it.
                let _said = writeln!(io::stderr(), "{why}");
                if context::is_watched() {
                    let _said = writeln!(io::stderr(), "{IN_A_SIMULATION}");
                    std::process::abort();
                }
            }
            parker.park(&mut || false);
        }
    });
    set_errno(errno);
}

#[cfg(test)]
mod tests;
