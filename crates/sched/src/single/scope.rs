//! The scope of one blocking call, in which tasks need not be `Send`.

use std::cell::Cell;
use std::fmt;
use std::panic::Location;
use std::rc::Rc;

use gossamer_core::context;
use gossamer_core::home::{Claim, Home};
use gossamer_task::{JoinHandle, spawn_local, spawn_nowhere};

use super::run;

/// Spawns tasks that need not be `Send`, onto the thread that called `block_on_local`.
///
/// It may be cloned and moved into the tasks, and outlive the call; a task spawned after the call has
/// ended is cancelled at once.
#[derive(Clone)]
pub struct LocalScope {
    home: &'static Home,
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
        // claim, and it ends the scope's tasks before it gives the claim up.
        unsafe { spawn_local(self.home, future, Location::caller()) }
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
    claim: &'a Claim,
    handle: LocalScope,
}

impl<'a> Scope<'a> {
    pub(super) fn begin(claim: &'a Claim) -> Self {
        let home = claim.home();
        Self {
            claim,
            handle: LocalScope {
                home,
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
        let home = self.claim.home();
        // First: what is spawned from here on, by a drop, has no home.
        self.handle.open.set(false);
        // Tasks that were spawned from inside another runtime came through the inbox.
        self.claim.drain();
        run::end_all(home, &home.driver.owned_local);
        debug_assert!(context::drives(home.index()));
    }
}
