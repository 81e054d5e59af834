//! Giving way: before each operation in a simulation, and elsewhere before those that begin after so many others in one
//! poll.

use core::task::Waker;

use super::{Context, with};
use crate::home::Home;
use crate::waiter::Parts;

/// What the operations that begin in one poll may take, and the others give way: a task whose operations are always ready
/// must not keep the others from running. With two microseconds of work beside each such a poll is still none that a
/// pool takes to be stuck.
pub(super) const BUDGET: u32 = 4_096;
/// What one takes of it.
const TAKES: u32 = 4;

impl Context {
    #[cold]
    fn run_out(&self) -> bool {
        self.left.set(0);
        if self.points.get() {
            return true;
        }
        if crate::mutant!("budget_never_ends") {
            return false;
        }
        // A thread that waits has nobody to give way to, and a foreign executor its own rules.
        if !self.is_polling() {
            self.left.set(BUDGET);
            return false;
        }
        // Once one has given way, so do all others in the same poll: who is not content with one that is pending may
        // go on with the next.
        true
    }

    /// One has given way.
    fn gave_way(&self) {
        if self.points.get() || !self.is_polling() {
            return;
        }
        if self.polled_is_woken() || crate::mutant!("gives_way_for_ever") {
            // Such a poll is as long as many others: what the driver does after each so many of them is due.
            if !crate::mutant!("busy_poll_is_one") {
                Home::at(self.home()).end_run();
            }
        } else {
            // Somebody else polls for the task, by rules of its own, and may begin an operation anew each time: the next
            // ones are not to be pending without end.
            self.left.set(BUDGET);
        }
    }
}

/// Whether the operation that begins now has to [`give_way`] before it takes effect: each does in a simulation,
/// elsewhere those that begin after so many others in the same poll.
#[inline(always)]
pub fn has_to_give_way() -> bool {
    has_to_give_way_after(TAKES)
}

/// The same for one that receives, which takes a quarter: where several send, the one that receives has a longer turn, or
/// there would be more messages each time.
#[inline(always)]
pub fn has_to_give_way_receiving() -> bool {
    has_to_give_way_after(if crate::mutant!("receivers_turn_is_short") {
        TAKES
    } else {
        1
    })
}

#[inline(always)]
fn has_to_give_way_after(takes: u32) -> bool {
    with(|context| {
        let (left, has_run_out) = context.left.get().overflowing_sub(takes);
        context.left.set(left);
        has_run_out && context.run_out()
    })
}

/// The scheduling point before an operation (see [`has_to_give_way`]): the
/// task is woken at once, and the operation is to be pending, this once, before its first effect.
#[cold]
#[inline(never)]
pub fn give_way(waker: Parts<'_>) {
    with(|context| context.ways.set(context.ways.get().wrapping_add(1)));
    waker.with(Waker::wake_by_ref);
    with(Context::gave_way);
}

/// How many operations have given way on this thread so far: who polls another operation can tell whether it did.
#[inline(always)]
pub fn ways_given() -> u32 {
    with(|context| context.ways.get())
}
