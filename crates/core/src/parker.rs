//! Puts an OS thread to sleep until somebody wakes it: a permit that is never lost.
//!
//! A wake gives the permit; the thread sleeps only while it finds none. So a wake at any moment is seen. Tests have
//! every park watched that has no limit of time: a thread that looks again after a second, and finds what nobody has
//! woken it for, has been rescued from a lost wake-up, and that ends the process. One parker a thread is kept for use
//! again; a second one is made only while the first is in use (a wait inside a wait).
//!
//! The way to the system call is inlined into whoever waits: the processor predicts the first returns after a switch of
//! threads wrong, so each call on that way costs more than its instructions.

use core::cell::RefCell;
use core::task::Waker;
use core::time::Duration;

use alloc::sync::Arc;

use crate::context;
use crate::dump::Deadlock;
use crate::moment::Moment;
use crate::platform::thread_local;
use crate::poller::Seat;
use crate::roll_call;
use crate::sleepers::{Sleeper, all_sleep};

mod look;

use self::look::Looks;

/// One thread's permit.
#[derive(Debug)]
pub struct Parker {
    sleeper: Arc<Sleeper>,
    waker: Waker,
    looks: Looks,
}

thread_local! {
    static SPARE: RefCell<Option<Parker>> = const { RefCell::new(None) };
}

impl Parker {
    fn new() -> Self {
        let sleeper = Sleeper::here();
        Self {
            waker: Waker::from(sleeper.clone()),
            sleeper,
            looks: Looks::new(),
        }
    }

    /// Calls `use_it` with a parker of the current thread.
    pub fn with<R>(use_it: impl FnOnce(&Self) -> R) -> R {
        let parker = Self::take();
        let result = use_it(&parker);
        parker.put_back();
        result
    }

    /// A parker of the current thread, which has it no more.
    pub(crate) fn take() -> Self {
        // While the thread's thread-locals go, there may be none to keep it in.
        let spare = SPARE.try_with(|spare| spare.borrow_mut().take());
        spare.ok().flatten().unwrap_or_else(Self::new)
    }

    /// The current thread keeps it for the next time.
    pub(crate) fn put_back(self) {
        self.sleeper.wait_is_over();
        let _kept = SPARE.try_with(|spare| *spare.borrow_mut() = Some(self));
    }

    /// Wakes this thread.
    pub fn waker(&self) -> &Waker {
        &self.waker
    }

    /// Looks for a wake some ten microseconds, if that has saved this thread a sleep lately: before a park whose wake may
    /// be another thread's answer.
    #[inline]
    pub fn look(&self) {
        self.looks.look(|| self.sleeper.permit.is_given());
    }

    /// Sleeps until a wake; returns at once if there was one since the last call.
    ///
    /// `has_something` says whether the thread has something to do though nobody has woken it; it is asked only
    /// where [parks are watched](watch_parks), and once every second.
    #[inline]
    pub fn park(&self, has_something: &mut dyn FnMut() -> bool) {
        #[cfg(not(any(loom, shuttle)))]
        if crate::waits::is_watched() {
            return self.park_watched(has_something);
        }
        let _never = has_something;
        self.park_unwatched();
    }

    /// As [`Parker::park_until`], where the thread can be told that nobody will wake it. `waits`: for one thing
    /// only, and it runs no runtime for its caller.
    ///
    /// # Errors
    /// All threads of the process sleep for good, and this one was chosen to say so.
    #[inline]
    pub fn park_or_fail(
        &self,
        until: Moment,
        waits: bool,
        has_something: &mut dyn FnMut() -> bool,
    ) -> Result<(), Deadlock> {
        #[cfg(not(any(loom, shuttle)))]
        let is_watched = crate::waits::is_watched();
        #[cfg(any(loom, shuttle))]
        let is_watched = true;
        if is_watched || until != Moment::NEVER {
            self.park_until(until, has_something);
            return Ok(());
        }
        let slept = self.sleeper.sleep_or_fail(waits);
        roll_call::hear();
        slept
    }

    /// As [`Parker::park`], but asks once a second in any case (not in models, where no time passes), and returns when
    /// there is something. `counts`: whether it does nothing by itself but look.
    ///
    /// # Errors
    /// As [`Parker::park_or_fail`].
    pub(crate) fn park_and_look(
        &self,
        counts: &dyn Fn() -> bool,
        has_something: &mut dyn FnMut() -> bool,
    ) -> Result<(), Deadlock> {
        #[cfg(not(any(loom, shuttle)))]
        if !crate::waits::is_watched() {
            loop {
                let is_woken = match counts() {
                    true => self.sleeper.look_or_fail(watched::LOOK_EVERY)?,
                    false => self.park_for(watched::LOOK_EVERY),
                };
                if is_woken || has_something() {
                    roll_call::hear();
                    return Ok(());
                }
            }
        }
        let _in_models = counts;
        self.park(has_something);
        Ok(())
    }

    /// Like [`Parker::park_for`], for a thread that only looks around then, and wakes nobody unless others run.
    pub fn park_or_look(&self, limit: Duration) -> bool {
        self.sleeper.permit.take_or_look(limit, all_sleep)
    }

    /// Sleeps until a wake, but no longer than `limit` (in models, where no time passes, as long as it takes);
    /// whether there was one.
    #[inline]
    pub fn park_for(&self, limit: Duration) -> bool {
        self.sleeper.permit.take(Some(limit))
    }

    /// Like `park`, but until this moment at the latest; returns at once if it has passed.
    #[inline]
    pub fn park_until(&self, until: Moment, has_something: &mut dyn FnMut() -> bool) {
        match until.left() {
            None => self.park(has_something),
            Some(Duration::ZERO) => {}
            Some(left) => {
                self.park_for(left);
            }
        }
    }

    /// As [`Parker::park_until`]; but with a seat it sleeps at the poller, which keeps the events for who has the seat, and
    /// returns when there are some, or a signal comes.
    pub fn park_at(
        &self,
        seat: Option<&Seat<'_>>,
        until: Moment,
        has_something: &mut dyn FnMut() -> bool,
    ) {
        let Some(seat) = seat else {
            return self.park_until(until, has_something);
        };
        #[cfg(not(any(loom, shuttle)))]
        if crate::waits::is_watched() && until == Moment::NEVER {
            return self.watch(|limit| self.poll(seat, Some(limit)), has_something);
        }
        let _never = has_something;
        self.poll(seat, until.left());
        roll_call::hear();
    }

    /// As [`Parker::park_or_fail`], at a poller, for one that waits for one thing only. `looks`: asks `has_something` once a
    /// second, as [`Parker::park_and_look`] does.
    pub(crate) fn wait_at(
        &self,
        seat: &Seat<'_>,
        until: Moment,
        looks: bool,
        has_something: &mut dyn FnMut() -> bool,
    ) {
        self.sleeper.while_waiting(|| {
            #[cfg(not(any(loom, shuttle)))]
            if looks {
                while !self.poll(seat, Some(watched::LOOK_EVERY)) && !has_something() {}
                return roll_call::hear();
            }
            let _in_models = looks;
            self.park_at(Some(seat), until, has_something);
        });
    }

    /// As [`Parker::park_for`], or so; whether there was a wake or an event.
    pub fn park_at_for(&self, seat: Option<&Seat<'_>>, limit: Duration) -> bool {
        match seat {
            Some(seat) => self.poll(seat, Some(limit)),
            None => self.park_for(limit),
        }
    }

    fn poll(&self, seat: &Seat<'_>, limit: Option<Duration>) -> bool {
        let permit = &self.sleeper.permit;
        let poller = seat.poller();
        if !permit.begin_polling(poller.waker()) {
            return true;
        }
        poller.poll(limit);
        permit.end_polling() || poller.keeps_any()
    }

    #[inline]
    fn park_unwatched(&self) {
        // A worker that is stuck in a poll is helped by the monitor.
        if context::with(context::Context::is_polling) {
            self.sleeper.permit.take(None);
        } else {
            self.sleeper.permit.take_for_good(all_sleep);
            roll_call::hear();
        }
    }
}

#[cfg(not(any(loom, shuttle)))]
mod watched {
    //! Parks that are watched.

    use core::time::Duration;

    use super::Parker;
    use crate::platform::thread;

    /// Between two looks; and how long who has something to do waits for the wake that may be on its way.
    pub(super) const LOOK_EVERY: Duration = Duration::from_secs(1);

    /// From now on every thread of this process that parks looks every second whether it has something to do; if so,
    /// and nobody wakes it within another second, a wake-up was lost, and the process ends with a message. For tests.
    pub fn watch_parks() {
        crate::waits::begin();
    }

    impl Parker {
        #[cold]
        #[inline(never)]
        pub(super) fn park_watched(&self, has_something: &mut dyn FnMut() -> bool) {
            self.watch(|limit| self.park_for(limit), has_something);
        }

        /// Sleeps by `park` until that says that it was woken.
        #[cold]
        #[inline(never)]
        pub(super) fn watch(
            &self,
            park: impl Fn(Duration) -> bool,
            has_something: &mut dyn FnMut() -> bool,
        ) {
            let _noted = crate::waits::Sleeps::begin(std::ptr::from_ref(&*self.sleeper).addr());
            while !park(LOOK_EVERY) {
                if !has_something() {
                    continue;
                }
                if park(LOOK_EVERY) {
                    return;
                }
                std::eprintln!(
                    "gossamer: a lost wake-up: {:?} has parked, has something to do, and nobody woke it",
                    thread::current()
                );
                std::process::abort();
            }
        }
    }
}
#[cfg(not(any(loom, shuttle)))]
pub use self::watched::watch_parks;
