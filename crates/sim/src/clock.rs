//! Virtual time.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use crate::spawn::current;
use crate::world::{Shared, TimerKey};

/// The virtual time since the start of the current simulation.
///
/// # Panics
/// Outside of a simulation.
#[track_caller]
pub fn now() -> Duration {
    current("sim::now()").world.lock().now
}

/// Waits until virtual time has moved on by `duration`, which takes no real time.
///
/// # Panics
/// Outside of a simulation.
///
/// # Cancellation
/// Dropped, it leaves nothing behind: time does not stop at its deadline.
#[track_caller]
pub fn sleep(duration: Duration) -> Sleep {
    let world = current("sim::sleep()").world;
    let deadline = world.lock().now.saturating_add(duration);
    Sleep {
        deadline,
        timer: None,
        world,
    }
}

/// [`sleep`].
#[must_use = "operations do nothing until they are awaited or waited for"]
pub struct Sleep {
    deadline: Duration,
    timer: Option<TimerKey>,
    world: Shared,
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        let mut world = this.world.lock();
        if world.now >= this.deadline {
            return Poll::Ready(());
        }
        let before = world.set_timer(&mut this.timer, this.deadline, cx.waker().clone());
        drop(world);
        drop(before);
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        let waker = self
            .timer
            .and_then(|timer| self.world.lock().clear_timer(timer));
        drop(waker);
    }
}

impl fmt::Debug for Sleep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sleep")
            .field("deadline", &self.deadline)
            .finish_non_exhaustive()
    }
}
