//! The state that the two sides of a channel share, and the lock around it.

use std::ops::{Deref, DerefMut};
use std::ptr;

use gossamer_core::platform::UnsafeCell;
use gossamer_core::policy::{LockPolicy, Word};
use gossamer_core::wait_queue::{self, Key, Waitable};
use gossamer_core::waiter::{Deferred, WaitList};

use super::buffer::Buffer;
use super::observer::Observation;

mod inline;

/// No sender is left, or the channel was closed.
pub(crate) const NO_SENDERS: u32 = 1;
/// No receiver is left, or the channel was closed.
pub(crate) const NO_RECEIVERS: u32 = 2;
/// An operation waits, a place is reserved, or an observer is to be notified.
pub(super) const HAS_WAITERS: u32 = 4;
/// In a channel for one thread: the lock is held. (For any thread it has a bit of its own.)
const HELD: u32 = 8;
/// In a channel for one thread: one receiver waits, inline, and perhaps its message is there, but nothing else
/// (`chan/inline.rs`).
const INLINE: u32 = 16;

/// The channel. What each operation looks at comes first, in as few lines of the cache as can be.
#[repr(C)]
pub(crate) struct Chan<T, P: LockPolicy> {
    word: P::Word,
    /// The most messages it holds; zero: a sender waits for its receiver.
    capacity: usize,
    sending: WaitList,
    receiving: WaitList,
    /// Under the lock.
    state: UnsafeCell<State<T>>,
    /// Operations that wait for the end, while there are messages: those of join patterns.
    ending: WaitList,
    /// Operations that wait until nobody receives any more. They are no business of the others: no bit says that they
    /// wait, and [`Locked::close`] wakes them.
    closing: WaitList,
    /// Which one it is, in the order of their making.
    #[cfg(loom)]
    number: usize,
}

/// The state under the lock beside the queues.
pub(crate) struct State<T> {
    pub(crate) observation: Observation,
    pub(crate) buffer: Buffer<T>,
    pub(crate) senders: usize,
    pub(crate) receivers: usize,
    /// Both, those of them that are about to go, and those that wakers still to be called keep (`Unsettled`).
    pub(super) handles: usize,
    /// Of a rendezvous channel: senders in the queue that are announced, and whose messages nobody has taken.
    pub(super) offering: usize,
    /// Of a rendezvous channel: how often others may have come to have one than before. (It wraps.)
    pub(crate) arrivals: usize,
    /// Of a rendezvous channel: a sender's message has been claimed or taken under this hold of the lock.
    pub(super) is_claimed: bool,
    /// Whether that one was not announced.
    pub(super) was_silent: bool,
    /// Of any other one: places for senders that were woken and have not put their messages there so far.
    pub(super) reserved: usize,
    /// Receivers that have been called and have not come so far.
    pub(super) called: usize,
    /// Permits that have not been used so far; their places are `reserved` too.
    pub(super) permits: usize,
    /// Weak senders.
    pub(super) weak: usize,
}

// SAFETY: what is not the word is touched under its lock, which is atomic; only messages move between threads.
unsafe impl<T: Send, P: LockPolicy> Send for Chan<T, P> where P::Word: Sync {}
// SAFETY: `&Chan` gives access to one thread at a time, by the word's lock; only messages move between threads.
unsafe impl<T: Send, P: LockPolicy> Sync for Chan<T, P> where P::Word: Sync {}

impl<T, P: LockPolicy> Chan<T, P> {
    /// One sender and one receiver.
    pub(crate) fn new(word: P::Word, capacity: usize) -> Self {
        Self {
            word,
            capacity,
            sending: WaitList::new(),
            receiving: WaitList::new(),
            state: UnsafeCell::new(State {
                observation: Observation::NONE,
                buffer: Buffer::new(),
                senders: 1,
                receivers: 1,
                handles: 2,
                offering: 0,
                arrivals: 0,
                is_claimed: false,
                was_silent: false,
                reserved: 0,
                called: 0,
                permits: 0,
                weak: 0,
            }),
            ending: WaitList::new(),
            closing: WaitList::new(),
            #[cfg(loom)]
            number: gossamer_core::platform::model::number(),
        }
    }

    /// The order in which an operation locks several channels: that of their addresses. Under loom addresses differ from
    /// one execution to the next, so there the channels are numbered.
    pub(crate) fn order(&self) -> usize {
        #[cfg(loom)]
        return self.number;
        #[cfg(not(loom))]
        std::ptr::from_ref(self).addr()
    }

    pub(super) fn capacity(&self) -> usize {
        self.capacity
    }

    /// Whether it holds no message, so that a sender waits for its receiver.
    #[inline(always)]
    pub(super) fn is_rendezvous(&self) -> bool {
        self.capacity == 0
    }

    /// Puts a message, if nobody waits and the memory is there, or if only an observer does. `take` gives the message, and
    /// is called once at most.
    ///
    /// # Errors
    /// Nothing was done. The lock is held.
    ///
    /// # Safety
    /// This thread does not hold the lock; `take` runs no user code.
    #[inline(always)]
    pub(super) unsafe fn push_quickly(&self, take: impl Fn() -> T) -> Result<(), Locked<'_, T, P>> {
        let put = |bits, state: &mut State<T>| {
            let buffer = &mut state.buffer;
            let is_put = buffer.push_in_window(bits == 0, self.capacity, &take);
            is_put.then_some(())
        };
        // SAFETY: this thread does not hold the lock, as the caller vouches.
        unsafe { self.lock_to(put) }.or_else(|locked| locked.push_observed(take))
    }

    /// Takes a message, if nobody waits and no memory is to be given back, and gives what `act` makes of it and of those
    /// that are left.
    ///
    /// # Errors
    /// Nothing was done. The lock is held.
    ///
    /// # Safety
    /// This thread does not hold the lock; `act` runs no user code.
    #[inline(always)]
    pub(super) unsafe fn pop_quickly<R>(
        &self,
        act: impl FnOnce(T, &Buffer<T>) -> R,
    ) -> Result<R, Locked<'_, T, P>> {
        // SAFETY: this thread does not hold the lock, as the caller vouches.
        unsafe {
            self.lock_to(|bits, state| {
                let message = state.buffer.pop_in_window(bits & !NO_SENDERS == 0)?;
                Some(act(message, &state.buffer))
            })
        }
    }

    /// Like [`Chan::pop_quickly`], for a receiver that waited, if it `was_called`.
    ///
    /// # Errors
    /// As there.
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    pub(super) unsafe fn pop_called<R>(
        &self,
        was_called: impl FnOnce() -> bool,
        act: impl FnOnce(T, &Buffer<T>) -> R,
    ) -> Result<R, Locked<'_, T, P>> {
        // SAFETY: this thread does not hold the lock, as the caller vouches.
        unsafe {
            self.lock_to(|bits, state| {
                if bits != 0 || !was_called() {
                    return None;
                }
                let message = state.buffer.pop_simply()?;
                state.called -=
                    usize::from(!gossamer_core::mutant!("channel_counts_called_for_ever"));
                Some(act(message, &state.buffer))
            })
        }
    }

    /// Takes the lock for `act` alone, which runs no user code.
    ///
    /// # Errors
    /// `act` gave nothing. The lock is held.
    ///
    /// # Safety
    /// This thread does not hold the lock.
    #[inline(always)]
    unsafe fn lock_to<R>(
        &self,
        act: impl FnOnce(u32, &mut State<T>) -> Option<R>,
    ) -> Result<R, Locked<'_, T, P>> {
        let done = self.word.lock_to(|bits| {
            // SAFETY: the lock is held, and the caller vouches that this thread did not hold it before.
            let state = self.state.with_mut(|state| unsafe { &mut *state });
            act(bits, state)
        });
        // SAFETY: the lock is held where `act` gave nothing, and this is the proof of it.
        done.map_err(|word| Locked(unsafe { Held::assume(self, word.bits) }))
    }

    /// The bits at this moment.
    pub(super) fn look(&self) -> u32 {
        self.word.look()
    }

    /// Operations that wait to send.
    #[inline(always)]
    pub(super) fn sending(&self) -> &WaitList {
        &self.sending
    }

    /// Operations that wait to receive.
    #[inline(always)]
    pub(super) fn receiving(&self) -> &WaitList {
        &self.receiving
    }

    /// Operations that wait for the end, while there are messages.
    pub(super) fn ending(&self) -> &WaitList {
        &self.ending
    }

    /// Operations that wait until nobody receives any more.
    pub(super) fn closing(&self) -> &WaitList {
        &self.closing
    }

    /// Takes the lock.
    ///
    /// # Panics
    /// In a channel for one thread: the lock is held.
    #[inline(always)]
    pub(crate) fn locked(&self) -> Locked<'_, T, P> {
        let word = self.word.lock();
        let mut bits = word.bits;
        if P::THREAD_BOUND {
            if bits & (HELD | INLINE) != 0 {
                bits = self.spill_inline(bits);
            }
            word.with(bits | HELD).unlock();
        }
        // SAFETY: a thread that has a `Locked` uses its channel through that alone. In a channel for one thread that is
        // checked here: its lock is the mark. (In one for any thread it is not: in a process of one thread its lock is
        // nothing but its bits.)
        Locked(unsafe { Held::assume(self, bits) })
    }

    /// Takes the lock and calls `look` on the state under it. `look` runs no user code.
    pub(crate) fn read<R>(&self, look: impl FnOnce(&State<T>) -> R) -> R {
        let locked = self.locked();
        let seen = look(&locked);
        locked.unlock();
        seen
    }
}

/// The lock of a channel, held, as the wait queue knows it.
pub(crate) type Held<'a, T, P> = wait_queue::Locked<'a, Chan<T, P>>;

/// The lock of a channel, held, and what is under it. It is given up by [`unlock`](Locked::unlock) and its like; no user
/// code runs until then.
#[must_use = "the lock stays held"]
#[repr(transparent)]
pub(crate) struct Locked<'a, T, P: LockPolicy>(Held<'a, T, P>);

impl<'a, T, P: LockPolicy> From<Held<'a, T, P>> for Locked<'a, T, P> {
    #[inline(always)]
    fn from(held: Held<'a, T, P>) -> Self {
        Self(held)
    }
}

impl<T, P: LockPolicy> Deref for Locked<'_, T, P> {
    type Target = State<T>;

    #[inline(always)]
    fn deref(&self) -> &State<T> {
        // SAFETY: this is the only proof of the lock, and borrowed.
        self.chan().state.with(|state| unsafe { &*state })
    }
}

impl<T, P: LockPolicy> DerefMut for Locked<'_, T, P> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut State<T> {
        // SAFETY: this is the only proof of the lock, and borrowed by nobody else.
        self.chan().state.with_mut(|state| unsafe { &mut *state })
    }
}

impl<'a, T, P: LockPolicy> Locked<'a, T, P> {
    /// Returns the held lock as a `Locked` that only looks.
    #[inline(always)]
    pub(super) fn seen<'h>(held: &'h Held<'a, T, P>) -> &'h Self {
        // SAFETY: `Locked` is that proof, and nothing else (`repr(transparent)`).
        unsafe { &*ptr::from_ref(held).cast() }
    }

    /// Returns the held lock as a `Locked` that changes the state while the lock stays held.
    #[inline(always)]
    pub(super) fn of_held<'h>(held: &'h mut Held<'a, T, P>) -> &'h mut Self {
        // SAFETY: `Locked` is that proof, and nothing else (`repr(transparent)`).
        unsafe { &mut *ptr::from_mut(held).cast() }
    }

    /// The proof in the words of the wait queue.
    #[inline(always)]
    pub(super) fn held(&mut self) -> &mut Held<'a, T, P> {
        &mut self.0
    }

    /// The proof in the words of the wait queue.
    #[inline(always)]
    pub(super) fn held_ref(&self) -> &Held<'a, T, P> {
        &self.0
    }

    /// The proof in the words of the wait queue.
    #[inline(always)]
    pub(super) fn into_held(self) -> Held<'a, T, P> {
        self.0
    }

    #[inline(always)]
    pub(crate) fn chan(&self) -> &'a Chan<T, P> {
        self.0.object()
    }

    /// Whether the bit is set.
    #[inline(always)]
    pub(crate) fn has(&self, bit: u32) -> bool {
        self.0.bits & bit != 0
    }

    /// Sets the bit, or clears it.
    pub(crate) fn mark(&mut self, bit: u32, is_set: bool) {
        self.0.bits = self.0.bits & !bit | if is_set { bit } else { 0 };
    }

    /// Whether both sides are there and nobody waits.
    #[inline(always)]
    pub(crate) fn is_quiet(&self) -> bool {
        self.0.bits == 0
    }

    /// Gives the lock up, leaving these bits. Wakes nobody.
    #[inline(always)]
    pub(super) fn unlock_with(mut self, bits: u32) {
        if bits != 0 {
            self.buffer.stop();
        }
        self.0.into_word().with(bits).unlock();
    }

    /// Gives the lock up. Wakes nobody.
    #[inline(always)]
    pub(crate) fn unlock(self) {
        self.0.unlock();
    }

    /// Says whether the observer is to be notified, and gives the lock up. The channel [is quiet](Locked::is_quiet).
    #[inline(always)]
    pub(crate) fn arm_and_unlock(mut self, is_armed: bool) {
        debug_assert!(self.is_quiet(), "others may wait");
        self.observation.arm(is_armed);
        self.unlock_with(if is_armed { HAS_WAITERS } else { 0 });
    }

    /// Wakes all that can go on, and gives the lock up.
    #[inline(always)]
    pub(crate) fn settle(self) {
        self.0.wake_ready();
    }

    /// Messages in the buffer, and those that are offered.
    #[inline(always)]
    pub(crate) fn messages(&self) -> usize {
        self.buffer.len() + self.offering
    }

    /// Whether a message can be put: there is a place, and it is not reserved.
    #[inline(always)]
    pub(super) fn has_room(&self) -> bool {
        self.buffer.len() + self.reserved < self.chan().capacity
    }

    /// Whether a receiver was called for each message there is.
    pub(super) fn is_promised(&self) -> bool {
        (1..=self.called).contains(&self.messages())
    }

    /// Whether a receiver would be told that no message comes. (In a channel that was closed, a permit may send, as long as its
    /// sender is there.)
    #[inline(always)]
    pub(crate) fn is_over(&self) -> bool {
        self.has(NO_SENDERS)
            && self.messages() == 0
            && (self.permits == 0
                || self.senders == 0
                || gossamer_core::mutant!("close_forgets_permits"))
    }

    /// The next message: of the buffer, or of the rendezvous sender that has waited longest. Afterwards the channel is
    /// [settled](Locked::settle).
    #[inline(always)]
    pub(crate) fn pop(&mut self) -> Option<T> {
        self.buffer.pop().or_else(|| self.take_offer())
    }

    /// Whether an observer is to be notified, or an operation waits for the end.
    #[inline(always)]
    pub(super) fn is_watched(&self) -> bool {
        self.observation.is_armed() || !self.chan().ending().is_empty()
    }

    /// Puts a message at the end.
    #[inline(always)]
    pub(super) fn push(&mut self, message: T) {
        let most = self.chan().capacity;
        self.buffer.push(message, most);
    }

    /// Gives memory back that the buffer no longer needs. Not for senders that wait, or have a place reserved: they are
    /// going to need it.
    #[inline(always)]
    pub(crate) fn shrink(&mut self) {
        if self.buffer.is_to_shrink() && self.chan().sending.is_empty() && self.reserved == 0 {
            self.buffer = Buffer::new();
        }
    }
}

// SAFETY: the word is a lock, an atomic one unless it is `Local`'s.
unsafe impl<T, P: LockPolicy> Waitable for Chan<T, P> {
    type Word = P::Word;

    #[inline(always)]
    fn word(&self, _: Key) -> &P::Word {
        &self.word
    }

    #[inline(always)]
    fn lock(&self, _: Key) -> u32 {
        let bits = self.word.lock().bits;
        if P::THREAD_BOUND && bits & INLINE != 0 {
            return self.spill_inline(bits);
        }
        bits
    }

    #[inline(always)]
    fn unlock(mut held: Held<'_, T, P>) {
        if Self::has_waiters(&held) {
            held.bits |= HAS_WAITERS;
        } else {
            held.bits &= !HAS_WAITERS;
        }
        let bits = held.bits;
        Locked::from(held).unlock_with(bits);
    }

    #[inline(always)]
    fn has_waiters(held: &Held<'_, T, P>) -> bool {
        let locked = Locked::seen(held);
        let chan = locked.chan();
        !chan.receiving.is_empty()
            || !chan.sending.is_empty()
            || locked.is_watched()
            || locked.reserved > 0
    }

    #[inline(always)]
    fn wake_next(held: &mut Held<'_, T, P>) -> Option<Deferred> {
        Locked::of_held(held).wake_next()
    }
}
