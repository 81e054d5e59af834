//! A helper: a task that looks for jobs, runs them, and ends when there are none.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use crate::member::Member;
use crate::team::Team;

/// A helper lets other tasks run after this long, as soon as its job has ended.
const SLICE: Duration = if cfg!(loom) {
    Duration::MAX
} else {
    Duration::from_millis(1)
};

/// A helper, counted as busy from the moment it is asked for.
#[must_use = "a helper that is not run is not there"]
pub struct Help {
    team: Arc<Team>,
    is_counted: bool,
}

impl Help {
    /// For a team that has asked for one.
    pub fn new(team: &Arc<Team>) -> Self {
        Self {
            team: team.clone(),
            is_counted: true,
        }
    }
}

impl Future for Help {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let begun = Instant::now();
        let team = self.team.clone();
        let is_surplus = team.follow_resize();
        let is_over = is_surplus
            || Member::enter(&team, |member| {
                loop {
                    while let Some(found) = member.look(|| team.limit() == 1) {
                        found.run();
                        if begun.elapsed() >= SLICE {
                            return false;
                        }
                    }
                    team.count_out();
                    if !member.sees_something() || !team.try_count_in() {
                        self.is_counted = false;
                        return true;
                    }
                }
            });
        if is_over {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

impl Drop for Help {
    fn drop(&mut self) {
        if !self.is_counted {
            return;
        }
        // Surplus, or the runtime has turned it away: perhaps it was asked for by a computation that waits.
        self.team.count_out();
        if self.team.has_waiting() && !self.team.is_busy() {
            self.team.refuse_waiting();
        }
    }
}

gossamer_core::impl_debug!([] Help[]);
