//! The scope of one blocking call, in which tasks need not be `Send`.

use std::cell::Cell;
use std::fmt;
use std::panic::Location;
use std::rc::Rc;

use gossamer_core::context;
use gossamer_core::shard::{Shard, ShardGuard};
use gossamer_task::{JoinHandle, spawn_local, spawn_nowhere};

use super::run;

/// Spawns tasks that need not be `Send`, onto the thread that called `block_on_local`.
///
/// It may be cloned and moved into the tasks, and outlive the call; a task spawned after the call has
/// ended is cancelled at once.
#[derive(Clone)]
pub struct LocalScope {
    shard: &'static Shard,
    open: Rc<Cell<bool>>,
}

impl LocalScope {
    /// Spawns a task onto this thread; it is dropped, finished or not, when the blocking call ends.
    #[track_caller]
    pub fn spawn_local<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        if !self.open.get() {
            return spawn_nowhere(future, Location::caller());
        }
        // SAFETY: while the scope is open this thread (and this value cannot leave it) holds the
        // acquire, and it ends the scope's tasks before it gives the guard up.
        unsafe { spawn_local(self.shard, future, Location::caller()) }
    }
}

impl fmt::Debug for LocalScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalScope")
            .field("open", &self.open.get())
            .finish()
    }
}

/// Ends the scope when dropped: its tasks are dropped here, on this thread.
pub(super) struct Scope<'a> {
    guard: &'a ShardGuard,
    handle: LocalScope,
}

impl<'a> Scope<'a> {
    pub(super) fn begin(guard: &'a ShardGuard) -> Self {
        let shard = guard.shard();
        Self {
            guard,
            handle: LocalScope {
                shard,
                open: Rc::new(Cell::new(true)),
            },
        }
    }

    pub(super) fn handle(&self) -> &LocalScope {
        &self.handle
    }
}

impl Drop for Scope<'_> {
    fn drop(&mut self) {
        let shard = self.guard.shard();
        // First: what is spawned from here on, by a drop, has no shard.
        self.handle.open.set(false);
        // Tasks that were spawned from inside another runtime came through the inbox.
        self.guard.drain();
        run::end_all(self.guard, true);
        debug_assert!(context::runs(shard.index()));
    }
}
