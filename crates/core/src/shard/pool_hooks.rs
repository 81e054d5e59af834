//! What a pool does at the shards of its workers, as this crate knows it.
//!
//! Tasks of a pool move between its workers' shards; how and when is the pool's policy (crate `sched`,
//! `pool/README.md`). Here is where a wake, a spawn or a runner asks it.

use core::fmt;

use crate::context::{AccessFlag, Context};
use crate::header::{Queued, ScheduledTask, TaskRef};

/// What a pool does at the shard of one of its workers. The shard keeps it for good, also when it is no worker's any
/// more. Only this crate calls: on the thread that runs the shard, in a poll where a function says so.
pub trait PoolHooks: core::any::Any + fmt::Debug + Send + Sync {
    /// Says where the runner stands, if it may be found stuck in a poll. It belongs to this shard alone. (Also asked by
    /// a thread that is about to run it.)
    fn access_flag(&self) -> Option<&AccessFlag>;

    /// The first part of receiving a task that was sent here. It gives the task back if the runner is to go on with it:
    /// then it lives here, is not scheduled, and nobody else moves it.
    fn receive(&self, task: Queued) -> Option<Queued>;

    /// Moves a parked task here, where it is new, to be woken, which lived at the shard `there` a moment ago; `false` if
    /// not, and then nothing was done. In a poll or not.
    fn take_along(&self, context: &Context, task: TaskRef<'_>, there: u16) -> bool;

    /// A poll that [publishes](Context::publishes) has woken a task: makes it visible to other workers, or gives it
    /// back.
    fn publish(&self, task: ScheduledTask) -> Option<ScheduledTask>;

    /// A wake in a poll, where the runner has come inside and found the shard open; it goes outside here. `false` if
    /// the task lives elsewhere, and then nothing was done.
    fn wake_while_open(&self, context: &Context, task: TaskRef<'_>) -> bool;

    /// The same for a task that the poll has spawned here.
    fn push_while_open(&self, context: &Context, task: ScheduledTask);

    /// The runner is back from a poll, and found its shard open: closes it.
    fn close(&self);
}
