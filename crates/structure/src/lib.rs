//! Structure for tasks: what belongs together begins, ends and is cancelled together.
//!
//! * [`scope()`]: children that may borrow, and have all ended when it returns; [`async_scope`]: children that own what
//!   they have, and are aborted when it is dropped.
//! * [`JoinSet`]: tasks that are joined as they end.
//! * [`CancelToken`]: says to a tree of tasks that they are to stop.
//! * [`Bounded`]: at most so many at once; who wants more waits.
//! * [`TaskLocal`]: values of which each task, fiber and thread has its own.
//! * [`Named`]: a name for a task.

mod bounded;
mod cancel;
mod join_set;
mod local;
mod name;
mod scope;

pub use self::bounded::{Bounded, BoundedSpawn, BoundedSpawner, Place, SpawnFuture, WaitForPlace};
pub use self::cancel::{CancelOnDrop, CancelToken, RunUntilCancelled, WaitForCancel};
pub use self::join_set::{Id, JoinSet, Next, NextWithId, Shutdown};
pub use self::local::{Over, TaskLocal};
pub use self::name::Named;
pub use self::scope::{
    AsyncScope, RunScope, Scope, ScopeTask, ScopedHandle, Spawn, async_scope, scope,
};
