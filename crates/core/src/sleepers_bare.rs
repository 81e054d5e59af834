//! Where nobody knows whether all threads of the process sleep: not on Linux, and in models.

use alloc::sync::Arc;
use alloc::task::Wake;
use alloc::vec::Vec;
use core::time::Duration;

use crate::dump::Deadlock;
use crate::platform;
use crate::platform::thread::Thread;

/// One thread's permit.
#[derive(Debug)]
pub(crate) struct Sleeper {
    pub(crate) permit: platform::Permit,
}

impl Wake for Sleeper {
    fn wake(self: Arc<Self>) {
        self.permit.give();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.permit.give();
    }
}

/// A thread that sleeps for good: nobody knows of one.
#[derive(Debug, Clone)]
pub struct Asleep {
    /// The thread.
    pub thread: Thread,
    /// The address of its context.
    pub context: usize,
    /// Whether it waits for one thing, and runs no runtime for its caller.
    pub waits: bool,
    /// When it began to wait.
    pub since: Option<u64>,
}

/// Nobody asks for that.
pub fn serve() {}

/// Wakes nobody.
pub fn wake_all() {}

/// None is known.
pub fn asleep_now() -> Vec<Asleep> {
    Vec::new()
}

/// For a permit, which never calls it.
pub(crate) fn all_sleep(_looks: u32) -> Duration {
    Duration::MAX
}

impl Sleeper {
    /// For the current thread.
    pub(crate) fn here() -> Arc<Self> {
        let permit = platform::Permit::new();
        Arc::new(Self { permit })
    }

    /// Sleeps until the permit is given.
    ///
    /// # Errors
    /// None here.
    pub(crate) fn sleep_or_fail(&self, _waits: bool) -> Result<(), Deadlock> {
        self.permit.take_for_good(all_sleep);
        Ok(())
    }

    /// Sleeps by `sleep`.
    pub(crate) fn while_waiting(&self, sleep: impl FnOnce()) {
        sleep();
    }

    /// Nobody looks.
    pub(crate) fn wait_is_over(&self) {}

    /// As [`Permit::take_or_look`](platform::Permit::take_or_look).
    ///
    /// # Errors
    /// None here.
    #[cfg(not(any(loom, shuttle)))]
    pub(crate) fn look_or_fail(&self, limit: Duration) -> Result<bool, Deadlock> {
        Ok(self.permit.take_or_look(limit, all_sleep))
    }
}
