//! What a helper does.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use crate::member::Member;
use crate::team::Help;

/// After this long a helper lets other tasks run before it takes another job.
const SLICE: Duration = if cfg!(loom) {
    Duration::MAX
} else {
    Duration::from_millis(1)
};

impl Future for Help {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let begun = Instant::now();
        let (team, root) = (self.team.clone(), self.root.take());
        if root.is_none() && team.follow_resize() {
            return Poll::Ready(());
        }
        let is_over = Member::enter(&team, |member| {
            if let Some(root) = root {
                root.run();
                if team.follow_resize() {
                    return true;
                }
            }
            loop {
                while let Some(stolen) = member.look(|| team.limit() == 1) {
                    stolen.run();
                    if begun.elapsed() >= SLICE && member.sees_something() {
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
