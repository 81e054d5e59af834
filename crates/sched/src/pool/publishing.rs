//! Publishes the tasks that a worker wakes during a long poll, while other workers have nothing to do.
//!
//! A wake stays local, in plain memory that no other thread sees until the poll has ended. That makes messages cheap.
//! But if the poll goes on for long, the woken task waits in vain (the trouble with a run-next slot that nobody steals
//! from: tokio#4941). So an idle worker *watches* the busy ones. Every few milliseconds it *pings* each of them; a
//! worker takes the ping back when it looks at its inbox. A worker that is still pinged a moment later is in a long
//! poll, and is told to *publish*: it puts each task that it wakes into its steal queue at once, and calls an idle
//! worker, unless one searches (`idle.rs`). That costs microseconds a wake. So the worker stops publishing after a number
//! of polls that ended soon after their wakes.

use std::time::Duration;

use gossamer_core::context::Context;
use gossamer_core::header::ScheduledTask;
use gossamer_core::moment::Moment;
use gossamer_core::mutant;
use gossamer_core::platform::atomic::Ordering;

use super::worker_shard::WorkerShard;

/// A poll that goes on for longer after a wake was worth a publication.
const LONG: Duration = Duration::from_micros(10);

/// Useless publishes in a row that end the publishing. Fewer suffice before one was of use: the system may just have
/// taken the processor away from a worker that seemed to be in a long poll.
const CREDIT: u32 = if cfg!(shuttle) { 4 } else { 128 };
const CREDIT_AT_FIRST: u32 = 2;

// The words of the runner are Relaxed: nobody else reads them.
impl WorkerShard {
    /// Has the runner publish what it wakes, from the end of its poll on.
    pub(super) fn want_publishing(&self) {
        // Relaxed: a hint.
        self.publish_wanted.store(1, Ordering::Relaxed);
        self.ping();
    }

    /// Makes a task that a poll has woken visible to the other workers, and calls one, unless one searches; or gives it
    /// back.
    pub(super) fn publish_woken(&self, task: ScheduledTask) -> Option<ScheduledTask> {
        // A thread that ends a shard empties its steal queue first, and then nobody may touch its tasks.
        if self.is_closing() {
            return Some(task);
        }
        self.note_published();
        if task.header().state().is_pinned() {
            // No other worker may take it: if the poll ends soon, this was of no use either.
            return Some(task);
        }
        self.push_stealable(task);
        self.call_one();
        None
    }

    /// Notes when the current poll published something first.
    pub(super) fn note_published(&self) {
        // Relaxed: see above.
        if self.published_at.load(Ordering::Relaxed) == 0 {
            let now = Moment::real_now().nanos();
            self.published_at.store(now, Ordering::Relaxed); // Relaxed: see above
        }
    }

    /// Begins to publish, if an idle worker wants it.
    pub(super) fn publish_if_wanted(&self, context: &Context) {
        // Relaxed: a hint.
        let wanted = self.publish_wanted.swap(0, Ordering::Relaxed) != 0;
        if wanted && !mutant!("publishes_nothing") {
            // Relaxed: see above.
            self.credit.store(CREDIT_AT_FIRST, Ordering::Relaxed);
            context.set_publishes(true);
        }
    }

    /// Goes on publishing, where the runner has published when it last had the guard.
    pub(super) fn publish_again(&self, context: &Context) {
        self.published_at.store(0, Ordering::Relaxed); // Relaxed: see above
        // Relaxed: see above.
        if self.credit.load(Ordering::Relaxed) > 0 {
            context.set_publishes(true);
        }
    }

    /// Settles, at the end of a worker's poll, whether its publishing was of use.
    #[cold]
    pub(super) fn settle_publishing(&self, context: &Context) {
        let published_at = self.published_at.load(Ordering::Relaxed); // Relaxed: see above
        if published_at == 0 {
            return;
        }
        self.published_at.store(0, Ordering::Relaxed); // Relaxed: see above
        let since = Moment::real_now().since(Moment::from_nanos(published_at));
        if since > LONG {
            self.credit.store(CREDIT, Ordering::Relaxed); // Relaxed: see above
            return;
        }
        // Relaxed: see above.
        let credit = self.credit.load(Ordering::Relaxed).saturating_sub(1);
        self.credit.store(credit, Ordering::Relaxed); // Relaxed: see above
        if credit == 0 {
            context.set_publishes(false);
        }
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
