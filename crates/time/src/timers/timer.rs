//! An operation's work with its timer: it registers the timer, polls it again, and takes it out when the operation is
//! dropped. The node and its owner's word are in `node.rs`.

use std::pin::Pin;
use std::ptr;
use std::task::{Poll, Waker};

use gossamer_core::platform::atomic::Ordering;
use gossamer_core::{mutant, waker};

use super::here::{here, now};
use super::node::{FIRED, Timer};
use super::{LockedTimer, Timers};

impl Timer {
    /// Whether it is [at](Timer::at) a moment that is not ahead; `false` if it has been polled.
    pub fn is_past(self: Pin<&mut Self>) -> bool {
        self.idle().is_some_and(|mut timer| {
            let deadline = timer.links(|links| links.deadline);
            deadline <= now().nanos()
        })
    }

    /// Whether its time has come; if not, `waker` is called then. Registers with the timers of whoever runs this
    /// thread, also if it was registered elsewhere before.
    ///
    /// # Panics
    /// Nobody runs this thread, and the system grants no thread for the process's own timers.
    #[inline(always)]
    pub fn poll(self: Pin<&mut Self>, waker: &Waker) -> Poll<()> {
        self.poll_at(here, waker)
    }

    /// [Polls](Timer::poll) the timer where `here` names the timers that serve this thread.
    #[inline(always)]
    pub(super) fn poll_at(
        self: Pin<&mut Self>,
        here: impl FnOnce() -> &'static Timers,
        waker: &Waker,
    ) -> Poll<()> {
        // Acquire pairs with the release in `set_owner`: the one who fired has done with the node.
        let owner = self.owner.load(Ordering::Acquire);
        if owner.is_null() {
            return self.register(here, waker);
        }
        if owner == FIRED {
            return Poll::Ready(());
        }
        self.poll_again(here(), waker)
    }

    /// Registers a timer that is in no wheel.
    #[inline(always)]
    fn register(
        self: Pin<&mut Self>,
        here: impl FnOnce() -> &'static Timers,
        waker: &Waker,
    ) -> Poll<()> {
        let Some(mut timer) = self.idle() else {
            return Poll::Pending;
        };
        let timers = timer.links(|links| {
            if links.deadline == u64::MAX {
                return None;
            }
            let timers = here();
            if waker::task_of(waker).is_none() {
                timers.note_foreign();
            }
            // Before the lock is taken: a foreign one is cloned, which runs user code.
            links.waker = Some(waker::clone_ref(waker));
            if !links.is_dated {
                timers.stamp(links);
            }
            Some(timers)
        });
        if let Some(timers) = timers {
            timers.register(timer);
        }
        Poll::Pending
    }

    #[cold]
    #[inline(never)]
    fn poll_again(self: Pin<&mut Self>, here: &'static Timers, waker: &Waker) -> Poll<()> {
        let mut new = None;
        loop {
            let is_here = |owner| ptr::eq(owner, here) || mutant!("timer_stays_behind");
            let Some(timer) = LockedTimer::of(&self, is_here) else {
                // The runner of the wheel that it is in may never run again.
                self.leave(true);
                // Acquire pairs with the release in `set_owner`.
                return if self.owner.load(Ordering::Acquire) == FIRED {
                    Poll::Ready(())
                } else {
                    self.register(|| here, waker)
                };
            };
            let before = timer.timer.links(|links| {
                let same = links.waker.as_ref().is_some_and(|old| old.will_wake(waker));
                match new.take() {
                    _ if same => Some(None),
                    Some(new) => Some(links.waker.replace(new)),
                    None => None,
                }
            });
            let timers = timer.locked.timers;
            drop(timer);
            if let Some(before) = before {
                // Dropped only here: it may be user code.
                drop(before);
                return Poll::Pending;
            }
            if waker::task_of(waker).is_none() {
                timers.note_foreign();
            }
            new = Some(waker::clone_ref(waker));
        }
    }

    /// Takes the timer out of its wheel, if it is in one; perhaps it goes on elsewhere.
    #[inline(always)]
    fn leave(&self, goes_on: bool) {
        let waker = LockedTimer::of(self, |_| true).and_then(|timer| timer.take_out(goes_on));
        if let Some(waker) = waker {
            waker::let_go(waker);
        }
    }
}

impl Drop for Timer {
    #[inline]
    fn drop(&mut self) {
        self.leave(false);
    }
}
