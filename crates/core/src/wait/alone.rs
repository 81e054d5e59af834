//! Waiting for a task that nobody runs.
//!
//! Tasks of a runtime of the model M:1 run while the thread that built it waits, or any thread is in `block_on()`. If
//! that thread has ended, and nobody calls `block_on()`, a wait for one of them never ends. Whoever has the runtime may
//! still call, and no one can know; so such a wait looks every second, and panics when for [`ALONE_MAX`] on end
//! nobody has run. Only a wait for nothing but a join handle does: what else is waited for may come from elsewhere.

use core::cell::Cell;
use core::panic::Location;

use crate::context::{self, MemoryRange, range_of};
use crate::platform::thread_local;
use crate::shard::Shard;

/// Looks, one a second, at which a runtime has been left alone.
const ALONE_MAX: u32 = 10;

/// A join handle that was polled on this thread last, and is pending.
#[derive(Clone, Copy)]
struct Joins {
    /// Where the handle is: a wait that polls nothing else knows it by that.
    handle: MemoryRange,
    /// The shard of its task.
    shard: u16,
}

const NOTHING: Joins = Joins {
    handle: (0, 0),
    shard: context::NOWHERE,
};

thread_local! {
    static JOINS: Cell<Joins> = const { Cell::new(NOTHING) };
}

/// This join handle was polled on a thread that runs nothing now, and is pending; `shard` is its task's.
pub fn joins<T>(handle: &T, shard: u16) {
    let handle = range_of(handle);
    JOINS.with(|joins| joins.set(Joins { handle, shard }));
}

/// The runtime whose task a wait waits for, looked at again and again.
pub(super) struct Alone {
    caller: &'static Location<'static>,
    /// The future that the wait polls.
    future: MemoryRange,
    polls: u64,
    looks: u32,
}

impl Alone {
    pub(super) fn new(caller: &'static Location<'static>, future: MemoryRange) -> Self {
        Self {
            caller,
            future,
            polls: 0,
            looks: 0,
        }
    }

    /// The shard of the task that it waits for, if that can be left alone; perhaps of another handle, which was in the
    /// same place before.
    pub(super) fn shard(&self) -> Option<&'static Shard> {
        let joins = JOINS.with(Cell::get);
        // The end of a thread, or of a call that blocks, is no task's.
        let is_task = joins.shard != context::NOWHERE;
        let shard = (joins.handle == self.future && is_task).then(|| Shard::at(joins.shard));
        shard.filter(|shard| shard.is_owned())
    }

    /// Once a second: polls the future; `true` if that was ready.
    ///
    /// # Panics
    /// Nobody has run the shard for long, nor will its owner.
    pub(super) fn look(&mut self, poll: &mut dyn FnMut() -> bool) -> bool {
        JOINS.with(|joins| joins.set(NOTHING));
        if poll() {
            return true;
        }
        // Noted anew.
        let Some(shard) = self.shard() else {
            return false;
        };
        let polls = shard.runner.polls();
        let goes_on = shard.is_left_alone() && polls == self.polls;
        self.polls = polls;
        self.looks = if goes_on { self.looks + 1 } else { 0 };
        if self.looks >= ALONE_MAX && !crate::mutant!("waits_for_nobody") {
            panic!(
                "wait() at {} for a task that nobody runs: the thread that built its Model::Single runtime has ended, \
                 and for {ALONE_MAX} s no thread was in block_on(): keep that thread, or call block_on()",
                self.caller
            );
        }
        false
    }
}
