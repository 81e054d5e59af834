//! The receiver of one thread that waits inline (see [`gossamer_core::waiter`]), and the message it is called for.
//!
//! Between two tasks of one thread mostly one receiver waits, and nothing else is in the channel. Then one comparison of
//! the word says so, and a message is handed over by a few stores: into the first place of the buffer, of which the buffer
//! is not told. All else begins with the lock, and whoever takes that makes a proper list of the inline receiver first
//! ([`Chan::spill_inline`]); so the rules of the channel know of none.
//!
//! | word | the receiver | its list | the other list | the message |
//! | --- | --- | --- | --- | --- |
//! | `INLINE` | waits | names its node | its task | none |
//! | `INLINE`, `CALLED` | was woken | names its node | nothing | in the first place |
//!
//! A receiver waits inline only where the buffer has a place and keeps its memory (few and small messages; the first
//! receive of a channel is linked), in no select, and only if none was called that did not come so far: that one would
//! take the message for its own.

use std::hint::cold_path;

use gossamer_core::policy::{LockPolicy, Word};
use gossamer_core::wait_queue::ParkInline;
use gossamer_core::waiter::State;

use super::{Chan, HAS_WAITERS, HELD, Held, INLINE, Locked};

/// The inline receiver was called: one message is in the first place, of which the buffer does not tell so far.
const CALLED: u32 = 32;

impl<T, P: LockPolicy> Chan<T, P> {
    /// Puts a message for the inline receiver and calls that; `false`: there is none, and nothing was done.
    ///
    /// # Safety
    /// In a channel of one thread, which does not hold the lock; `take` runs no user code.
    #[inline(always)]
    pub(crate) unsafe fn call_inline(&self, take: impl FnOnce() -> T) -> bool {
        let word = self.word.lock();
        if word.bits != INLINE {
            return false;
        }
        // SAFETY: one thread, and nobody has the lock.
        let state = self.state.with_mut(|state| unsafe { &mut *state });
        // SAFETY: the buffer began anew when the receiver parked, and nothing was done to it since.
        unsafe { state.buffer.write_first(take()) };
        // SAFETY: the one waiter is in this list, and was not called.
        let is_quick = unsafe { self.receiving.notify_inline_here(&self.sending) };
        word.with(INLINE | CALLED).unlock();
        if is_quick {
            self.sending.forget_inline();
        } else {
            cold_path();
            self.call_slowly();
        }
        true
    }

    /// Calls the inline receiver, whose message is there, and of which the word says that it was called.
    #[cold]
    #[inline(never)]
    fn call_slowly(&self) {
        // SAFETY: the lock is nothing in one thread; inline, and not called so far.
        let deferred = unsafe { self.receiving.notify_inline(&self.sending) };
        self.sending.forget_inline();
        deferred.run();
    }

    /// Parks a receiver inline, if the channel is empty and quiet; `false`: nothing was done.
    ///
    /// # Safety
    /// In a channel of one thread, which does not hold the lock.
    #[inline(always)]
    pub(crate) unsafe fn park_inline(&self, park: ParkInline<'_>) -> bool {
        let word = self.word.lock();
        // SAFETY: one thread, and nobody has the lock.
        let state = self.state.with_mut(|state| unsafe { &mut *state });
        // One that was called and did not come so far would take the inline one's message for its own.
        let none_called = state.called == 0 || gossamer_core::mutant!("inline_beside_a_called_one");
        let is_plain = word.bits == 0 && !self.is_rendezvous() && none_called;
        let parks = is_plain && state.buffer.begin_anew() && park.park(&self.sending);
        if parks {
            word.with(INLINE).unlock();
        }
        parks
    }

    /// Takes the message for which the inline receiver was called; `None` if none was.
    ///
    /// # Safety
    /// In a channel of one thread, which does not hold the lock, by a receiver that waits.
    #[inline(always)]
    pub(crate) unsafe fn pop_inline(&self) -> Option<T> {
        let word = self.word.lock();
        (word.bits == INLINE | CALLED).then(|| {
            self.receiving.forget_inline();
            word.with(0).unlock();
            // SAFETY: one thread, and nobody has the lock.
            let state = self.state.with_mut(|state| unsafe { &*state });
            // SAFETY: the word has said so.
            unsafe { state.buffer.read_first() }
        })
    }

    /// Makes a proper list of the inline receiver, and a message of the buffer of the one that it was called for; gives
    /// the word's bits after it.
    ///
    /// # Panics
    /// The lock is held.
    #[cold]
    #[inline(never)]
    pub(super) fn spill_inline(&self, bits: u32) -> u32 {
        assert!(bits & HELD == 0, "the channel's lock is held");
        let is_called = bits & CALLED != 0;
        let stands = match is_called {
            true => State::Released,
            false => State::Parked,
        };
        // SAFETY: under the lock, and inline; only plain receivers wait so.
        unsafe {
            self.receiving
                .spill_inline(&self.sending, Self::receiver_kind(), stands)
        };
        if !is_called {
            return HAS_WAITERS;
        }
        // SAFETY: one thread, and nobody has the lock.
        let state = self.state.with_mut(|state| unsafe { &mut *state });
        if !gossamer_core::mutant!("spill_forgets_message") {
            state.buffer.note_first();
        }
        state.called += 1;
        0
    }
}

impl<'a, T, P: LockPolicy> Locked<'a, T, P> {
    /// The proof for an operation that goes on, but not in a channel of one thread: there the lock is nothing, and a
    /// receiver may be inline, until it is [taken](gossamer_core::wait_queue::Waitable::lock) anew. The caller has used it
    /// for nothing so far.
    #[inline(always)]
    pub(crate) fn into_held_if_shared(self) -> Option<Held<'a, T, P>> {
        (!P::THREAD_BOUND).then_some(self.0)
    }
}
