//! A poll that goes on on another thread, while the one that runs its shard waits: so a simulation's threads run, one at a
//! time.
//!
//! Whoever finds its context's shard equal to a task's *is* the runner (`header.rs`). So the context itself is passed on:
//! which shard is run and how, the tasks that were woken so far, who serves timers, and the numbers of chance. What is
//! about a thread's own stack stays with the thread: the task that it polls, its fiber, its selects.

use super::simulated::{self, Notes};
use super::{Context, with};
use crate::shard::Shard;

/// The right to run a shard in the midst of a poll, on its way from one thread to another.
#[derive(Debug)]
#[must_use = "the thread that it was taken from has no shard any more"]
pub struct Baton {
    context: Context,
    notes: Notes,
}

// SAFETY: what it points at, the woken tasks, is the runner's: and that is the thread where it is put, alone.
unsafe impl Send for Baton {}

impl Baton {
    /// Takes the current thread's. From now on it runs no shard.
    ///
    /// # Safety
    /// Until a baton is [put](Baton::put) here again, this thread does nothing with the shard that it ran, nor with the
    /// task that it polled: it waits.
    pub unsafe fn take() -> Self {
        let mut baton = Self {
            context: Context::new(),
            notes: Notes::new(),
        };
        with(|context| baton.exchange(context));
        baton
    }

    /// Has the current thread, which runs nothing, run what the baton is for.
    ///
    /// # Safety
    /// The thread has taken it before, or gives it back: the one that has the guard of the shard waits for that.
    pub unsafe fn put(mut self) {
        with(|context| {
            self.exchange(context);
            if context.shard() != super::NOWHERE {
                Shard::at(context.shard()).set_run_by_this_thread();
            }
        });
    }

    fn exchange(&mut self, context: &Context) {
        let other = &self.context;
        if !crate::mutant!("baton_forgets_the_woken") {
            context.woken_one.swap(&other.woken_one);
            let woken = context.woken_many.take();
            context.woken_many.restore(other.woken_many.take());
            other.woken_many.restore(woken);
        }
        context.running_local.swap(&other.running_local);
        context.loaned_local.swap(&other.loaned_local);
        context.scheduling_points.swap(&other.scheduling_points);
        context.watched.swap(&other.watched);
        context.left.swap(&other.left);
        context.budget.swap(&other.budget);
        context.rng.swap(&other.rng);
        context.turn.swap(&other.turn);
        context.access.swap(&other.access);
        context.publishes.swap(&other.publishes);
        context.timers.swap(&other.timers);
        context.waits.swap(&other.waits);
        simulated::exchange(&mut self.notes);
    }
}
