//! Tells a shard that one of its tasks has left.

use crate::context;
use crate::shard::Shard;

/// A task of `shard` is over. Plain arithmetic on the runner, an atomic elsewhere.
#[inline]
pub(super) fn left(shard: u16) {
    if shard == context::NOWHERE {
        return;
    }
    if context::runs(shard) {
        Shard::at(shard).runner.count_task(-1);
    } else {
        Shard::at(shard).task_left_elsewhere();
    }
}
