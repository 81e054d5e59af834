//! The waker of a port that does not announce its entry itself.

use std::sync::Arc;
use std::task::{Wake, Waker};

use gossamer_core::platform::atomic::{AtomicU32, Ordering};

use super::ready::Ready;

/// Announces an entry, when it is called for the first time since the set has looked there.
pub(super) struct Signal {
    state: AtomicU32,
    ready: Arc<Ready>,
    index: u32,
}

/// The entry has been announced, or is no longer this port's.
const ANNOUNCED: u32 = 0;
/// The next call announces it.
const ANNOUNCES: u32 = 1;

impl Signal {
    pub(super) fn new(ready: Arc<Ready>, index: u32) -> Arc<Self> {
        Arc::new(Self {
            state: AtomicU32::new(ANNOUNCED),
            ready,
            index,
        })
    }

    pub(super) fn waker(self: &Arc<Self>) -> Waker {
        self.clone().into()
    }

    /// From now on it announces.
    pub(super) fn begin(&self) {
        // Relaxed: the port takes the waker, or has it already, by an exchange of its own or under a lock, and who
        // calls it has seen that one. An exchange here too, as one that is called late may come just now, and `end` has
        // to see which of the two was the second.
        self.state.swap(ANNOUNCES, Ordering::Relaxed);
    }

    /// From now on it does not.
    ///
    /// # Returns
    /// Whether it has announced.
    pub(super) fn end(&self) -> bool {
        // Relaxed: one exchange of the two, this and the one in `wake_by_ref`, is the second; nothing else is read.
        self.state.swap(ANNOUNCED, Ordering::Relaxed) == ANNOUNCED
    }
}

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // Relaxed: as in `end`; the lock of the queue publishes the entry.
        if self.state.swap(ANNOUNCED, Ordering::Relaxed) == ANNOUNCES {
            self.ready.announce(self.index).run();
        }
    }
}
