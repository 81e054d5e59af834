//! A poller for models: one event may come, for one that waits.

use core::task::Waker;
use core::time::Duration;

use alloc::sync::Arc;
use alloc::task::Wake;

use super::Poller;
use crate::platform::{Condvar, Mutex};

/// What stands behind the poller, as the system would.
#[derive(Debug, Default)]
struct System {
    is_used: Mutex<bool>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    rung: bool,
    /// It has come, and has not been polled.
    event: bool,
}

/// A poller of one event.
#[derive(Debug)]
pub struct OneEvent {
    system: Arc<System>,
    kept: Mutex<bool>,
    waiter: Mutex<Option<Waker>>,
    bell: Waker,
}

impl Wake for System {
    fn wake(self: Arc<Self>) {
        self.state.lock().rung = true;
        self.changed.notify_all();
    }
}

impl OneEvent {
    /// Nothing has happened, and nobody waits: not used.
    #[expect(clippy::new_without_default, reason = "it is for models")]
    pub fn new() -> Self {
        let system = Arc::new(System::default());
        Self {
            bell: Waker::from(system.clone()),
            system,
            kept: Mutex::new(false),
            waiter: Mutex::new(None),
        }
    }

    /// This is to be woken when the event comes: it is used.
    pub fn wait(&self, waker: Waker) {
        *self.waiter.lock() = Some(waker);
        *self.system.is_used.lock() = true;
    }

    /// The event comes.
    pub fn happens(&self) {
        self.system.state.lock().event = true;
        self.system.changed.notify_all();
    }
}

impl Poller for OneEvent {
    fn sockets(&self) -> usize {
        usize::from(*self.system.is_used.lock())
    }

    fn is_elsewhere(&self) -> bool {
        false
    }

    fn poll(&self, limit: Option<Duration>) {
        if self.keeps_any() {
            return;
        }
        let mut state = self.system.state.lock();
        // No time passes in models.
        while limit != Some(Duration::ZERO) && !(state.rung || state.event) {
            state = self.system.changed.wait(state);
        }
        state.rung = false;
        *self.kept.lock() = core::mem::take(&mut state.event);
    }

    fn keeps_any(&self) -> bool {
        *self.kept.lock()
    }

    fn deliver(&self) -> bool {
        let is_kept = core::mem::take(&mut *self.kept.lock());
        let waiter = self.waiter.lock().take_if(|_| is_kept);
        if let Some(waiter) = waiter {
            waiter.wake();
        }
        is_kept
    }

    fn waker(&self) -> &Waker {
        &self.bell
    }

    fn end(&self) {}
}
