//! Calling the driver of a home, though nothing was pushed; and its timers, which call nobody.

use super::Home;
use crate::door::atomic::Ordering;
use crate::timers::Timers;
use crate::waiter::Deferred;

impl Home {
    /// Who waits for which moment, and is served by who drives this home.
    pub fn timers(&'static self) -> &'static Timers {
        &self.timers
    }

    /// Calls the driver though nothing was pushed: wakes it, if it has parked or is about to, or ends its
    /// [run](super::Driver::called) after the current poll.
    pub fn call(&self) {
        let parked = {
            let mut inbox = self.inbox.lock();
            inbox.called = true;
            // Relaxed: a hint, kept under the lock.
            self.pending.store(true, Ordering::Relaxed);
            inbox.parked.take()
        };
        if let Some(driver) = parked {
            Deferred::new(driver).run();
        }
    }

    /// The same by the driver itself, in a poll.
    pub(crate) fn end_run(&self) {
        self.driver.called.set(true);
        self.poke();
    }

    /// Leaves a mark that its driver takes back between any two polls.
    pub fn poke(&self) {
        // Relaxed: a hint. It makes the driver look at the inbox.
        self.pending.store(true, Ordering::Relaxed);
    }
}
