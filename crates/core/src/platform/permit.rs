//! The permit that one thread sleeps on. Other threads give it, and it is never lost.
//!
//! On Linux it is one word and the futex on it (as the parkers of parking_lot and of the standard library are), so
//! that who sleeps and who wakes touch one line of memory. Elsewhere, and in models, a flag and the thread's own park.

use core::time::Duration;

#[cfg(not(all(target_os = "linux", not(any(loom, shuttle, gossamer_portable)))))]
pub use self::flag::Permit;
#[cfg(all(target_os = "linux", not(any(loom, shuttle, gossamer_portable))))]
pub use self::word::Permit;

#[cfg(all(target_os = "linux", not(any(loom, shuttle, gossamer_portable))))]
mod word {
    use std::time::Instant;

    use rustix::thread::futex;

    use super::Duration;
    use crate::platform::atomic::{AtomicU32, Ordering};

    const NONE: u32 = 0;
    const GIVEN: u32 = 1;
    const ASLEEP: u32 = u32::MAX;

    /// The permit of the thread that made it.
    #[derive(Debug)]
    pub struct Permit(AtomicU32);

    impl Permit {
        /// Not given.
        #[allow(clippy::new_without_default)]
        pub fn new() -> Self {
            Self(AtomicU32::new(NONE))
        }

        /// Gives the permit, and wakes the thread if it sleeps.
        pub fn give(&self) {
            // Release pairs with the acquires in `take`: what was done before is seen. A read-modify-write, so that of
            // two who give the one that is overtaken is seen as well.
            if self.0.swap(GIVEN, Ordering::Release) == ASLEEP {
                // There is nobody to wake only if it woke by itself.
                let _woken = futex::wake(&self.0, futex::Flags::PRIVATE, 1);
            }
        }

        /// Whether it is given at this moment: a hint.
        #[inline]
        pub fn is_given(&self) -> bool {
            // Relaxed: who takes it synchronises.
            self.0.load(Ordering::Relaxed) == GIVEN
        }

        /// Takes the permit, sleeping until it is given, but no longer than `limit`; whether it was.
        #[inline]
        pub fn take(&self, limit: Option<Duration>) -> bool {
            // From given to none, or from none to asleep. Acquire pairs with the release in `give`.
            if self.0.fetch_sub(1, Ordering::Acquire) == GIVEN {
                return true;
            }
            let began = limit.map(|limit| (limit, Instant::now()));
            loop {
                let left = began.map(|(limit, began)| limit.saturating_sub(began.elapsed()));
                let is_over = left.is_some_and(|left| left.is_zero());
                if !is_over {
                    let left = left.and_then(|left| left.try_into().ok());
                    // Woken, or too late, or for no reason: the word tells.
                    let _why = futex::wait(&self.0, futex::Flags::PRIVATE, ASLEEP, left.as_ref());
                }
                // Acquire pairs with the release in `give`.
                if is_over {
                    return self.0.swap(NONE, Ordering::Acquire) == GIVEN;
                }
                let taken = self.0.compare_exchange(
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
    }
}

#[cfg(not(all(target_os = "linux", not(any(loom, shuttle, gossamer_portable)))))]
mod flag {
    use super::Duration;
    use crate::platform::atomic::{AtomicBool, Ordering};
    use crate::platform::thread;

    /// The permit of the thread that made it.
    #[derive(Debug)]
    pub struct Permit {
        given: AtomicBool,
        thread: thread::Thread,
    }

    impl Permit {
        /// Not given.
        #[allow(clippy::new_without_default)]
        pub fn new() -> Self {
            Self {
                given: AtomicBool::new(false),
                thread: thread::current(),
            }
        }

        /// Gives the permit, and wakes the thread if it sleeps.
        pub fn give(&self) {
            // Release pairs with the acquire in `take`: what was done before is seen. A read-modify-write, so that of
            // two who give the one that is overtaken is seen as well.
            if crate::mutant!("permit_overtaken") {
                self.given.store(true, Ordering::Release); // pairs with `take`, unless overtaken
            } else {
                self.given.swap(true, Ordering::Release);
            }
            if !crate::mutant!("permit_without_unpark") {
                self.thread.unpark();
            }
        }

        /// Whether it is given at this moment: a hint.
        pub fn is_given(&self) -> bool {
            // Relaxed: who takes it synchronises.
            self.given.load(Ordering::Relaxed)
        }

        /// Takes the permit, sleeping until it is given, but no longer than `limit`; whether it was. In models no time
        /// passes.
        pub fn take(&self, limit: Option<Duration>) -> bool {
            #[cfg(not(any(loom, shuttle)))]
            let began = std::time::Instant::now();
            // Acquire pairs with the release in `give`.
            while !self.given.swap(false, Ordering::Acquire) {
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
    }
}
