//! Waiting for an object: one operation, one way to wake, for every primitive.
//!
//! An object that can be waited for is [`Waitable`]: it has a lock, some bits under that lock, and one or more queues
//! ([`WaitList`]) of the operations that wait. It says only its own rule, [`Waitable::wake_next`]: which waiter may go
//! on now, and what becomes of the bits. An [`Action`] says what an operation does when its turn comes. Everything else
//! is here, once: parking, waking in batches, cancelling, forgetting, and the question whether a parked operation could
//! complete.
//!
//! # Protocol
//!
//! * No user code runs under the lock. A foreign waker is cloned before the lock is taken; it is called and dropped
//!   after the lock is released.
//! * A value never moves into an operation that waits. The one who changes the object either *reserves* something for
//!   the first waiter, which stays first in its queue ([`State::Notified`](crate::waiter::State::Notified)), or
//!   *grants* it, and the waiter leaves its queue ([`State::Released`](crate::waiter::State::Released)). Either way the
//!   waiter's task is woken, and the waiter takes effect in its own poll. (One exception: the receiver of a rendezvous
//!   takes the message out of the sender that waits.)
//! * An operation that is dropped first gives back what it had been promised, and the next waiter is woken.
//! * An operation that was woken and finds nothing waits again, first in its queue.

mod action;
mod operation;

use crate::waiter::{Deferred, WaitList};

pub use self::action::Action;
pub use self::operation::{Operation, Phase, action_of};

/// Waiters woken before the lock is released for a moment, so that other threads can make progress.
const BATCH: u32 = if cfg!(any(loom, shuttle)) { 2 } else { 64 };

/// An object that operations wait for: a lock, and the rule by which waiters go on.
///
/// # Safety
/// Between [`lock`](Waitable::lock) and [`unlock`](Waitable::unlock) no other thread gets the lock. Unless the object
/// is [bound to a thread](Waitable::THREAD_BOUND), what one thread does under the lock is seen by the next one.
pub unsafe trait Waitable {
    /// Whether the object and its operations never leave their thread.
    const THREAD_BOUND: bool;

    /// Takes the lock.
    ///
    /// # Returns
    /// The object's bits.
    fn lock(&self) -> u32;

    /// Releases the lock and leaves these bits. Wakes nobody.
    fn unlock(&self, bits: u32);

    /// Wakes the next waiter that these bits let go on; `None` if there is none.
    ///
    /// # Safety
    /// Under the lock.
    unsafe fn wake_next(&self, bits: &mut u32) -> Option<Deferred>;

    /// Whether any operation waits. Under the lock.
    fn has_waiters(&self) -> bool;

    /// Wakes every waiter that can go on, and releases the lock.
    ///
    /// A foreign waker is called without the lock. Until it returns, the waiters behind it wait for that, unless
    /// another thread wakes them.
    #[inline(always)]
    fn wake_ready(&self, bits: u32) {
        if self.has_waiters() {
            self.wake_waiters(bits);
        } else {
            self.unlock(bits);
        }
    }

    /// The same where operations wait.
    #[inline(never)]
    fn wake_waiters(&self, mut bits: u32) {
        let mut woken = 0;
        // SAFETY: under the lock.
        while let Some(deferred) = unsafe { self.wake_next(&mut bits) } {
            woken += 1;
            if crate::mutant!("wake_ready_wakes_one") {
                self.unlock(bits);
                return deferred.run();
            }
            if woken % BATCH != 0 && deferred.is_nothing() {
                continue;
            }
            self.unlock(bits);
            deferred.run();
            if woken % BATCH == 0 && crate::mutant!("wake_ready_ends_with_a_batch") {
                return;
            }
            bits = self.lock();
        }
        self.unlock(bits);
    }

    /// Takes all waiters out of this queue of the object, which is about to be freed.
    ///
    /// Operations borrow the object, so only forgotten ones can still wait. Their tasks must not keep the name of an
    /// object that is gone.
    fn forget_waiters(&self, queue: &WaitList) {
        /// Goes on where the drop of a waker panicked.
        struct Rest<'a, O: Waitable + ?Sized>(&'a O, &'a WaitList);
        impl<O: Waitable + ?Sized> Rest<'_, O> {
            fn forget(&self) {
                loop {
                    let bits = self.0.lock();
                    // SAFETY: under the lock, which settles a inline waiter.
                    let waker = unsafe { self.1.unlink_first() };
                    self.0.unlock(bits);
                    match waker {
                        Some(waker) => drop(waker),
                        None => break,
                    }
                }
            }
        }
        impl<O: Waitable + ?Sized> Drop for Rest<'_, O> {
            fn drop(&mut self) {
                self.forget();
            }
        }
        Rest(self, queue).forget();
    }
}
