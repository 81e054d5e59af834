//! Whether the thread that built a runtime of the model M:1, and runs it in every wait, is still there.

use super::{NO_OWNER, Shard};
use crate::platform::atomic::Ordering;

const LIVES: u32 = 1;
const ENDED: u32 = 2;

impl Shard {
    /// The current thread runs this shard whenever it waits. Before the shard has any task.
    pub fn set_owned(&self) {
        // Relaxed: published with the runtime.
        self.owner.store(LIVES, Ordering::Relaxed);
    }

    /// The thread that has said so ends.
    pub fn owner_ends(&self) {
        // Relaxed: who waits looks again and again.
        self.owner.store(ENDED, Ordering::Relaxed);
    }

    pub(crate) fn is_owned(&self) -> bool {
        // Relaxed: as above.
        self.owner.load(Ordering::Relaxed) != NO_OWNER
    }

    /// Whether that thread has ended, and no other runs at this moment.
    pub(crate) fn is_left_alone(&self) -> bool {
        // Relaxed: as above.
        self.owner.load(Ordering::Relaxed) == ENDED && !self.is_running()
    }
}
