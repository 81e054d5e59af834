//! Calling the runner of a shard, though nothing was pushed; and its timers, which call nobody.

use core::ptr::NonNull;

use super::Shard;
use crate::platform::atomic::Ordering;
#[cfg(loom)]
use crate::platform::atomic::fence;
use crate::waiter::Deferred;

impl Shard {
    /// The timers of this shard, which its runner serves, as the crate knows them that has timers; null as long as it
    /// has made none.
    #[inline(always)]
    pub fn timers(&self) -> *const () {
        // Acquire pairs with the release in `set_timers`.
        let timers = self.timers.load(Ordering::Acquire);
        #[cfg(loom)]
        if !timers.is_null() {
            // loom does not see the pointer, or each look would be a step in every model. A fence pairs with the same
            // below.
            fence(Ordering::SeqCst);
        }
        timers
    }

    /// Gives this shard, which has none, its timers.
    ///
    /// # Safety
    /// They are never freed, and they are what everybody takes them for who asks for them.
    pub unsafe fn set_timers(&self, timers: NonNull<()>) {
        #[cfg(loom)]
        fence(Ordering::SeqCst); // pairs with the one above
        // Release pairs with the acquire in `timers`.
        self.timers.store(timers.as_ptr(), Ordering::Release);
    }

    /// Calls the runner though nothing was pushed: wakes it, if it has parked or is about to, or ends its
    /// [run](super::Runner::called) after the current poll.
    pub fn call(&self) {
        let parked = {
            let mut inbox = self.inbox.lock();
            inbox.called = true;
            // Relaxed: a hint, kept under the lock.
            self.pending.store(true, Ordering::Relaxed);
            inbox.parked.take()
        };
        if let Some(runner) = parked {
            Deferred::new(runner).run();
        }
    }

    /// [`Shard::call`] by the runner itself, in a poll.
    pub(crate) fn end_run(&self) {
        self.runner.called.set(true);
        self.ping();
    }

    /// Leaves a mark that its runner takes back between any two polls.
    pub fn ping(&self) {
        // Relaxed: a hint. It makes the runner look at the inbox.
        self.pending.store(true, Ordering::Relaxed);
    }
}
