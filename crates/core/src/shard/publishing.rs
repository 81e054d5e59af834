//! Publishes the tasks that a worker wakes during a long poll, while other workers have nothing to do.
//!
//! A wake stays local, in plain memory that no other thread sees until the poll has ended. That makes messages cheap.
//! But if the poll goes on for long, the woken task waits in vain (the trouble with a run-next slot that nobody steals
//! from: tokio#4941). So an idle worker *watches* the busy ones. Every few milliseconds it *pings* each of them; a
//! worker takes the ping back when it looks at its inbox. A worker that is still pinged a moment later is in a long
//! poll, and is told to *publish*: it puts each task that it wakes into its steal queue at once, and calls an idle
//! worker. That costs microseconds a wake. So the worker stops publishing after a number of polls that ended soon after
//! their wakes.

use std::time::{Duration, Instant};

use super::{RUNNING, Shard, ShardGuard};
use crate::context::{self, Context};
use crate::header::ScheduledTask;
use crate::platform::atomic::Ordering;
use crate::waiter::Deferred;

/// A poll that goes on for longer after a wake was worth a publication.
const LONG: Duration = Duration::from_micros(10);

/// Useless publishes in a row that end the publishing. Fewer suffice before one was of use: the system may just have
/// taken the processor away from a worker that seemed to be in a long poll.
const CREDIT: u32 = if cfg!(shuttle) { 4 } else { 128 };
const CREDIT_AT_FIRST: u32 = 2;

impl Shard {
    /// Has the runner publish what it wakes, from the end of its poll on.
    pub fn want_publishing(&self) {
        // Relaxed: a hint.
        self.publish_wanted.store(true, Ordering::Relaxed);
        self.ping();
    }

    /// Whether a thread runs this shard: a hint.
    pub fn is_running(&self) -> bool {
        // Relaxed: a hint.
        self.acquired.load(Ordering::Relaxed) == RUNNING
    }

    /// Whether a task that a poll has woken may go where others can take it.
    pub(crate) fn may_publish(&self, task: &ScheduledTask) -> bool {
        // A thread that ends a shard empties its steal queue first, and then nobody may touch its tasks.
        !self.runner.closing.get() && !task.header().state().is_pinned()
    }

    /// Calls a worker that can take the task which the poll has just published.
    pub(crate) fn call_for_published(&self) {
        self.note_published();
        self.wake_notify_shard();
    }

    /// Calls one who can take what is in the steal queue.
    pub(super) fn wake_notify_shard(&self) {
        // Relaxed: set before the shard had tasks.
        let notify_shard = Shard::at(self.notify_shard.load(Ordering::Relaxed) as u16);
        let caller = notify_shard.inbox.lock().fallback_waker.clone();
        if let Some(caller) = caller {
            Deferred::new(caller).run();
        }
    }

    /// Notes when the current poll published something first.
    pub(super) fn note_published(&self) {
        if self.runner.published_at.get().is_none() {
            self.runner.published_at.set(Some(Instant::now()));
        }
    }

    /// Says whose fallback waker is called when a task is published: the injector's.
    pub fn set_notify_shard(&self, notify_shard: &Shard) {
        // Relaxed: before the shard has tasks.
        self.notify_shard
            .store(u32::from(notify_shard.index), Ordering::Relaxed);
    }
}

impl ShardGuard {
    /// Begins to publish, if an idle worker wants it.
    pub(super) fn publish_if_wanted(&self) {
        let shard = self.shard();
        // Relaxed: a hint.
        let wanted = shard.pool() != 0 && shard.publish_wanted.swap(false, Ordering::Relaxed);
        if wanted && !crate::mutant!("publishes_nothing") {
            shard.runner.credit.set(CREDIT_AT_FIRST);
            context::with(|context| context.set_publishes(true));
        }
    }

    /// Goes on publishing, where the runner has published when it last had the guard.
    pub(super) fn publish_again(&self) {
        let runner = &self.shard().runner;
        runner.published_at.set(None);
        if runner.credit.get() > 0 {
            context::with(|context| context.set_publishes(true));
        }
    }
}

/// Settles, at the end of a worker's poll, whether its publishing was of use.
#[cold]
pub fn settle_publishing(context: &Context) {
    let runner = &Shard::at(context.shard()).runner;
    let Some(published_at) = runner.published_at.take() else {
        return;
    };
    if published_at.elapsed() > LONG {
        runner.credit.set(CREDIT);
        return;
    }
    runner.credit.set(runner.credit.get().saturating_sub(1));
    if runner.credit.get() == 0 {
        context.set_publishes(false);
    }
}
