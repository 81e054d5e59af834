//! A hand-made MVar for tasks of others: one value or none, one waiting taker, one waiting putter.
//!
//! It is as quick as we could make it: a waker stays registered, so that a hop in the steady state clones none, and
//! what guards the slot is one swap and one plain store ([`MVar`]), or nothing where all tasks are on one thread
//! ([`LocalMVar`]). That is correct for links with one taker and one putter, which is what a ring or a pair has.

use std::cell::RefCell;
use std::future::poll_fn;
use std::task::{Context, Poll, Waker};

use spin::mutex::SpinMutex;

/// For tasks of any thread.
pub type MVar<T> = Slotted<SpinMutex<Slot<T>>>;
/// For tasks of one thread.
pub type LocalMVar<T> = Slotted<RefCell<Slot<T>>>;

/// The value, and who waits.
pub struct Slot<T> {
    value: Option<T>,
    taker: Option<Waker>,
    putter: Option<Waker>,
    taker_waits: bool,
    putter_waits: bool,
}

impl<T> Default for Slot<T> {
    fn default() -> Self {
        let (value, taker, putter) = (None, None, None);
        Slot {
            value,
            taker,
            putter,
            taker_waits: false,
            putter_waits: false,
        }
    }
}

/// What keeps others out of a slot meanwhile.
pub trait Guard {
    /// What a slot holds.
    type Value;

    /// Looks at the slot, or changes it.
    fn with<R>(&self, act: impl FnOnce(&mut Slot<Self::Value>) -> R) -> R;
}

impl<T> Guard for SpinMutex<Slot<T>> {
    type Value = T;

    fn with<R>(&self, act: impl FnOnce(&mut Slot<T>) -> R) -> R {
        act(&mut self.lock())
    }
}

impl<T> Guard for RefCell<Slot<T>> {
    type Value = T;

    fn with<R>(&self, act: impl FnOnce(&mut Slot<T>) -> R) -> R {
        act(&mut self.borrow_mut())
    }
}

/// A box for one value; `take` waits while it is empty, `put` while it is full.
#[derive(Default)]
pub struct Slotted<G> {
    slot: G,
}

/// Stores the current waker unless the stored one already wakes this task.
fn register(waiter: &mut Option<Waker>, context: &Context<'_>) {
    match waiter {
        Some(waker) if waker.will_wake(context.waker()) => {}
        _ => *waiter = Some(context.waker().clone()),
    }
}

/// Wakes while the slot is guarded: the waker stays where it is, so nothing is cloned, and a task's wake only pushes
/// onto a run queue and never calls back into this MVar.
fn wake(waits: bool, waiter: &Option<Waker>) {
    if let Some(waker) = waiter.as_ref().filter(|_| waits) {
        waker.wake_by_ref();
    }
}

impl<G: Guard> Slotted<G> {
    /// Waits while it is empty.
    pub async fn take(&self) -> G::Value {
        poll_fn(|context| {
            self.slot.with(|slot| {
                let Some(value) = slot.value.take() else {
                    slot.taker_waits = true;
                    register(&mut slot.taker, context);
                    return Poll::Pending;
                };
                slot.taker_waits = false;
                wake(slot.putter_waits, &slot.putter);
                Poll::Ready(value)
            })
        })
        .await
    }

    /// Puts at once, or gives the value back.
    pub fn try_put(&self, value: G::Value) -> Result<(), G::Value> {
        self.slot.with(|slot| {
            if slot.value.is_some() {
                return Err(value);
            }
            slot.value = Some(value);
            wake(slot.taker_waits, &slot.taker);
            Ok(())
        })
    }

    /// Waits while it is full.
    pub async fn put(&self, value: G::Value) {
        let mut value = Some(value);
        poll_fn(|context| {
            self.slot.with(|slot| {
                if slot.value.is_some() {
                    slot.putter_waits = true;
                    register(&mut slot.putter, context);
                    return Poll::Pending;
                }
                slot.putter_waits = false;
                slot.value = value.take();
                wake(slot.taker_waits, &slot.taker);
                Poll::Ready(())
            })
        })
        .await
    }
}

/// A full put into an MVar, which waits only if it must, as ours does.
#[macro_export]
macro_rules! put {
    ($mvar:expr, $value:expr) => {
        if let Err(value) = $mvar.try_put($value) {
            $mvar.put(value).await;
        }
    };
}
