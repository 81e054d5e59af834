//! Calling the driver of a home, though nothing was pushed; and its timers, which call nobody.

use core::ptr::NonNull;

use super::Home;
use crate::door::atomic::Ordering;
#[cfg(loom)]
use crate::door::atomic::fence;
use crate::waiter::Deferred;

impl Home {
    /// The timers of this home, which its driver serves, as the crate knows them that has timers; null as long as it has
    /// made none.
    #[inline(always)]
    pub fn timers(&self) -> *const () {
        // Acquire pairs with the release in `set_timers`.
        let timers = self.timers.load(Ordering::Acquire);
        #[cfg(loom)]
        if !timers.is_null() {
            // loom does not see the pointer, or each look would be a step in every model. A fence pairs with the same below.
            fence(Ordering::SeqCst);
        }
        timers
    }

    /// Gives this home, which has none, its timers.
    ///
    /// # Safety
    /// They are never freed, and they are what everybody takes them for who asks for them.
    pub unsafe fn set_timers(&self, timers: NonNull<()>) {
        #[cfg(loom)]
        fence(Ordering::SeqCst); // pairs with the one above
        // Release pairs with the acquire in `timers`.
        self.timers.store(timers.as_ptr(), Ordering::Release);
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
