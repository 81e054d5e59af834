//! A roll call: all that wait are polled once more, and say what they wait for.
//!
//! So a wait costs nothing more for being found in a report: nobody notes anything until he is asked. To be polled without a
//! cause is what any future has to put up with. (tokio's task dumps poll all tasks once more as well.) The answers are
//! copies: nobody looks into an operation that may be gone.
//!
//! The runner of a shard lists its tasks and wakes them when it is called; at a shard that nobody runs, who calls does so,
//! as a visitor.

use alloc::vec::Vec;
use core::panic::Location;

pub(crate) use crate::context::roll_call::hear;
pub use crate::context::roll_call::{Answers, ROLL_CALL_LASTS};
use crate::context::roll_call::{is_on, set_on};
use crate::header::ref_count::Queue;
use crate::header::{Description, Queued};
use crate::platform::{Mutex, per_process};
use crate::recording;
use crate::shard::{Shard, ShardGuard};

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
    /// When it was polled last, if that is [recorded](crate::recording), and it waits.
    pub polled: Option<u64>,
}

/// What has come of a roll call so far.
#[derive(Debug, Default)]
pub struct RollCall {
    /// All tasks that are known.
    pub living: Vec<Living>,
    /// What they, and threads, have said.
    pub answers: Answers,
    /// The shards whose runners have not listed their tasks: they are in a poll.
    pub unheard: Vec<u16>,
}

per_process! {
    /// But the answers.
    fn state() -> Mutex<RollCall> = Mutex::default()
}

/// Begins one: has all tasks of the process be listed and woken. (Threads are woken by
/// [`wake_all`](crate::sleepers::wake_all).) One at a time.
pub fn begin() {
    *state().lock() = RollCall::default();
    let _before = set_on(true);
    // All of them before the first is woken, as a task may move.
    for shard in Shard::all() {
        shard.set_roll_call(true);
    }
    // Those of a simulation wait for what it does, which a wake from outside would change.
    let calls = |shard: &&Shard| shard.tasks() > 0 && !shard.is_watched();
    for shard in Shard::all().filter(calls) {
        match shard.try_visit() {
            Some(guard) => list(&guard),
            None => {
                state().lock().unheard.push(shard.index());
                shard.call();
            }
        }
    }
}

/// This thread, which runs the shard, was [called](Shard::call), perhaps for that.
#[cold]
pub fn answer_call(guard: &ShardGuard) {
    if !is_on() {
        return;
    }
    hear();
    let index = guard.shard().index();
    let mut state = state().lock();
    let unheard = state.unheard.iter().position(|other| *other == index);
    if let Some(at) = unheard {
        state.unheard.swap_remove(at);
        drop(state);
        list(guard);
    }
}

/// Lists the tasks of a shard, and wakes those that wait.
fn list(guard: &ShardGuard) {
    let shard = guard.shard();
    let (mut waiting, mut polled_before) = (Vec::new(), Vec::new());
    let mut look = |task: &Description<'_>| {
        let header = task.task();
        // SAFETY: whoever has the guard runs the shard.
        let polled = unsafe { header.polled() };
        state().lock().living.push(Living {
            address: task.address(),
            join: header.join_address(),
            spawned: task.spawned,
            is_fiber: header.state().is_pinned(),
            polled,
        });
        polled_before.extend(polled.map(|polled| (task.address(), polled)));
        if !header.state().ignores_wake() && header.refs.queue() == Queue::Push {
            // SAFETY: `QUEUED` has just been set here.
            waiting.push(unsafe { Queued::new(header.pointer()) });
        }
    };
    shard.with_list(|| {
        shard.runner.owned_local.describe(&mut look);
        shard.runner.owned.describe(look);
    });
    recording::call(polled_before.into_iter());
    for task in waiting {
        if let Ok(Some(runner)) = shard.push(task) {
            runner.wake();
        }
    }
}

/// How much has come so far: it changes when more comes. And whether somebody is unheard.
pub fn progress() -> (usize, bool) {
    let state = state().lock();
    let answers = crate::context::roll_call::answers_so_far();
    (state.living.len() + answers, !state.unheard.is_empty())
}

/// Ends it.
pub fn end() -> RollCall {
    for shard in Shard::all() {
        shard.set_roll_call(false);
    }
    let answers = set_on(false);
    recording::end_call();
    let mut called = core::mem::take(&mut *state().lock());
    // Some were listed where they were, and again where they went.
    called.living.sort_by_key(|task| task.address);
    called.living.dedup_by_key(|task| task.address);
    called.answers = answers;
    called
}
