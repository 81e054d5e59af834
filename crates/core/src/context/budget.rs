//! Yielding: before each operation in a simulation, and elsewhere before those that begin once the budget of the poll
//! is used up.

use core::task::{Poll, Waker};

use super::{BUDGET, Context, NOTHING, outside_selects, simulated, with};
use crate::shard::Shard;
use crate::waiter::RawWakerParts;

/// Units of the budget that one operation takes.
const TAKES: u32 = 8;
/// Units of the budget that one receiving operation takes.
const RECEIVING_TAKES: u32 = 2;
impl Context {
    #[cold]
    fn run_out(&self, is_operation: bool) -> bool {
        if self.scheduling_points.get() {
            self.left.set(NOTHING);
            // What is not held back need not be polled twice.
            return is_operation || !simulated::holds_back();
        }
        self.left.set(0);
        if crate::mutant!("budget_never_ends") {
            return false;
        }
        // A thread that waits has nobody to yield to, and a foreign executor its own rules.
        if !self.is_polling() {
            self.left.set(BUDGET);
            return false;
        }
        // Once one has yielded, so do all others in the same poll: who is not content with one that is pending may
        // go on with the next.
        true
    }

    /// Whether the budget is used up to the last. Then the next operation yields, whatever it would take.
    #[inline(always)]
    fn is_used_up(&self) -> bool {
        self.left.get() == 0 && self.run_out(false)
    }

    /// How much has been taken so far, and how many have yielded: another one, if an operation has begun meanwhile.
    #[inline(always)]
    fn taken(&self) -> (u32, u32) {
        (self.left.get(), self.yields.get())
    }

    /// One has yielded.
    fn yielded(&self) {
        if self.scheduling_points.get() || !self.is_polling() {
            return;
        }
        if self.polled_is_woken() || crate::mutant!("yields_for_ever") {
            // Such a poll is as long as many others: what the runner does after each so many of them is due.
            if !crate::mutant!("busy_poll_is_one") {
                Shard::at(self.shard()).end_run();
            }
        } else {
            // Somebody else polls for the task, by rules of its own, and may begin an operation anew each time: the
            // next ones are not to be pending without end.
            self.left.set(BUDGET);
        }
    }
}

/// Whether what begins now has to [`yield_to_others`] before it takes effect: in a simulation always, unless that
/// [holds back](simulated::hold_back_operations) operations alone; elsewhere once the budget of the poll is used up. For
/// what is no operation of a wait queue.
#[inline(always)]
pub fn must_yield() -> bool {
    must_yield_after(TAKES, false)
}

/// Like [`must_yield`], for an operation of a wait queue, which a simulation may hold back then.
#[inline(always)]
pub fn operation_must_yield() -> bool {
    must_yield_after(TAKES, true)
}

/// Like [`operation_must_yield`], for one that receives, which takes a quarter of the units. Where several tasks send,
/// this gives the one that receives a longer turn; otherwise there would be more messages each time.
#[inline(always)]
pub fn receiver_must_yield() -> bool {
    let takes = if crate::mutant!("receivers_turn_is_short") {
        TAKES
    } else {
        RECEIVING_TAKES
    };
    must_yield_after(takes, true)
}

#[inline(always)]
fn must_yield_after(takes: u32, is_operation: bool) -> bool {
    with(|context| {
        let (left, has_run_out) = context.left.get().overflowing_sub(takes);
        context.left.set(left);
        has_run_out && context.run_out(is_operation)
    })
}

/// Takes so many more units of the poll's budget: for what an operation has done beyond the usual.
#[inline]
pub fn spend(units: u32) {
    with(|context| context.left.set(context.left.get().saturating_sub(units)));
}

/// Whether operations are held back once they have yielded, until a simulation chooses their tasks.
#[cold]
pub(crate) fn holds_back() -> bool {
    with(|context| context.scheduling_points.get()) && simulated::holds_back()
}

/// The scheduling point before an operation (see [`must_yield`]): the
/// task is woken at once, and the operation is to be pending, this once, before its first effect.
#[cold]
#[inline(never)]
pub fn yield_to_others(waker: RawWakerParts<'_>) {
    with(|context| context.yields.set(context.yields.get().wrapping_add(1)));
    if holds_back() {
        simulated::comes();
    }
    outside_selects(|| waker.with(Waker::wake_by_ref));
    with(Context::yielded);
}

/// How many operations have yielded on this thread so far: who polls another operation can tell whether it did.
#[inline(always)]
pub fn yields_so_far() -> u32 {
    with(|context| context.yields.get())
}

/// Where an operation yields, if it has to: once, before it begins.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct SchedulingPoint {
    passed: bool,
}

impl SchedulingPoint {
    /// Not passed.
    #[inline(always)]
    pub const fn new() -> Self {
        Self { passed: false }
    }

    /// Ready if the operation may go on; else it is to be pending, this once.
    #[inline(always)]
    pub fn pass(&mut self, waker: &Waker) -> Poll<()> {
        let passed = core::mem::replace(&mut self.passed, true);
        if !passed && must_yield() && !crate::mutant!("point_is_passed") {
            yield_to_others(RawWakerParts::new(waker));
            return Poll::Pending;
        }
        Poll::Ready(())
    }

    /// Like [`SchedulingPoint::pass`], for an operation that consists of others, polled by `poll`: their scheduling
    /// points are its own. If none of them has one, as futures of other libraries have none, it takes what one of ours
    /// would. If that is the last of the budget, the next operation yields, as this one may be ready.
    #[inline(always)]
    pub fn pass_with<R>(&mut self, waker: &Waker, poll: impl FnOnce() -> Poll<R>) -> Poll<R> {
        let is_first = !core::mem::replace(&mut self.passed, true);
        if is_first && with(Context::is_used_up) {
            yield_to_others(RawWakerParts::new(waker));
            return Poll::Pending;
        }
        let before = with(Context::taken);
        let polled = poll();
        with(|context| {
            let takes = is_first && context.taken() == before;
            if takes && !crate::mutant!("foreign_takes_nothing") {
                context.left.set(context.left.get().saturating_sub(TAKES));
            }
        });
        polled
    }
}
