//! A roll call: all that wait are polled once more, and say what they wait for.
//!
//! So a wait costs nothing more for being found in a report: nobody notes anything until he is asked. Who polls without a
//! cause is what any future has to put up with. (tokio's task dumps poll all tasks once more as well.) The answers are
//! copies: nobody looks into an operation that may be gone.

use alloc::vec::Vec;
use core::panic::Location;

pub use crate::context::roll_call::Answer;
pub(crate) use crate::context::roll_call::hear;
use crate::context::roll_call::set_on;
use crate::header::ref_count::Queue;
use crate::header::{Description, Queued};
use crate::shard::Shard;

/// A task that lives.
#[derive(Debug, Clone, Copy)]
pub struct Living {
    /// Its header's address.
    pub address: usize,
    /// The address of its [`Join`](crate::header::Join).
    pub join: usize,
    /// Where it was spawned.
    pub spawned: &'static Location<'static>,
    /// Whether it stands still as a fiber.
    pub is_fiber: bool,
}

/// Calls `look` for each task that is on one of a shard's lists.
fn each_task(shard: &Shard, mut look: impl FnMut(&Description<'_>)) {
    shard.with_list(|| {
        shard.runner.owned_local.describe(&mut look);
        shard.runner.owned.describe(look);
    });
}

/// Begins a roll call, and wakes the tasks that wait. (Threads are woken by
/// [`wake_all`](crate::sleepers::wake_all).)
///
/// # Safety
/// Nobody runs any task of the process, or wakes one: all threads sleep.
pub unsafe fn begin() {
    // All of them before the first is woken: from then on others run.
    let mut all: Vec<(&Shard, Queued)> = Vec::new();
    for shard in Shard::all() {
        shard.set_roll_call(true);
        each_task(shard, |task| {
            let task = task.task();
            if !task.state().ignores_wake() && task.refs.queue() == Queue::Push {
                // SAFETY: `QUEUED` has just been set here.
                all.push((shard, unsafe { Queued::new(task.pointer()) }));
            }
        });
    }
    let _before = set_on(true);
    for (shard, task) in all {
        if let Ok(Some(runner)) = shard.push(task) {
            runner.wake();
        }
    }
}

/// Ends it.
///
/// # Returns
/// All answers.
pub fn end() -> Vec<Answer> {
    for shard in Shard::all() {
        shard.set_roll_call(false);
    }
    set_on(false)
}

/// All tasks that live.
///
/// # Safety
/// As [`begin`].
pub unsafe fn living() -> Vec<Living> {
    let mut living = Vec::new();
    for shard in Shard::all() {
        each_task(shard, |task| {
            living.push(Living {
                address: task.address(),
                join: task.task().join_address(),
                spawned: task.spawned,
                is_fiber: task.task().state().is_pinned(),
            });
        });
    }
    living
}
