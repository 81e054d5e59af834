//! The permit that one thread sleeps on. Other threads give it, and it is never lost.
//!
//! On Linux it is one word and the futex on it (as the parkers of parking_lot and of the standard library are), so
//! that who sleeps and who wakes touch one line of memory. Elsewhere, and in models, a flag and the thread's own park.

use core::task::Waker;
use core::time::Duration;

use super::Mutex;

#[cfg(not(all(target_os = "linux", not(any(loom, shuttle, gossamer_portable)))))]
pub use self::flag::Permit;
#[cfg(all(target_os = "linux", not(any(loom, shuttle, gossamer_portable))))]
pub use self::word::Permit;

/// What wakes a thread that sleeps at a poller: set before it does, for the first time or at another one.
#[derive(Debug)]
struct AtPoller(Mutex<Option<Waker>>);

impl AtPoller {
    fn new() -> Self {
        Self(Mutex::new(None))
    }

    fn set(&self, waker: &Waker) {
        let mut last = self.0.lock();
        if !last.as_ref().is_some_and(|last| last.will_wake(waker)) {
            *last = Some(waker.clone());
        }
    }

    #[cold]
    fn wake(&self) {
        let waker = self.0.lock().clone();
        if let Some(waker) = waker.filter(|_| !crate::mutant!("permit_wakes_no_poller")) {
            waker.wake();
        }
    }
}

#[cfg(all(target_os = "linux", not(any(loom, shuttle, gossamer_portable))))]
mod word {
    use std::time::Instant;

    use rustix::thread::futex;

    use super::{AtPoller, Duration, Waker};
    use crate::platform::atomic::{AtomicU32, Ordering};
    use crate::platform::{UnmodelledU32, asleep};

    const NONE: u32 = 0;
    const GIVEN: u32 = 1;
    const ASLEEP: u32 = u32::MAX;
    /// Asleep without a limit, and counted (`platform/asleep.rs`).
    const FOR_GOOD: u32 = u32::MAX - 1;
    /// Asleep at a [poller](crate::poller).
    const POLLING: u32 = u32::MAX - 2;

    /// So long from now; some years, if that is more.
    fn after(limit: Duration) -> Instant {
        const YEARS: Duration = Duration::from_secs(1 << 28);
        Instant::now() + limit.min(YEARS)
    }

    /// The permit of the thread that made it.
    #[derive(Debug)]
    pub struct Permit {
        word: AtomicU32,
        /// How often the thread has slept for good.
        sleeps: UnmodelledU32,
        poller: AtPoller,
    }

    impl Permit {
        /// Not given.
        #[allow(clippy::new_without_default)]
        pub fn new() -> Self {
            Self {
                word: AtomicU32::new(NONE),
                sleeps: UnmodelledU32::new(0),
                poller: AtPoller::new(),
            }
        }

        /// Whether the thread sleeps for good, and the permit is not given: then which of its sleeps that is.
        pub fn sleep(&self) -> Option<u32> {
            // Before and after, so that it is the one that the word is about. Acquire pairs with the release in
            // `sleep_for_good`.
            let which = self.sleeps.load(Ordering::Acquire);
            // Acquire pairs with the release in `change`: what the thread did before is seen.
            let sleeps = self.word.load(Ordering::Acquire) == FOR_GOOD;
            // Relaxed: as above.
            let is_same = self.sleeps.load(Ordering::Relaxed) == which;
            (sleeps && is_same).then_some(which)
        }

        /// Gives the permit, and wakes the thread if it sleeps.
        pub fn give(&self) {
            // Release pairs with the acquires in `take`: what was done before is seen. A read-modify-write, so that of
            // two who give the one that is overtaken is seen as well. Acquire pairs with the release in
            // `begin_polling`: which poller it is.
            match self.word.swap(GIVEN, Ordering::AcqRel) {
                NONE | GIVEN => return,
                POLLING => return self.poller.wake(),
                FOR_GOOD => asleep::count_out(),
                _ => {}
            }
            // There is nobody to wake only if it woke by itself.
            let _woken = futex::wake(&self.word, futex::Flags::PRIVATE, 1);
        }

        /// The thread is about to sleep at a poller, until this is called; `false` if the permit is given, and taken by
        /// this.
        pub fn begin_polling(&self, poller: &Waker) -> bool {
            self.poller.set(poller);
            // If it fails, the permit is given.
            self.change(NONE, POLLING) || !self.end_polling()
        }

        /// Whether the thread sleeps at a poller: a hint.
        pub fn is_polling(&self) -> bool {
            // Relaxed: a hint.
            self.word.load(Ordering::Relaxed) == POLLING
        }

        /// The thread does not sleep at a poller any more; whether the permit was given, and taken by this.
        pub fn end_polling(&self) -> bool {
            // Acquire pairs with the release in `give`.
            self.word.swap(NONE, Ordering::Acquire) == GIVEN
        }

        /// Whether it is given at this moment: a hint.
        #[inline]
        pub fn is_given(&self) -> bool {
            // Relaxed: who takes it synchronises.
            self.word.load(Ordering::Relaxed) == GIVEN
        }

        /// Takes the permit, sleeping until it is given, but no longer than `limit`; whether it was.
        #[inline]
        pub fn take(&self, limit: Option<Duration>) -> bool {
            // From given to none, or from none to asleep. Acquire pairs with the release in `give`.
            if self.word.fetch_sub(1, Ordering::Acquire) == GIVEN {
                return true;
            }
            let began = limit.map(|limit| (limit, Instant::now()));
            loop {
                let left = began.map(|(limit, began)| limit.saturating_sub(began.elapsed()));
                let is_over = left.is_some_and(|left| left.is_zero());
                if !is_over {
                    let left = left.and_then(|left| left.try_into().ok());
                    // Woken, or too late, or for no reason: the word tells.
                    let _why =
                        futex::wait(&self.word, futex::Flags::PRIVATE, ASLEEP, left.as_ref());
                }
                // Acquire pairs with the release in `give`.
                if is_over {
                    return self.word.swap(NONE, Ordering::Acquire) == GIVEN;
                }
                let taken = self.word.compare_exchange(
                    GIVEN,
                    NONE,
                    Ordering::Acquire, // pairs with the release in `give`
                    Ordering::Relaxed, // Relaxed: nothing is read
                );
                if taken.is_ok() {
                    return true;
                }
            }
        }

        /// Takes the permit, sleeping until it is given. If all threads that are known sleep so by then, `all_sleep` is
        /// called, by whoever fell asleep last: with zero at once, and again and again after the time that it says.
        #[inline]
        pub fn take_for_good(&self, all_sleep: fn(looks: u32) -> Duration) {
            // From given to none, or from none to asleep. Acquire pairs with the release in `give`.
            if self.word.fetch_sub(1, Ordering::Acquire) != GIVEN {
                self.sleep_for_good(None, all_sleep);
            }
        }

        /// Like [`Permit::take_for_good`], but wakes after `limit`, to look around: nobody is woken by that. Whether the
        /// permit was given. `all_sleep` is called once, with the largest number.
        pub fn take_or_look(&self, limit: Duration, all_sleep: fn(looks: u32) -> Duration) -> bool {
            // As there; acquire pairs with the release in `give`.
            self.word.fetch_sub(1, Ordering::Acquire) == GIVEN
                || self.sleep_for_good(Some(limit), all_sleep)
        }

        #[inline]
        fn sleep_for_good(
            &self,
            looks_after: Option<Duration>,
            all_sleep: fn(looks: u32) -> Duration,
        ) -> bool {
            // Relaxed: the word publishes it; nobody else writes it.
            let sleep = self.sleeps.load(Ordering::Relaxed).wrapping_add(1);
            self.sleeps.store(sleep, Ordering::Release); // pairs with the acquire in `sleep`
            // If it fails, the permit is given, which is seen below.
            let counts = self.change(ASLEEP, FOR_GOOD);
            let mut looks = if looks_after.is_some() { u32::MAX } else { 0 };
            let mut wakes_at = looks_after.map(after);
            if counts && asleep::count_in() {
                let look_after = all_sleep(looks);
                wakes_at = wakes_at.or_else(|| Some(after(look_after)));
            }
            loop {
                // A signal wakes it as well.
                let left = wakes_at.map(|at| at.saturating_duration_since(Instant::now()));
                let is_over = left.is_some_and(|left| left.is_zero());
                if !is_over {
                    let left = left.and_then(|left| left.try_into().ok());
                    let _why =
                        futex::wait(&self.word, futex::Flags::PRIVATE, FOR_GOOD, left.as_ref());
                }
                if self.change(GIVEN, NONE) {
                    return true;
                }
                if !is_over {
                    continue;
                }
                if looks_after.is_none() {
                    looks += 1;
                    wakes_at = Some(after(all_sleep(looks)));
                } else if self.change(FOR_GOOD, NONE) {
                    asleep::count_out();
                    return false;
                }
            }
        }

        /// Changes the word, if it is so. AcqRel pairs with itself, with the release in `give`, and with the acquire in
        /// `sleep`.
        #[inline]
        fn change(&self, from: u32, to: u32) -> bool {
            let changed = self
                .word
                .compare_exchange(from, to, Ordering::AcqRel, Ordering::Relaxed); // Relaxed: nothing is read
            changed.is_ok()
        }
    }
}

#[cfg(not(all(target_os = "linux", not(any(loom, shuttle, gossamer_portable)))))]
mod flag {
    use super::{AtPoller, Duration, Waker};
    use crate::platform::atomic::{AtomicU8, Ordering};
    use crate::platform::thread;

    const NONE: u8 = 0;
    const GIVEN: u8 = 1;
    /// Asleep at a [poller](crate::poller).
    const POLLING: u8 = 2;

    /// The permit of the thread that made it.
    #[derive(Debug)]
    pub struct Permit {
        state: AtomicU8,
        thread: thread::Thread,
        poller: AtPoller,
    }

    impl Permit {
        /// Not given.
        #[allow(clippy::new_without_default)]
        pub fn new() -> Self {
            Self {
                state: AtomicU8::new(NONE),
                thread: thread::current(),
                poller: AtPoller::new(),
            }
        }

        /// Gives the permit, and wakes the thread if it sleeps.
        pub fn give(&self) {
            // Release pairs with the acquire in `take`: what was done before is seen. A read-modify-write, so that of
            // two who give the one that is overtaken is seen as well. Acquire pairs with the release in
            // `begin_polling`: which poller it is.
            let before = if crate::mutant!("permit_overtaken") {
                self.state.store(GIVEN, Ordering::Release); // pairs with `take`, unless overtaken
                NONE
            } else {
                self.state.swap(GIVEN, Ordering::AcqRel) // pairs as said above
            };
            if before == POLLING {
                return self.poller.wake();
            }
            if !crate::mutant!("permit_without_unpark") {
                self.thread.unpark();
            }
        }

        /// The thread is about to sleep at a poller, until this is called; `false` if the permit is given, and taken by
        /// this.
        pub fn begin_polling(&self, poller: &Waker) -> bool {
            self.poller.set(poller);
            // AcqRel pairs with `give`: it sees the poller, and this thread what was done before.
            let begun =
                self.state
                    .compare_exchange(NONE, POLLING, Ordering::AcqRel, Ordering::Relaxed); // Relaxed: nothing is read
            begun.is_ok() || !self.end_polling()
        }

        /// The thread does not sleep at a poller any more; whether the permit was given, and taken by this.
        pub fn end_polling(&self) -> bool {
            // Acquire pairs with the release in `give`.
            self.state.swap(NONE, Ordering::Acquire) == GIVEN
        }

        /// Whether it is given at this moment: a hint.
        pub fn is_given(&self) -> bool {
            // Relaxed: who takes it synchronises.
            self.state.load(Ordering::Relaxed) == GIVEN
        }

        /// Takes the permit, sleeping until it is given, but no longer than `limit`; whether it was. In models no time
        /// passes.
        pub fn take(&self, limit: Option<Duration>) -> bool {
            #[cfg(not(any(loom, shuttle)))]
            let began = std::time::Instant::now();
            // Acquire pairs with the release in `give`.
            while self.state.swap(NONE, Ordering::Acquire) != GIVEN {
                #[cfg(not(any(loom, shuttle)))]
                if let Some(limit) = limit {
                    let Some(left) = limit.checked_sub(began.elapsed()) else {
                        return false;
                    };
                    thread::park_timeout(left);
                    continue;
                }
                let _never = limit;
                thread::park();
            }
            true
        }

        /// As [`Permit::take`], whose limit is there only to look around.
        pub fn take_or_look(
            &self,
            limit: Duration,
            _all_sleep: fn(looks: u32) -> Duration,
        ) -> bool {
            self.take(Some(limit))
        }

        /// Takes the permit, sleeping until it is given. Here nobody knows whether all threads sleep.
        pub fn take_for_good(&self, _all_sleep: fn(looks: u32) -> Duration) {
            self.take(None);
        }
    }
}
