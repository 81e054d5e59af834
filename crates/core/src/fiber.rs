//! A fiber as its own waits see it, and the switch that takes the thread off its stack.
//!
//! The switch is here, and not with the rest of fibers, so that a wait has it in itself: a call between the two would be
//! a return, and then another one, that the processor predicts wrong, as other fibers have called and returned meanwhile.

use core::cell::{Cell, RefCell};
use core::mem::ManuallyDrop;
use core::ptr::{self, NonNull};
use core::task::{Context, Waker};
use std::boxed::Box;
use std::io::{self, Write};
use std::panic::resume_unwind;
use std::vec::Vec;

use corosensei::Yielder;
use errno::{Errno, errno, set_errno};

use crate::context::{self, Stackful};
use crate::parker::Parker;
use crate::platform::thread;
use crate::waker::{borrowed, task_of};

/// The message to a fiber that is resumed.
#[derive(Debug)]
pub struct Resumed {
    /// Of the poll that resumes it.
    pub waker: NonNull<Waker>,
    /// Whether it is to unwind: then the waker is no task's of ours, by which its waits see that.
    pub end: bool,
    /// Whether the thread was unwinding already.
    pub unwinding: bool,
}

/// The payload with which a fiber that is to end unwinds.
#[derive(Debug)]
pub struct Ended;

/// In the number of steps: it is negative then.
const KEPT: i32 = i32::MIN;

/// A fiber, seen from its own stack.
pub struct OnStack<'a> {
    yielder: &'a Yielder<NonNull<Resumed>, ()>,
    /// On the stack of who resumed it: valid until it stands still again.
    resumed: Cell<NonNull<Resumed>>,
    /// How many steps of waits go on, each inside the one before; with [`KEPT`], if `kept` is not empty.
    steps: Cell<i32>,
    /// The wakers that those steps have, of polls that are over.
    kept: RefCell<Vec<Waker>>,
    /// How many foreign calls go on, each inside the one before.
    foreign: Cell<u32>,
    /// Whether it was said that such a call keeps the thread.
    said_why: Cell<bool>,
}

/// The fiber that runs on this thread.
#[inline(always)]
pub(crate) fn running() -> Option<NonNull<OnStack<'static>>> {
    NonNull::new(context::with(context::Context::fiber).cast_mut()).map(NonNull::cast)
}

/// What runs on this thread and can stand still: a fiber, or else a thread of a simulation.
pub(crate) fn stackful() -> Option<NonNull<dyn Stackful>> {
    let simulated = context::with(context::Context::simulated);
    running().map_or(simulated, |fiber| Some(fiber))
}

/// Calls `body` as a fiber that was resumed for the first time.
///
/// # Safety
/// Called at the bottom of the stack of a coroutine, with its yielder. Whoever resumes that has the message in its place
/// until the fiber stands still or has ended, and the waker in it; puts the fiber that
/// [runs here](context::Context::set_fiber) back then; and resumes it on this thread only, outside of all selects.
pub unsafe fn begin<T>(
    yielder: &Yielder<NonNull<Resumed>, ()>,
    resumed: NonNull<Resumed>,
    body: impl FnOnce() -> T,
) -> T {
    let fiber = OnStack {
        yielder,
        resumed: Cell::new(resumed),
        steps: Cell::new(0),
        kept: RefCell::default(),
        foreign: Cell::new(0),
        said_why: Cell::new(false),
    };
    fiber.runs_here();
    body()
}

impl OnStack<'_> {
    /// Says that this fiber runs here, as it begins or goes on.
    #[inline(always)]
    fn runs_here(&self) {
        // SAFETY: it stays in its place at the bottom of the fiber's stack as long as the body runs, and who has resumed
        // the fiber takes the word back when it stands still.
        context::with(|context| unsafe { context.set_fiber(ptr::from_ref(self).cast()) });
    }

    #[inline(always)]
    fn resumed(&self) -> &Resumed {
        // SAFETY: who has resumed the fiber has it in its place until that stands still, and this is called while it runs.
        unsafe { self.resumed.get().as_ref() }
    }

    /// Of the poll that goes on.
    #[inline(always)]
    fn waker(&self) -> &Waker {
        // SAFETY: as the message that it is in.
        unsafe { self.resumed().waker.as_ref() }
    }

    fn unwind_if_ending(&self) {
        if self.resumed().end {
            resume_unwind(Box::new(Ended));
        }
    }

    /// Whether this fiber unwinds, and not only the thread that resumed it.
    #[inline(always)]
    pub(crate) fn is_unwinding(&self) -> bool {
        thread::panicking() && !self.resumed().unwinding
    }

    /// Whether it is to end, and is in the midst of a foreign call.
    fn ends_after_call(&self) -> bool {
        let is_foreign = self.foreign.get() > 0 && !crate::mutant!("foreign_call_is_unwound");
        is_foreign && self.resumed().end
    }

    /// Ends the fiber if that is due: else one that makes one foreign call after the other would never end.
    fn end_between_calls(&self) {
        self.unwind_if_ending();
        if context::with(context::Context::is_polled_cancelled) {
            let _kept = KeptErrno::new();
            // The runner drops it instead of polling it again.
            self.waker().wake_by_ref();
            self.stand_still();
            self.unwind_if_ending();
        }
    }

    /// Drops the wakers that were kept, if no step goes on that has one of them.
    #[cold]
    #[inline(never)]
    fn let_go(&self) {
        if self.steps.get() == KEPT {
            self.steps.set(0);
            // Dropping them may wait.
            drop(self.kept.take());
        }
    }

    /// The fiber stands still inside a step, which has the waker of a poll that is over then.
    #[cold]
    fn keep_waker(&self) {
        let waker = self.waker();
        let is_kept = |last: &Waker| last.will_wake(waker);
        if !self.kept.borrow().last().is_some_and(is_kept) {
            let waker = waker.clone();
            self.kept.borrow_mut().push(waker);
            self.steps.set(self.steps.get() | KEPT);
        }
    }
}

/// A wait, which polls in steps: it [begins](OnStack::begin_step) one, polls with its waker, [ends](OnStack::end_step) it,
/// and [stands still](OnStack::stand_still) if that was pending.
impl OnStack<'_> {
    /// A step begins, of a wait that did not begin while the fiber unwinds. `None`: here [`Stackful::wait`] has to go on,
    /// which unwinds if the fiber is to end.
    #[inline(always)]
    pub(crate) fn begin_step(&self) -> Option<ManuallyDrop<Waker>> {
        let task = task_of(self.waker())?;
        // SAFETY: the task is there until the fiber stands still or has ended. If it stands still inside the step, `kept`
        // has a clone, which holds the task, until the step is over. (A fiber that is to end is resumed with no task's.)
        let waker = unsafe { borrowed(task.pointer()) };
        self.steps.set(self.steps.get() + 1);
        Some(waker)
    }

    /// The poll of the step has returned, or unwinds.
    #[inline(always)]
    pub(crate) fn end_step(&self) {
        let around = self.steps.get().wrapping_sub(1);
        self.steps.set(around);
        if around < 0 {
            self.let_go();
        }
    }

    /// Returns when the fiber has been woken.
    #[inline(always)]
    pub(crate) fn stand_still(&self) {
        if self.steps.get() != 0 {
            self.keep_waker();
        }
        self.resumed.set(self.yielder.suspend(()));
        self.runs_here();
    }
}

/// Puts C's error number back when dropped: a wait of a fiber leaves it as it was, whatever others do meanwhile, and
/// the wait's own polls, which may make system calls.
pub(crate) struct KeptErrno(Errno);

impl KeptErrno {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Self(errno())
    }
}

impl Drop for KeptErrno {
    #[inline(always)]
    fn drop(&mut self) {
        if !crate::mutant!("errno_is_shared") {
            set_errno(self.0);
        }
    }
}

impl Stackful for OnStack<'_> {
    /// So waits a destructor that runs while the fiber unwinds, and a fiber that is polled with a foreign waker or is to
    /// end.
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

    fn foreign_call_begins(&self) {
        if self.foreign.get() == 0 {
            if !self.is_unwinding() && !crate::mutant!("calls_in_a_row_are_one") {
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
        if is_cancelled && !crate::mutant!("abort_waits_for_ever") {
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
}
