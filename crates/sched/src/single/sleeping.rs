//! How the thread that runs a `Single` sleeps: at the runtime's poller, once its tasks wait for sockets.

use gossamer_core::context;
use gossamer_core::dump::Deadlock;
use gossamer_core::parker::Parker;
use gossamer_time::timers::runner;

use super::{Single, SingleRuntime, hand_over};
use crate::scheduler::Scheduler;

impl<S: Scheduler> Single<S> {
    /// Wakes those that wait for what the system has told by now, and gives those that live here to the scheduler;
    /// `false` if there were none. `asks`: or tells now. The guard is held.
    pub(super) fn look(&self, scheduler: &mut S, asks: bool) -> bool {
        let seat = self.environment.poller().sit();
        let any = seat.is_some_and(|seat| if asks { seat.look() } else { seat.deliver() });
        if any {
            context::with(|context| hand_over(context, scheduler));
        }
        any
    }

    /// Sleeps until there is something to do, at the poller if there is one. The guard is held.
    pub(super) fn sleep(&self, scheduler: &mut S) -> Result<(), Deadlock> {
        Parker::with(|parker| {
            if !self.shard().park(parker.waker()) {
                return Ok(());
            }
            let until = runner::next_deadline(self.shard());
            let has_something = &mut || self.shard().has_pending();
            match self.environment.poller().sit_or_be_woken(parker.waker()) {
                Some(seat) => {
                    parker.park_at(Some(&seat), until, has_something);
                    Ok(())
                }
                None => parker.park_or_fail(until, false, has_something),
            }
        })?;
        self.look(scheduler, false);
        Ok(())
    }
}
