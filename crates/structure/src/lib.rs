//! Structure for tasks: what belongs together begins, ends and is cancelled together.
//!
//! An internal part of `gossamer-rt`: nothing is promised of this crate alone.
//!
//! * [`scope()`]: children that may borrow, and have all ended when it returns; [`async_scope`]: children that own what
//!   they have, and are aborted when it is dropped.
//! * [`JoinSet`]: tasks that are joined as they end.
//! * [`CancellationToken`]: says to a tree of tasks that they are to stop.
//! * [`ConcurrencyLimit`]: at most so many at once; who wants more waits.
//! * [`TaskLocal`]: values of which each task, fiber and thread has its own.
//! * [`Named`]: a name for a task.

mod cancel;
mod concurrency_limit;
mod join_set;
mod local;
mod name;
mod scope;

pub use self::cancel::{
    CancelOnDrop, CancellationToken, RunUntilCancelled, WaitForCancel, WaitForCancelOwned,
};
pub use self::concurrency_limit::{
    AcquirePermit, ConcurrencyLimit, ConcurrencyPermit, LimitedHandle, LimitedSpawn, SpawnFuture,
};
pub use self::join_set::{JoinAll, JoinNext, JoinNextWithId, JoinSet, Shutdown};
pub use self::local::{Over, TaskLocal};
pub use self::name::Named;
pub use self::scope::{
    AsyncScope, RunScope, Scope, ScopeTask, ScopedHandle, Spawn, async_scope, scope,
};
