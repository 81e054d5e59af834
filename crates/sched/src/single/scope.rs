//! The scope of one blocking call, in which tasks need not be `Send`.

use std::cell::{Cell, RefCell};
use std::panic::Location;
use std::ptr::NonNull;
use std::rc::Rc;

use gossamer_core::context;
use gossamer_core::header::Header;
use gossamer_core::platform::thread_local;
use gossamer_core::shard::{Shard, ShardGuard};
use gossamer_task::{JoinError, JoinHandle, spawn_local, spawn_nowhere, spawn_root};

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

thread_local! {
    /// That of the innermost blocking call of this thread.
    static CURRENT: RefCell<Option<LocalScope>> = const { RefCell::new(None) };
}

/// Changes it; gives the one before. At the end of a thread there is none.
fn set_current(scope: Option<LocalScope>) -> Option<LocalScope> {
    let set = |current: &RefCell<Option<LocalScope>>| current.replace(scope);
    CURRENT.try_with(set).ok().flatten()
}

impl LocalScope {
    /// The scope of the blocking call whose future, or local task, is being polled; none elsewhere, also in a task that
    /// may run on any thread and happens to run on this one.
    #[must_use]
    pub fn current() -> Option<Self> {
        let shard = context::with(context::Context::polled_local_shard)?;
        let current = CURRENT
            .try_with(|current| current.borrow().clone())
            .ok()??;
        (current.shard.index() == shard).then_some(current)
    }

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

gossamer_core::impl_debug!([] LocalScope[], this => open: this.open.get());

/// Ends the scope when dropped: its tasks are dropped here, on this thread.
pub(super) struct Scope<'a> {
    guard: &'a ShardGuard,
    handle: LocalScope,
    /// That of the call around this one.
    outer: Option<LocalScope>,
}

impl<'a> Scope<'a> {
    pub(super) fn begin(guard: &'a ShardGuard) -> Self {
        let handle = LocalScope {
            shard: guard.shard(),
            open: Rc::new(Cell::new(true)),
        };
        Self {
            guard,
            outer: set_current(Some(handle.clone())),
            handle,
        }
    }

    pub(super) fn handle(&self) -> &LocalScope {
        &self.handle
    }

    /// Makes the task that a blocking call waits for, has `run` run it, and ends the scope. The future may borrow what
    /// outlives the call.
    ///
    /// # Returns
    /// Its output, if it has one by then.
    ///
    /// # Errors
    /// As `run`.
    pub(super) fn run_root<F: Future, E>(
        self,
        future: F,
        caller: &'static Location<'static>,
        run: impl FnOnce(NonNull<Header>) -> Result<(), E>,
    ) -> Result<Option<Result<F::Output, JoinError>>, E> {
        // SAFETY: this thread holds the guard. Before this function returns, or unwinds, the scope ends, which drops an
        // unfinished future, and the handle goes, which drops an output that has not been taken.
        let mut root = unsafe { spawn_root(self.guard.shard(), future, caller) };
        let output = run(root.task()).map(|()| root.try_take());
        drop(self);
        output
    }
}

impl Drop for Scope<'_> {
    fn drop(&mut self) {
        // First: what is spawned from here on, by a drop, has no shard.
        self.handle.open.set(false);
        // Tasks that were spawned from inside another runtime came through the inbox.
        self.guard.drain();
        run::end_all(self.guard, true);
        debug_assert!(context::runs(self.guard.shard().index()));
        if !gossamer_core::mutant!("inner_scope_stays_current") {
            drop(set_current(self.outer.take()));
        }
    }
}
