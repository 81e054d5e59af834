//! The timers that a timer polled on this thread goes to: its shard's, once somebody has looked for them.

use super::{Context, NOWHERE};
use crate::shard::Shard;

impl Context {
    /// The [timers](Shard::timers) of the shard that this thread runs, unless it [waits](Context::waits); null if there
    /// are none.
    #[inline(always)]
    pub fn timers(&self) -> *const () {
        let timers = self.timers.get();
        if timers.is_null() {
            self.look_for_timers()
        } else {
            timers
        }
    }

    /// Looks for them in the shard.
    #[inline(never)]
    fn look_for_timers(&self) -> *const () {
        if !self.waits.get() && self.shard() != NOWHERE {
            self.timers.set(Shard::at(self.shard()).timers());
        }
        self.timers.get()
    }
}
