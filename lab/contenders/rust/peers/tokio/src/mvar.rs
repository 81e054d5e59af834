//! A hand-made MVar for tokio tasks: one value or none, one waiting taker, one waiting putter.
//!
//! It is as quick as we could make it: one swap and one plain store to lock, and a waker that
//! stays registered, so that a hop in the steady state clones none.
//! That is correct for links with one taker and one putter, which is what the ring has.

use std::future::poll_fn;
use std::task::{Context, Poll, Waker};

use spin::mutex::SpinMutex;

struct Slot<T> {
    value: Option<T>,
    taker: Option<Waker>,
    putter: Option<Waker>,
    taker_waits: bool,
    putter_waits: bool,
}

/// A box for one value; `take` waits while it is empty, `put` while it is full.
pub struct MVar<T> {
    slot: SpinMutex<Slot<T>>,
}

/// Stores the current waker unless the stored one already wakes this task.
fn register(place: &mut Option<Waker>, context: &Context<'_>) {
    match place {
        Some(waker) if waker.will_wake(context.waker()) => {}
        _ => *place = Some(context.waker().clone()),
    }
}

impl<T> Default for MVar<T> {
    fn default() -> Self {
        MVar::new()
    }
}

impl<T> MVar<T> {
    pub fn new() -> Self {
        let (value, taker, putter) = (None, None, None);
        let slot = Slot {
            value,
            taker,
            putter,
            taker_waits: false,
            putter_waits: false,
        };
        MVar {
            slot: SpinMutex::new(slot),
        }
    }

    pub async fn take(&self) -> T {
        poll_fn(|context| {
            let mut slot = self.slot.lock();
            let Some(value) = slot.value.take() else {
                slot.taker_waits = true;
                register(&mut slot.taker, context);
                return Poll::Pending;
            };
            slot.taker_waits = false;
            if slot.putter_waits {
                wake(slot, |slot| &slot.putter);
            }
            Poll::Ready(value)
        })
        .await
    }

    /// Puts at once, or gives the value back.
    pub fn try_put(&self, value: T) -> Result<(), T> {
        let mut slot = self.slot.lock();
        if slot.value.is_some() {
            return Err(value);
        }
        slot.value = Some(value);
        if slot.taker_waits {
            wake(slot, |slot| &slot.taker);
        }
        Ok(())
    }

    pub async fn put(&self, value: T) {
        let mut value = Some(value);
        poll_fn(|context| {
            let mut slot = self.slot.lock();
            if slot.value.is_some() {
                slot.putter_waits = true;
                register(&mut slot.putter, context);
                return Poll::Pending;
            }
            slot.putter_waits = false;
            slot.value = value.take();
            if slot.taker_waits {
                wake(slot, |slot| &slot.taker);
            }
            Poll::Ready(())
        })
        .await
    }
}

/// Wakes under the lock: the waker stays in its place, so nothing is cloned, and a task's wake
/// only pushes onto a run queue and never calls back into this MVar.
fn wake<T>(
    slot: spin::mutex::SpinMutexGuard<'_, Slot<T>>,
    which: impl FnOnce(&Slot<T>) -> &Option<Waker>,
) {
    if let Some(waker) = which(&slot) {
        waker.wake_by_ref();
    }
}
